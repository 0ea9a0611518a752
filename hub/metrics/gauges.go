package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// descs are the metrics that are read when they are asked for.
type descs struct {
	inFlight, oldest, definitions, sessions *prometheus.Desc
	viewers, lag, behind, build             *prometheus.Desc
	sent, unsent, waiting                   *prometheus.Desc
}

func describeGauges() descs {
	of := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return descs{
		inFlight:    of("mcpsnoop_calls_in_flight", "Requests of clients without an answer, in sessions that go on.", "server", "server_id"),
		oldest:      of("mcpsnoop_oldest_call_age_seconds", "How long the oldest of the requests in flight waits; 0 for none.", "server", "server_id"),
		definitions: of("mcpsnoop_tool_definition_bytes", "Size of the newest whole list of tools, without white space.", "server", "server_id"),
		sessions:    of("mcpsnoop_sessions", "Sessions that the hub has loaded.", "server", "server_id", "state"),
		viewers:     of("mcpsnoop_ssh_viewers", "Who watches over SSH."),
		lag:         of("mcpsnoop_ingest_lag_seconds", "How old the newest frames were when they were counted."),
		behind:      of("mcpsnoop_ingest_backlog_bytes", "Bytes of logs that are not indexed yet."),
		build:       of("mcpsnoop_build_info", "Always 1.", "version"),
		sent:        of("mcpsnoop_otlp_sent_total", "What a collector took, by kind.", "kind"),
		unsent:      of("mcpsnoop_otlp_lost_total", "What no collector got, by kind.", "kind"),
		waiting:     of("mcpsnoop_otlp_queue", "What waits for the collector, by kind.", "kind"),
	}
}

// gauges is the Collector of what is read when it is asked for. It brings the
// counters up to date as well.
type gauges struct {
	m *Metrics
	descs
}

// Describe is a part of prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		g.inFlight, g.oldest, g.definitions, g.sessions, g.viewers, g.lag, g.behind, g.build, g.sent, g.unsent, g.waiting,
	} {
		ch <- d
	}
}

// state adds up what is going on at a server.
type state struct {
	inFlight    int
	oldest      time.Duration
	definitions int
	newest      time.Time // of the session that the definitions are of
	sessions    [3]int    // live, ended, silent
}

// Collect is a part of prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	m := g.m
	for srv, st := range m.states() {
		gauge(g.inFlight, float64(st.inFlight), srv.label, srv.id)
		gauge(g.oldest, st.oldest.Seconds(), srv.label, srv.id)
		if st.definitions >= 0 {
			gauge(g.definitions, float64(st.definitions), srv.label, srv.id)
		}
		for i, word := range []string{"live", "ended", "silent"} {
			gauge(g.sessions, float64(st.sessions[i]), srv.label, srv.id, word)
		}
	}
	m.mu.Lock()
	gauge(g.lag, m.lag.Seconds())
	m.mu.Unlock()
	done, total := m.opts.Source.Progress()
	gauge(g.behind, float64(max(0, total-done)))
	gauge(g.build, 1, m.opts.Version)
	if m.opts.Viewers != nil {
		gauge(g.viewers, float64(m.opts.Viewers()))
	}
	if m.opts.Sent == nil {
		return
	}
	for _, d := range m.opts.Sent() {
		ch <- prometheus.MustNewConstMetric(g.sent, prometheus.CounterValue, float64(d.Sent), d.Kind)
		ch <- prometheus.MustNewConstMetric(g.unsent, prometheus.CounterValue, float64(d.Lost), d.Kind)
		gauge(g.waiting, float64(d.Left), d.Kind)
	}
}

// states says what is going on at each server.
func (m *Metrics) states() map[*server]*state {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.look()
	now := m.opts.Now()
	out := map[*server]*state{}
	for _, srv := range m.servers {
		out[srv] = &state{definitions: -1}
	}
	for s, t := range m.sessions {
		if t.srv == nil {
			continue
		}
		st, sum := out[t.srv], s.Summary()
		if t.definitions >= 0 && !sum.Newest.Before(st.newest) {
			st.definitions, st.newest = t.definitions, sum.Newest
		}
		switch {
		case sum.Ended:
			st.sessions[1]++
			continue
		case !m.opts.Source.Live(s):
			st.sessions[2]++
			continue
		}
		st.sessions[0]++
		for _, c := range t.open {
			if o := s.Op(c.i); o.State == store.Pending && s.OpMethod(o) != mcp.Listen {
				st.inFlight++
				st.oldest = max(st.oldest, o.Duration(now))
			}
		}
	}
	return out
}
