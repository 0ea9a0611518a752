// Package cli is the command line of mcpsnoop: one file a command, and the
// few things that commands have in common.
//
// A command is a function that makes a cobra command out of an App, an options
// struct that its flags fill in, and a run function that does the work with
// nothing but those two. So the same command runs in a terminal, over SSH and
// in a test: arguments, environment, streams, clock and the places of files
// all come from App, and an exit code is all that goes back.
//
// # What is printed where
//
// Results go to App.Out and nothing else does. What a person should know
// beside them goes to App.Err, each line behind "mcpsnoop: ". Errors are made
// where they happen, wrapped on the way up, and shown once, by App.Run: lower
// case, what was tried: why: what to do, in one or two lines. Wire text passes
// export.Safe before it is printed as text.
//
// # Exit codes
//
// exitCode is the one place that turns errors into numbers: 0 done, 1 it ran
// and found something, 2 it did not run. The shim ends as its server did.
//
// The package may import every other one of this module: it is where they are
// put together. It never reads os.Args, the environment or the standard
// streams of the process other than through App; Main fills that in.
package cli
