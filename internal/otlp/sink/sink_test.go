package sink

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// session is one that a test fills.
type session struct {
	s    *store.Session
	a    *store.Appender
	mu   sync.Mutex // guards recs: bodies are read while there come more
	recs []capture.Record
}

func newSession() *session {
	x := &session{}
	x.s, x.a = store.NewSession("play-1-00000000000a", "", store.Limits{}, nil)
	return x
}

// say appends a frame: "> json" or "< json".
func (x *session) say(l string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.recs)
	r := capture.Record{Label: "play", Seq: uint64(n + 1), TS: time.Unix(1000, int64(n)*1e6), Transport: capture.Stdio, Direction: capture.S2C, Raw: []byte(l[2:])}
	if l[0] == '>' {
		r.Direction = capture.C2S
	}
	x.recs = append(x.recs, r)
	x.a.Append(&capture.Item{Record: r})
}

// calls appends n quick calls.
func (x *session) calls(n int) {
	from := len(x.recs)
	for i := range n {
		x.say(fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read"}}`, from+i))
		x.say(fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, from+i))
	}
	x.a.Publish()
}

func (x *session) body(_ *store.Session, i uint32) (capture.Record, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.recs[i], nil
}

// running is a Sink at work.
type running struct {
	*Sink
	f    *Follower
	end  func()
	said func() []string
}

func start(t *testing.T, x *session, address string, change func(*Options)) *running {
	t.Helper()
	env := func(string) string { return "" }
	var mu sync.Mutex
	var said []string
	o := Options{
		Env: env, Interval: time.Millisecond, Version: "test", Now: time.Now, Flush: 10 * time.Second,
		Warn: func(s string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, s)
		},
	}
	var err error
	if o.Endpoint, err = ParseEndpoint(address, env); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&o)
	}
	k, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { _ = k.Run(ctx) })
	return &running{
		Sink: k, f: k.Follow(x.s, x.body, time.Time{}),
		end: func() {
			cancel()
			work.Wait()
		},
		said: func() []string {
			mu.Lock()
			defer mu.Unlock()
			return said
		},
	}
}

// Quick calls and an exit right behind them: everything is at the collector,
// once, by all three protocols, with metrics and logs.
func TestEverythingIsSentAtExit(t *testing.T) {
	const n = 2000
	for name, protocol := range map[string]Protocol{"protobuf": HTTPProtobuf, "json": HTTPJSON, "grpc": GRPC} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver()
			var address string
			if protocol == GRPC {
				address = r.overGRPC(t)
			} else {
				address = r.overHTTP(t)
			}
			x := newSession()
			k := start(t, x, address, func(o *Options) {
				o.Endpoint.Protocol, o.Logs = protocol, true
				o.Headers = map[string]string{"Authorization": "Bearer x"}
			})
			x.calls(n / 2)
			k.f.Look(time.Now())
			x.calls(n / 2)
			k.f.End(time.Now())
			k.end()
			seen := map[string]bool{}
			for _, sp := range r.spans {
				seen[sp.SpanID().String()] = true
			}
			if len(r.spans) != n || len(seen) != n {
				t.Errorf("%d spans, %d different ones, want %d; %v", len(r.spans), len(seen), n, k.said())
			}
			if len(r.bodies) != 2*n || !strings.HasPrefix(r.bodies[0], `{"jsonrpc"`) {
				t.Errorf("%d frames as logs, want %d", len(r.bodies), 2*n)
			}
			if want := r.spans[0].TraceID().String() + r.spans[0].SpanID().String(); r.ids[0] != want || r.ids[1] != want {
				t.Errorf("logs belong to %s and %s, want %s", r.ids[0], r.ids[1], want)
			}
			if len(r.metrics) != 1 || r.metrics[0].Name() != "mcp.client.operation.duration" || r.metrics[0].Histogram().DataPoints().At(0).Count() != n {
				t.Errorf("metrics %v", r.metrics)
			}
			for _, d := range k.Deliveries() {
				if d.Lost != 0 || d.Left != 0 {
					t.Errorf("%+v", d)
				}
			}
			if protocol != GRPC && r.headers.Get("Authorization") != "Bearer x" {
				t.Errorf("headers %v", r.headers)
			}
			if protocol == HTTPJSON && (!r.types["application/json"] || len(r.types) != 1) {
				t.Errorf("content types %v", r.types)
			}
		})
	}
}

// What peers choose may be cut in the middle of a character, or be none: the
// collector still reads it, and it takes nothing else down with it.
func TestHostileTexts(t *testing.T) {
	long := strings.Repeat("\u00e4", 3000)
	for _, name := range []string{"a" + long, long, "\\ud800", "q\\\"\\n\\u0000"} {
		r := newReceiver()
		x := newSession()
		k := start(t, x, r.overHTTP(t), func(o *Options) { o.Logs = true })
		x.calls(1)
		x.say(`> {"jsonrpc":"2.0","id":"` + name + `","method":"tools/call","params":{"name":"` + name + `","_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"` + name + `"}}}`)
		x.say(`< {"jsonrpc":"2.0","id":"` + name + `","error":{"code":-32000,"message":"` + name + `"}}`)
		x.say(`> {"jsonrpc":"2.0","id":2,"method":"` + name + `"}`)
		x.a.Publish()
		k.f.End(time.Now())
		k.end()
		if d := k.Deliveries(); d[0].Sent != 3 || d[1].Sent != 5 || len(r.spans) != 3 || len(r.metrics) == 0 {
			t.Errorf("%.20q: %+v, %d metrics, said %q", name, d, len(r.metrics), k.said())
		}
	}
}

