package export

import (
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Windows of a log that a bodyReader keeps: a request and its answer stand
// near each other as a rule, and calls are visited in the order of the log.
const (
	windows    = 4
	windowSize = 512 << 10 // bytes
)

// bodyReader reads frames again, in about the order of the log, with few reads
// of the file. What it gives is valid until the next but one read.
type bodyReader struct {
	in     *Input
	lines  capture.Lines
	slots  [windows]window
	clock  int
	copies [4][]byte // of redacted bodies, and of frames that fit no window
	turn   int
	calls  bool // the format is written call by call: what is read here is its progress
}

// window is a piece of a segment.
type window struct {
	path    string
	segment int
	off     int64
	b       []byte
	buf     []byte
	used    int
}

func newBodyReader(in *Input) *bodyReader { return &bodyReader{in: in} }

// read reads the record of frame i.
func (r *bodyReader) read(s *Session, i uint32, rec *capture.Record) error {
	f := s.Frame(i)
	ref := s.Ref(f)
	if r.calls && r.in.Progress != nil {
		r.in.Progress(ref.Length)
	}
	ok := false
	if line := r.line(s.Path, ref); line != nil {
		ok = r.lines.Parse(line, ref.Sub, rec) == nil
	}
	if !ok {
		r.turn = (r.turn + 1) % len(r.copies)
		var err error
		if r.copies[r.turn], err = r.in.Bodies.Read(s.Path, ref, rec, r.copies[r.turn]); err != nil {
			return fmt.Errorf("read frame #%d again: %w", f.Seq, err)
		}
	}
	if rec.Seq == 0 {
		rec.Seq = f.Seq
	}
	if rec.Seq != f.Seq {
		return fmt.Errorf("read frame #%d again: %w", f.Seq, capture.ErrChanged)
	}
	if r.in.Redact != nil {
		r.in.Redact(rec)
		if rec.Raw != nil {
			r.turn = (r.turn + 1) % len(r.copies)
			r.copies[r.turn] = append(r.copies[r.turn][:0], rec.Raw...)
			rec.Raw = r.copies[r.turn]
		}
	}
	return nil
}

// line gives the bytes of a line, nil when it fits no window or cannot be read.
func (r *bodyReader) line(path string, ref capture.Ref) []byte {
	if ref.Length > windowSize || ref.Length < 0 {
		return nil
	}
	r.clock++
	oldest := &r.slots[0]
	for k := range r.slots {
		w := &r.slots[k]
		if w.path == path && w.segment == ref.Segment && ref.Offset >= w.off && ref.Offset+int64(ref.Length) <= w.off+int64(len(w.b)) {
			w.used = r.clock
			from := int(ref.Offset - w.off)
			return w.b[from : from+ref.Length : from+ref.Length]
		}
		if w.used < oldest.used {
			oldest = w
		}
	}
	w := oldest
	if w.buf == nil {
		w.buf = make([]byte, windowSize)
	}
	n, _ := r.in.Bodies.Window(path, ref.Segment, ref.Offset, w.buf) // the error of a short read shows when the line is read by itself
	w.path, w.segment, w.off, w.b, w.used = path, ref.Segment, ref.Offset, w.buf[:n], r.clock
	if n < ref.Length {
		w.path, w.b = "", nil
		return nil
	}
	return w.b[:ref.Length:ref.Length]
}

// record reads a frame for code that has the session of the store.
func (r *bodyReader) record(s *store.Session, i uint32) (capture.Record, error) {
	var rec capture.Record
	err := r.read(&Session{Session: s}, i, &rec)
	return rec, err
}
