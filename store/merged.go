package store

import (
	"cmp"
	"container/heap"
	"context"
	"iter"
	"math"
	"slices"
	"time"
)

// Match is a frame of a session that a query found.
type Match struct {
	Session *Session
	Frame   uint32
}

// Merged looks at several sessions through one query, by time. Within a
// session the order is that of its log. One goroutine uses it, but for
// Advance and Finish, which another one may call meanwhile.
type Merged struct {
	q     *Query
	b     Bodies
	parts []*part
	held  bool
}

// part is one session of a Merged.
type part struct {
	c     *Cursor
	limit uint32 // frames from here on are held back
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

// Refine looks at the same sessions through another query, as Cursor.Refine
// does. m stays as it is; close both.
func (m *Merged) Refine(q *Query) *Merged {
	out := &Merged{q: q, b: m.b, held: m.held}
	for _, p := range m.parts {
		out.parts = append(out.parts, &part{c: p.c.Refine(q), limit: p.limit})
	}
	return out
}

// Add looks at one more session. Nobody advances meanwhile.
func (m *Merged) Add(s *Session) {
	p := &part{c: NewCursor(s, m.q, m.b), limit: math.MaxUint32}
	if m.held {
		p.limit = 0 // it is new
	}
	m.parts = append(m.parts, p)
}

// Remove does not look at a session any more. Nobody advances meanwhile.
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
		all.add(p)
	}
	return all, nil
}

func (p *Progress) add(o Progress) {
	p.Matched += o.Matched
	p.Seen += o.Seen
	p.Total += o.Total
	p.More = p.More || o.More
}

// Progress says how far all together are, without doing anything, as that of
// a Cursor does.
func (m *Merged) Progress() Progress {
	var all Progress
	for _, p := range m.parts {
		all.add(p.c.Progress())
	}
	return all
}

// Hold keeps the frames that come from now on out of Len, Rows and Rank, or
// lets them in.
func (m *Merged) Hold(on bool) {
	m.held = on
	for _, p := range m.parts {
		p.limit = math.MaxUint32
		if on {
			p.limit = p.c.s.Len()
		}
	}
}

// Held is how many frames are held back, whether they match or not.
func (m *Merged) Held() int {
	n := 0
	for _, p := range m.parts {
		n += int(p.c.s.Len() - min(p.c.s.Len(), p.limit))
	}
	return n
}

// All gives what was found so far, the oldest first.
func (m *Merged) All() iter.Seq[Match] {
	return func(yield func(Match) bool) {
		h := m.heads(rowsAtOnce, func(*part) uint32 { return 0 })
		for h.Len() > 0 && yield(h.take()) {
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
// logs, by time.
func byTime(list []Match) []Match {
	type timed struct {
		Match
		ts int64
	}
	all := make([]timed, len(list))
	for k, m := range list {
		all[k] = timed{m, m.Session.peak(m.Frame)}
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
	order  int
	p      *part
	atOnce int
	row    uint32
	rows   []uint32
	at     uint32
	ts     int64 // clocks that go back do not hold up the order
	begun  bool
}

func (w *walker) next() bool {
	if len(w.rows) == 0 {
		w.rows = w.p.c.Rows(w.rows[:0], w.row, w.atOnce)
		w.row += uint32(len(w.rows))
	}
	if len(w.rows) == 0 || w.rows[0] >= w.p.limit {
		return false
	}
	last := w.at
	w.at, w.rows = w.rows[0], w.rows[1:]
	if s := w.p.c.s; w.begun && last>>chunkBits == w.at>>chunkBits && last < w.at {
		w.ts = s.peakFrom(last+1, w.ts, w.at)
	} else {
		w.ts = s.peak(w.at)
	}
	w.begun = true
	return true
}

// heads is a heap of walkers by the time of their next frame.
type heads struct{ list []*walker }

// heads makes walkers that begin at a rank of each part.
func (m *Merged) heads(atOnce int, from func(*part) uint32) *heads {
	h := &heads{}
	for k, p := range m.parts {
		w := &walker{order: k, p: p, atOnce: atOnce, row: from(p)}
		if w.next() {
			h.list = append(h.list, w)
		}
	}
	heap.Init(h)
	return h
}

// take gives the next match; there is one.
func (h *heads) take() Match {
	w := h.list[0]
	out := Match{w.p.c.s, w.at}
	if w.next() {
		heap.Fix(h, 0)
	} else {
		heap.Pop(h)
	}
	return out
}

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
