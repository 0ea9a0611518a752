package httpproxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type systemClock struct{}

func (systemClock) Now() time.Time                  { return time.Now() }
func (systemClock) Since(t time.Time) time.Duration { return time.Since(t) }

// rig is a proxy that records, in front of a server that the test gives.
type rig struct {
	t     testing.TB
	p     *Proxy
	addr  string // of the proxy
	rec   *capture.Recorder
	warns *lines

	stop func() // ends the proxy and the record; once
}

// lines is a list of texts that several goroutines add to.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, s)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// newRig starts a proxy for a target URL.
func newRig(t testing.TB, target string, change ...func(*Options)) *rig {
	t.Helper()
	tg, err := ParseTarget(target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, warns: &lines{}}
	id, err := capture.NewSessionID("test", os.Getpid(), strings.NewReader("abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	r.rec = capture.NewRecorder(capture.Options{
		File:  capture.FileOptions{Dir: filepath.Join(t.TempDir(), "sessions"), SessionID: id, Now: time.Now, Warn: r.warns.add},
		Label: "test", Transport: capture.HTTP, Clock: systemClock{}, Warn: r.warns.add,
	})
	o := Options{Target: tg, Recorder: r.rec, Warn: r.warns.add, Grace: 200 * time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	l := listen(t)
	r.addr = l.Addr().String()
	r.p = New(o)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.p.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if lost := r.rec.Close(capture.EndInfo{Reason: "test"}); lost > 0 {
			t.Errorf("%d frames lost", lost)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func (r *rig) url(path string) string { return "http://" + r.addr + path }

// log ends the proxy and reads what it has recorded, without first and last line.
func (r *rig) log() []capture.Record {
	r.t.Helper()
	r.stop()
	b, err := os.ReadFile(r.rec.Path())
	if err != nil {
		r.t.Fatal(err)
	}
	var out []capture.Record
	for i, line := range bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) {
		var rec capture.Record
		if err := capture.ParseRecord(line, &rec); err != nil {
			r.t.Fatalf("line %d: %v: %s", i+1, err, line)
		}
		if rec.Seq != uint64(i+1) {
			r.t.Errorf("line %d has seq %d", i+1, rec.Seq)
		}
		rec.Raw = bytes.Clone(rec.Raw)
		out = append(out, rec)
	}
	return out[1 : len(out)-1]
}

// shape writes a line of the log in short: x1 c2s POST /mcp {"a":1} cut=9.
func shape(rec *capture.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "x%d %s", rec.Exchange, rec.Direction)
	if h := rec.HTTP; h != nil {
		if h.Method != "" {
			fmt.Fprintf(&b, " %s %s", h.Method, h.Path)
		}
		if h.SSE != nil {
			fmt.Fprintf(&b, " sse(%s", h.SSE.Event)
			if h.SSE.HasID {
				fmt.Fprintf(&b, " id=%s", h.SSE.ID)
			}
			if h.SSE.HasRetry {
				fmt.Fprintf(&b, " retry=%d", h.SSE.Retry)
			}
			b.WriteString(")")
		}
		if h.End != "" {
			fmt.Fprintf(&b, " end=%s", h.End)
		}
		if h.Doc != "" {
			fmt.Fprintf(&b, " doc=%s", h.Doc)
		}
		for _, m := range h.Mapped {
			fmt.Fprintf(&b, " mapped(%s %s %s)", m.What, m.From, m.To)
		}
	}
	if rec.Status > 0 {
		fmt.Fprintf(&b, " %d", rec.Status)
	}
	switch {
	case rec.Raw != nil:
		fmt.Fprintf(&b, " %s", rec.Raw)
	case rec.HasText:
		fmt.Fprintf(&b, " text:%s", rec.Text)
	case rec.Bytes != nil:
		fmt.Fprintf(&b, " bytes:%x", rec.Bytes)
	}
	if rec.Truncated {
		fmt.Fprintf(&b, " cut=%d", rec.Size)
	}
	if rec.EOL != "" {
		fmt.Fprintf(&b, " eol=%s", rec.EOL)
	}
	if rec.Batch {
		b.WriteString(" batch")
	}
	return b.String()
}

func shapes(recs []capture.Record) []string {
	var out []string
	for i := range recs {
		out = append(out, shape(&recs[i]))
	}
	return out
}

// wantLog compares the log with lines as shape writes them.
func (r *rig) wantLog(want ...string) []capture.Record {
	r.t.Helper()
	recs := r.log()
	got := shapes(recs)
	if !slices.Equal(got, want) {
		r.t.Errorf("log:\n got  %s\n want %s", strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
	return recs
}

// rawServer answers each connection by a function that reads and writes bytes.
func rawServer(t testing.TB, serve func(c net.Conn, r *bufio.Reader)) (addr string) {
	t.Helper()
	l := listen(t)
	var work sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			work.Go(func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	return l.Addr().String()
}

// readHead reads the head of a message as it stands, up to the empty line.
func readHead(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		l, err := r.ReadString('\n')
		b.WriteString(l)
		if err != nil || l == "\r\n" {
			return b.String(), err
		}
	}
}

// talk is a raw client of the proxy.
type talk struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func (r *rig) dial() *talk {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(20 * time.Second)) // a test that hangs says where
	r.t.Cleanup(func() { c.Close() })
	return &talk{r.t, c, bufio.NewReader(c)}
}

func (c *talk) say(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, s); err != nil {
		c.t.Fatalf("send %q: %v", s, err)
	}
}

// hear reads exactly what is wanted.
func (c *talk) hear(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c.r, got)
	if string(got[:n]) != want {
		c.t.Fatalf("got %q (%v); want %q", got[:n], err, want)
	}
}

// response reads one response whole and gives its body.
func (c *talk) response(method string) string {
	c.t.Helper()
	method, _, _ = strings.Cut(method, " ")
	resp, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// rest reads until the connection ends.
func (c *talk) rest() string {
	b, _ := io.ReadAll(c.r)
	return string(b)
}

// client is an HTTP client that adds nothing of its own that matters.
func client(t testing.TB) *http.Client {
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// waitIdleEnd waits until the proxy has seen that no upstream connection is
// open: what a server does to an idle connection takes effect some time later.
func (r *rig) waitIdleEnd() {
	for {
		open := 0
		r.p.mu.Lock()
		for pr := range r.p.pairs {
			pr.mu.Lock()
			u := pr.up
			pr.mu.Unlock()
			if u != nil {
				u.mu.Lock()
				if !u.dead {
					open++
				}
				u.mu.Unlock()
			}
		}
		r.p.mu.Unlock()
		if open == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

type captureRecord = capture.Record

// neverHolds ends the rig and wants a text nowhere in what was written.
func (r *rig) neverHolds(secret string) {
	r.t.Helper()
	r.stop()
	b, err := os.ReadFile(r.rec.Path())
	if err != nil {
		r.t.Fatal(err)
	}
	if bytes.Contains(b, []byte(secret)) {
		r.t.Errorf("%q stands in the log:\n%s", secret, b)
	}
}
