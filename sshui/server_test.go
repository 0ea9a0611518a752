package sshui

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source is a hub that changes when it is told to, without sessions but for
// those that a test gives it.
type source struct {
	list    []*store.Session
	mu      sync.Mutex
	subs    map[chan struct{}]struct{}
	version uint64
}

func newSource() *source { return &source{subs: map[chan struct{}]struct{}{}} }

func (s *source) Sessions() []*store.Session { return s.list }
func (s *source) Body(*store.Session, uint32) (capture.Record, error) {
	return capture.Record{}, os.ErrNotExist
}
func (s *source) Bodies() store.Bodies          { return nil }
func (s *source) Progress() (done, total int64) { return 0, 0 }
func (s *source) Notices() []string             { return nil }
func (s *source) Want(string)                   {}
func (s *source) Version() uint64               { s.mu.Lock(); defer s.mu.Unlock(); return s.version }
func (s *source) Subscribe() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs[c] = struct{}{}
	return c, func() { s.mu.Lock(); defer s.mu.Unlock(); delete(s.subs, c) }
}

func (s *source) viewers() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.subs) }

func (s *source) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	for c := range s.subs {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func newKey(t testing.TB) gossh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gossh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func line(k gossh.PublicKey) string { return string(gossh.MarshalAuthorizedKey(k)) }

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rig is a server on loopback.
type rig struct {
	t                testing.TB
	addr             string
	dir              string
	src              *source
	operator, viewer gossh.Signer
	host             gossh.Signer
	auth             *Authorizer
	log              *syncBuffer
	stop             func() error
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *syncBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// command is what the rig serves: echo, cat, code, wait.
func command(ctx context.Context, v Visitor, args []string, s Streams) int {
	if args == nil {
		fmt.Fprintln(s.Err, "help")
		return 0
	}
	switch args[0] {
	case "sessions":
		fmt.Fprintln(s.Out, "the list")
	case "who":
		fmt.Fprintf(s.Out, "%s pty=%v env=%v", v.Role, v.PTY, v.Env)
	case "cat":
		_, _ = io.Copy(s.Out, s.In)
	case "code":
		return 3
	case "panic":
		panic("as asked")
	case "wait":
		fmt.Fprintln(s.Out, "waiting")
		<-ctx.Done()
	default:
		fmt.Fprintf(s.Err, "unknown %q", args)
		return 127
	}
	return 0
}

func newRig(t testing.TB, edit func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), src: newSource(), operator: newKey(t), viewer: newKey(t), host: newKey(t), log: &syncBuffer{}}
	ops := write(t, filepath.Join(r.dir, "operators"), line(r.operator.PublicKey()))
	keys := write(t, filepath.Join(r.dir, "keys"), line(r.viewer.PublicKey()))
	var err error
	if r.auth, err = NewAuthorizer(KeyFiles{Authorized: []string{keys}, Operators: []string{ops}}); err != nil {
		t.Fatal(err)
	}
	sessions := filepath.Join(r.dir, "sessions")
	if err := os.Mkdir(sessions, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		HostKey: r.host, Auth: r.auth, Source: r.src, Sessions: sessions, Command: command,
		UI:  func(Visitor) tui.Options { return tui.Options{} },
		Log: slog.New(slog.NewTextHandler(r.log, nil)),
		Logs: func(ctx context.Context, rw io.ReadWriter) error {
			_, err := fmt.Fprintln(rw, "stream")
			return err
		},
	}
	if edit != nil {
		edit(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return r
}

func (r *rig) dial(signers ...gossh.Signer) (*gossh.Client, error) {
	return gossh.Dial("tcp", r.addr, &gossh.ClientConfig{
		User: "anyone", HostKeyCallback: gossh.FixedHostKey(r.host.PublicKey()), Timeout: 10 * time.Second,
		Auth: []gossh.AuthMethod{gossh.PublicKeys(signers...)},
	})
}

func (r *rig) client(signers ...gossh.Signer) *gossh.Client {
	r.t.Helper()
	c, err := r.dial(signers...)
	if err != nil {
		r.t.Fatalf("dial: %v\n%s", err, r.log)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

func (r *rig) session(c *gossh.Client) *gossh.Session {
	r.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	return s
}

// screen starts a UI and gives what it writes.
func (r *rig) screen(c *gossh.Client, term string) (*gossh.Session, *syncBuffer, io.WriteCloser) {
	r.t.Helper()
	s := r.session(c)
	out := &syncBuffer{}
	s.Stdout = out
	in, err := s.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	_ = s.Setenv("LC_ALL", "C.UTF-8")
	if err := s.RequestPty(term, 24, 80, gossh.TerminalModes{}); err != nil {
		r.t.Fatal(err)
	}
	if err := s.Shell(); err != nil {
		r.t.Fatal(err)
	}
	return s, out, in
}

// eventually waits for something that must come, however slow the machine is.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func exitOf(err error) int {
	var e *gossh.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitStatus()
	}
	return -1
}

func TestCommands(t *testing.T) {
	r := newRig(t, nil)
	c := r.client(r.viewer)
	for _, tt := range []struct {
		cmd, in, out, err string
		code              int
	}{
		{cmd: "cat", in: "5\x00\xff\n", out: "5\x00\xff\n"},
		{cmd: "code", code: 3},
		{cmd: "nothing 'of this'", err: `unknown ["nothing" "of this"]`, code: 127},
		{cmd: "''", err: "cannot read", code: 2},
		{cmd: "panic", code: 1},
		{cmd: "who", out: "viewer pty=false env=[]"},
	} {
		s := r.session(c)
		var out, errs bytes.Buffer
		s.Stdin, s.Stdout, s.Stderr = strings.NewReader(tt.in), &out, &errs
		if code := exitOf(s.Run(tt.cmd)); code != tt.code || out.String() != tt.out || !strings.Contains(errs.String(), tt.err) {
			t.Errorf("%s: exit %d, %q, %q; want %d, %q, %q", tt.cmd, code, &out, &errs, tt.code, tt.out, tt.err)
		}
	}
	s := r.session(c)
	var out, errs bytes.Buffer
	s.Stdout, s.Stderr = &out, &errs
	if err := s.Shell(); err != nil {
		t.Fatal(err)
	}
	if code := exitOf(s.Wait()); code != 2 || out.Len() > 0 || errs.String() != "help\n" {
		t.Errorf("no command, no terminal: exit %d, %q, %q", code, &out, &errs)
	}
}

func TestScreen(t *testing.T) {
	r := newRig(t, nil)
	s, out, in := r.screen(r.client(r.viewer), "xterm-256color")
	eventually(t, "the UI", func() bool { return strings.Contains(out.String(), "mcpsnoop") })
	if err := s.WindowChange(30, 100); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(in, "\x1aq")
	if code := exitOf(s.Wait()); code != 0 {
		t.Errorf("q: exit %d\n%q", code, out)
	}
	if !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Error("the screen was not given back")
	}
	eventually(t, "no viewer is left", func() bool { return r.src.viewers() == 0 })
}

func TestDumbTerminalGetsAList(t *testing.T) {
	r := newRig(t, nil)
	s, out, _ := r.screen(r.client(r.viewer), "dumb")
	if code := exitOf(s.Wait()); code != 0 || out.String() != "the list\r\n" {
		t.Errorf("exit %d, %q", code, out)
	}
}

// Two sessions on one connection: one ends by its channel alone.
func TestOneSessionOfAConnectionEnds(t *testing.T) {
	r := newRig(t, nil)
	c := r.client(r.viewer)
	a, outA, _ := r.screen(c, "xterm")
	_, outB, inB := r.screen(c, "xterm")
	w := r.session(c)
	waiting := &syncBuffer{}
	w.Stdout = waiting
	if err := w.Start("wait"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all run", func() bool {
		return outA.String() != "" && outB.String() != "" && waiting.String() != "" && r.src.viewers() == 2
	})
	_ = a.Close()
	_ = w.Close()
	eventually(t, "the closed one ends", func() bool { return r.src.viewers() == 1 })
	mark := len(outB.String())
	fmt.Fprint(inB, "?")
	eventually(t, "the other goes on", func() bool { return len(outB.String()) > mark })
}

