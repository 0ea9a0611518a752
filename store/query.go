package store

import (
	"fmt"
	"time"
)

// Query is a compiled filter. It never changes and may be used from any goroutine.
type Query struct {
	text string
	all  bool
}

// QueryError says what is wrong with a filter and where.
type QueryError struct {
	Column int // of the mistake in characters, from 1
	Msg    string
}

// Error gives the column and what is wrong there.
func (e *QueryError) Error() string { return fmt.Sprintf("filter, column %d: %s", e.Column, e.Msg) }

// Compile reads a filter (docs: the filter language). An empty text matches
// everything. Durations in since: and until: count back from now. The error is
// a *QueryError; there is no Query then.
func Compile(text string, now time.Time) (*Query, error) { panic("TODO") }

// String is the filter in its canonical spelling: Compile of it gives the same.
func (q *Query) String() string { panic("TODO") }

// All reports whether the query matches every frame.
func (q *Query) All() bool { return q == nil || q.all }

// BodyFunc returns the bytes of a frame, as capture.Record.Body has them. They
// are valid until the next call.
type BodyFunc func(s *Session, i uint32) ([]byte, error)

// MatchFrame reports whether the frame i of s, or its operation, fits. body is
// asked only when the answer hangs on it; when it is nil or fails, the frame's
// bytes match nothing.
func (q *Query) MatchFrame(s *Session, i uint32, body BodyFunc) bool { panic("TODO") }

// Term is an entry of the table of filter words: for help and completion.
type Term struct {
	Name    string   // "tool:" or "size"
	Kind    TermKind // what may follow
	Scope   string   // "operation" or "frame"
	Values  []string // the words that may follow, for Choice
	Help    string   // what it does, in a few words
	Example string
}

// TermKind says what may follow the name of a term.
type TermKind uint8

// The kinds of terms.
const (
	Substring TermKind = iota // name:text, name:=exact
	Exact                     // name:text
	Choice                    // name:one-of-Values
	Number                    // name>3, name>=3, name<3, name<=3, name=3
	Size                      // as Number, with B KB MB GB KiB MiB GiB
	Span                      // as Number, with a duration
	Moment                    // name:time or name:duration
)

// Terms lists the words of the filter language.
func Terms() []Term { panic("TODO") }

// Completion is a way to go on typing.
type Completion struct {
	From, To int    // what Text takes the place of, in characters from 0
	Text     string // "status:" or "status:error"
	Help     string
}

// Complete gives the ways to complete the word at column (in characters, from
// 1: 1 is before the first one). Tool and method names come from sessions.
func Complete(text string, column int, sessions ...*Session) []Completion { panic("TODO") }
