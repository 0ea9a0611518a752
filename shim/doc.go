// Package shim stands between an MCP client and a server that it starts: it
// passes standard input, output and error on byte for byte, as they come, and
// hands a copy to a recorder.
//
// # What the server sees
//
// The server gets the command line, the working directory, the environment
// and further open descriptors as if the shim were not there. Three things
// differ, and cannot be otherwise: its standard streams are pipes of the shim
// whatever the client's were, its parent is the shim, and it runs in a process
// group of its own, so that signals reach it and all it started, and nothing
// else. Its session and controlling terminal stay the client's. A background
// group may write to the terminal but not read it: a server that asks for a
// password on /dev/tty is stopped by SIGTTIN.
//
// # How it ends
//
// A run ends when the server does, with its exit code, or 128+n when signal n
// ended it. Before that, what the server wrote last is passed on, and what it
// left behind in its process group is ended. What leaves that group (setsid,
// daemons) is out of reach on purpose.
//
// The client's end of file closes the server's standard input. A server that
// goes on is asked to end by SIGTERM after the grace time, which restarts while
// output keeps coming but is never longer than three times itself, and its group
// is killed after another grace time. SIGINT, SIGTERM and SIGHUP are passed
// on to the group at once; what is left after the grace time is killed, and a
// second signal kills at once. Other signals that mean something to a server
// are passed on and change nothing else.
//
// A client that closes its reading end breaks the server's pipe, as it would
// without the shim. A broken standard error is drained, so that the server
// never waits for it.
//
// When the shim itself is killed, the guardian ends the server's group: a
// process that does nothing but hold a pipe to the shim. It leads the group,
// so the group's number cannot come to mean somebody else's processes while
// anybody might send a signal to it.
//
// # Concurrency
//
// A run has one thread for each stream, in blocking system calls: a byte
// waits for nothing but the next read and a recorder that is full and moving.
// Run waits for all it started, with one exception: a read that nobody can
// interrupt, of the client's standard input or of a pipe that a process out of
// reach keeps open, is left behind. It touches nothing that is in use.
//
// The package imports internal/capture, internal/redact and internal/wire and
// nothing above. It never touches os.Args, os.Exit, the standard streams of
// the process or its signal handlers other than through what it is given, and
// it never looks at what passes.
package shim
