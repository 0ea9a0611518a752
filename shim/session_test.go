//go:build unix

package shim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

func ownSession(c *exec.Cmd, yes bool) {
	if yes {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
}

// roleShim is a whole shim: FOLDER COMMAND...
func roleShim(a []string) int {
	signals, stop := Notify()
	defer stop()
	warn := Warner(os.Stderr, "test")
	rec := capture.NewRecorder(capture.Options{
		File:  capture.FileOptions{Dir: a[0], SessionID: "test-1-0123456789ab", Now: time.Now, Warn: warn},
		Label: "test", Transport: capture.Stdio, Clock: testClock{}, Warn: warn,
	})
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	code, err := Run(context.Background(), Options{
		Argv: a[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Recorder: rec, Signals: signals, Self: self, Warn: warn, Grace: time.Second,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

type testClock struct{ systemClock }

func (testClock) Since(t time.Time) time.Duration { return time.Since(t) }

// session is a run of the shim with the test as its client.
type session struct {
	t       testing.TB
	in      *os.File // the client's ends
	out     *os.File
	err     *os.File
	signals chan os.Signal
	log     string
	warned  *output

	shimOut *os.File // the shim's end of out
	stdout  *output  // what came, when nobody took out away
	stderr  *output
	done    chan struct{}
	code    int
	failed  error
}

// output gathers what a stream brings.
type output struct {
	mu   sync.Mutex
	b    bytes.Buffer
	news chan struct{} // closed and replaced when bytes came
	end  chan struct{} // closed at the end of the stream
}

func newOutput() *output {
	return &output{news: make(chan struct{}), end: make(chan struct{})}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.news)
	o.news = make(chan struct{})
	return o.b.Write(p)
}

func (o *output) gather(f *os.File) {
	defer close(o.end)
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		_, _ = o.Write(buf[:n]) // a buffer takes all
		if err != nil {
			return
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// waitFor waits until the text has come.
func (o *output) waitFor(t testing.TB, text string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		o.mu.Lock()
		have, news := bytes.Contains(o.b.Bytes(), []byte(text)), o.news
		o.mu.Unlock()
		if have {
			return
		}
		select {
		case <-news:
		case <-limit:
			t.Fatalf("waited for %q; have %q", text, o)
		}
	}
}

type option func(*session, *Options)

func grace(d time.Duration) option { return func(_ *session, o *Options) { o.Grace = d } }

// unread leaves the client's end of standard output to the test.
func unread() option { return func(s *session, _ *Options) { s.stdout = nil } }

func unguarded() option { return func(_ *session, o *Options) { o.Self = "" } }

func begin(t testing.TB, argv []string, options ...option) *session {
	t.Helper()
	// The shim may be left in a read of inR, so that only the collector closes it.
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	s := &session{
		t: t, in: inW, out: outR, err: errR, signals: make(chan os.Signal), done: make(chan struct{}),
		warned: newOutput(), stdout: newOutput(), stderr: newOutput(), shimOut: outW,
	}
	warn := func(line string) { _, _ = s.warned.Write([]byte(line + "\n")) }
	dir := filepath.Join(t.TempDir(), "sessions")
	rec := capture.NewRecorder(capture.Options{
		File:  capture.FileOptions{Dir: dir, SessionID: "test-1-0123456789ab", Now: time.Now, Warn: warn},
		Label: "test", Transport: capture.Stdio, Clock: testClock{}, Warn: warn,
	})
	s.log = rec.Path()
	o := Options{
		Argv: argv, Env: os.Environ(), Stdin: inR, Stdout: outW, Stderr: errW, Grace: 10 * time.Second,
		Recorder: rec, Signals: s.signals, Self: selfPath(t), Warn: warn,
	}
	for _, f := range options {
		f(s, &o)
	}
	if s.stdout != nil {
		go s.stdout.gather(outR)
	}
	go s.stderr.gather(errR)
	go func() {
		defer close(s.done)
		s.code, s.failed = Run(context.Background(), o)
		_, _ = outW.Close(), errW.Close() // as the end of the process would
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		<-s.done
	})
	return s
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() }) // most are closed already
	return r, w
}

// end waits for the run and all its output, and checks the exit code.
func (s *session) end(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(30 * time.Second):
		panic("the run does not end") // with the stacks of all goroutines
	}
	if s.stdout != nil {
		<-s.stdout.end
	}
	<-s.stderr.end
	if s.failed != nil {
		s.t.Errorf("Run: %v", s.failed)
	}
	if s.code != code {
		s.t.Errorf("exit code %d; want %d", s.code, code)
	}
}

func (s *session) write(text string) {
	s.t.Helper()
	if _, err := s.in.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// records reads the log, without meta and end, and checks the last line.
func (s *session) records(end string) []capture.Record {
	s.t.Helper()
	all := readLog(s.t, s.log)
	last := all[len(all)-1]
	if got := string(last.Raw); last.Direction != capture.End || !bytes.Contains(last.Raw, []byte(end)) {
		s.t.Errorf("last line of the log: %v %s; want %s in it", last.Direction, got, end)
	}
	var frames []capture.Record
	for _, r := range all {
		if r.Direction.IsFrame() {
			frames = append(frames, r)
		}
	}
	return frames
}

// readLog reads the whole lines of a log; each must be a record.
func readLog(t testing.TB, path string) []capture.Record {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	var all []capture.Record
	var next uint64
	for n, line := range bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) {
		var r capture.Record
		if err := capture.ParseRecord(line, &r); err != nil {
			t.Fatalf("%s line %d: %v: %.200s", path, n+1, err, line)
		}
		if next++; r.Seq < next || r.Seq-next != r.Dropped {
			t.Errorf("%s line %d has number %d; want %d, %d were dropped", path, n+1, r.Seq, next, r.Dropped)
		}
		next = r.Seq
		all = append(all, r)
	}
	return all
}

// texts is what the frames of one direction hold.
func texts(frames []capture.Record, dir capture.Direction) []string {
	var out []string
	for _, r := range frames {
		if r.Direction == dir {
			out = append(out, string(r.Raw)+r.Text+string(r.Bytes))
		}
	}
	return out
}

// gone reports whether the process has ended, dead but not yet reaped included.
func gone(pid int) bool {
	return syscall.Kill(pid, 0) != nil || zombie(pid)
}

func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
