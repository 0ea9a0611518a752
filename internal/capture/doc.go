// Package capture is the session log in code: what a record is, how it is
// written, read and followed (docs/LOG_FORMAT.md).
//
// A Recorder takes frames from the data path without making it wait, and
// writes them through a Writer: whole lines, in the order in which the frames
// were passed on. A Reader reads a log once, a Tailer follows it; both give
// Records with their place in the file, so that a body can be read again.
//
// It imports internal/redact and internal/wire and nothing above. It never
// interprets MCP, keeps no index, and never writes to a log that it reads.
package capture
