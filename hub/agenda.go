package hub

import (
	"cmp"
	"slices"
	"sync"
)

// urgency orders what is read next.
type urgency uint8

const (
	wanted  urgency = iota // somebody looks at it
	growing                // its history is read: what comes is little
	listing                // not shown yet: its ends are read
	history                // to be indexed, the newest first
)

// agenda says which log is read next, and that one is read by one worker at a
// time. Safe for concurrent use.
type agenda struct {
	mu    sync.Mutex
	due   []*follow     // waiting, in no order
	wake  chan struct{} // holds a value when a worker may find something
	turns uint64
}

func newAgenda(workers int) *agenda { return &agenda{wake: make(chan struct{}, workers)} }

// add puts a log on the agenda. Of one that is being read, it is noted that it
// has to be read again.
func (g *agenda) add(f *follow, u urgency) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case f.dropped:
		return
	case f.running:
		f.again = true
		f.urgency = min(f.urgency, u)
		return
	case f.queued:
		f.urgency = min(f.urgency, u)
		return
	}
	g.queue(f, u)
}

func (g *agenda) queue(f *follow, u urgency) {
	g.turns++
	f.queued, f.urgency, f.turn = true, u, g.turns
	g.due = append(g.due, f)
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// next takes the most urgent log, nil when there is none.
func (g *agenda) next() *follow {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.due) == 0 {
		return nil
	}
	best := slices.MinFunc(g.due, func(a, b *follow) int {
		if c := cmp.Compare(a.urgency, b.urgency); c != 0 || a.urgency >= listing {
			return cmp.Or(c, b.found.Compare(a.found), cmp.Compare(a.turn, b.turn))
		}
		return cmp.Compare(a.turn, b.turn)
	})
	g.due = slices.DeleteFunc(g.due, func(f *follow) bool { return f == best })
	best.queued, best.running, best.again = false, true, false
	if len(g.due) > 0 {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
	return best
}

// done ends the turn of a log; with more, or when it was added meanwhile, it
// goes on the agenda again. It reports whether the log was dropped meanwhile.
func (g *agenda) done(f *follow, more bool, u urgency) (dropped bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.running = false
	if f.dropped {
		return true
	}
	if more || f.again {
		if f.again {
			u = min(u, f.urgency)
		}
		g.queue(f, u)
	}
	return false
}

// drop takes a log off for good. It reports whether no worker has it: else
// the worker will see it in done.
func (g *agenda) drop(f *follow) (idle bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.dropped = true
	g.due = slices.DeleteFunc(g.due, func(x *follow) bool { return x == f })
	return !f.running
}
