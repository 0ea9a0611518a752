// Package export writes captured sessions in formats for other programs and
// other people: JSON, a log again, text, a page, HAR, OTLP, mcp-tape; and holds
// the one function that makes wire text fit to be printed.
//
// A format is one entry of a table and one function that gets an Input and a
// writer. An Input has the sessions, indexed, and the records of their logs:
// Records walks over all of them once, merged by time, holding one record a
// log; Body reads a single frame again. So formats stream: memory does not
// grow with the bodies, and what they need to know ahead of a frame (its call,
// its answer) is in the index.
//
// Select chooses a part: whole operations. Redactor takes secrets out of each
// record, the same way wherever it is read.
//
// It imports store, checks, export/web, internal/otlp, internal/capture,
// internal/redact, internal/mcp and internal/wire. It opens no file and no connection itself, keeps no
// state between exports, and never changes a log.
package export
