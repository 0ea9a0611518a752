package store

import (
	"context"
	"time"
)

// Cursor is a viewer's view of the frames of one session that match a query,
// in the order of the log. What it finds is shared with all cursors of the
// same session and query and costs at most 4 bytes a frame once. Safe for concurrent use.
type Cursor struct{}

// NewCursor looks at s through q; nil matches everything. Nothing is matched
// before Advance. Close it.
func NewCursor(s *Session, q *Query, body BodyFunc) *Cursor { panic("TODO") }

// Refine gives a cursor for another query of the same session. Where q only
// narrows the query of c, frames that c has refused are not looked at again.
// c stays as it is; close both.
func (c *Cursor) Refine(q *Query) *Cursor { panic("TODO") }

// Progress says how far a cursor is.
type Progress struct {
	Matched uint32 // frames found so far
	Seen    uint32 // frames looked at
	Total   uint32 // frames of the session
	More    bool   // there are frames that were not looked at
}

// Advance matches for about the time of budget: first what is new or has
// changed, then history from the newest frame to the oldest. It returns early
// when all is done, and the error of ctx when that ends.
func (c *Cursor) Advance(ctx context.Context, budget time.Duration) (Progress, error) {
	panic("TODO")
}

// Progress says how far the cursor is, without doing anything.
func (c *Cursor) Progress() Progress { panic("TODO") }

// Version changes whenever the result does.
func (c *Cursor) Version() uint64 { panic("TODO") }

// Len is the number of frames found so far.
func (c *Cursor) Len() uint32 { panic("TODO") }

// Rows appends the frame indexes from rank row on, at most n, to dst.
func (c *Cursor) Rows(dst []uint32, row uint32, n int) []uint32 { panic("TODO") }

// Rank is the number of found frames before frame i, and whether i is found.
func (c *Cursor) Rank(i uint32) (row uint32, found bool) { panic("TODO") }

// Close gives up the cursor's share of the result.
func (c *Cursor) Close() { panic("TODO") }
