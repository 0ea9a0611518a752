// Package clientconf edits the configuration files of MCP clients: it finds
// the entry of a server, puts a program in front of its command, and takes it
// away again, without touching a byte outside that entry's command and
// arguments.
//
// It knows JSON with comments and trailing commas, as editors write it, and
// the TOML of Codex. It imports nothing of ours and works on bytes; it never
// reads or writes a file: those, backups and questions belong to its caller.
package clientconf
