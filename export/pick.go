package export

import (
	"context"
	"errors"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// picked is what of a session is exported.
type picked struct {
	frames, ops bitset
	count       int // frames
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n uint32) bitset         { return make(bitset, (n+63)/64) }
func (b bitset) has(i uint32) bool      { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) add(i uint32)           { b[i/64] |= 1 << (i % 64) }
func (b bitset) addIf(i uint32, v bool) { b[i/64] |= b2u(v) << (i % 64) }

func b2u(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// has reports whether a frame is exported.
func (s *Session) has(i uint32) bool { return s.picked == nil || s.picked.frames.has(i) }

// hasOp reports whether an operation is exported.
func (s *Session) hasOp(i store.OpIndex) bool { return s.picked == nil || s.picked.ops.has(uint32(i)) }

// hasFinding reports whether a finding is about what is exported. One that is
// about no frame belongs to the session as a whole.
func (s *Session) hasFinding(f *checks.Finding) bool {
	return s.picked == nil || f.HasFrame && s.has(f.Frame)
}

// frameCount is how many frames are exported.
func (s *Session) frameCount() int64 {
	if s.picked == nil {
		return int64(s.Summary().FrameTotal())
	}
	return int64(s.picked.count)
}

// counts are the calls that are exported, by how they ended.
func (s *Session) counts() store.Counts {
	if s.picked == nil {
		return s.Summary().Calls
	}
	var c store.Counts
	for i := range s.OpLen() {
		if !s.hasOp(i) {
			continue
		}
		c.Total++
		switch s.Op(i).State {
		case store.OK:
			c.OK++
		case store.Failed:
			c.Failed++
		case store.Cancelled:
			c.Cancelled++
		case store.Pending:
			c.Pending++
		}
	}
	return c
}

// Select applies Where. It reads what frames hold only where the filter asks
// for that.
func (in *Input) Select(ctx context.Context) error {
	if in.Where.All() {
		return nil
	}
	for _, s := range in.Sessions() {
		if err := in.pick(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// pick chooses whole operations: those with a frame that matches, with all
// their retries; frames of no operation that match; and the lines of HTTP
// exchanges that carry one of these.
func (in *Input) pick(ctx context.Context, s *Session) error {
	c := store.NewCursor(s.Session, in.Where, filterBodies{in})
	defer c.Close()
	if _, err := c.Finish(ctx); err != nil {
		return err
	}
	p := &picked{frames: newBitset(s.Len()), ops: newBitset(uint32(s.OpLen()))}
	matched := newBitset(s.Len())
	for row, rows := uint32(0), []uint32(nil); row < c.Len(); row += uint32(len(rows)) {
		if rows = c.Rows(rows[:0], row, 4096); len(rows) == 0 {
			break
		}
		for _, i := range rows {
			matched.add(i)
			if op, ok := s.Frame(i).Op(); ok {
				p.ops.add(uint32(s.Root(op)))
			}
		}
	}
	for i := range s.OpLen() { // a retry stands behind what it retries
		p.ops.addIf(uint32(i), p.ops.has(uint32(s.Root(i))))
	}
	exchanges := map[uint64]bool{}
	for i := range s.Len() {
		f := s.Frame(i)
		op, ok := f.Op()
		if ok && p.ops.has(uint32(op)) || !ok && matched.has(i) {
			p.frames.add(i)
			if x := f.Exchange(); x > 0 {
				exchanges[x] = true
			}
		}
	}
	for i := range s.Len() {
		f := s.Frame(i)
		if _, ok := f.Op(); !ok && f.Kind == store.KindNone && exchanges[f.Exchange()] {
			p.frames.add(i)
		}
		p.count += int(b2u(p.frames.has(i)))
	}
	s.picked = p
	return nil
}

// filterBodies lets a filter see what will be exported.
type filterBodies struct{ in *Input }

// Read reads a frame, without its secrets.
func (b filterBodies) Read(path string, ref capture.Ref, rec *capture.Record, buf []byte) ([]byte, error) {
	buf, err := b.in.Bodies.Read(path, ref, rec, buf)
	if err == nil && b.in.Redact != nil {
		b.in.Redact(rec)
	}
	return buf, err
}

// Window reads raw bytes of the log, which hold its secrets: only where there
// are none to hide.
func (b filterBodies) Window(path string, segment int, off int64, buf []byte) (int, error) {
	if b.in.Redact != nil {
		return 0, errors.ErrUnsupported
	}
	return b.in.Bodies.Window(path, segment, off, buf)
}
