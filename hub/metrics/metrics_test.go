package metrics

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hub is a Source that a test fills.
type hub struct {
	st      *store.Store
	changed chan struct{}
	done    int64
}

func newHub() *hub { return &hub{st: store.New(store.Limits{}), changed: make(chan struct{}, 1)} }

func (h *hub) Store() *store.Store                  { return h.st }
func (h *hub) Progress() (int64, int64)             { return h.done, 0 }
func (h *hub) Live(*store.Session) bool             { return true }
func (h *hub) Subscribe() (<-chan struct{}, func()) { return h.changed, func() {} }

// began is when the hub of the tests began to count.
func began() time.Time { return time.Unix(1000, 0) }

// play is a session that a test fills: "> json" or "< json", and "! status"
// for an HTTP answer without a message.
type play struct {
	s   *store.Session
	a   *store.Appender
	seq uint64
	ts  time.Time
}

func (h *hub) play(id string, at time.Time) *play {
	p := &play{ts: at}
	p.s, p.a = h.st.Open(id, "", nil)
	return p
}

func (p *play) say(lines ...string) {
	for _, l := range lines {
		p.seq++
		p.ts = p.ts.Add(time.Millisecond)
		r := capture.Record{Label: "lab\"el\n", Seq: p.seq, TS: p.ts, Transport: capture.Stdio, Direction: capture.S2C}
		switch l[0] {
		case '!':
			r.Transport, r.Exchange = capture.HTTP, p.seq
			_, _ = fmt.Sscanf(l[2:], "%d", &r.Status)
		case '>':
			r.Direction = capture.C2S
			fallthrough
		default:
			r.Raw = []byte(l[2:])
		}
		p.a.Append(&capture.Item{Record: r})
	}
	p.a.Publish()
}

func call(id int, tool string) string {
	return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

func result(id int) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, id)
}

// serve starts the page of h and gives what reads it.
func serve(t *testing.T, h *hub) func() string {
	t.Helper()
	m := New(Options{Source: h, Now: began, Version: "test"})
	srv := httptest.NewServer(m.Handler())
	t.Cleanup(srv.Close)
	return func() string {
		r, err := http.Get(srv.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s %v", r.Status, err)
		}
		return string(b)
	}
}

// sum adds up the values of a metric, of the lines that hold all words.
func sum(page, metric string, words ...string) (total float64, lines int) {
next:
	for l := range strings.Lines(page) {
		name, _, _ := strings.Cut(l, "{")
		name, _, _ = strings.Cut(name, " ")
		if name != metric {
			continue
		}
		for _, w := range words {
			if !strings.Contains(l, w) {
				continue next
			}
		}
		var v float64
		_, _ = fmt.Sscanf(l[strings.LastIndexByte(l, ' ')+1:], "%g", &v)
		total += v
		lines++
	}
	return total, lines
}

func want(t *testing.T, page, metric string, value float64, words ...string) {
	t.Helper()
	if got, _ := sum(page, metric, words...); got != value {
		t.Errorf("%s %q: %g, want %g", metric, words, got, value)
	}
}

const (
	calls    = "mcpsnoop_tool_calls_total"
	errs     = "mcpsnoop_tool_errors_total"
	count    = "mcpsnoop_tool_call_duration_seconds_count"
	refused  = "mcpsnoop_transport_errors_total"
	inFlight = "mcpsnoop_calls_in_flight"
)

func TestCallsErrorsAndLatencies(t *testing.T) {
	h := newHub()
	page := serve(t, h)
	if _, lines := sum(page(), refused); lines != 1 {
		t.Error("there are no transport errors to draw while there are none")
	}
	p := h.play("a", began())
	p.say(call(1, "re\"ad\n"), result(1), call(2, "re\"ad\n"), `< {"jsonrpc":"2.0","id":2,"result":{"isError":true}}`,
		call(3, "re\"ad\n"), `< {"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no"}}`,
		call(4, "re\"ad\n"), `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`, result(4),
		call(5, "re\"ad\n"), `! 502`, `! 405`)
	got := page()
	tool := `tool="re\"ad\n"`
	want(t, got, calls, 5, tool, `server="lab\"el\n"`)
	want(t, got, errs, 1, tool, `error_type="tool"`)
	want(t, got, errs, 1, tool, `error_type="protocol"`)
	want(t, got, count, 3, tool)
	want(t, got, refused, 1, `status="502"`)
	want(t, got, refused, 1)
	want(t, got, inFlight, 1)
	if strings.Contains(got, "-32000") || strings.Contains(got, `"no"`) {
		t.Error("an error message is in a label")
	}
	if again := page(); !strings.Contains(again, calls) {
		t.Error("the second scrape is empty")
	} else {
		want(t, again, calls, 5)
	}
}

