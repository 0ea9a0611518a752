// Package store is the index over session logs: sessions, their frames and
// their operations, in the order of the log.
//
// A Session has one Appender, which is given the records of its log in order.
// It writes rows into chunks that never move, and publishes them together;
// any number of readers walk over what is published without a lock. Bodies are
// not kept: a row says where in the log its frame stands, and it is read again
// when somebody wants to see it. So nothing is ever released, and a frame
// costs the bytes of its Frame and its share of an Operation.
//
// It imports internal/capture, internal/mcp and internal/wire. It reads
// nothing but bodies, through a capture.Bodies that its caller opened; it
// knows no file events, no network and no screen.
package store
