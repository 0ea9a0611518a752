package store

import (
	"context"
	"time"
)

// Cursor is a viewer's view of the frames of one session that match a query,
// in the order of the log. What it finds is shared with all cursors of the
// same session and query, and costs about one bit for each frame of the
// session, once. Safe for concurrent use.
type Cursor struct {
	s *Session
	b Bodies
	r *result // nil where everything matches
}

// NewCursor looks at s through q; nil matches everything. b may be nil: bytes
// of frames match nothing then. Nothing is matched before Advance. Close it.
func NewCursor(s *Session, q *Query, b Bodies) *Cursor {
	c := &Cursor{s: s, b: b}
	if !q.All() {
		c.r = s.results.take(q.key, func() *result { return newResult(s, q, b) })
	}
	return c
}

// Refine gives a cursor for another query of the same session. Where q only
// narrows the query of c, frames that c has refused are not looked at again.
// c stays as it is; close both.
func (c *Cursor) Refine(q *Query) *Cursor {
	if c.r == nil || q.All() || !q.implies(c.r.q) || q.key == c.r.q.key {
		return NewCursor(c.s, q, c.b)
	}
	c.r.busy <- struct{}{}
	defer func() { <-c.r.busy }()
	return &Cursor{s: c.s, b: c.b, r: c.s.results.take(q.key, func() *result {
		r := newResult(c.s, q, c.b)
		r.narrower(c.r)
		return r
	})}
}

// Session is what the cursor looks at.
func (c *Cursor) Session() *Session { return c.s }

// Query is what it looks for; nil matches everything.
func (c *Cursor) Query() *Query {
	if c.r == nil {
		return nil
	}
	return c.r.q
}

// Progress says how far a cursor is.
type Progress struct {
	Matched uint32 // frames found so far
	Seen    uint32 // frames looked at
	Total   uint32 // frames of the session
	More    bool   // there are frames to look at
}

// Advance matches for about the time of budget: first what is new or has
// changed, then history from the newest frame to the oldest. It returns early
// when all is done, and the error of ctx when that ends. While another viewer
// of the same result advances, it waits for the other's part.
func (c *Cursor) Advance(ctx context.Context, budget time.Duration) (Progress, error) {
	start := time.Now()
	return c.advance(ctx, func() bool { return time.Since(start) >= budget || ctx.Err() != nil })
}

// Finish advances until all is done or ctx ends.
func (c *Cursor) Finish(ctx context.Context) (Progress, error) {
	for {
		p, err := c.advance(ctx, func() bool { return ctx.Err() != nil })
		if err != nil || !p.More {
			return p, err
		}
	}
}

func (c *Cursor) advance(ctx context.Context, stop func() bool) (Progress, error) {
	if c.r == nil {
		return c.Progress(), ctx.Err()
	}
	select {
	case c.r.busy <- struct{}{}:
	case <-ctx.Done():
		return c.Progress(), ctx.Err()
	}
	err := c.r.advance(ctx, stop)
	p := c.Progress()
	p.More = c.r.more()
	<-c.r.busy
	return p, err
}

// Progress says how far the cursor is, without doing anything. More tells of
// frames only; Advance knows better.
func (c *Cursor) Progress() Progress {
	n := c.s.Len()
	if c.r == nil {
		return Progress{n, n, n, false}
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return Progress{c.r.set.n, c.r.seen, n, c.r.seen < n}
}

// Version changes whenever the result does.
func (c *Cursor) Version() uint64 {
	if c.r == nil {
		return uint64(c.s.Len())
	}
	return c.r.version.Load()
}

// Len is the number of frames found so far.
func (c *Cursor) Len() uint32 { return c.Progress().Matched }

// Rows appends the frame indexes from rank row on, at most n, to dst.
func (c *Cursor) Rows(dst []uint32, row uint32, n int) []uint32 {
	if c.r == nil {
		for i := row; i < c.s.Len() && n > 0; i++ {
			dst = append(dst, i)
			n--
		}
		return dst
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return c.r.set.rows(dst, row, n)
}

// Rank is the number of found frames before frame i, and whether i is found.
func (c *Cursor) Rank(i uint32) (row uint32, found bool) {
	if c.r == nil {
		return min(i, c.s.Len()), i < c.s.Len()
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return c.r.set.rank(i), c.r.set.has(i)
}

// Close gives up the cursor's share of the result. The cursor is not used
// after that.
func (c *Cursor) Close() {
	if c.r != nil {
		c.s.results.drop(c.r, c.s.names.limits.Results)
	}
}
