package tui

import (
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Source is what the UI looks at. Its methods are safe for concurrent use and
// none but Body waits for anything.
type Source interface {
	// Sessions lists the sessions, newest first. The caller does not change it.
	Sessions() []*store.Session
	// Version changes with everything that could be shown.
	Version() uint64
	// Subscribe returns a channel of one slot that holds a value when
	// something has changed since it was last read, and the function that
	// ends the subscription.
	Subscribe() (<-chan struct{}, func())
	// Body reads a frame again from the log. The record is the caller's.
	Body(s *store.Session, i uint32) (capture.Record, error)
	// Bodies reads frames for filters.
	Bodies() store.Bodies
	// Progress says how many bytes of the history are indexed.
	Progress() (done, total int64)
	// Notices are what a user should know about the watching, oldest first.
	Notices() []string
	// Want says that somebody looks at a session: it is indexed next.
	Want(id string)
}

// Liveness is what a Source has beside that knows which sessions are written
// to at this moment. Without it a session without an end whose newest line is
// not old is taken to run.
type Liveness interface {
	Live(s *store.Session) bool
}

// Options are what a Model takes from outside beside its Source.
type Options struct {
	// Env is the environment of the viewer's terminal, KEY=VALUE. It decides
	// about colours and characters; the Model never looks at that of its own
	// process.
	Env []string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Zone is where times are shown; nil is UTC.
	Zone *time.Location
	// Theme is auto, dark, light, contrast or none.
	Theme string
	// Open is the session to show at once instead of the list. It is the
	// bottom of the screens then.
	Open string
	// Command is how commands are written that do the same without the UI,
	// "mcpsnoop" when empty; over SSH "ssh -p 2222 hub".
	Command string
	// Host is the machine whose sessions are looked at, where that is not the
	// viewer's own: there is where a server has to be watched.
	Host string
	// Version is shown in the help.
	Version string
	// Baseline gives what was trusted of the server with a label; nil when
	// there is none. It reads a file and is called beside Update.
	Baseline func(label string) (*checks.Baseline, error)
	// Suspend lets ctrl-z stop the program; only where it is the viewer's own.
	Suspend bool
	// Messages knows what the rules said, in words; nil shows their titles.
	Messages Messages
	// Filters keeps this viewer's filters between runs; nil keeps them as long
	// as the UI runs.
	Filters Filters
	// Actions are what this viewer may do besides looking.
	Actions Actions
}

// liveFor is how long after its newest line a session without an end is
// taken to run, where the source does not know better.
const liveFor = 12 * time.Hour

// live reports whether frames of s may still come.
func live(src Source, s *store.Session, now time.Time) bool {
	sum := s.Summary()
	if sum.Ended || sum.Torn || sum.Filtered {
		return false
	}
	if l, ok := src.(Liveness); ok {
		return l.Live(s)
	}
	return now.Sub(sum.Newest) < liveFor
}

// freshFor is how long after its newest line a session that is not known to
// run is asked about again and again: who watches it may know a little later.
const freshFor = time.Minute

// maybeLive reports whether a session may turn out to run.
func maybeLive(s *store.Session, now time.Time) bool {
	sum := s.Summary()
	return !sum.Ended && !sum.Torn && !sum.Filtered && now.Sub(sum.Newest) < freshFor
}