func TestHistoryIsNotNewTraffic(t *testing.T) {
	h := newHub()
	page := serve(t, h)
	p := h.play("old", began().Add(-time.Hour))
	p.say(call(1, "read"), result(1), call(2, "read"))
	want(t, page(), calls, 0)
	want(t, page(), inFlight, 1)
	p.ts = began().Add(time.Second)
	p.say(result(2), call(3, "read"), result(3))
	got := page()
	want(t, got, calls, 1)
	want(t, got, count, 1)
	want(t, got, inFlight, 0)
}

func TestNamesThatNoListAdvertised(t *testing.T) {
	h := newHub()
	page := serve(t, h)
	p := h.play("a", began())
	p.say(`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"}]}}`,
		call(2, "read"), result(2), call(3, "made-up"), result(3), call(4, strings.Repeat("x", 300)), result(4))
	got := page()
	want(t, got, calls, 1, `tool="read"`)
	want(t, got, calls, 2, `tool="(unlisted)"`)
	want(t, got, "mcpsnoop_tool_definition_bytes", float64(len(`{"name":"read"}`)))
}

// Made-up names where no list is known: few series, and all calls counted.
func TestMadeUpNames(t *testing.T) {
	h := newHub()
	page := serve(t, h)
	p := h.play("a", began())
	for i := range 3000 {
		p.say(call(i, fmt.Sprintf("tool-%d", i)), fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"Unknown tool %d"}}`, i, i))
	}
	got := page()
	want(t, got, calls, 3000)
	want(t, got, errs, 3000, `error_type="protocol"`)
	want(t, got, count, 3000)
	if _, n := sum(got, calls); n > freeNames+1 {
		t.Errorf("%d series of calls", n)
	}
}

// A server that has all the tools that are called: past the cap they are one,
// and the totals stay right.
func TestSeriesCap(t *testing.T) {
	h := newHub()
	page := serve(t, h)
	p := h.play("a", began())
	const n = maxSeries + 500
	for round := range 2 { // where no list is known, a name gets its series when it worked
		for i := range n {
			p.say(call(round*n+i, fmt.Sprintf("tool-%d", i)), result(round*n+i))
		}
		page()
	}
	got := page()
	want(t, got, calls, 2*n)
	want(t, got, count, 2*n)
	if _, lines := sum(got, calls); lines > maxSeries+2 {
		t.Errorf("%d series of calls", lines)
	}
	if v, _ := sum(got, calls, `tool="`+overCap+`"`); v == 0 {
		t.Error("nothing was counted past the cap")
	}
}

func TestClip(t *testing.T) {
	for _, s := range []string{strings.Repeat("ä", 200), "a\xffb", strings.Repeat("\xff", 1<<20), ""} {
		if c := clip(s); len(c) > maxLabel || strings.ToValidUTF8(c, "") != c {
			t.Errorf("%d bytes: %q", len(c), c)
		}
	}
}

func TestReady(t *testing.T) {
	h := newHub()
	m := New(Options{Source: h, Now: began})
	get := func(path string) int {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	h.done = -1
	if get("/readyz") != http.StatusServiceUnavailable || get("/healthz") != http.StatusOK {
		t.Error("it is ready while it indexes, or not healthy")
	}
	h.done = 0
	if get("/readyz") != http.StatusOK {
		t.Error("it is not ready")
	}
}

// Sessions that go away take nothing with them.
func TestRemovedSessionsStayCounted(t *testing.T) {
	h := newHub()
	page := serve(t, h)
	p := h.play("a", began())
	p.say(call(1, "read"))
	want(t, page(), calls, 1)
	p.say(result(1), call(2, "read"), result(2))
	h.st.Remove(p.s)
	want(t, page(), calls, 2)
	want(t, page(), count, 2)
}

func TestRunEndsWithItsContext(t *testing.T) {
	h := newHub()
	m := New(Options{Source: h, Now: began})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- m.Run(ctx) }()
	h.play("a", began()).say(call(1, "read"))
	h.changed <- struct{}{}
	h.changed <- struct{}{} // it took the first
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
