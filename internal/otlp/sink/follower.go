package sink

import (
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// lateFor is how long an answer to a cancelled call is waited for.
const lateFor = 5 * time.Second

// Follower queues what is done in one session. One goroutine uses it.
type Follower struct {
	Missing uint64 // frames that are missing before what the session holds

	k     *Sink
	s     *store.Session
	body  otlp.Body
	since int64

	version uint64
	next    store.OpIndex
	open    []store.OpIndex
	frame   uint32
	over    bool
	logs    *recordMaker // of the sending goroutine
	lives   *lives
}

// Follow makes the follower of a session. Operations and frames from before
// since are not sent; the zero time means all.
func (k *Sink) Follow(s *store.Session, body otlp.Body, since time.Time) *Follower {
	f := &Follower{k: k, s: s, body: body, lives: newLives()}
	if !since.IsZero() {
		f.since = since.UnixNano()
	}
	return f
}

// Look queues the operations that came to their end since the last time, and
// the frames that came.
func (f *Follower) Look(now time.Time) {
	v := f.s.Version()
	if v == f.version && len(f.open) == 0 {
		return
	}
	f.version = v
	f.lives.look(f)
	for ; f.next < f.s.OpLen(); f.next++ {
		o := f.s.Op(f.next)
		if _, link := o.Previous(); link <= store.Weak && o.Start >= f.since {
			f.open = append(f.open, f.next)
		}
	}
	f.open = slices.DeleteFunc(f.open, func(i store.OpIndex) bool {
		if !f.over && !f.settled(i, now) {
			return false
		}
		f.k.push(operations, place{f, uint32(i)})
		return true
	})
	if f.k.out.logs == nil {
		return
	}
	for ; f.frame < f.s.Len(); f.frame++ {
		if f.s.Frame(f.frame).TS >= f.since {
			f.k.push(frames, place{f, f.frame})
		}
	}
}

// End queues the operations that will have no end: the session is over.
func (f *Follower) End(now time.Time) {
	f.over = true
	f.Look(now)
}

// abandon queues the operations that are open: nobody records the session any
// more. Should it go on, what comes is looked at as before.
func (f *Follower) abandon(now time.Time) {
	f.End(now)
	f.over = false
}

// Idle reports whether all operations are queued.
func (f *Follower) Idle() bool { return len(f.open) == 0 }

// Resume leaves out what the session holds so far: it is a new index of the
// session that before looked at.
func (f *Follower) Resume(before *Follower) {
	f.next, f.frame = f.s.OpLen(), f.s.Len()
	f.lives = before.lives
	f.lives.skip(f.s)
}

// settled reports whether nothing more will be said about a call: its chain
// came to an end, its task is over, and no late answer is to be expected.
func (f *Follower) settled(i store.OpIndex, now time.Time) bool {
	o := f.s.Op(i)
	for next, ok := o.Next(); ok; next, ok = o.Next() {
		o = f.s.Op(next)
	}
	switch {
	case o.State == store.Pending, o.WantsInput,
		o.TaskState == store.TaskWorking, o.TaskState == store.TaskInputRequired:
		return false
	case o.State == store.Cancelled:
		_, late := o.Late()
		return late || now.Sub(time.Unix(0, o.Finish)) > lateFor
	}
	return true
}
