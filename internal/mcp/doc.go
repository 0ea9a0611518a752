// Package mcp holds the facts of the Model Context Protocol as tables:
// revisions, methods and who may send them, error codes, metadata keys,
// headers. It decides nothing; rooms above look things up here.
//
// It imports nothing of ours, holds no state and does no I/O. Each table names
// the section of the specification that it was read from.
package mcp