// An operator's key that is offered and not held makes nobody an operator.
func TestRoleComesFromTheKeyThatSigned(t *testing.T) {
	r := newRig(t, nil)
	forged := forger{r.viewer, r.operator.PublicKey()}
	for _, tt := range []struct {
		name    string
		signers []gossh.Signer
		want    string
	}{
		{"the viewer's key, then a forged one", []gossh.Signer{r.viewer, forged}, "viewer"},
		{"a forged key first", []gossh.Signer{forged, r.viewer}, "viewer"},
		{"the operator's own", []gossh.Signer{r.operator}, "operator"},
	} {
		c, err := r.dial(tt.signers...)
		if err != nil {
			continue // cut off: nobody's
		}
		s := r.session(c)
		out, err := s.Output("who")
		if err != nil || !strings.HasPrefix(string(out), tt.want+" ") {
			t.Errorf("%s: %q, %v; want %s", tt.name, out, err, tt.want)
		}
		c.Close()
	}
	if _, err := r.dial(forged); err == nil {
		t.Error("a forged key got in")
	}
	if _, err := r.dial(newKey(t)); err == nil {
		t.Error("an unknown key got in")
	}
}

// forger offers a key and signs with another one.
type forger struct {
	gossh.Signer
	offers gossh.PublicKey
}

