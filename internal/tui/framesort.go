package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// sortBy sorts by a column; the order of the log comes back with 0.
func (v *frameView) sortBy(letter byte, down bool) {
	v.by, v.down, v.sorting.last = letter, down, time.Time{}
	if letter == 0 {
		v.order = nil
	}
}

// resort makes the order anew when there is more to sort.
func (v *frameView) resort() tea.Cmd {
	if v.by == 0 || v.sorting.busy || v.s == nil {
		return nil
	}
	limit := v.s.Len()
	if v.limited {
		limit = v.limit
	}
	want := int(limit)
	if v.cursor != nil {
		n, _ := v.cursor.Rank(limit)
		want = int(n)
	}
	if !v.sorting.last.IsZero() && len(v.order) == want {
		return nil
	}
	return v.sorting.run(v.m, func() (sort func(), take func() bool) {
		s, c, by, down := v.s, v.cursor, v.by, v.down
		var frames []uint32
		sort = func() {
			frames = rowsOf(c, want)
			sortByKey(frames, down, func(_ int, f uint32) (int64, string) { return sortKey(s, f, by) })
		}
		take = func() bool {
			if v.s != s || v.by != by || v.down != down || v.cursor != c {
				return false
			}
			v.order = frames
			return true
		}
		return sort, take
	}, v.resort)
}

// rowsOf are the first n frames that a cursor has found, of all of them without one.
func rowsOf(c *store.Cursor, n int) []uint32 {
	if c != nil {
		return c.Rows(nil, 0, n)
	}
	frames := make([]uint32, n)
	for i := range frames {
		frames[i] = uint32(i)
	}
	return frames
}

// sortKey is what a frame is sorted by.
func sortKey(s *store.Session, i uint32, by byte) (int64, string) {
	f := s.Frame(i)
	var op *store.Operation
	if at, ok := f.Op(); ok {
		op = s.Op(at)
	}
	switch by {
	case 'D':
		if op == nil || f.Kind != store.KindRequest {
			return -1, ""
		}
		return durationKey(op), ""
	case 'Z':
		return int64(f.Size), ""
	case 'K':
		return int64(f.Kind), ""
	case 'S':
		return statusKey(f, op), ""
	case 'I':
		if op == nil {
			return 0, ""
		}
		return int64(len(op.ID)), string(op.ID)
	case 'W':
		if op != nil {
			return 0, s.Method(f) + " " + s.OpName(op)
		}
		return 0, s.Method(f)
	}
	return int64(f.Seq), ""
}

// durationKey puts what still runs above what has ended.
func durationKey(op *store.Operation) int64 {
	if op.State == store.Pending {
		return 1<<62 - op.Start>>1
	}
	return op.Finish - op.Start
}

// statusKey puts the worst last, so that sorting downwards shows it first.
func statusKey(f *store.Frame, op *store.Operation) int64 {
	switch {
	case f.Kind == store.KindInvalid:
		return 6
	case f.Status >= 400:
		return 5
	case op == nil:
		return 0
	case op.State == store.Failed:
		return 4
	case op.State == store.Pending:
		return 3
	case op.State == store.Cancelled:
		return 2
	}
	return 1
}
