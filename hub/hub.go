package hub

import (
	"context"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Options say what a hub watches.
type Options struct {
	FS      capture.FS // nil means this machine
	Limits  store.Limits
	Sources []Source // beside Dir
	Dir     string   // folder of logs, watched unless ""

	HistoryLimit int // newest logs of Dir that are loaded; 0 means all

	// Observe makes the observer of a session; nil for none. It is called
	// before the session's first record.
	Observe func(*store.Session, *store.Appender) store.Observer
}

// Hub fills one store from all its sources. Its methods are safe for concurrent use.
type Hub struct{}

// New makes a hub; Run starts it.
func New(opts Options) *Hub { panic("TODO") }

// Run follows all sources until ctx ends, which is no error.
func (h *Hub) Run(ctx context.Context) error { panic("TODO") }

// Store is what the hub fills.
func (h *Hub) Store() *store.Store { panic("TODO") }

// Sessions lists the sessions, newest first.
func (h *Hub) Sessions() []*store.Session { panic("TODO") }

// Version changes with everything that a viewer could show.
func (h *Hub) Version() uint64 { panic("TODO") }

// Subscribe returns a channel of one slot that holds a value when something
// changed since it was last read, and the function that ends the subscription.
func (h *Hub) Subscribe() (<-chan struct{}, func()) { panic("TODO") }

// Body reads a frame again from the log. The record is the caller's.
func (h *Hub) Body(s *store.Session, i uint32) (capture.Record, error) { panic("TODO") }

// BodyFunc reads frames for a query. One goroutine uses it.
func (h *Hub) BodyFunc() store.BodyFunc { panic("TODO") }

// Bodies reads records by their place.
func (h *Hub) Bodies() *capture.Bodies { panic("TODO") }

// Progress says how many bytes of the logs found at the start are indexed.
func (h *Hub) Progress() (done, total int64) { panic("TODO") }

// Notices are what a user should know about the watching itself, oldest first.
func (h *Hub) Notices() []string { panic("TODO") }

// Want says that somebody looks at a session: it is indexed next.
func (h *Hub) Want(id string) { panic("TODO") }

// Source gives the records of logs until ctx ends.
type Source interface {
	Run(ctx context.Context, sink Sink) error
}

// Sink takes what a source gives. Its methods are safe for concurrent use.
type Sink interface {
	// Log returns the way into the store for the log whose first segment is
	// at path. One goroutine at a time uses it.
	Log(id, path, origin string) *Intake
	// Notice tells the user something about the watching, once.
	Notice(text string)
}

// Intake takes the items of one log. A log may hold several sessions.
type Intake struct{}
