package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// result is what a query finds in a session. Whoever wants it to go on calls
// advance; all who look see the same. Frames from lo to hi have been looked
// at: new ones move hi, history moves lo towards 0.
type result struct {
	s    *Session
	q    *Query
	busy chan struct{} // holds a value while somebody advances; guards what follows

	m        matcher
	scan     scanner
	lo, hi   uint32
	changeAt uint32    // of the session's changes, the next one
	markAt   uint32    // of its marks
	spanAt   []OpIndex // for each span of the query: calls before have passed it, or have ended
	queue    []uint32  // frames to look at again
	narrow   *narrowed

	mu      sync.Mutex // guards what readers see
	set     bitset
	seen    uint32
	version atomic.Uint64

	refs int // guarded by results.mu
}

// narrowed is what a wider query has found: of the frames from lo to hi, no
// others can match.
type narrowed struct {
	lo, hi uint32
	set    bitset
}

// results are the results of a session by the key of their query.
type results struct {
	mu    sync.Mutex
	byKey map[string]*result
	idle  []*result // without a viewer, the oldest first
}

// take returns the result of a query and counts its user; make makes it.
func (t *results) take(key string, make func() *result) *result {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[string]*result{}
	}
	r := t.byKey[key]
	if r == nil {
		r = make()
		t.byKey[key] = r
	}
	r.refs++
	t.idle = slices.DeleteFunc(t.idle, func(x *result) bool { return x == r })
	return r
}

// drop ends a use. A result that nobody uses is kept for a while: whoever
// deletes the last letters of a filter comes back to it.
func (t *results) drop(r *result, keep int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.refs--; r.refs > 0 {
		return
	}
	t.idle = append(t.idle, r)
	if len(t.idle) > keep {
		delete(t.byKey, t.idle[0].q.key)
		t.idle = slices.Delete(t.idle, 0, 1)
	}
}

func newResult(s *Session, q *Query, b Bodies) *result {
	r := &result{s: s, q: q, busy: make(chan struct{}, 1), spanAt: make([]OpIndex, len(q.spans))}
	r.m = matcher{s: s, memo: make([][]uint8, q.memos)}
	if b != nil {
		r.scan = scanner{s: s, b: b}
		r.m.read, r.m.line = r.scan.read, r.scan.line
	}
	r.restart()
	return r
}

// restart forgets what was found.
func (r *result) restart() {
	r.changeAt, r.markAt = r.s.changes.Len(), r.s.marks.list.Len()
	r.lo = r.s.Len()
	r.hi = r.lo
	r.queue, r.narrow = nil, nil
	clear(r.spanAt)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set, r.seen = bitset{}, 0
	r.version.Add(1)
}

// narrower makes the result of a query that implies that of old. The caller
// holds old.busy.
func (r *result) narrower(old *result) {
	if old.q.state {
		r.changeAt, r.markAt = old.changeAt, old.markAt
	}
	r.lo, r.hi = old.hi, old.hi
	n := &narrowed{lo: old.lo, hi: old.hi}
	n.set.words, n.set.counts, n.set.n = slices.Clone(old.set.words), slices.Clone(old.set.counts), old.set.n
	if w := old.narrow; w != nil {
		n.lo = w.lo
		for i := old.lo; i > w.lo; {
			at, ok := w.set.before(i, w.lo)
			if !ok {
				break
			}
			n.set.put(at, true)
			i = at
		}
	}
	for _, i := range old.queue {
		n.set.put(i, true)
	}
	if n.lo < n.hi {
		r.narrow = n
	}
}

// advance goes on until all is done or stop says so.
func (r *result) advance(ctx context.Context, stop func() bool) error {
	now := r.s.now()
	if len(r.q.spans) > 0 && now < r.m.now {
		r.restart() // the session ended before the time that it was thought to go on
	}
	r.m.now = now
	r.scan.reset(false)
	n := r.s.Len()
	done := r.changed(stop) && r.spans(stop) && r.again(stop) && r.news(n, stop)
	r.scan.reset(true)
	if done {
		r.history(stop)
	}
	r.scan.release()
	r.mu.Lock()
	r.seen = r.hi - r.lo
	r.mu.Unlock()
	return ctx.Err()
}

