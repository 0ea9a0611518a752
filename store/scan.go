package store

import (
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// Bodies reads frames again from their log: a *capture.Bodies.
type Bodies interface {
	Read(path string, ref capture.Ref, rec *capture.Record, buf []byte) ([]byte, error)
	Window(path string, segment int, off int64, buf []byte) (int, error)
}

// NewBodyFunc reads one frame at a time, for Query.MatchFrame. One goroutine
// uses it.
func NewBodyFunc(b Bodies) BodyFunc {
	var buf []byte
	return func(s *Session, i uint32) ([]byte, error) {
		var rec capture.Record
		var err error
		buf, err = readFrame(s, i, b, &rec, buf)
		if err != nil {
			return nil, err
		}
		return rec.Body(), nil
	}
}

// ReadFrame reads the record of a frame again from the log into rec, whose Raw
// aliases buf, which is returned, grown when needed. The error is
// capture.ErrChanged when another record stands in its place.
func ReadFrame(s *Session, i uint32, b Bodies, rec *capture.Record, buf []byte) ([]byte, error) {
	return readFrame(s, i, b, rec, buf)
}

func readFrame(s *Session, i uint32, b Bodies, rec *capture.Record, buf []byte) ([]byte, error) {
	f := s.Frame(i)
	buf, err := b.Read(s.Path, s.Ref(f), rec, buf)
	if err != nil {
		return buf, err
	}
	return buf, s.fits(f, rec)
}

// fits completes a record that was read again, or says that it is another one.
func (s *Session) fits(f *Frame, rec *capture.Record) error {
	if rec.Seq != 0 && rec.Seq != f.Seq || rec.SessionID != "" && rec.SessionID != s.ID && rec.SessionID != s.recorded {
		return fmt.Errorf("frame %d of %s: %w", f.Seq, s.ID, capture.ErrChanged)
	}
	if rec.Seq == 0 {
		rec.Seq, rec.SessionID = f.Seq, s.ID
	}
	return nil
}

// Sizes of what a scanner reads at once, in bytes: more, the more of it is used.
const (
	minWindow = 8 << 10
	maxWindow = 256 << 10
)

// scanner reads the frames of a session in the order of the log or against it,
// many with one read. One goroutine uses it.
type scanner struct {
	s    *Session
	b    Bodies
	back bool // the next frames lie before this one

	win     []byte
	segment int
	off     int64
	size    int
	buf     []byte
	rec     capture.Record
}

// reset forgets what was read: the log may have changed.
func (c *scanner) reset(back bool) { c.win, c.back = c.win[:0], back }

// release gives memory back until the next time.
func (c *scanner) release() {
	if cap(c.win) > minWindow {
		c.win = nil
	}
	if cap(c.buf) > minWindow {
		c.buf = nil
	}
	c.rec = capture.Record{}
}

// line is the log line of a frame, nil when it is not to be had that way. It
// is valid until the next call for another frame.
func (c *scanner) line(i uint32) []byte {
	f := c.s.Frame(i)
	if !c.holds(f) && !c.load(f) {
		return nil
	}
	at := f.Offset - c.off
	return c.win[at : at+int64(f.Length)]
}

func (c *scanner) holds(f *Frame) bool {
	return int(f.segment) == c.segment && f.Offset >= c.off && f.Offset+int64(f.Length) <= c.off+int64(len(c.win))
}

func (c *scanner) load(f *Frame) bool {
	start, end := f.Offset, f.Offset+int64(f.Length)
	if int(f.segment) == c.segment && start < c.off+int64(len(c.win)+c.size) && end > c.off-int64(c.size) {
		c.size = min(2*c.size, maxWindow)
	} else {
		c.size = minWindow
	}
	size := max(c.size, int(f.Length))
	if size > maxWindow {
		return false
	}
	if c.back {
		start = max(0, end-int64(size))
	}
	if cap(c.win) < size {
		c.win = make([]byte, 0, size)
	}
	n, err := c.b.Window(c.s.Path, int(f.segment), start, c.win[:size])
	c.win, c.segment, c.off = c.win[:n], int(f.segment), start
	return err == nil && c.holds(f)
}

// read gives the bytes of a frame. They are valid until the next call.
func (c *scanner) read(i uint32) ([]byte, error) {
	line := c.line(i)
	if line == nil {
		var err error
		if c.buf, err = readFrame(c.s, i, c.b, &c.rec, c.buf); err != nil {
			return nil, err
		}
		return c.rec.Body(), nil
	}
	f := c.s.Frame(i)
	if err := capture.ParseLine(line, int(f.sub), &c.rec); err != nil {
		return nil, err
	}
	if err := c.s.fits(f, &c.rec); err != nil {
		return nil, err
	}
	return c.rec.Body(), nil
}
