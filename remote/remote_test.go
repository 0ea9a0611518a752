package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/mcpsnoop/mcpsnoop/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newKey(t testing.TB) (gossh.Signer, []byte) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gossh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	return s, pem.EncodeToMemory(block)
}

func write(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// farEnd is an SSH server with a folder of logs.
type farEnd struct {
	t        testing.TB
	addr     string
	dir      string // logs
	home     string // of its user
	host     gossh.Signer
	offers   map[string]bool // stream, sftp
	password string
	shift    time.Duration // of its clock

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newFarEnd(t testing.TB, offers ...string) *farEnd {
	t.Helper()
	f := &farEnd{t: t, dir: t.TempDir(), home: t.TempDir(), offers: map[string]bool{}, conns: map[net.Conn]bool{}}
	for _, o := range offers {
		f.offers[o] = true
	}
	f.host, _ = newKey(t)
	user, text := newKey(t)
	write(t, filepath.Join(f.home, ".ssh", "id_ed25519"), text)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = l.Addr().String()
	write(t, filepath.Join(f.home, ".ssh", "known_hosts"), []byte(knownhosts.Line([]string{f.addr}, f.host.PublicKey())+"\n"))
	cfg := &gossh.ServerConfig{PublicKeyCallback: func(_ gossh.ConnMetadata, key gossh.PublicKey) (*gossh.Permissions, error) {
		if f.password != "" || !bytes.Equal(key.Marshal(), user.PublicKey().Marshal()) {
			return nil, errors.New("no")
		}
		return nil, nil
	}}
	cfg.KeyboardInteractiveCallback = func(_ gossh.ConnMetadata, ask gossh.KeyboardInteractiveChallenge) (*gossh.Permissions, error) {
		a, err := ask("", "", []string{"Token: "}, []bool{false})
		if err != nil || f.password == "" || a[0] != f.password {
			return nil, errors.New("no")
		}
		return nil, nil
	}
	cfg.AddHostKey(f.host)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns[c] = true
			f.mu.Unlock()
			wg.Go(func() { f.serve(c, cfg) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		f.drop()
		wg.Wait()
	})
	return f
}

// drop breaks all connections.
func (f *farEnd) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
		delete(f.conns, c)
	}
}

func (f *farEnd) serve(c net.Conn, cfg *gossh.ServerConfig) {
	defer c.Close()
	_, chans, reqs, err := gossh.NewServerConn(c, cfg)
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for r := range reqs {
			_ = r.Reply(false, nil)
		}
	})
	for nc := range chans {
		ch, reqs, err := nc.Accept()
		if err != nil {
			continue
		}
		wg.Go(func() {
			for r := range reqs {
				var name struct{ Name string }
				_ = gossh.Unmarshal(r.Payload, &name)
				ok := r.Type == "subsystem" && (name.Name == "mcpsnoop-stream" && f.offers["stream"] || name.Name == "sftp" && f.offers["sftp"]) || r.Type == "exec"
				_ = r.Reply(ok, nil)
				if ok {
					wg.Go(func() { f.run(ch, r.Type, name.Name) })
				}
			}
		})
	}
}

func (f *farEnd) run(ch gossh.Channel, kind, name string) {
	defer ch.Close()
	switch {
	case kind == "exec":
		fmt.Fprintln(ch.Stderr(), "sh: mcpsnoop: not found")
		_, _ = ch.SendRequest("exit-status", false, gossh.Marshal(struct{ N uint32 }{127}))
	case name == "sftp":
		s, err := sftp.NewServer(ch, sftp.ReadOnly(), sftp.WithServerWorkingDirectory(f.home))
		if err == nil {
			_ = s.Serve()
		}
	default:
		_ = stream.Serve(context.Background(), ch, ch, stream.Options{Dir: f.dir, Host: "box", Tick: time.Millisecond, Now: func() time.Time { return time.Now().Add(f.shift) }})
	}
}

