package hub

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Options say what a hub watches.
type Options struct {
	FS      capture.FS // nil means this machine
	Limits  store.Limits
	Dir     string   // folder of logs, watched unless ""
	Sources []Source // beside Dir

	HistoryLimit int // newest logs of Dir that are loaded; 0 means all

	// Observe makes the observer of a session; nil for none. It is called
	// before the session's first record, from the goroutine that reads its log.
	Observe func(*store.Session, *store.Appender) store.Observer

	// Watch is where events of the file system come from; nil means fsnotify.
	Watch func(dir string) (*Events, error)
}

// Hub fills one store from all its sources. Its methods are safe for
// concurrent use, and none but Run and Body waits for anything.
type Hub struct {
	opts   Options
	store  *store.Store
	bodies *capture.Bodies

	extra atomic.Uint64 // changes beside those of the store

	opening sync.Mutex // held while a session gets its name

	mu      sync.Mutex
	subs    map[*Subscription]bool
	notices []string
	sources []Source
	ordered []*store.Session // newest first
	sorted  bool             // ordered is up to date
}

// New makes a hub; Run starts it.
func New(opts Options) *Hub {
	if opts.FS == nil {
		opts.FS = capture.OS{}
	}
	h := &Hub{opts: opts, store: store.New(opts.Limits), bodies: capture.NewBodies(opts.FS), subs: map[*Subscription]bool{}}
	if opts.Dir != "" {
		h.sources = append(h.sources, NewDirectory(DirectoryOptions{
			FS: opts.FS, Dir: opts.Dir, HistoryLimit: opts.HistoryLimit, Watch: opts.Watch,
		}))
	}
	h.sources = append(h.sources, opts.Sources...)
	return h
}

// Run follows all sources until ctx ends, which is no error. When it returns,
// no goroutine of the hub is left and all files are closed.
func (h *Hub) Run(ctx context.Context) error {
	defer h.bodies.Close()
	g, gctx := errgroup.WithContext(ctx)
	for _, s := range h.sources {
		g.Go(func() error { return s.Run(gctx, h) })
	}
	err := g.Wait()
	if ctx.Err() != nil {
		return nil // the caller ended it
	}
	return err
}

// Store is what the hub fills.
func (h *Hub) Store() *store.Store { return h.store }

// Bodies reads frames again from their logs.
func (h *Hub) Bodies() store.Bodies { return h.bodies }

// Version changes with everything that a viewer could show.
func (h *Hub) Version() uint64 { return h.store.Version() + h.extra.Load() }

// Sessions lists the sessions, those that began last first. The caller does
// not change it.
func (h *Hub) Sessions() []*store.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.sorted {
		h.ordered = slices.Clone(h.store.Sessions())
		slices.SortStableFunc(h.ordered, func(a, b *store.Session) int {
			return cmp.Or(b.Summary().Started.Compare(a.Summary().Started), cmp.Compare(a.ID, b.ID))
		})
		h.sorted = true
	}
	return h.ordered
}

// Body reads a frame again from the log. The record is the caller's.
func (h *Hub) Body(s *store.Session, i uint32) (capture.Record, error) {
	var rec capture.Record
	_, err := store.ReadFrame(s, i, h.bodies, &rec, nil)
	return rec, err
}

// Progress says how many bytes of the logs that were there are indexed.
func (h *Hub) Progress() (done, total int64) {
	for _, s := range h.sources {
		if p, ok := s.(interface{ Progress() (done, total int64) }); ok {
			d, t := p.Progress()
			done, total = done+d, total+t
		}
	}
	return done, total
}

// Live reports whether somebody writes the log of a session at this moment, as
// far as its source can tell.
func (h *Hub) Live(s *store.Session) bool {
	for _, source := range h.sources {
		if l, ok := source.(interface{ Live(*store.Session) bool }); ok && l.Live(s) {
			return true
		}
	}
	return false
}

// Want says that somebody looks at a session: it is indexed next.
func (h *Hub) Want(id string) {
	for _, s := range h.sources {
		if w, ok := s.(interface{ Want(id string) }); ok {
			w.Want(id)
		}
	}
}

// Notices are what a user should know about the watching itself, oldest first.
func (h *Hub) Notices() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notices[:len(h.notices):len(h.notices)]
}

// maxNotices bounds the list of notices; more are not kept.
const maxNotices = 100

// Notice adds to the notices what is not there already.
func (h *Hub) Notice(text string) {
	h.mu.Lock()
	fresh := len(h.notices) < maxNotices && !slices.Contains(h.notices, text)
	if fresh {
		h.notices = append(h.notices, text)
	}
	h.mu.Unlock()
	if fresh {
		h.extra.Add(1)
		h.Changed()
	}
}
