package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Input is what is exported. It is read by one format at a time.
type Input struct {
	Logs    []Log
	Bodies  *capture.Bodies
	Version string // of this program

	// Redact takes secrets out of a record; nil when all is written as it is.
	// The index and the findings have been made of what it returns.
	Redact func(*capture.Record)

	// Where chooses what is exported: the operations of which it matches a
	// frame, each as a whole, and single frames that belong to none. nil
	// chooses everything. Select applies it, before anything is written.
	Where *store.Query

	// Progress is told how many bytes of the logs were read while a format is
	// written; nil for nobody.
	Progress func(bytes int)
}

// Log is a file that was indexed, with the sessions in it.
type Log struct {
	Name     string
	Open     func() (*capture.Reader, error) // from its beginning
	Sessions []*Session
}

// Session is one session of an export.
type Session struct {
	*store.Session
	From     string // path of its log, "-" for standard input
	Findings []*checks.Finding

	picked *picked                      // nil for everything
	marks  map[uint32][]*checks.Finding // features on their way out, by frame
}

// until is the end of what is known of a session: calls without an answer have
// waited until then. It is no clock's time, so that exports of one log agree.
func (s *Session) until() time.Time { return s.Summary().Newest }

// Sessions lists the sessions of all logs.
func (in *Input) Sessions() []*Session {
	var all []*Session
	for _, l := range in.Logs {
		all = append(all, l.Sessions...)
	}
	return all
}

// Entry is a record of a log with what the index knows about it. It is valid
// until the next one.
type Entry struct {
	Session *Session
	Rec     *capture.Record
	Line    int
	Frame   *store.Frame // nil for meta and end lines
	Index   uint32       // of Frame
}

// Records calls fn for all records of all logs: each log in its own order, and
// between logs the earlier record first. Frames that came after the log was
// indexed are left out.
func (in *Input) Records(ctx context.Context, fn func(*Entry) error) error {
	var heads []*head
	defer func() {
		for _, h := range heads {
			h.reader.Close()
		}
	}()
	for i := range in.Logs {
		h, err := newHead(&in.Logs[i], in)
		if err != nil {
			return err
		}
		heads = append(heads, h)
	}
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var next *head
		for _, h := range heads {
			if h.ok && (next == nil || h.entry.Rec.TS.Before(next.entry.Rec.TS)) {
				next = h
			}
		}
		if next == nil {
			return nil
		}
		if err := fn(&next.entry); err != nil {
			return err
		}
		if err := next.advance(); err != nil {
			return err
		}
	}
}

// head is the next record of one log.
type head struct {
	log    *Log
	reader *capture.Reader
	redact func(*capture.Record)

	progress func(int)

	byID  map[string]*Session
	given map[*Session]uint32 // frames so far
	item  capture.Item
	entry Entry
	ok    bool
}

func newHead(l *Log, in *Input) (*head, error) {
	r, err := l.Open()
	if err != nil {
		return nil, err
	}
	h := &head{log: l, reader: r, redact: in.Redact, progress: in.Progress, byID: map[string]*Session{}, given: map[*Session]uint32{}}
	for _, s := range l.Sessions {
		h.byID[s.ID] = s
	}
	return h, h.advance()
}

// advance reads on to the next record that is part of the export.
func (h *head) advance() error {
	h.ok = false
	for {
		err := h.reader.Next(&h.item)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s again: %w", h.log.Name, err)
		}
		if h.progress != nil {
			h.progress(h.item.Ref.Length)
		}
		if h.item.Problem == nil && h.place() {
			h.ok = true
			return nil
		}
	}
}

// place finds the row of the record in the index. Rows are made in the order
// of the log, one for each frame.
func (h *head) place() bool {
	rec := &h.item.Record
	s := h.byID[rec.SessionID]
	if s == nil {
		return false
	}
	if rec.Direction == capture.End && !s.Summary().Ended {
		return false
	}
	h.entry = Entry{Session: s, Rec: rec, Line: h.item.Line}
	if rec.Direction.IsFrame() {
		i := h.given[s]
		if i >= s.Len() {
			return false
		}
		h.given[s] = i + 1
		h.entry.Frame, h.entry.Index = s.Frame(i), i
		if !s.has(i) {
			return false
		}
	}
	if h.redact != nil {
		h.redact(rec)
	}
	return true
}
