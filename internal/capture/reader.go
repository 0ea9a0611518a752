package capture

import (
	"errors"
	"io"
)

// MaxLine is the longest line of a log that is read, in bytes: a frame of
// 16 MiB fits, whatever escapes or base64 made of it. Longer ones are reported and skipped.
const MaxLine = 64 << 20

// ErrNotLog says that a file is no session log in any format that is known.
var ErrNotLog = errors.New("not a session log: expected mcpsnoop JSONL or mcp-tape v1")

// ErrEmpty says that a log holds nothing yet.
var ErrEmpty = errors.New("empty: no record in it")

// Reader reads a log once, from its beginning, in whatever known format it is
// (told by content, not by name; zstd-compressed or not). It holds one line at
// a time, at most MaxLine bytes. One goroutine uses it.
type Reader struct{}

// NewReader reads one file or stream. name is the session id for formats that
// have none of their own.
func NewReader(src io.Reader, name string) *Reader { panic("TODO") }

// OpenSession reads the log at path, segment after segment.
func OpenSession(fsys FS, path string) (*Reader, error) { panic("TODO") }

// Next fills it with the next record or problem. It returns io.EOF at the end,
// ErrEmpty for a log without any line, ErrNotLog for another file (nothing was
// given before that), or the error of reading, after which Next must not be
// called again. Lines with an unknown direction are skipped.
func (r *Reader) Next(it *Item) error { panic("TODO") }

// Format names the format of the log, once a record has been read.
func (r *Reader) Format() string { panic("TODO") }

// Close closes what OpenSession opened.
func (r *Reader) Close() error { panic("TODO") }
