package sink

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// durations are the points of mcp.client.session.duration that arrived, each
// as its sum in seconds and its attributes.
func (r *receiver) durations() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]uint64{}
	for _, m := range r.metrics {
		if m.Name() != "mcp.client.session.duration" || m.Unit() != "s" || m.Type() != pmetric.MetricTypeHistogram {
			continue
		}
		for _, p := range m.Histogram().DataPoints().All() {
			var words []string
			for _, key := range []string{"error.type", "mcp.protocol.version", "network.transport", "network.protocol.name", "server.address"} {
				if v, ok := p.Attributes().Get(key); ok {
					words = append(words, v.AsString())
				}
			}
			out[fmt.Sprintf("%g %s", p.Sum(), strings.Join(words, " "))] += p.Count()
		}
	}
	return out
}

func (x *session) add(r capture.Record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r.Label, r.Seq = "play", uint64(len(x.recs)+1)
	if r.Direction != capture.Meta && r.Direction != capture.End { // those are no frames
		x.recs = append(x.recs, r)
	}
	x.a.Append(&capture.Item{Record: r})
	x.a.Publish()
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
const welcome = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`

// A session over stdio goes from the first line of its log to the last.
func TestSessionDurationOverStdio(t *testing.T) {
	for end, want := range map[string]string{
		`{"exit_code":0,"reason":"server exited"}`:      "7 2025-06-18 pipe",
		`{"exit_code":3,"reason":"server exited"}`:      "7 exit_3 2025-06-18 pipe",
		`{"signal":"SIGSEGV","reason":"server exited"}`: "7 SIGSEGV 2025-06-18 pipe",
		`{"signal":"SIGKILL","reason":"client closed"}`: "7 2025-06-18 pipe",
		"": "",
	} {
		r := newReceiver()
		x := newSession()
		k := start(t, x, r.overHTTP(t), nil)
		at := func(d capture.Direction, s int64, raw string) {
			x.add(capture.Record{TS: time.Unix(s, 0), Transport: capture.Stdio, Direction: d, Raw: []byte(raw)})
		}
		at(capture.Meta, 1000, `{"pid":1}`)
		at(capture.C2S, 1002, hello)
		at(capture.S2C, 1003, welcome)
		k.f.Look(time.Now())
		if end != "" {
			at(capture.End, 1007, end)
		}
		k.f.Look(time.Now())
		k.f.End(time.Now())
		k.end()
		got := r.durations()
		if want == "" && len(got) != 0 || want != "" && (len(got) != 1 || got[want] != 1) {
			t.Errorf("%s: %v, want %q", end, got, want)
		}
	}
}

// Over HTTP a session goes from initialize to what ends it; where nothing ends
// it, nobody can tell how long it took.
func TestSessionDurationOverHTTP(t *testing.T) {
	r := newReceiver()
	x := newSession()
	k := start(t, x, r.overHTTP(t), nil)
	at := func(s int64, exchange uint64, session string, d capture.Direction, change func(*capture.Record)) {
		rec := capture.Record{TS: time.Unix(s, 0), Transport: capture.HTTP, Direction: d, Exchange: exchange, ConnID: "c" + session, MCPSession: session}
		change(&rec)
		x.add(rec)
	}
	raw := func(text string) func(*capture.Record) { return func(r *capture.Record) { r.Raw = []byte(text) } }
	verb := func(v string) func(*capture.Record) {
		return func(r *capture.Record) { r.HTTP = &capture.HTTPFacts{Method: v} }
	}
	status := func(n int) func(*capture.Record) { return func(r *capture.Record) { r.Status = n } }
	x.add(capture.Record{TS: time.Unix(900, 0), Transport: capture.HTTP, Direction: capture.Meta, Raw: []byte(`{"target":"http://example.test/mcp"}`)})
	n := uint64(0)
	for i, id := range []string{"aa", "bb", "cc", "dd", ""} {
		n++
		at(1000, n, "", capture.C2S, func(r *capture.Record) { r.Raw, r.ConnID = []byte(hello), fmt.Sprint(i) })
		at(1001, n, id, capture.S2C, func(r *capture.Record) { r.Raw, r.ConnID, r.Status = []byte(welcome), fmt.Sprint(i), 200 })
	}
	k.f.Look(time.Now())
	n++ // ended by the client
	at(1010, n, "aa", capture.C2S, verb("DELETE"))
	at(1011, n, "", capture.S2C, status(204))
	n++ // ended by the server
	at(1020, n, "bb", capture.C2S, raw(`{"jsonrpc":"2.0","id":2,"method":"ping"}`))
	at(1021, n, "", capture.S2C, status(404))
	n++ // the server does not end it
	at(1030, n, "cc", capture.C2S, verb("DELETE"))
	at(1031, n, "", capture.S2C, status(405))
	n++ // "aa" again
	at(1040, n, "aa", capture.C2S, verb("DELETE"))
	at(1041, n, "", capture.S2C, status(404))
	k.f.Look(time.Now())
	k.f.End(time.Now())
	k.end()
	got := r.durations()
	if len(got) != 2 || got["11 2025-06-18 tcp http example.test"] != 1 || got["21 404 2025-06-18 tcp http example.test"] != 1 {
		t.Errorf("%v", got)
	}
}

// A new index of the same session goes on where the old one was.
func TestSessionDurationGoesOnInANewIndex(t *testing.T) {
	r := newReceiver()
	x := newSession()
	k := start(t, x, r.overHTTP(t), nil)
	x.add(capture.Record{TS: time.Unix(1000, 0), Transport: capture.Stdio, Direction: capture.C2S, Raw: []byte(hello)})
	k.f.Look(time.Now())
	k.f.End(time.Now())
	y := newSession()
	f := k.Follow(y.s, y.body, time.Time{})
	f.Resume(k.f)
	y.add(capture.Record{TS: time.Unix(1090, 0), Transport: capture.Stdio, Direction: capture.End, Raw: []byte(`{"reason":"client closed"}`)})
	f.End(time.Now())
	k.end()
	if got := r.durations(); len(got) != 1 || got["90 pipe"] != 1 {
		t.Errorf("%v", got)
	}
}
