package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpsnoop/mcpsnoop/export"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/play"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// logSource is one log as the UI looks at it: indexed and followed in the
// background, while what is there already can be seen.
type logSource struct {
	app    *App
	source source
	engine *redact.Engine        // nil for none
	flags  redactOptions         // that it was made from
	target *play.Target          // where calls are sent again; nil for the recorded command
	redact func(*capture.Record) // of the goroutine that indexes
	store  *store.Store
	rules  *liveRules
	tailer *capture.Tailer
	bodies *capture.Bodies

	byID map[string]*store.Appender // of follow
	last string
	lost bool        // the torn end was reported
	held func() bool // somebody writes the log

	read, size atomic.Int64
	live       atomic.Bool
	version    atomic.Uint64

	mu      sync.Mutex
	subs    map[chan struct{}]bool
	notices []string
}

func newLogSource(app *App, s source, engine *redact.Engine) *logSource {
	l := &logSource{
		app: app, source: s, engine: engine, rules: newLiveRules(), store: store.New(store.Limits{}),
		tailer: capture.NewTailer(app.FS, s.Log.Path, capture.TailOptions{Budget: 1 << 20}),
		bodies: capture.NewBodies(app.FS), byID: map[string]*store.Appender{}, subs: map[chan struct{}]bool{},
	}
	l.size.Store(s.Log.Size)
	l.held = l.locked
	if engine.Active() {
		l.redact = export.Redactor(engine)
	} else {
		l.engine = nil
	}
	return l
}

// How often a log is looked at again: one that is being written, and one that
// may still grow though nobody holds it.
const (
	lookAgain  = 250 * time.Millisecond
	lookSeldom = 2 * time.Second
)

// first reads the beginning of the log, so that the UI knows what it shows.
func (l *logSource) first(ctx context.Context) (more bool, err error) {
	l.live.Store(l.held())
	_, more, err = l.tailer.Poll(ctx, l.take)
	l.publish()
	return more, err
}

// follow reads the rest, and what comes, until ctx ends.
func (l *logSource) follow(ctx context.Context) {
	defer l.tailer.Close()
	told := ""
	for {
		n, more, err := l.tailer.Poll(ctx, l.take)
		if ctx.Err() != nil {
			return
		}
		if err != nil && err.Error() != told {
			told = err.Error()
			l.notice(told)
		}
		if !more {
			l.standing()
		}
		if n > 0 {
			l.publish()
		}
		if more {
			continue
		}
		if l.over() {
			return
		}
		wait := lookAgain
		if !l.live.Load() {
			wait = lookSeldom
		}
		select {
		case <-ctx.Done():
			return
		case <-l.app.Clock.After(wait):
		}
	}
}

// take adds an item to the index of its session.
func (l *logSource) take(it *capture.Item) error {
	if l.redact != nil && it.Problem == nil {
		l.redact(&it.Record)
	}
	id := it.Record.SessionID
	if it.Problem != nil {
		id = l.last
	}
	if id == "" {
		return nil
	}
	l.last = id
	a := l.byID[id]
	if a == nil {
		var s *store.Session
		s, a = l.store.Open(id, l.source.Log.Path, l.rules.observe)
		s.Origin = l.source.Origin
		l.byID[id] = a
	}
	a.Append(it)
	l.read.Store(it.Ref.Offset + int64(it.Ref.Length) + 1)
	return nil
}

// publish shows what was read.
func (l *logSource) publish() {
	for _, a := range l.byID {
		a.Publish()
	}
	l.changed()
}

// standing finds out how a log stands that has been read to its end: whether
// somebody holds it, and whether it ends in half a line.
func (l *logSource) standing() {
	l.read.Store(l.size.Load())
	held := l.held()
	if l.live.Swap(held) != held {
		l.changed()
	}
	if a := l.byID[l.last]; a != nil && !held && !l.lost && l.tailer.Pending() > 0 {
		l.lost = true
		a.Append(&capture.Item{Problem: &capture.Problem{Kind: capture.Torn, Length: l.tailer.Pending()}})
		l.publish()
	}
}

// locked reports whether a recorder holds the newest segment.
func (l *logSource) locked() bool {
	log, err := capture.Locate(l.app.FS, l.source.Log.Path)
	return err == nil && capture.Locked(lastSegment(log))
}

// over reports whether all sessions of the log have ended.
func (l *logSource) over() bool {
	for _, s := range l.store.Sessions() {
		if !s.Summary().Ended {
			return false
		}
	}
	return len(l.byID) > 0 && !l.live.Load()
}

func (l *logSource) notice(text string) {
	l.mu.Lock()
	l.notices = append(l.notices, text)
	l.mu.Unlock()
	l.changed()
}

func (l *logSource) changed() {
	l.version.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	for ch := range l.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Sessions lists the sessions of the log, the newest first.
func (l *logSource) Sessions() []*store.Session {
	list := slices.Clone(l.store.Sessions())
	slices.Reverse(list)
	return list
}

// Version changes with everything that was read.
func (l *logSource) Version() uint64 { return l.version.Load() }

// Subscribe gives a channel of one slot.
func (l *logSource) Subscribe() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subs[ch] = true
	return ch, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.subs, ch)
	}
}

// Body reads a frame again, redacted as the view is.
func (l *logSource) Body(s *store.Session, i uint32) (capture.Record, error) {
	var rec capture.Record
	f := s.Frame(i)
	if _, err := l.bodies.Read(s.Path, s.Ref(f), &rec, nil); err != nil {
		return rec, fmt.Errorf("read frame #%d: %w", f.Seq, err)
	}
	if l.engine != nil {
		export.Redactor(l.engine)(&rec)
	}
	return rec, nil
}

// Bodies reads frames for filters, redacted as the view is.
func (l *logSource) Bodies() store.Bodies {
	if l.engine != nil {
		return redactedBodies{l}
	}
	return l.bodies
}

// redactedBodies lets filters see what the viewer sees. It gives no raw bytes
// of the log, so all is read frame by frame.
type redactedBodies struct{ l *logSource }

func (b redactedBodies) Read(path string, ref capture.Ref, rec *capture.Record, buf []byte) ([]byte, error) {
	buf, err := b.l.bodies.Read(path, ref, rec, buf)
	if err == nil {
		export.Redactor(b.l.engine)(rec)
	}
	return buf, err
}

func (b redactedBodies) Window(string, int, int64, []byte) (int, error) {
	return 0, errors.ErrUnsupported
}

// Progress says how much of the log is read.
func (l *logSource) Progress() (done, total int64) {
	total = l.size.Load()
	return min(l.read.Load(), total), total
}

// Notices are what went wrong with the reading.
func (l *logSource) Notices() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.notices)
}

// Want has nothing to hurry: there is one log.
func (l *logSource) Want(string) {}

// Live reports whether somebody writes the log.
func (l *logSource) Live(*store.Session) bool { return l.live.Load() }

func (l *logSource) close() {
	l.bodies.Close()
}