// The spans are those of the export: same ids, same attributes.
func TestSpansAreThoseOfTheExport(t *testing.T) {
	r := newReceiver()
	x := newSession()
	k := start(t, x, r.overHTTP(t), nil)
	x.calls(3)
	x.say(`> {"jsonrpc":"2.0","id":"p","method":"ping"}`)
	x.a.Publish()
	k.f.Look(time.Now())
	if len(k.f.open) != 1 {
		t.Errorf("%d operations are open, want the ping", len(k.f.open))
	}
	k.f.End(time.Now())
	k.end()
	maker := otlp.NewSpans(x.s, x.body, x.s.Summary().Newest)
	for i := range x.s.OpLen() {
		want, err := maker.Operation(i)
		if err != nil {
			t.Fatal(err)
		}
		got := r.spans[i]
		id := got.SpanID()
		if string(id[:]) != string(want[0].SpanId) || got.Attributes().Len() != len(want[0].Attributes) || uint64(got.EndTimestamp()) != want[0].EndTimeUnixNano {
			t.Errorf("span %d is not that of the export", i)
		}
	}
}

// A collector that comes back gets all that the queue could hold; the rest is
// counted and said.
func TestCollectorIsAwayAndComesBack(t *testing.T) {
	r := newReceiver()
	r.answer(http.StatusServiceUnavailable)
	x := newSession()
	k := start(t, x, r.overHTTP(t), func(o *Options) { o.Queue = 100 })
	x.calls(150)
	k.f.Look(time.Now())
	if n := r.count(); n != 0 {
		t.Fatalf("%d spans were taken", n)
	}
	r.answer(0)
	for r.count() < 100 {
		time.Sleep(time.Millisecond)
	}
	k.end()
	d := k.Deliveries()[0]
	if d.Sent != 100 || d.Lost != 50 || r.count() != 100 {
		t.Errorf("%+v, %d at the collector", d, r.count())
	}
	if said := strings.Join(k.said(), "\n"); !strings.Contains(said, "50 operations were not sent") {
		t.Errorf("said %q", said)
	}
}

// Nobody there: the end comes after the time to flush, and says what is lost.
func TestNobodyListens(t *testing.T) {
	x := newSession()
	k := start(t, x, "http://127.0.0.1:1", func(o *Options) { o.Flush = 50 * time.Millisecond })
	x.calls(7)
	k.f.End(time.Now())
	k.end()
	said := strings.Join(k.said(), "\n")
	if d := k.Deliveries()[0]; d.Lost != 7 || !strings.Contains(said, "7 operations were not sent") {
		t.Errorf("%+v, said %q", d, said)
	}
}

// What is refused for good is not sent again, and does not stand in the way.
func TestRefusal(t *testing.T) {
	r := newReceiver()
	r.answer(http.StatusUnauthorized)
	x := newSession()
	k := start(t, x, r.overHTTP(t), nil)
	x.calls(5)
	k.f.Look(time.Now())
	for k.Deliveries()[0].Lost < 5 {
		time.Sleep(time.Millisecond)
	}
	r.answer(0)
	x.calls(5)
	k.f.Look(time.Now())
	k.end()
	if d := k.Deliveries()[0]; d.Lost != 5 || d.Sent != 5 {
		t.Errorf("%+v", d)
	}
}

func TestEndpoint(t *testing.T) {
	none := func(string) string { return "" }
	for raw, want := range map[string]string{
		"http://h:4318":                    "http/protobuf http://h:4318/v1/traces http://h:4318/v1/metrics",
		"http://h:4318/":                   "http/protobuf http://h:4318/v1/traces http://h:4318/v1/metrics",
		"https://h/otlp":                   "http/protobuf https://h/otlp/v1/traces https://h/otlp/v1/metrics",
		"http://h:4318/v1/traces":          "http/protobuf http://h:4318/v1/traces http://h:4318/v1/traces",
		"http://h:4317":                    "grpc http://h:4317 http://h:4317",
		"grpcs://h:9":                      "grpc https://h:9 https://h:9",
		"h:4318":                           "error",
		"http://":                          "error",
		"ftp://h":                          "error",
		"http://name:hunter2@h/":           "error",
		"http://h/v1/traces?token=hunter2": "error",
		"http://h:4318/custom/v1/traces":   "http/protobuf http://h:4318/custom/v1/traces http://h:4318/custom/v1/traces",
	} {
		got := "error"
		if e, err := ParseEndpoint(raw, none); err == nil {
			got = fmt.Sprintf("%s %s %s", e.Protocol, e.url("traces", e.Protocol), e.url("metrics", e.Protocol))
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error gives a secret away: %v", raw, err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	if _, err := ParseEndpoint("http://h", func(string) string { return "carrier-pigeon" }); err == nil {
		t.Error("an unknown protocol is taken")
	}
}

// A signal may be sent otherwise than the rest, unless the address says how.
func TestProtocolOfASignal(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc"}[name]
	}
	for raw, want := range map[string]string{"http://h": "http/json grpc", "grpc://h": "grpc grpc"} {
		e, err := ParseEndpoint(raw, env)
		if err != nil {
			t.Fatal(err)
		}
		o := &Options{Endpoint: e, Env: env}
		if got := fmt.Sprint(o.protocol("traces"), " ", o.protocol("metrics")); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	if _, err := ParseEndpoint("http://h", func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "smoke"}[name]
	}); err == nil || !strings.Contains(err.Error(), "LOGS_PROTOCOL") {
		t.Errorf("an unknown protocol of a signal: %v", err)
	}
}

func TestHeadersOfFlagsWin(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=1%202,b=2"}[name]
	}
	got := headers("traces", map[string]string{"b": "3"}, env)
	if got["a"] != "1 2" || got["b"] != "3" || len(got) != 2 {
		t.Errorf("%v", got)
	}
}