func (f forger) PublicKey() gossh.PublicKey { return f.offers }

func TestRefusals(t *testing.T) {
	r := newRig(t, nil)
	c := r.client(r.viewer)
	if _, err := c.Dial("tcp", r.addr); err == nil {
		t.Error("a port was forwarded")
	}
	if _, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("a port was forwarded back")
	}
	s := r.session(c)
	for _, what := range []string{"auth-agent-req@openssh.com", "x11-req"} {
		if ok, err := s.SendRequest(what, true, nil); err != nil || ok {
			t.Errorf("%s: %v, %v; want a refusal", what, ok, err)
		}
	}
	if err := s.Setenv("LD_PRELOAD", "x"); err == nil {
		t.Error("LD_PRELOAD was taken")
	}
	if err := s.RequestSubsystem("netconf"); err == nil {
		t.Error("a subsystem was taken")
	}
	eventually(t, "all of it is in the log", func() bool {
		for _, w := range []string{"direct-tcpip", "tcpip-forward", "auth-agent-req", "x11-req", "netconf"} {
			if !strings.Contains(r.log.String(), w) {
				return false
			}
		}
		return true
	})
	_, err := gossh.Dial("tcp", r.addr, &gossh.ClientConfig{User: "x", Auth: []gossh.AuthMethod{gossh.Password("")}, HostKeyCallback: gossh.InsecureIgnoreHostKey()})
	if err == nil {
		t.Error("a password got in")
	}
}

func TestEndOfTheHub(t *testing.T) {
	r := newRig(t, nil)
	s, out, _ := r.screen(r.client(r.viewer), "xterm")
	eventually(t, "the UI", func() bool { return strings.Contains(out.String(), "mcpsnoop") })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if code := exitOf(s.Wait()); code != 0 || !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Errorf("exit %d; the screen must be given back", code)
	}
}

func TestEndWithAConnectionThatSaysNothing(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.Farewell = 50 * time.Millisecond })
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b [4]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil { // hangs when the connection is forgotten
		t.Fatal(err)
	}
}

// stuckWriter is a client that does not read.
type stuckWriter struct{ closed chan struct{} }

func (w stuckWriter) Write([]byte) (int, error) {
	<-w.closed
	return 0, io.ErrClosedPipe
}

func TestStuckViewerIsCutOff(t *testing.T) {
	w := stuckWriter{make(chan struct{})}
	out := &screenWriter{w: w, stall: 10 * time.Millisecond, cut: func() { close(w.closed) }}
	if _, err := out.Write([]byte("x")); err == nil {
		t.Error("the write came through")
	}
}

func TestSilentClientIsCutOff(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.KeepAlive = 20 * time.Millisecond })
	raw, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	conn, chans, reqs, err := gossh.NewClientConn(raw, r.addr, &gossh.ClientConfig{
		User: "x", HostKeyCallback: gossh.InsecureIgnoreHostKey(), Auth: []gossh.AuthMethod{gossh.PublicKeys(r.viewer)},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range chans { //nolint:revive // none comes
		}
	}()
	_ = reqs // never answered
	_ = conn.Wait()
	eventually(t, "the log says so", func() bool { return strings.Contains(r.log.String(), "no answer") })
}
