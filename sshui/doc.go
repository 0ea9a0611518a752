// Package sshui is the SSH server of a hub: it decides who may look, and serves
// the UI, the commands and the logs to them.
//
//   - An Authorizer turns a public key or a certificate into a Grant: a Role,
//     and whether a terminal may be asked for. It reads files in the format of
//     authorized_keys, and reads them again when told to.
//   - A Server runs one UI for each viewer with a terminal, one command for each
//     request without one, and two subsystems: mcpsnoop-stream, which carries
//     logs, and sftp, which only reads the folder of sessions. Everything else
//     (ports, agents, X11, other subsystems) is refused and logged.
//   - Each session has a context of its own, which ends when its channel does:
//     connections carry several sessions, and one may end before the others.
//   - A viewer pulls what is shown. Its Source is told of changes at most five
//     times a second, and less often when what is drawn is large; a viewer that
//     does not read is cut off, and costs the others nothing meanwhile.
//   - HostKey makes the host key once, also when several hubs start together,
//     and never replaces one that it cannot read.
//
// Memory is bounded by Limits: connections, sessions, and what a session may
// send before it is served.
//
// It imports internal/tui, internal/stream and store, the layers of SSH below
// it, and nothing of the hub: the source, the commands and the folder are given
// to it. It never starts a program, never opens a connection, and never writes
// to the disk but for the host key.
package sshui
