// Package demo holds the two programs behind `mcpsnoop demo`: a small MCP
// server and the client that talks to it, both built with the official Go SDK.
// The command starts them as separate processes with the real shim between
// them, so what it shows is what any client and any server would give.
//
// RunServer serves six tools on standard input and output: two quick ones, one
// that reports progress, one that is slow, one that fails and one that never
// answers. It has two habits of servers in the wild: it logs on standard error,
// and one tool prints a forgotten debug line on standard output. That line is
// written in one piece, between frames and never inside one.
//
// RunClient starts a command line, speaks MCP with it and plays rounds of one
// fixed story: the handshake, the list of tools, quick calls, the stray line, a
// call that gets no answer, progress, a failed tool, a mistyped tool, a slow
// call, a ping. The call without an answer stays open while the others go on,
// and is still open when the client closes the server's input. Texts, arguments
// and their order are fixed, so two runs differ in time only.
//
// The package imports the standard library and the Go SDK, and nothing else of
// this module: its programs must know of the recorder no more than a stranger's
// do. It touches no file and no network, and reads no environment variable.
package demo