func (f *farEnd) follower(where Where, prompt Prompt) (*Follower, *Mirror) {
	f.t.Helper()
	host, port, _ := net.SplitHostPort(f.addr)
	n, _ := strconv.Atoi(port)
	setup := &Setup{Home: f.home, User: "me", Prompt: prompt}
	d, err := setup.NewDialer(context.Background(), Target{Host: host, Port: n}, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(d.Close)
	m := &Mirror{Dir: f.t.TempDir(), Notes: func(s string) { f.t.Log(s) }}
	unlock, err := m.Lock()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(unlock)
	return &Follower{Dialer: d, Mirror: m, Where: where}, m
}

func same(t testing.TB, dir string, m *Mirror) error {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		want, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(m.Dir, sessionsDir, e.Name()))
		if err != nil {
			return err
		}
		if !bytes.Equal(want, got) {
			return fmt.Errorf("%s: %d bytes; want %d", e.Name(), len(got), len(want))
		}
	}
	return nil
}

func eventually(t testing.TB, what string, ok func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if err = ok(); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("never: %s: %v", what, err)
		}
	}
}

func TestOnce(t *testing.T) {
	for _, tt := range []struct {
		offer, kind string
	}{{"stream", "hub"}, {"sftp", "SFTP"}} {
		f := newFarEnd(t, tt.offer)
		where := Where{}
		if tt.offer == "sftp" {
			where.SessionsDir = f.dir
		}
		write(t, filepath.Join(f.dir, "a-1-000000000001.jsonl"), bytes.Repeat([]byte("line\n"), 500000))
		write(t, filepath.Join(f.dir, "b-1-000000000001.jsonl"), nil)
		fol, m := f.follower(where, nil)
		if err := fol.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(fol.Kind(), tt.kind) {
			t.Errorf("through %s; want %s", fol.Kind(), tt.kind)
		}
		for range 2 { // the second time there is nothing to do
			before, _ := m.Copied()
			if err := fol.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := same(t, f.dir, m); err != nil {
				t.Error(err)
			}
			if after, _ := m.Copied(); before > 0 && after != before {
				t.Errorf("copied %d bytes again", after-before)
			}
		}
	}
}

func TestReplacedLogsAreKeptAside(t *testing.T) {
	for _, offer := range []string{"stream", "sftp"} {
		f := newFarEnd(t, offer)
		where := Where{}
		if offer == "sftp" {
			where.SessionsDir = f.dir
		}
		path := write(t, filepath.Join(f.dir, "a.jsonl"), []byte("the first version\n"))
		fol, m := f.follower(where, nil)
		for i, next := range []string{"", "cut\n", "another one, and longer\n", "another two, and longer\n", "another two, and longer\nand more\n"} {
			if i > 0 {
				write(t, path, []byte(next))
			}
			if err := fol.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := same(t, f.dir, m); err != nil {
				t.Errorf("%q: %v", next, err)
			}
		}
		kept := ""
		for n := 1; n <= 3; n++ {
			b, err := os.ReadFile(filepath.Join(m.Dir, replacedDir, fmt.Sprintf("a.%d.jsonl", n)))
			if err != nil {
				t.Fatal(err)
			}
			kept += string(b)
		}
		if kept != "the first version\ncut\nanother one, and longer\n" {
			t.Errorf("%s: kept %q", offer, kept)
		}
	}
}

// A log grows while the link drops again and again: nothing is lost.
func TestLinkThatDrops(t *testing.T) {
	f := newFarEnd(t, "stream")
	path := write(t, filepath.Join(f.dir, "a-1-000000000001.jsonl"), nil)
	log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	fol, m := f.follower(Where{}, nil)
	if err := fol.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- fol.Run(ctx) }()
	for i := range 10 {
		for n := range 300 {
			fmt.Fprintf(log, "%d %d %s\n", i, n, strings.Repeat("x", n))
		}
		if i < 9 {
			eventually(t, "something comes", func() error {
				if info, err := os.Stat(filepath.Join(m.Dir, sessionsDir, filepath.Base(path))); err != nil || info.Size() == 0 {
					return errors.New("nothing")
				}
				return nil
			})
			f.drop()
		}
	}
	eventually(t, "the copy is whole", func() error { return same(t, f.dir, m) })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(m.Dir, replacedDir, "a-1-000000000001.1.jsonl")); err == nil {
		t.Error("the copy was begun anew")
	}
}

