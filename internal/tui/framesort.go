package tui

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// sortBy sorts by a column; the order of the log comes back with 0.
func (v *frameView) sortBy(letter byte, down bool) {
	v.by, v.down, v.sorted = letter, down, time.Time{}
	if letter == 0 {
		v.order = nil
	}
}

// resort makes the order anew, beside Update, when there is more to sort. It
// takes a longer pause the longer it takes.
func (v *frameView) resort() tea.Cmd {
	if v.by == 0 || v.sorting || v.s == nil {
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
	if !v.sorted.IsZero() && len(v.order) == want {
		return nil
	}
	v.sorting = true
	if early := v.stale - time.Since(v.sorted); early > 0 && !v.sorted.IsZero() {
		return v.m.work(func(context.Context) done {
			v.m.sleep(early)
			return func(*Model) tea.Cmd {
				v.sorting, v.stale = false, 0
				return v.resort()
			}
		})
	}
	s, c, by, down := v.s, v.cursor, v.by, v.down
	return v.m.work(func(context.Context) done {
		start := time.Now()
		var frames []uint32
		if c != nil {
			frames = c.Rows(nil, 0, want)
		} else {
			frames = make([]uint32, want)
			for i := range frames {
				frames[i] = uint32(i)
			}
		}
		sortFrames(s, frames, by, down)
		took := time.Since(start)
		return func(m *Model) tea.Cmd {
			v.sorting = false
			if v.s != s || v.by != by || v.down != down || v.cursor != c {
				return v.resort()
			}
			v.order, v.sorted, v.stale = frames, time.Now(), max(time.Second, 20*took)
			return m.top().refresh()
		}
	})
}

// sortFrames sorts frames of s by a column, equal ones in the order of the log.
func sortFrames(s *store.Session, frames []uint32, by byte, down bool) {
	type keyed struct {
		n     int64
		t     string
		frame uint32
	}
	keys := make([]keyed, len(frames))
	for i, f := range frames {
		n, t := sortKey(s, f, by)
		keys[i] = keyed{n, t, f}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		if down {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.t, b.t))
	})
	for i := range keys {
		frames[i] = keys[i].frame
	}
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
