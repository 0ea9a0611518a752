package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// frameView says which frames of a session are shown, and in which order:
// all, those that a filter lets through, or one of these sorted.
type frameView struct {
	m       *Model
	s       *store.Session
	text    string        // the filter as it was typed
	cursor  *store.Cursor // nil without a filter
	running *store.Cursor // the one that is being advanced beside Update
	matched uint64        // version of the session that was matched to the end
	limit   uint32        // frames from here on are held back
	limited bool
	folds   bool // of a run of like notifications only the first one is shown

	by      byte // sorted by this column, 0 for the order of the log
	down    bool
	order   []uint32
	sorting resorter
	buf     []uint32
}

// look turns to another session.
func (v *frameView) look(s *store.Session) {
	text, folds := v.text, v.folds
	v.close()
	*v = frameView{m: v.m, s: s, folds: folds}
	if text != "" || folds {
		v.restore(text)
	}
}

func (v *frameView) close() {
	v.giveUp(v.cursor)
	v.cursor = nil
}

// giveUp closes a cursor, or leaves that to the work that still uses it.
func (v *frameView) giveUp(c *store.Cursor) {
	if c != nil && c != v.running {
		c.Close()
	}
}

// filter shows what text lets through; the mistake is returned when there is one.
func (v *frameView) filter(text string) *store.QueryError {
	if v.s == nil {
		v.text = text
		return nil
	}
	q, wrong := compileFilter(text, v.m.now())
	if wrong != nil {
		return wrong
	}
	all := q.All()
	if v.folds {
		q = foldRuns(text, q, v.m.now())
	}
	old := v.cursor
	switch {
	case q.All():
		v.cursor = nil
	case old != nil:
		v.cursor = old.Refine(q)
	default:
		v.cursor = store.NewCursor(v.s, q, v.m.src.Bodies())
	}
	v.giveUp(old)
	v.matched = 0
	v.text = text
	if all {
		v.text = ""
	}
	v.order, v.sorting.last = nil, time.Time{}
	return nil
}

// restore goes back to a filter that was in force before, or to none.
func (v *frameView) restore(text string) {
	if v.filter(text) != nil && text != "" {
		v.restore("") // it no longer compiles
	}
}

// step is how long one step of background work takes at most.
const step = 20 * time.Millisecond

// advance goes on with what takes longer than a redraw may.
func (v *frameView) advance() tea.Cmd { return tea.Batch(v.match(), v.resort()) }

// match lets the cursor look at frames, step by step beside Update.
func (v *frameView) match() tea.Cmd {
	c := v.cursor
	if c == nil || v.running != nil || !v.unmatched() {
		return nil
	}
	v.running = c
	version := v.s.Version()
	return v.m.work(func(ctx context.Context) done {
		p, err := c.Advance(ctx, step)
		return func(m *Model) tea.Cmd {
			if v.running == c {
				v.running = nil
			}
			if v.cursor != c {
				c.Close() // it was given up meanwhile
				return v.match()
			}
			if err == nil && !p.More {
				v.matched = version
			}
			return m.top().refresh()
		}
	})
}

// unmatched reports whether there is something that the filter has not seen:
// new frames, or calls that have gone on.
func (v *frameView) unmatched() bool {
	return v.matched == 0 || v.matched != v.s.Version() || v.cursor.Progress().More
}

// progress says how far the filter is, and whether it still works.
func (v *frameView) progress() (store.Progress, bool) {
	if v.cursor == nil {
		return store.Progress{}, false
	}
	p := v.cursor.Progress()
	return p, p.More || v.matched == 0
}

// hold keeps what comes from now on out of the list, or lets it in.
func (v *frameView) hold(on bool) {
	v.limited = on
	if on {
		v.limit = v.s.Len()
	}
}

// hidden is how many frames are held back.
func (v *frameView) hidden() uint32 {
	if !v.limited {
		return 0
	}
	return v.s.Len() - v.limit
}

// len is the number of rows.
func (v *frameView) len() int {
	switch {
	case v.s == nil:
		return 0
	case v.order != nil:
		return len(v.order)
	case v.cursor != nil && v.limited:
		n, _ := v.cursor.Rank(v.limit)
		return int(n)
	case v.cursor != nil:
		return int(v.cursor.Len())
	case v.limited:
		return int(v.limit)
	}
	return int(v.s.Len())
}

// rows are the frames of n rows from row on. The slice is used again.
func (v *frameView) rows(row, n int) []uint32 {
	v.buf = v.buf[:0]
	n = min(n, v.len()-row)
	if n <= 0 || row < 0 {
		return nil
	}
	switch {
	case v.order != nil:
		return v.order[row : row+n]
	case v.cursor != nil:
		v.buf = v.cursor.Rows(v.buf, uint32(row), n)
	default:
		for i := range n {
			v.buf = append(v.buf, uint32(row+i))
		}
	}
	return v.buf
}

// at is the frame of a row.
func (v *frameView) at(row int) uint32 {
	if v.order == nil && v.cursor == nil {
		return uint32(row)
	}
	if r := v.rows(row, 1); len(r) > 0 {
		return r[0]
	}
	return 0
}

// reader gives the frames of rows as they stand now, to one goroutine beside
// Update.
func (v *frameView) reader() func(row int) uint32 {
	order, c := v.order, v.cursor
	var buf []uint32
	return func(row int) uint32 {
		switch {
		case order != nil:
			return order[row]
		case c != nil:
			if buf = c.Rows(buf[:0], uint32(row), 1); len(buf) == 0 {
				return 0
			}
			return buf[0]
		}
		return uint32(row)
	}
}

// rank is the row of a frame; of one that is not shown, where it would stand.
func (v *frameView) rank(frame uint32) (row int, found bool) {
	switch {
	case v.order != nil:
		i := slices.Index(v.order, frame)
		return max(i, 0), i >= 0
	case v.cursor != nil:
		n, ok := v.cursor.Rank(frame)
		return int(n), ok
	}
	return int(frame), int(frame) < v.len()
}