func TestKeyboardInteractive(t *testing.T) {
	f := newFarEnd(t, "stream")
	f.password = "123456"
	fol, _ := f.follower(Where{}, func(_ context.Context, q string, secret bool) (string, error) {
		if q != "Token: " || !secret {
			t.Errorf("asked %q, secret %v", q, secret)
		}
		return "123456", nil
	})
	if err := fol.Once(t.Context()); err != nil {
		t.Error(err)
	}
	fol, _ = f.follower(Where{}, nil)
	var s *StepError
	if err := fol.Once(t.Context()); !errors.As(err, &s) || s.Step != StepAuth || !strings.Contains(s.Hint, "terminal") {
		t.Errorf("nobody to ask: %v", err)
	}
}

func TestKeyWithPassphrase(t *testing.T) {
	f := newFarEnd(t, "stream")
	key, err := gossh.ParseRawPrivateKey(mustRead(t, filepath.Join(f.home, ".ssh", "id_ed25519")))
	if err != nil {
		t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKeyWithPassphrase(key, "", []byte("open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(f.home, ".ssh", "id_ed25519"), pem.EncodeToMemory(block))
	asked := 0
	fol, _ := f.follower(Where{}, func(context.Context, string, bool) (string, error) {
		if asked++; asked == 1 {
			return "wrong", nil
		}
		return "open sesame", nil
	})
	for range 2 { // the second connection does not ask
		if err := fol.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times; want 2", asked)
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNoLogsAtTheFarEnd(t *testing.T) {
	f := newFarEnd(t)
	fol, _ := f.follower(Where{}, nil)
	var s *StepError
	err := fol.Once(t.Context())
	if !errors.As(err, &s) || s.Step != StepFarEnd || !strings.Contains(err.Error(), "not found") {
		t.Errorf("%v", err)
	}
}

// farOf is a far end that says what it likes.
type farOf struct{ files []stream.File }

func (f farOf) Kind() string                                    { return "a lie" }
func (f farOf) Ahead() (time.Duration, bool)                    { return 0, false }
func (f farOf) List(context.Context) ([]stream.File, error)     { return f.files, nil }
func (f farOf) Wait(ctx context.Context) ([]stream.File, error) { <-ctx.Done(); return nil, ctx.Err() }
func (f farOf) Close() error                                    { return nil }
func (f farOf) Copy(_ context.Context, _ string, _, _ int64, _ string, give func([]byte) error) (int64, error) {
	return 0, give([]byte("evil"))
}

func TestNothingIsWrittenOutside(t *testing.T) {
	dir := t.TempDir()
	m := &Mirror{Dir: filepath.Join(dir, "m")}
	unlock, err := m.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := (&Mirror{Dir: m.Dir}).Lock(); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v; want ErrBusy", err)
	}
	target := write(t, filepath.Join(dir, "target"), []byte("mine"))
	if err := os.Symlink(target, filepath.Join(m.Dir, sessionsDir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	var files []stream.File
	for _, n := range []string{"../x.jsonl", "/tmp/x.jsonl", "..", "a/b.jsonl", ".ssh.jsonl", "x"} {
		files = append(files, stream.File{Name: n, Size: 4})
	}
	if err := m.Sync(t.Context(), farOf{}, files); err != nil {
		t.Error(err)
	}
	if err := m.Sync(t.Context(), farOf{}, []stream.File{{Name: "link.jsonl", Size: 9}}); err == nil {
		t.Error("a link was followed")
	}
	if string(mustRead(t, target)) != "mine" {
		t.Error("a file outside was changed")
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 2 {
		t.Errorf("there is %q", left)
	}
}

func TestParseTarget(t *testing.T) {
	for in, want := range map[string]Target{
		"box": {Host: "box"}, "me@box": {User: "me", Host: "box"}, "me@box:22": {"me", "box", 22}, "[::1]:2222": {Host: "::1", Port: 2222},
		"::1": {Host: "::1"}, "ssh://me@box:9/": {"me", "box", 9}, "a@b@c": {User: "a@b", Host: "c"},
	} {
		if got, err := ParseTarget(in); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "@box", "box:", "box:0", "box:99999", "-oProxyCommand=x", "me@", "a b", "box:x"} {
		if got, err := ParseTarget(in); err == nil {
			t.Errorf("%q: %+v", in, got)
		}
	}
	for in, want := range map[string]string{"box": "box", "me@box": "box", "box:2222": "box_2222", "[::1]:7": "__1_7", "..": "_."} {
		target, err := ParseTarget(in)
		if err != nil || target.Dir() != want {
			t.Errorf("%q: folder %q, %v; want %q", in, target.Dir(), err, want)
		}
	}
}

func TestResolve(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".ssh", "more"), []byte("Host inner\n  Port 2022\n"))
	write(t, filepath.Join(home, ".ssh", "config"), []byte(`Host inner
  HostName %h.example.test
  User "dev one"
  ProxyJump jump,me@last:2
  IdentityFile ~/.ssh/%r_key
  IdentityFile "/a b/key"
  IdentityAgent ${MY_SOCK}
  IdentitiesOnly yes
  UserKnownHostsFile ~/known /etc/known
  HostKeyAlias alias
  StrictHostKeyChecking accept-new
  ServerAliveInterval 7
Include `+filepath.Join(home, ".ssh", "more")+`
Host *
  User everyone
`))
	s := &Setup{Home: home, User: "me", Env: func(n string) string {
		return map[string]string{"MY_SOCK": "/run/sock", "SSH_AUTH_SOCK": "/run/usual"}[n]
	}}
	h, err := s.Resolve(Target{Host: "inner"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %s %d %v %q %q %v %q %q %s %s", h.HostName, h.RemoteUser, h.RemotePort, h.Jumps, h.IdentityFiles, h.Agent, h.IdentitiesOnly, h.KnownHosts[:2], h.KeyAlias, h.StrictKeys, h.AliveEvery)
	want := fmt.Sprintf("inner.example.test dev one 2022 [jump me@last:2] %q %q true %q %q accept-new 7s",
		[]string{filepath.Join(home, ".ssh/dev one_key"), "/a b/key"}, "/run/sock", []string{filepath.Join(home, "known"), "/etc/known"}, "alias")
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	h, err = s.Resolve(Target{User: "root", Host: "other", Port: 7})
	if err != nil || h.RemoteUser != "root" || h.RemotePort != 7 || h.Agent != "/run/usual" || len(h.IdentityFiles) != 3 {
		t.Errorf("%+v, %v", h, err)
	}
	write(t, filepath.Join(home, ".ssh", "config"), []byte("Host *\n  ProxyCommand nc %h %p\n"))
	if _, err := s.Resolve(Target{Host: "x"}); err == nil || !strings.Contains(err.Error(), "ProxyCommand") {
		t.Errorf("ProxyCommand: %v", err)
	}
	write(t, filepath.Join(home, ".ssh", "config"), []byte("Host *\n  ProxyJump y\n"))
	if _, err := s.NewDialer(t.Context(), Target{Host: "x"}, nil); err == nil || !strings.Contains(err.Error(), "without end") {
		t.Errorf("a jump host that jumps through itself: %v", err)
	}
}

func TestLastWordsAreBounded(t *testing.T) {
	w := &lastWords{}
	for range 100 {
		_, _ = io.WriteString(w, "some words\x1b[31m ")
	}
	if s := w.String(); len(s) > 300 || strings.Contains(s, "\x1b") {
		t.Errorf("%d bytes: %q", len(s), s)
	}
}

// Where the clocks of two machines differ, that is said, for the times in
// their logs do, too.
func TestClockDifferenceIsSaid(t *testing.T) {
	for shift, want := range map[time.Duration]string{
		90 * time.Minute: "its clock is 1h", -150 * time.Minute: "its clock is 2h", 0: "",
	} {
		f := newFarEnd(t, "stream")
		f.shift = shift
		fol, m := f.follower(Where{}, nil)
		var said []string
		m.Notes = func(s string) { said = append(said, s) }
		if err := fol.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(said, "\n")
		word := "ahead of"
		if shift < 0 {
			word = "behind"
		}
		if want == "" && text != "" || want != "" && (!strings.Contains(text, want) || !strings.Contains(text, word+" the one here")) {
			t.Errorf("shifted by %s: said %q", shift, text)
		}
	}
}
