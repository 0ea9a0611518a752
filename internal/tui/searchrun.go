package tui

import (
	"context"
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// What of a search over all sessions is shown at most: frames of one session,
// and of all of them. What is beyond is counted.
const (
	maxFoundInOne = 50
	maxFound      = 2000
)

// hitGroup is what was found in one session.
type hitGroup struct {
	s      *store.Session
	total  uint32   // frames found
	frames []uint32 // the newest of them, in the order of the log
	whole  bool     // all of the session was looked at
	folded bool
}

// searcher looks for a query in one session after the other. One goroutine
// uses it at a time.
type searcher struct {
	q      *store.Query
	bodies store.Bodies
	queue  []*store.Session
	cursor *store.Cursor // of the session at hand
}

// searched is what a step of a search brought.
type searched struct {
	groups []*hitGroup // new ones, and those that have more now
	done   []searchedAt
	frames uint32 // looked at in the session at hand
	more   bool
}

// searchedAt is a session that was looked at to its end, as of a version.
type searchedAt struct {
	s       *store.Session
	version uint64
	frames  uint32
}

// step goes on for about the time of budget.
func (w *searcher) step(ctx context.Context, budget time.Duration) searched {
	var out searched
	for until := time.Now().Add(budget); ; {
		left := time.Until(until)
		if ctx.Err() != nil || left <= 0 {
			out.more = w.cursor != nil || len(w.queue) > 0
			return out
		}
		if w.cursor == nil {
			if len(w.queue) == 0 {
				return out
			}
			w.cursor = store.NewCursor(w.queue[0], w.q, w.bodies)
			w.queue = w.queue[1:]
		}
		w.look(ctx, left, &out)
	}
}

// look goes on with the session at hand.
func (w *searcher) look(ctx context.Context, budget time.Duration, out *searched) {
	s := w.cursor.Session()
	version := s.Version()
	p, err := w.cursor.Advance(ctx, budget)
	if err != nil {
		return // the context has ended
	}
	out.frames = p.Seen
	if n := w.cursor.Len(); n > 0 {
		k := min(n, maxFoundInOne)
		g := &hitGroup{s: s, total: n, frames: w.cursor.Rows(nil, n-k, int(k)), whole: !p.More}
		out.groups = append(slices.DeleteFunc(out.groups, func(x *hitGroup) bool { return x.s == s }), g)
	}
	if !p.More {
		out.done = append(out.done, searchedAt{s, version, s.Len()})
		out.frames = 0
		w.close()
	}
}

// close gives up the session at hand.
func (w *searcher) close() {
	if w.cursor != nil {
		w.cursor.Close()
		w.cursor = nil
	}
}
