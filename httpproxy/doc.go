// Package httpproxy stands between MCP clients and a server that speaks HTTP:
// it passes requests and responses on byte for byte, as they come, and hands a
// copy to a recorder. docs/TRANSPARENCY.md says what passes and how that is
// proven.
//
// # Two goroutines a connection
//
// Each client connection has an upstream connection of its own, made with its
// first request and made again when the server has closed it in between. One
// goroutine reads the client and writes to the server, the other reads the
// server and writes to the client. Both always have a read outstanding, so a
// side that goes away is noticed at once, and no byte waits for anything but
// the next read and a recorder that is full and moving. There is no pool, and
// nothing is ever sent twice: a request whose connection breaks is answered
// with 502, and trying again is the client's decision.
//
// HTTP/1 is read by this package itself, so that heads keep their order and
// spelling and no library adds to them or refuses them. A connection that
// begins with the preface of HTTP/2 is given to net/http, and its requests go
// upstream over a single net/http connection, which does not retry either.
//
// # What is recorded, and when
//
// An exchange is recorded line by line as docs/LOG_FORMAT.md says. A frame is
// given to the recorder when its last byte has been read and before that byte
// is passed on. Compressed bodies pass as they are; a copy is decoded in step
// with the bytes, so that this order holds for them too.
//
// # Memory
//
// A connection holds two read buffers of 32 KiB, which grow to the longest
// head that is let through (1 MiB), and what has been read and not yet written.
// The copy of a body or of an event is at most MaxFrame bytes, one for the
// request and one for the response of an exchange. Bodies are never held back
// and never held whole.
//
// # Authorization
//
// Where a server names itself to clients that compare, its name is changed to
// the proxy's (resource.go). Credentials that pass are remembered in memory,
// so that none gets into the record when a server sends it back
// (credential.go). docs/AUTH.md says more.
//
// # Explicit proxy
//
// With Options.Forward clients name the servers. Each MCP endpoint has a book
// of its own, with its recorder; a tunnel is read when plain HTTP begins in it
// and passed untouched when anything else does.
//
// The package imports internal/capture, internal/mcp, internal/redact and
// internal/wire; nothing above. It never follows a redirect,
// keeps no cookies, reads no environment, and never lets the value of
// Authorization or Cookie into a record or a message.
package httpproxy
