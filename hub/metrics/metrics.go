package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Source is what is counted: a hub.
type Source interface {
	Store() *store.Store
	Progress() (done, total int64)
	Live(s *store.Session) bool
	Subscribe() (changed <-chan struct{}, end func())
}

// Options say what is counted.
type Options struct {
	Source  Source
	Now     func() time.Time
	Version string
	Viewers func() int        // how many watch over SSH; nil for none
	Sent    func() []Delivery // what was handed to a collector; nil for none
}

// Delivery is what became of the data of one kind that was to be sent.
type Delivery struct {
	Kind             string // spans, metrics, logs
	Sent, Lost, Left uint64 // Left waits
}

// Metrics counts from the moment it is made. Its methods are safe for
// concurrent use.
type Metrics struct {
	opts     Options
	since    int64 // nanoseconds since 1970: what began before is history
	registry *prometheus.Registry
	families *families

	mu       sync.Mutex
	round    uint64
	sessions map[*store.Session]*tracked
	servers  map[serverKey]*server
	words    map[string]*vocabulary // by label
	series   int
	lag      time.Duration // of the newest frames, when they were seen
}

// New makes a Metrics with a registry of its own.
func New(o Options) *Metrics {
	m := &Metrics{
		opts: o, since: o.Now().UnixNano(), registry: prometheus.NewRegistry(),
		sessions: map[*store.Session]*tracked{}, servers: map[serverKey]*server{}, words: map[string]*vocabulary{},
	}
	m.families = newFamilies(m.registry)
	m.registry.MustRegister(
		&gauges{m: m, descs: describeGauges()},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// gather is how long changes are gathered before they are looked at.
const gather = 200 * time.Millisecond

// Run looks at what changed until ctx ends, so that a scrape finds little to do.
func (m *Metrics) Run(ctx context.Context) error {
	changed, end := m.opts.Source.Subscribe()
	defer end()
	pause := time.NewTimer(gather)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		m.mu.Lock()
		m.look()
		m.mu.Unlock()
		pause.Reset(gather)
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
	}
}

// look takes in what is new in all sessions. Called with mu held.
func (m *Metrics) look() {
	m.round++
	now := m.opts.Now()
	lag := time.Duration(-1)
	for _, s := range m.opts.Source.Store().Sessions() {
		t := m.sessions[s]
		if t == nil {
			t = &tracked{m: m, s: s}
			m.sessions[s] = t
		}
		t.round = m.round
		lag = max(lag, t.look(now))
	}
	for s, t := range m.sessions {
		if t.round != m.round { // its log is gone
			lag = max(lag, t.look(now))
			delete(m.sessions, s)
		}
	}
	if lag >= 0 {
		m.lag = lag
	}
}
