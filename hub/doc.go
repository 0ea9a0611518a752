// Package hub finds sessions and follows them: it watches sources of logs and
// feeds what they give into one store.Store, which any number of viewers read.
//
// A Source gives the records of logs. The Directory is one: it lists a folder,
// shows what it finds from the ends of the logs at once, indexes them in the
// background and follows those that grow. Events of the file system only make
// it look sooner; what counts is a listing and a read. Viewers are told that
// something changed, never what, and pull what they show.
//
// It imports store, checks, export, internal/capture, internal/mcp and
// internal/wire. It only reads: it never writes to a log, never holds a lock
// on one, and any number of hubs may run at the same time. It knows no screen.
package hub
