package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// collector takes spans over HTTP, and is asked for them as lines: the name of
// the service, trace and span, the name.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	lines []string
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		q := ptraceotlp.NewExportRequest()
		if r.URL.Path != "/v1/traces" {
			return
		}
		if err := q.UnmarshalProto(b); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, rs := range q.Traces().ResourceSpans().All() {
			service, _ := rs.Resource().Attributes().Get("service.name")
			for _, ss := range rs.ScopeSpans().All() {
				for _, sp := range ss.Spans().All() {
					c.lines = append(c.lines, fmt.Sprintf("%s %s %s %s", service.AsString(), sp.TraceID(), sp.SpanID(), sp.Name()))
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// spans are what arrived, in order.
func (c *collector) spans() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.lines))
}

// runApp runs a command until the test ends it, and gives what it says.
func runApp(t *testing.T, home string, args ...string) (said chan string, stop func()) {
	t.Helper()
	errs := &pipeLines{lines: make(chan string, 1000)}
	app := &App{
		Args: args, Env: []string{"MCPSNOOP_HOME=" + home}, Dir: home, Clock: SystemClock{}, FS: capture.OS{}, OS: "linux",
		Process: Process{Host: "box", PID: 7}, Streams: Streams{Out: io.Discard, Err: errs},
	}
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() { code <- app.Run(ctx) }()
	return errs.lines, sync.OnceFunc(func() {
		cancel()
		if c := <-code; c != 0 {
			t.Errorf("%s: exit code %d", args, c)
		}
	})
}

// pong answers each request.
func pong(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func ping(t *testing.T, c *http.Client, to, method string) {
	t.Helper()
	q, err := http.NewRequest(http.MethodPost, to, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	r, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	r.Body.Close()
}

// The endpoints that clients of an explicit proxy talk to are sessions of their
// own, and so are their spans.
func TestForwardSendsSpans(t *testing.T) {
	c, one, two := newCollector(t), pong(t), pong(t)
	said, stop := runApp(t, t.TempDir(), "http", "--forward", "--listen", "127.0.0.1:0", "--otlp-endpoint", c.URL)
	defer stop()
	m := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(<-said)
	proxy, err := url.Parse(m)
	if err != nil || m == "" {
		t.Fatal("it does not say where it listens")
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	ping(t, client, one.URL+"/mcp", "one")
	ping(t, client, two.URL+"/mcp", "two")
	client.CloseIdleConnections()
	stop()
	got := strings.Join(c.spans(), "\n")
	if len(c.spans()) != 2 || !strings.Contains(got, " one") || !strings.Contains(got, " two") {
		t.Fatalf("spans:\n%s", got)
	}
	if a, b, _ := strings.Cut(got, "\n"); strings.Fields(a)[1] == strings.Fields(b)[1] {
		t.Errorf("two sessions are one trace:\n%s", got)
	}
	close(said)
	for line := range said {
		if strings.Contains(line, "not sent") || strings.Contains(line, "nothing is sent") {
			t.Error(line)
		}
	}
}

// What records a session and a hub that watches it send the same spans.
func TestTwoSendersSendTheSameSpans(t *testing.T) {
	beside, above, server := newCollector(t), newCollector(t), pong(t)
	home := t.TempDir()
	ready, stopHub := runApp(t, home, "hub", "--otlp-endpoint", above.URL+"/v1/traces", "--metrics-listen", "127.0.0.1:0")
	defer stopHub()
	<-ready // what begins from now on is not history
	said, stop := runApp(t, home, "http", "--target", server.URL+"/mcp", "--listen", "127.0.0.1:0", "--otlp-endpoint", beside.URL)
	defer stop()
	m := regexp.MustCompile(`^mcpsnoop: listening on (http://127\.0\.0\.1:\d+/mcp)`).FindStringSubmatch(<-said)
	if m == nil {
		t.Fatal("it does not say where it listens")
	}
	for i := range 5 {
		ping(t, http.DefaultClient, m[1], fmt.Sprint("m", i))
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	for end := time.Now().Add(20 * time.Second); len(above.spans()) < 5 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	stopHub()
	if got, want := above.spans(), beside.spans(); len(want) != 5 || !slices.Equal(got, want) {
		t.Errorf("the hub sent\n%s\nand the proxy\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
