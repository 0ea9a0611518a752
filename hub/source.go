package hub

import (
	"context"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Source gives the records of logs until ctx ends. A Source may also have the
// methods Want, Progress and Live of Hub.
type Source interface {
	Run(ctx context.Context, sink Sink) error
}

// Sink takes what a source gives: a Hub. Its methods are safe for concurrent use.
type Sink interface {
	// Log makes the way into the store for the log whose first segment is at
	// path. id stands for the session until the log says its own; origin is
	// the host that the log comes from, "" for this one.
	Log(id, path, origin string) *Intake
	// Notice tells the user something about the watching. The same text is
	// told once.
	Notice(text string)
	// Changed tells viewers that something changed beside the store.
	Changed()
}

// Intake takes the items of one log, which may hold several sessions. One
// goroutine at a time uses it.
type Intake struct {
	hub      *Hub
	id, path string
	origin   string
	sessions map[string]*intakeSession
	last     *intakeSession
	early    []capture.Item // problems from before the first record
	dirty    []*intakeSession

	mu     sync.Mutex
	opened []*store.Session // guarded by mu
}

// intakeSession is one session of a log.
type intakeSession struct {
	s     *store.Session
	a     *store.Appender
	dirty bool
	begun bool // its start is known to viewers
	all   bool // viewers know that all was read
}

// maxEarly bounds the problems that are kept until a session is known.
const maxEarly = 100

// Log is a part of Sink.
func (h *Hub) Log(id, path, origin string) *Intake {
	return &Intake{hub: h, id: id, path: path, origin: origin, sessions: map[string]*intakeSession{}}
}

// Preview shows the session of a log before it is indexed: see store.Appender.
func (in *Intake) Preview(first, last *capture.Record, size int64) {
	x := in.session(first.SessionID)
	x.a.Preview(first, last, size)
	in.touch(x)
}

// Take adds an item. Viewers see it after Publish. It gives no error: it is
// made to be what a Tailer calls.
func (in *Intake) Take(it *capture.Item) error {
	if it.Problem == nil {
		in.record(it)
	} else {
		in.problem(it)
	}
	return nil
}

func (in *Intake) record(it *capture.Item) {
	x := in.session(it.Record.SessionID)
	in.last = x
	for i := range in.early {
		x.a.Append(&in.early[i])
	}
	in.early = nil
	x.a.Append(it)
	in.touch(x)
}

func (in *Intake) problem(it *capture.Item) {
	switch it.Problem.Kind {
	case capture.Truncated, capture.Replaced, capture.Deleted:
		in.hub.bodies.Forget(in.path)
	default:
	}
	if in.last == nil {
		if len(in.early) < maxEarly {
			in.early = append(in.early, *it)
		}
		return
	}
	in.last.a.Append(it)
	in.touch(in.last)
}

// Loaded says whether all there was of the log has been read.
func (in *Intake) Loaded(all bool) {
	for _, x := range in.sessions {
		if x.all != all {
			x.all = all
			x.a.Loaded(all)
			in.touch(x)
		}
	}
}

func (in *Intake) touch(x *intakeSession) {
	if !x.dirty {
		x.dirty = true
		in.dirty = append(in.dirty, x)
	}
}

// session finds or opens the session that the log calls id.
func (in *Intake) session(id string) *intakeSession {
	if x := in.sessions[id]; x != nil {
		return x
	}
	in.hub.opening.Lock() // so that of two logs of one session both get a name
	defer in.hub.opening.Unlock()
	name := id
	if name == "" || in.hub.store.Get(name) != nil { // a copy of a log that is there already
		name = in.id
	}
	for n := name; in.hub.store.Get(name) != nil; {
		n += "~"
		name = n
	}
	x := &intakeSession{}
	x.s, x.a = in.hub.store.OpenAt(store.Place{ID: name, RecordedAs: id, Path: in.path, Origin: in.origin}, in.hub.opts.Observe)
	in.sessions[id] = x
	in.mu.Lock()
	defer in.mu.Unlock()
	in.opened = append(in.opened, x.s)
	return x
}

// Publish lets viewers see what was taken, and tells them.
func (in *Intake) Publish() {
	if len(in.dirty) == 0 {
		return
	}
	reorder := false
	for _, x := range in.dirty {
		x.a.Publish()
		x.dirty = false
		if !x.begun && !x.s.Summary().Started.IsZero() {
			x.begun, reorder = true, true
		}
	}
	in.dirty = in.dirty[:0]
	if reorder {
		in.hub.reorder()
	}
	in.hub.Changed()
}

// Remove takes the sessions of the log out of the store.
func (in *Intake) Remove() {
	for _, x := range in.sessions {
		in.hub.store.Remove(x.s)
	}
	in.hub.bodies.Forget(in.path)
	in.hub.reorder()
	in.hub.Changed()
}

// each calls visit with the sessions of the log that are shown. Unlike the
// other methods it may be called at any time.
func (in *Intake) each(visit func(*store.Session)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range in.opened {
		visit(s)
	}
}

func (in *Intake) has(id string) bool {
	found := false
	in.each(func(s *store.Session) { found = found || s.ID == id })
	return found
}

// ended reports whether all sessions of the log have ended.
func (in *Intake) ended() bool {
	n, over := 0, 0
	in.each(func(s *store.Session) {
		n++
		if s.Summary().Ended {
			over++
		}
	})
	return n > 0 && n == over
}

func (h *Hub) reorder() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sorted = false
}