// checkEvery is how many frames are matched between two looks at the time.
const checkEvery = 32

// changed queues the frames of operations that have changed, and those that
// got a mark, as far as they have been looked at.
func (r *result) changed(stop func() bool) bool {
	if !r.q.state {
		return true
	}
	for c := r.s.changes.Len(); r.changeAt < c; r.changeAt++ {
		if r.changeAt%checkEvery == 0 && stop() {
			return false
		}
		r.enqueue(*r.s.changes.read(r.changeAt))
	}
	for k := r.s.marks.list.Len(); r.markAt < k; r.markAt++ {
		if i := r.s.marks.list.read(r.markAt).Frame; r.s.Frame(i).op == 0 {
			r.enqueueFrame(i)
		}
	}
	return true
}

// spans queues the calls without an end that have passed a duration of the
// query since the last time. They are taken in the order of their start.
func (r *result) spans(stop func() bool) bool {
	for k, d := range r.q.spans {
		for i := r.spanAt[k]; i < r.s.OpLen(); i++ {
			if i%checkEvery == 0 && stop() {
				return false
			}
			o := r.s.Op(i)
			age := r.m.now - o.Start
			if age < int64(d) {
				break
			}
			if o.Finish == 0 || o.next > 0 || o.prev > 0 {
				r.enqueue(i)
			}
			if age > int64(d) { // where it is equal, > turns true a moment later
				r.spanAt[k] = i + 1
			}
		}
	}
	return true
}

func (r *result) enqueue(i OpIndex) {
	r.s.related(i, func(_ OpIndex, o *Operation) {
		r.s.OpFrames(o, func(at uint32) bool {
			r.enqueueFrame(at)
			return at > r.least()
		})
	})
}

// least is the first frame that something is known of.
func (r *result) least() uint32 {
	if r.narrow != nil {
		return min(r.lo, r.narrow.lo)
	}
	return r.lo
}

func (r *result) enqueueFrame(i uint32) {
	switch {
	case r.lo <= i && i < r.hi:
		r.queue = append(r.queue, i)
	case r.narrow != nil && r.narrow.lo <= i && i < r.narrow.hi:
		r.narrow.set.put(i, true) // it may match now, and its turn comes
	}
}

// again looks at the queued frames.
func (r *result) again(stop func() bool) bool {
	for k := 0; len(r.queue) > 0; k++ {
		if k%checkEvery == 0 && stop() {
			return false
		}
		last := len(r.queue) - 1
		i := r.queue[last]
		r.queue = r.queue[:last]
		r.put(i)
	}
	r.queue = nil
	return true
}

// news looks at the frames up to n that have come.
func (r *result) news(n uint32, stop func() bool) bool {
	for ; r.hi < n; r.hi++ {
		if r.hi%checkEvery == 0 && stop() {
			return false
		}
		r.put(r.hi)
	}
	return true
}

// history looks at older frames, the newest first.
func (r *result) history(stop func() bool) {
	for k := 0; r.lo > 0; k++ {
		if k%checkEvery == 0 && stop() {
			return
		}
		i := r.lo - 1
		if w := r.narrow; w != nil && i < w.hi {
			if i < w.lo {
				r.narrow = nil
			} else if at, ok := w.set.before(r.lo, w.lo); !ok {
				r.lo = w.lo
				continue
			} else {
				i = at
			}
		}
		r.put(i)
		r.lo = i
	}
	r.narrow = nil
}

// put matches a frame. Only who holds busy writes to the set, and reads it
// without the lock.
func (r *result) put(i uint32) {
	in := r.m.match(r.q, i)
	if r.set.has(i) == in {
		return
	}
	r.mu.Lock()
	r.set.put(i, in)
	r.mu.Unlock()
	r.version.Add(1)
}

// more reports whether frames are left that were not looked at. The caller
// holds busy.
func (r *result) more() bool {
	return r.lo > 0 || r.hi < r.s.Len() || len(r.queue) > 0 || r.q.state && r.changeAt < r.s.changes.Len()
}
