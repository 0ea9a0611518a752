// Package play sends captured calls again.
//
// Prepare makes a Call of an operation of a session: the request as it stood in
// the log, what its client had said of itself, and the answer that was recorded.
// It refuses what cannot be sent as it was: a request that was cut, one in which
// redaction hid a value. Dial starts a server, or reaches one at an address that
// the user named, with the life cycle of the call's revision; Conn.Send sends
// one call and gives its answer.
//
// A command runs as a copy of its own: in its own process group, with nothing of
// the recorder around it, and nothing is left of it after Close. An address is
// dialled as it was named: no redirect is followed, and no credential is sent
// that the user did not give.
//
// What a server sends is bounded in length and time. The package shows nothing,
// writes no file and reads no environment but what names an HTTP proxy; the
// caller gives it the frames of the log, the clock and the environment of the
// process that is started. It imports store, capture, redact, mcp and wire and
// nothing above.
package play
