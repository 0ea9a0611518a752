package store

import (
	"cmp"
	"container/heap"
	"context"
	"iter"
	"slices"
	"time"
)

// Match is a frame of a session that a query found.
type Match struct {
	Session *Session
	Frame   uint32
}

// Merged looks at several sessions through one query, by time. Within a
// session the order is that of its log. One goroutine uses it.
type Merged struct {
	q     *Query
	b     Bodies
	parts []*part
}

// part is one session of a Merged.
type part struct {
	c     *Cursor
	given bitset // what Fresh has given
	done  uint64 // version of the cursor that Fresh has seen
	begun bool
}

// NewMerged looks at sessions through q, as NewCursor does. Close it.
func NewMerged(sessions []*Session, q *Query, b Bodies) *Merged {
	m := &Merged{q: q, b: b}
	for _, s := range sessions {
		m.Add(s)
	}
	return m
}

// Add looks at one more session.
func (m *Merged) Add(s *Session) { m.parts = append(m.parts, &part{c: NewCursor(s, m.q, m.b)}) }

// Remove does not look at a session any more.
func (m *Merged) Remove(s *Session) {
	m.parts = slices.DeleteFunc(m.parts, func(p *part) bool {
		if p.c.s == s {
			p.c.Close()
		}
		return p.c.s == s
	})
}

// Advance matches for about the time of budget, shared by the sessions. The
// progress is that of all together.
func (m *Merged) Advance(ctx context.Context, budget time.Duration) (Progress, error) {
	start := time.Now()
	return m.advance(ctx, func() bool { return time.Since(start) >= budget || ctx.Err() != nil })
}

// Finish advances until all is done or ctx ends.
func (m *Merged) Finish(ctx context.Context) (Progress, error) {
	for {
		p, err := m.advance(ctx, func() bool { return ctx.Err() != nil })
		if err != nil || !p.More {
			return p, err
		}
	}
}

func (m *Merged) advance(ctx context.Context, stop func() bool) (Progress, error) {
	var all Progress
	for _, part := range m.parts {
		p, err := part.c.advance(ctx, stop)
		if err != nil {
			return all, err
		}
		all.Matched += p.Matched
		all.Seen += p.Seen
		all.Total += p.Total
		all.More = all.More || p.More
	}
	return all, nil
}

// All gives what was found so far, the oldest first.
func (m *Merged) All() iter.Seq[Match] {
	return func(yield func(Match) bool) {
		h := &heads{}
		for k, p := range m.parts {
			w := &walker{order: k, c: p.c}
			if w.next() {
				h.list = append(h.list, w)
			}
		}
		heap.Init(h)
		for len(h.list) > 0 {
			w := h.list[0]
			if !yield(Match{w.c.s, w.at}) {
				return
			}
			if w.next() {
				heap.Fix(h, 0)
			} else {
				heap.Pop(h)
			}
		}
	}
}

// Fresh gives what was found since it was called last, the oldest first. A
// frame is given once, also when it left the result meanwhile and came back.
func (m *Merged) Fresh() []Match {
	var out []Match
	for _, p := range m.parts {
		v := p.c.Version()
		if p.begun && v == p.done {
			continue
		}
		p.begun, p.done = true, v
		var rows []uint32
		from, all := uint32(0), p.c.r == nil
		if all {
			from = p.given.n // nothing ever comes in between
		}
		for {
			if rows = p.c.Rows(rows[:0], from, rowsAtOnce); len(rows) == 0 {
				break
			}
			for _, i := range rows {
				if !p.given.has(i) {
					p.given.put(i, true)
					out = append(out, Match{p.c.s, i})
				}
			}
			from += uint32(len(rows))
		}
	}
	return byTime(out)
}

// byTime sorts matches, which stand session by session in the order of the
// logs, by time, and keeps the order of each log where its clock went back.
func byTime(list []Match) []Match {
	type timed struct {
		Match
		ts int64
	}
	all := make([]timed, len(list))
	for k, m := range list {
		all[k] = timed{m, m.Session.Frame(m.Frame).TS}
		if k > 0 && m.Session == list[k-1].Session {
			all[k].ts = max(all[k].ts, all[k-1].ts)
		}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.ts, b.ts) })
	for k := range all {
		list[k] = all[k].Match
	}
	return list
}

// Close gives up the share of all results.
func (m *Merged) Close() {
	for _, p := range m.parts {
		p.c.Close()
	}
	m.parts = nil
}

const rowsAtOnce = 512

// walker goes over the result of one session.
type walker struct {
	order int
	c     *Cursor
	row   uint32
	rows  []uint32
	at    uint32
	ts    int64
}

func (w *walker) next() bool {
	if len(w.rows) == 0 {
		w.rows = w.c.Rows(w.rows[:0], w.row, rowsAtOnce)
		w.row += uint32(len(w.rows))
	}
	if len(w.rows) == 0 {
		return false
	}
	w.at, w.rows = w.rows[0], w.rows[1:]
	w.ts = max(w.ts, w.c.s.Frame(w.at).TS) // clocks that go back do not hold up the order
	return true
}

// heads is a heap of walkers by the time of their next frame.
type heads struct{ list []*walker }

func (h *heads) Len() int      { return len(h.list) }
func (h *heads) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *heads) Push(x any)    { h.list = append(h.list, x.(*walker)) }

func (h *heads) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h.list[i].ts, h.list[j].ts), cmp.Compare(h.list[i].order, h.list[j].order)) < 0
}

func (h *heads) Pop() any {
	last := len(h.list) - 1
	w := h.list[last]
	h.list = h.list[:last]
	return w
}

// Hit is a session in which a search found something. The cursor is done and
// stays open until the next hit.
type Hit struct {
	Session *Session
	Cursor  *Cursor
}

// Search looks for a query in all sessions, one after the other, those with
// the newest lines first, and gives those that have a matching frame. It ends
// with the error of ctx when that ends.
func (st *Store) Search(ctx context.Context, q *Query, b Bodies) iter.Seq2[Hit, error] {
	sessions := slices.Clone(st.Sessions())
	slices.SortStableFunc(sessions, func(x, y *Session) int { return y.Summary().Newest.Compare(x.Summary().Newest) })
	return func(yield func(Hit, error) bool) {
		for _, s := range sessions {
			c := NewCursor(s, q, b)
			p, err := c.Finish(ctx)
			goOn := err == nil
			if err != nil {
				yield(Hit{}, err)
			} else if p.Matched > 0 {
				goOn = yield(Hit{s, c}, nil)
			}
			c.Close()
			if !goOn {
				return
			}
		}
	}
}
