package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/otlp/sink"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Bounds of what is kept beside a recorder. A session may go on for weeks: its
// index is begun anew now and then, when no call is open, and at the latest
// when it has four times as many frames.
const (
	besideEvery  = time.Second // how often the log is read: seldom, so in large pieces
	besideFrames = 20000       // in the index
	besideOpened = 512         // frames of handshakes that are taken over
)

// beside reads the log of one session while it is written.
type beside struct {
	app    *App
	id     string
	bodies *capture.Bodies
	files  []*besideFile
}

// besideFile is the session, as one of the files that may hold it gives it.
type besideFile struct {
	b      *beside
	k      *sink.Sink
	path   string
	tailer *capture.Tailer

	s       *store.Session
	a       *store.Appender
	f       *sink.Follower
	missing uint64 // frames, before this index
	meta    []capture.Ref
	opened  []capture.Ref // frames of handshakes: what says which revision is spoken
	asks    map[store.OpIndex]bool
	late    bool // the meta line comes behind the next record
	replay  bool // what is appended was seen before
}

// newBeside follows a log. A trace file that another process holds is left to
// it by the recorder: the session is then where it would be without.
func newBeside(app *App, k *sink.Sink, rec *capture.Recorder, traceFile string) *beside {
	b := &beside{app: app, id: rec.SessionID(), bodies: capture.NewBodies(app.FS)}
	var paths []string
	if traceFile != "" {
		paths = append(paths, traceFile)
	}
	if state, err := app.stateDir(); err == nil {
		paths = append(paths, filepath.Join(state, sessionsDir, b.id+".jsonl"))
	}
	for _, path := range paths {
		x := &besideFile{b: b, k: k, path: path, tailer: capture.NewTailer(app.FS, path, capture.TailOptions{Name: b.id})}
		x.begin()
		b.files = append(b.files, x)
	}
	return b
}

// run reads until ctx ends, and then the rest, for which it has some time. The
// bodies are read until the sink has ended.
func (b *beside) run(ctx context.Context, flush time.Duration) {
	tick := time.NewTicker(besideEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			b.read(ctx)
		}
	}
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), flush)
	defer cancel()
	b.read(rest)
	for _, x := range b.files {
		x.f.End(b.app.Clock.Now())
		_ = x.tailer.Close() // it was only read
	}
}

// read takes in what has come.
func (b *beside) read(ctx context.Context) {
	for _, x := range b.files {
		for more := true; more && ctx.Err() == nil; {
			var err error
			_, more, err = x.tailer.Poll(ctx, x.take)
			x.a.Publish()
			x.f.Look(b.app.Clock.Now())
			x.renew()
			if err != nil {
				break // it is tried again
			}
		}
	}
}

// take adds a record of the session.
func (x *besideFile) take(it *capture.Item) error {
	if it.Problem == nil && it.Record.SessionID != x.b.id {
		return nil
	}
	x.a.Append(it)
	if x.late && it.Problem == nil {
		x.late = false
		x.takeAgain(x.meta)
	}
	if x.s.Len() > besideFrames { // the next moment without an open call is soon
		x.a.Publish()
		x.f.Look(x.b.app.Clock.Now())
		x.renew()
	}
	return nil
}

// renew begins the index anew when it is large and no call is open, or when it
// is far too large.
func (x *besideFile) renew() {
	n := x.s.Len()
	if n <= besideFrames || n <= 4*besideFrames && !x.f.Idle() {
		return
	}
	x.f.End(x.b.app.Clock.Now())
	x.again()
}

// Observe notes what a new index has to begin with.
func (x *besideFile) Observe(ev *store.Event) {
	switch {
	case x.replay:
	case ev.Rec.Direction == capture.Meta:
		if x.meta == nil {
			x.meta = []capture.Ref{ev.Item.Ref}
		}
		return
	case len(x.opened) >= besideOpened:
		return
	}
	first := ev.Msg.Kind == wire.Request && string(ev.Msg.Method) == mcp.Initialize
	if first {
		x.asks[ev.OpIndex] = true
	}
	if !x.replay && (first || ev.Op != nil && x.asks[ev.OpIndex]) {
		x.opened = append(x.opened, ev.Item.Ref)
	}
}

// begin makes the index, which is empty.
func (x *besideFile) begin() {
	x.asks = map[store.OpIndex]bool{}
	x.s, x.a = store.NewSession(x.b.id, x.path, store.Limits{}, x)
	x.f = x.k.Follow(x.s, x.b.body, time.Time{})
	x.f.Missing = x.missing
}

// again begins the index anew. Handshakes are taken over without numbers, and
// the first line behind the next record: nothing looks like a gap.
func (x *besideFile) again() {
	x.missing += x.s.Summary().Missing
	before := x.f
	x.begin()
	x.takeAgain(x.opened)
	x.a.Publish()
	x.f.Resume(before)
	x.late = true
}

func (x *besideFile) takeAgain(refs []capture.Ref) {
	x.replay = true
	defer func() { x.replay = false }()
	for _, ref := range refs {
		it := capture.Item{Ref: ref}
		if _, err := x.b.bodies.Read(x.path, ref, &it.Record, nil); err != nil {
			continue // the log was taken away; spans say a little less
		}
		it.Record.Seq, it.Record.Dropped = 0, 0
		x.a.Append(&it)
	}
}

func (b *beside) body(s *store.Session, i uint32) (capture.Record, error) {
	var rec capture.Record
	_, err := store.ReadFrame(s, i, b.bodies, &rec, nil)
	return rec, err
}
