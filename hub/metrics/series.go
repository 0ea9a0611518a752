package metrics

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// families are the metrics that grow by what is seen; the others are read when
// they are asked for.
type families struct {
	calls, errors, transport, findings *prometheus.CounterVec
	duration                           *prometheus.HistogramVec
	results, frames, lost              *prometheus.CounterVec
	chains, chainServer, chainWait     *prometheus.CounterVec
}

// seconds are the bounds of the classic buckets.
func seconds() []float64 {
	return []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
}

func newFamilies(reg prometheus.Registerer) *families {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"server", "server_id"}, labels...))
		reg.MustRegister(v)
		return v
	}
	f := &families{
		calls:       counter("mcpsnoop_tool_calls_total", "Calls of tools, counted when they were asked for.", "tool"),
		errors:      counter("mcpsnoop_tool_errors_total", "Calls of tools that failed: by a result that says so (tool), or by a JSON-RPC error (protocol).", "tool", "error_type"),
		transport:   counter("mcpsnoop_transport_errors_total", "HTTP answers of 400 and more without a JSON-RPC message: no tool can be told.", "status"),
		findings:    counter("mcpsnoop_findings_total", "What rules of the protocol had to say, by signal.", "signal"),
		results:     counter("mcpsnoop_tool_result_bytes_total", "Bytes of the answers of tools, as they came."),
		frames:      counter("mcpsnoop_frames_total", "Frames that crossed the wire.", "direction"),
		lost:        counter("mcpsnoop_frames_lost_total", "Frames that are missing in session logs."),
		chains:      counter("mcpsnoop_chains_total", "Calls that took more than one round trip and came to an end."),
		chainServer: counter("mcpsnoop_chain_server_seconds_total", "Time that calls of more than one round trip spent with the server."),
		chainWait:   counter("mcpsnoop_chain_wait_seconds_total", "Time that calls of more than one round trip waited for the client or its user."),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mcpsnoop_tool_call_duration_seconds", Help: "How long calls of tools took until their answer.",
			Buckets:                     seconds(),
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"server", "server_id", "tool"}),
	}
	reg.MustRegister(f.duration)
	f.transport.WithLabelValues("", "", "") // a graph of it is flat, and not absent
	return f
}

// serverKey tells servers apart.
type serverKey struct{ label, id string }

// server is one server, over all of its sessions.
type server struct {
	serverKey
	words *vocabulary
	tools map[string]*toolSeries

	results, lost                  prometheus.Counter
	chains, chainServer, chainWait prometheus.Counter
	frames                         [capture.End + 1]prometheus.Counter
}

// toolSeries are the metrics of one tool of one server.
type toolSeries struct {
	calls, toolErrors, protocolErrors prometheus.Counter
	duration                          prometheus.Observer
}

// serverID is a fingerprint of what is known of a server, which gives nothing
// of it away: two servers of one label stay apart.
func serverID(s *store.Session, sum *store.Summary) string {
	b, err := json.Marshal([]any{"mcpsnoop server", s.Origin, sum.Meta.Host, sum.Transport, sum.Label, sum.Meta.Command, sum.Meta.Cwd, sum.Meta.Target})
	if err != nil {
		b = []byte(sum.Label)
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:6])
}

// server finds or adds a server. Past the bound, all new ones are one.
func (m *Metrics) server(s *store.Session, sum *store.Summary) *server {
	key := serverKey{clip(sum.Label), serverID(s, sum)}
	if srv := m.servers[key]; srv != nil {
		return srv
	}
	if len(m.servers) >= maxServer {
		key = serverKey{label: overCap}
		if srv := m.servers[key]; srv != nil {
			return srv
		}
	}
	words := m.words[key.label]
	if words == nil {
		words = newVocabulary()
		m.words[key.label] = words
	}
	f := m.families
	srv := &server{
		serverKey: key, words: words, tools: map[string]*toolSeries{},
		results: f.results.WithLabelValues(key.label, key.id), lost: f.lost.WithLabelValues(key.label, key.id),
		chains:      f.chains.WithLabelValues(key.label, key.id),
		chainServer: f.chainServer.WithLabelValues(key.label, key.id), chainWait: f.chainWait.WithLabelValues(key.label, key.id),
	}
	for _, d := range []capture.Direction{capture.C2S, capture.S2C, capture.Stderr} {
		srv.frames[d] = f.frames.WithLabelValues(key.label, key.id, d.String())
	}
	for _, g := range store.Signals() {
		f.findings.WithLabelValues(key.label, key.id, g.String())
	}
	m.servers[key] = srv
	return srv
}

// tool finds or adds the series of a tool's name.
func (m *Metrics) tool(srv *server, name string) *toolSeries {
	name = srv.words.label(name)
	if t := srv.tools[name]; t != nil {
		return t
	}
	if name != unlisted && name != overCap && m.series >= maxSeries {
		name = overCap
		if t := srv.tools[name]; t != nil {
			return t
		}
	}
	m.series++
	f := m.families
	t := &toolSeries{
		calls:          f.calls.WithLabelValues(srv.label, srv.id, name),
		toolErrors:     f.errors.WithLabelValues(srv.label, srv.id, name, "tool"),
		protocolErrors: f.errors.WithLabelValues(srv.label, srv.id, name, "protocol"),
		duration:       f.duration.WithLabelValues(srv.label, srv.id, name),
	}
	srv.tools[name] = t
	return t
}
