//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Everything here runs OpenSSH's own programs against the hub, and the program
// against OpenSSH's own server. Each of them has a time limit.
const sshLimit = 30 * time.Second

// sshRig is a hub and a user who may watch it.
type sshRig struct {
	t                 *testing.T
	home, state, work string // of the hub
	key               string // of the viewer
	port              string
	hub               *exec.Cmd
	said              *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

func needTools(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is needed, and CI=true skips nothing", n)
			}
			t.Skipf("no %s here", n)
		}
	}
}

func newSSHRig(t *testing.T, flags ...string) *sshRig {
	t.Helper()
	needTools(t, "ssh", "ssh-keygen")
	dir := t.TempDir()
	r := &sshRig{t: t, home: filepath.Join(dir, "home"), state: filepath.Join(dir, "state"), work: dir, said: &lockedBuffer{}}
	r.key = r.keygen("key")
	mkdir(t, filepath.Join(r.home, ".ssh"))
	copyTo(t, r.key+".pub", filepath.Join(r.home, ".ssh", "authorized_keys"))
	r.record("files")
	r.start(flags...)
	return r
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (r *sshRig) env() []string {
	return append(os.Environ(), "HOME="+r.home, "MCPSNOOP_HOME="+r.state, "USER=someone", "SSH_AUTH_SOCK=", "GORACE=atexit_sleep_ms=0")
}

// cmd is a command with a time limit, in the hub's home.
func (r *sshRig) cmd(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), sshLimit)
	r.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, name, args...)
	c.Env, c.Dir, c.WaitDelay = r.env(), r.work, time.Second
	return c
}

// run gives exit code, standard output and standard error.
func run(c *exec.Cmd) (int, string, string) {
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return -1, out.String(), errs.String() + err.Error()
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func (r *sshRig) must(c *exec.Cmd) string {
	r.t.Helper()
	code, out, errs := run(c)
	if code != 0 {
		r.t.Fatalf("%q: exit %d\n%s%s", c.Args, code, out, errs)
	}
	return out
}

func (r *sshRig) keygen(name string, more ...string) string {
	r.t.Helper()
	path := filepath.Join(r.work, name)
	r.must(r.cmd("ssh-keygen", append([]string{"-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path}, more...)...))
	return path
}

// record makes a session with one call.
func (r *sshRig) record(label string) {
	r.t.Helper()
	c := r.cmd("mcpsnoop", "--label", label, "--", "cat")
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}` + "\n")
	r.must(c)
}

func (r *sshRig) start(flags ...string) {
	r.t.Helper()
	r.hub = exec.Command("mcpsnoop", append([]string{"hub", "--ssh-listen", "127.0.0.1:0"}, flags...)...)
	r.hub.Env, r.hub.Dir = r.env(), r.work
	r.hub.Stderr = r.said
	if err := r.hub.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(r.stop)
	listening := regexp.MustCompile(`listening on [\d.]+:(\d+)`)
	r.until("the hub listens", func() bool {
		m := listening.FindStringSubmatch(r.said.String())
		if m != nil {
			r.port = m[1]
		}
		return m != nil
	})
}

// stop ends the hub, which must end by itself.
func (r *sshRig) stop() {
	if r.hub == nil {
		return
	}
	_ = r.hub.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(sshLimit, func() { _ = r.hub.Process.Kill() })
	if err := r.hub.Wait(); err != nil {
		r.t.Errorf("the hub: %v\n%s", err, r.said)
	}
	kill.Stop()
	r.hub = nil
}

func (r *sshRig) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(sshLimit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("never: %s\n%s", what, r.said)
		}
	}
}

var quiet = []string{"-F", "/dev/null", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=10"}

// ssh is OpenSSH's client on its way to the hub.
func (r *sshRig) ssh(words ...string) *exec.Cmd {
	args := append([]string{}, quiet...)
	args = append(args, "-p", r.port, "-i", r.key, "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile="+filepath.Join(r.work, "known"))
	return r.cmd("ssh", append(args, words...)...)
}

func TestSSHCommands(t *testing.T) {
	r := newSSHRig(t)
	for _, tt := range []struct {
		words     []string
		code      int
		out, errs string
	}{
		{words: []string{"anyone@127.0.0.1", "sessions"}, out: "files"},
		{words: []string{"127.0.0.1", "tail", "files"}, out: "tools/call echo"},
		{words: []string{"127.0.0.1", "check", "--fail-on", "all"}, code: 1, out: "check failed"},
		{words: []string{"127.0.0.1", "help"}, out: "This is a hub"},
		{words: []string{"127.0.0.1", "chek"}, code: 127, errs: `did you mean "check"`},
		{words: []string{"127.0.0.1", "wrap"}, code: 127, errs: `unknown command "wrap"; "help" lists the commands that are served here` + "\n"},
		{words: []string{"127.0.0.1", "--", "cat"}, code: 127, errs: "unknown command"},
		{words: []string{"127.0.0.1", "sessions --label x -- cat"}, code: 2, errs: "unknown flag"},
		{words: []string{"127.0.0.1", "check", "/etc/passwd"}, code: 2, errs: "only the sessions of the hub"},
		{words: []string{"127.0.0.1", "check", "../../../../etc/passwd"}, code: 2, errs: "only the sessions of the hub"},
		{words: []string{"127.0.0.1", "export", "-o", "x.json"}, code: 2, errs: "nothing is written here"},
		{words: []string{"127.0.0.1", "export", "-"}, code: 2, errs: "nothing is kept on the hub"},
		{words: []string{"-T", "127.0.0.1"}, code: 2, errs: "which only read"},
	} {
		code, out, errs := run(r.ssh(tt.words...))
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.errs) || tt.out == "" && out != "" {
			t.Errorf("ssh %q: exit %d\n%s\n%s", tt.words, code, out, errs)
		}
	}
	for _, format := range []string{"json", "jsonl", "text"} {
		local := r.must(r.cmd("mcpsnoop", "export", "-T", format, "files"))
		if over := r.must(r.ssh("127.0.0.1", "export", "-T", format, "files")); over != local || over == "" {
			t.Errorf("export -T %s differs over SSH: %d bytes, here %d", format, len(over), len(local))
		}
	}
	if !strings.Contains(r.said.String(), "asks=\"check /etc/passwd\"") {
		t.Errorf("the log does not say what was asked:\n%s", r.said)
	}
}

func TestSSHForwardingIsRefused(t *testing.T) {
	r := newSSHRig(t)
	if code, _, _ := run(r.ssh("-N", "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:9", "127.0.0.1")); code == 0 {
		t.Error("-R went through")
	}
	if code, out, _ := run(r.ssh("-W", "127.0.0.1:"+r.port, "127.0.0.1")); code == 0 || strings.Contains(out, "SSH-") {
		t.Error("-W went through")
	}
	batch := r.cmd("sftp", append(append([]string{}, quiet...), "-P", r.port, "-i", r.key, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile="+filepath.Join(r.work, "known"), "-b", "-", "127.0.0.1")...)
	batch.Stdin = strings.NewReader("-put /etc/hostname x.jsonl\n-mkdir y\n-rm *.jsonl\n-get /etc/passwd passwd\nget *.jsonl got.jsonl\n")
	r.must(batch)
	logs, err := filepath.Glob(filepath.Join(r.state, "sessions", "*"))
	if err != nil || len(logs) != 1 {
		t.Errorf("the folder of sessions holds %q", logs)
	}
	if _, err := os.Stat(filepath.Join(r.work, "passwd")); err == nil {
		t.Error("sftp reads outside of the sessions")
	}
	if want, got := readAll(t, logs[0]), readAll(t, filepath.Join(r.work, "got.jsonl")); want != got {
		t.Error("sftp gives another file")
	}
	r.until("the log says what was refused", func() bool {
		return strings.Contains(r.said.String(), "tcpip-forward") && strings.Contains(r.said.String(), "direct-tcpip")
	})
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSSHAgentWithWrongKeysFirst(t *testing.T) {
	r := newSSHRig(t)
	needTools(t, "ssh-agent", "ssh-add")
	sock := filepath.Join(r.work, "agent")
	agent := r.cmd("ssh-agent", "-D", "-a", sock)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Process.Kill(); _ = agent.Wait() }()
	r.until("the agent listens", func() bool { _, err := os.Stat(sock); return err == nil })
	for i := range 7 {
		key := r.key
		if i < 6 {
			key = r.keygen(fmt.Sprintf("wrong%d", i))
		}
		add := r.cmd("ssh-add", "-q", key)
		add.Env = append(add.Env, "SSH_AUTH_SOCK="+sock)
		r.must(add)
	}
	c := r.cmd("ssh", append(append([]string{}, quiet...), "-p", r.port, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "127.0.0.1", "sessions")...)
	c.Env = append(c.Env, "SSH_AUTH_SOCK="+sock)
	if out := r.must(c); !strings.Contains(out, "files") {
		t.Errorf("sessions: %q", out)
	}
	config := r.config("Host *", "StrictHostKeyChecking accept-new", "UserKnownHostsFile "+filepath.Join(r.work, "known2"), "HashKnownHosts yes")
	c = r.cmd("mcpsnoop", "remote", "-F", config, "--once", "127.0.0.1:"+r.port)
	c.Env = append(c.Env, "SSH_AUTH_SOCK="+sock)
	r.must(c)
	if known := readAll(t, filepath.Join(r.work, "known2")); !strings.HasPrefix(known, "|1|") {
		t.Errorf("the host is not remembered hashed: %q", known)
	}
}

func (r *sshRig) config(lines ...string) string {
	r.t.Helper()
	path := filepath.Join(r.work, "config")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func TestSSHCertificate(t *testing.T) {
	needTools(t, "ssh-keygen")
	pre := &sshRig{t: t, work: t.TempDir(), home: t.TempDir()}
	ca := pre.keygen("ca")
	r := newSSHRig(t, "--trusted-user-ca", ca+".pub")
	user := r.keygen("user")
	r.must(r.cmd("ssh-keygen", "-q", "-s", ca, "-I", "alice@laptop", "-n", "alice", "-V", "+1h", user+".pub"))
	r.key = user
	if out := r.must(r.ssh("127.0.0.1", "sessions")); !strings.Contains(out, "files") {
		t.Errorf("sessions: %q", out)
	}
	if !strings.Contains(r.said.String(), "comment=alice@laptop role=viewer") {
		t.Errorf("the log does not name the certificate:\n%s", r.said)
	}
	config := r.config("Host *", "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "IdentityFile "+user, "IdentitiesOnly yes")
	r.must(r.cmd("mcpsnoop", "remote", "-F", config, "--once", "127.0.0.1:"+r.port))
}

func TestSSHKeysAreReadAgain(t *testing.T) {
	r := newSSHRig(t)
	r.must(r.ssh("127.0.0.1", "version"))
	late := r.keygen("late")
	copyTo(t, late+".pub", filepath.Join(r.home, ".ssh", "authorized_keys"))
	if err := r.hub.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	r.until("the keys are read again", func() bool { return strings.Contains(r.said.String(), "read again") })
	if code, _, _ := run(r.ssh("127.0.0.1", "version")); code != 255 {
		t.Errorf("the old key: exit %d; want 255", code)
	}
	r.key = late
	r.must(r.ssh("127.0.0.1", "version"))
}

// sshTerminal is ssh on a terminal of its own.
type sshTerminal struct {
	cmd *exec.Cmd
	tty *os.File
	out *lockedBuffer
}

func (r *sshRig) terminal(env []string, words ...string) *sshTerminal {
	r.t.Helper()
	c := r.ssh(words...)
	c.Env = append(c.Env, env...)
	return r.onTerminal(c)
}

// watch reads what a terminal shows until the test ends.
func (r *sshRig) watch(c *exec.Cmd, tty *os.File) *sshTerminal {
	s := &sshTerminal{c, tty, &lockedBuffer{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s.out, tty)
	}()
	r.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = tty.Close()
		<-read
	})
	return s
}

func (s *sshTerminal) has(text string) func() bool {
	return func() bool { return strings.Contains(s.out.String(), text) }
}

func TestSSHScreen(t *testing.T) {
	r := newSSHRig(t)
	s := r.terminal([]string{"TERM=xterm-256color"}, "-t", "127.0.0.1")
	r.until("the list", s.has("files"))
	mark := len(s.out.String())
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 40, Cols: 132}); err != nil {
		t.Fatal(err)
	}
	r.until("it is drawn anew, and fills the new size", func() bool { return fills(s.out.String()[mark:], 132, 40, "files") })
	fmt.Fprint(s.tty, "\x1a\r") // ctrl-z is nothing here; enter opens
	r.until("the stream", s.has("tools/call"))
	fmt.Fprint(s.tty, "q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("q: %v\n%q", err, s.out)
	}
	r.until("the screen is given back", s.has("\x1b[?1049l"))
}

func TestSSHTilde(t *testing.T) {
	r := newSSHRig(t)
	s := r.terminal([]string{"TERM=xterm"}, "-t", "127.0.0.1")
	r.until("the list", s.has("files"))
	fmt.Fprint(s.tty, "\r~.")
	_ = s.cmd.Wait() // 255, says ssh
	r.until("the hub has no viewer", r.noViewer)
}

// noViewer reports whether all connections to the hub are gone.
func (r *sshRig) noViewer() bool {
	b, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return true // no such thing here
	}
	var port int
	_, _ = fmt.Sscan(r.port, &port)
	return !regexp.MustCompile(fmt.Sprintf(`: 0100007F:%04X 0100007F:[0-9A-F]{4} 01`, port)).Match(b)
}

// The terminal of the viewer decides, as it does here: colours by TERM,
// COLORTERM and NO_COLOR, characters by the locale. What the hub's own
// environment says does not count.
func TestSSHTerminalDecides(t *testing.T) {
	t.Setenv("NO_COLOR", "1") // of the hub
	t.Setenv("LC_ALL", "C")
	r := newSSHRig(t)
	colour := regexp.MustCompile(`\x1b\[(?:[\d;]*;)?(?:3[0-7]|38|4[0-7]|48|9[0-7])(?:[;:][\d;:]*)?m`)
	many := regexp.MustCompile(`\x1b\[(?:[\d;]*;)?[34]8[;:]`)
	coloured := func(s string) bool { return colour.MatchString(s) && strings.ContainsRune(s, '›') }
	plain := func(s string) bool { return !strings.Contains(s, "\x1b") }
	for _, tt := range []struct {
		env    []string
		check  func(out string) bool
		expect string
	}{
		{[]string{"TERM=xterm-256color", "LC_ALL=C.UTF-8"}, coloured, "colours and lines"},
		{[]string{"TERM=xterm-ghostty", "LC_ALL=C.UTF-8"}, coloured, "colours and lines"},
		{[]string{"TERM=zq-unknown", "LC_ALL=C.UTF-8"}, func(s string) bool { return !many.MatchString(s) && strings.Contains(s, "\x1b[") }, "at most 16 colours"},
		{[]string{"TERM=xterm-256color", "NO_COLOR=1"}, func(s string) bool { return !colour.MatchString(s) }, "no colour"},
		{[]string{"TERM=xterm-256color", "NO_COLOR=", "LC_ALL=C.UTF-8"}, coloured, "colours: an empty NO_COLOR is none"},
		{[]string{"TERM=xterm", "COLORTERM=truecolor", "LC_ALL=C"}, func(s string) bool {
			return many.MatchString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e })
		}, "ASCII, and many colours"},
		{[]string{"TERM=dumb", "LC_ALL=C.UTF-8"}, plain, "no escape sequences"},
		{[]string{"TERM=", "LC_ALL=C.UTF-8"}, plain, "no escape sequences"},
	} {
		s := r.terminal(append([]string{"NO_COLOR="}, tt.env...), "-t", "-o", "SendEnv=LC_ALL NO_COLOR COLORTERM", "127.0.0.1")
		r.until("the list", s.has("files"))
		fmt.Fprint(s.tty, "q")
		_ = s.cmd.Wait() // a dumb terminal's has ended before
		if out := s.out.String(); !tt.check(out) {
			t.Errorf("%v: want %s\n%q", tt.env, tt.expect, out)
		}
	}
}

// Two sessions over one connection, of which one is killed.
func TestSSHControlMaster(t *testing.T) {
	r := newSSHRig(t)
	sock := filepath.Join(t.TempDir(), "c")
	if len(sock) > 90 { // of a socket's name
		sock = filepath.Join(os.TempDir(), fmt.Sprintf("mcpsnoop-%d", os.Getpid()))
		defer os.Remove(sock)
	}
	share := []string{"-o", "ControlPath=" + sock}
	master := r.ssh(append(share, "-M", "-N", "127.0.0.1")...)
	if err := master.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = master.Process.Kill(); _ = master.Wait() }()
	r.until("the master is there", func() bool { _, err := os.Stat(sock); return err == nil })
	a := r.terminal([]string{"TERM=xterm"}, append(share, "-t", "127.0.0.1")...)
	b := r.terminal([]string{"TERM=xterm"}, append(share, "-t", "127.0.0.1")...)
	r.until("both lists", func() bool { return a.has("files")() && b.has("files")() })
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
	r.record("later")
	r.until("the other goes on", b.has("later"))
	fmt.Fprint(b.tty, "q")
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("q: %v", err)
	}
}

// sshd is OpenSSH's own server, for one user and one key.
func (r *sshRig) sshd(lines ...string) (port string) {
	r.t.Helper()
	path := "/usr/sbin/sshd"
	if _, err := os.Stat(path); err != nil {
		needTools(r.t, "sshd")
	}
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		mkdir(r.t, "/run/sshd") // it insists
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	host := r.keygen("sshd" + port)
	text := fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\nSubsystem sftp internal-sftp\n%s\n",
		port, host, r.key+".pub", strings.Join(lines, "\n"))
	config := filepath.Join(r.work, "sshd_config"+port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	c := exec.Command(path, "-D", "-e", "-f", config)
	pipe, err := c.StderrPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	up := make(chan struct{})
	go func() {
		defer close(up)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "Server listening") {
				break
			}
		}
		go func() { _, _ = io.Copy(io.Discard, pipe) }()
	}()
	<-up
	r.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return port
}

func thisUser(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

// mirrored compares the copies of a host with the hub's own logs.
func (r *sshRig) mirrored(state, host string) error {
	logs, err := os.ReadDir(filepath.Join(r.state, "sessions"))
	if err != nil {
		return err
	}
	for _, l := range logs {
		want, err := os.ReadFile(filepath.Join(r.state, "sessions", l.Name()))
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(state, "remote", host, "sessions", l.Name()))
		if err != nil {
			return err
		}
		if !bytes.Equal(want, got) {
			return fmt.Errorf("%s: %d bytes, want %d", l.Name(), len(got), len(want))
		}
	}
	return nil
}

// The three kinds of far ends, the last two through a real sshd, all through a
// jump host once.
func TestRemoteFarEnds(t *testing.T) {
	r := newSSHRig(t)
	bin, err := exec.LookPath("mcpsnoop")
	if err != nil {
		t.Fatal(err)
	}
	with := r.sshd("SetEnv PATH=" + filepath.Dir(bin) + ":/usr/bin:/bin MCPSNOOP_HOME=" + r.state + " GORACE=atexit_sleep_ms=0")
	without := r.sshd("SetEnv PATH=/usr/bin:/bin")
	known := filepath.Join(r.work, "known3")
	lines := []string{}
	for name, port := range map[string]string{"hub": r.port, "with": with, "without": without} {
		lines = append(lines, "Host "+name+" "+name+"-jumped", "  Port "+port)
	}
	lines = append(lines, "Host *-jumped", "  ProxyJump without", "Host *",
		"  HostName 127.0.0.1", "  User "+thisUser(t), "  IdentityFile "+r.key, "  IdentitiesOnly yes", "  IdentityAgent none",
		"  StrictHostKeyChecking accept-new", "  UserKnownHostsFile "+known)
	config := r.config(lines...)
	for _, tt := range []struct{ host, flag, kind string }{
		{"hub", "", "through hub"},
		{"with", "", "through mcpsnoop stream"},
		{"without", "--remote-mcpsnoop-home=" + r.state, "through SFTP"},
		{"without", "--sessions-dir=" + filepath.Join(r.state, "sessions"), "through SFTP"},
		{"hub-jumped", "", "through hub"},
		{"with-jumped", "", "through mcpsnoop stream"},
	} {
		state := filepath.Join(t.TempDir(), "state")
		args := []string{"remote", "-F", config, "--once"}
		if tt.flag != "" {
			args = append(args, tt.flag)
		}
		c := r.cmd("mcpsnoop", append(args, tt.host)...)
		c.Env = append(c.Env, "MCPSNOOP_HOME="+state)
		code, out, errs := run(c)
		if code != 0 || out != "" || !strings.Contains(errs, tt.kind) {
			t.Errorf("%s %s: exit %d\n%s%s", tt.host, tt.flag, code, out, errs)
			continue
		}
		if err := r.mirrored(state, tt.host); err != nil {
			t.Errorf("%s: %v", tt.host, err)
		}
		c = r.cmd("mcpsnoop", "sessions", "--format", "json")
		c.Env = append(c.Env, "MCPSNOOP_HOME="+state)
		if out := r.must(c); !strings.Contains(out, fmt.Sprintf("%q", tt.host)) {
			t.Errorf("sessions does not name the origin %s: %s", tt.host, out)
		}
	}
}

func TestRemoteErrorsSayWhatFailed(t *testing.T) {
	r := newSSHRig(t)
	known := filepath.Join(r.work, "known4")
	config := r.config("Host *", "  StrictHostKeyChecking ask", "  UserKnownHostsFile "+known, "  IdentityAgent none", "  IdentitiesOnly yes", "Host wrong", "  HostName 127.0.0.1", "  Port "+r.port)
	other := r.keygen("other")
	remote := func(args ...string) string {
		t.Helper()
		code, out, errs := run(r.cmd("mcpsnoop", append([]string{"remote", "--once", "-F", config}, args...)...))
		if code != 2 || out != "" {
			t.Errorf("%q: exit %d, %q", args, code, out)
		}
		return errs
	}
	hub := "127.0.0.1:" + r.port
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"no-such-host.invalid"}, []string{"resolve", "HostName"}},
		{[]string{"127.0.0.1:1"}, []string{"connect", "refused", "--ssh-listen"}},
		{[]string{"-i", r.key, hub}, []string{"host key", "not known", "SHA256:"}},
	} {
		got := remote(tt.args...)
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%q: %s lacks %q", tt.args, got, w)
			}
		}
	}
	scan := r.must(r.cmd("ssh-keyscan", "-p", r.port, "127.0.0.1"))
	if err := os.WriteFile(known, []byte(scan), 0o600); err != nil {
		t.Fatal(err)
	}
	got := remote("-i", other, hub)
	for _, w := range []string{"authentication", "publickey", "SHA256:", "authorized_keys"} {
		if !strings.Contains(got, w) {
			t.Errorf("a wrong key: %s lacks %q", got, w)
		}
	}
	changed := strings.Fields(readAll(t, other+".pub"))
	if err := os.WriteFile(known, fmt.Appendf(nil, "[127.0.0.1]:%s %s %s\n", r.port, changed[0], changed[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	got = remote("-i", r.key, hub)
	for _, w := range []string{"host key", "has changed", "ssh-keygen -R", known + ":1"} {
		if !strings.Contains(got, w) {
			t.Errorf("a changed host key: %s lacks %q", got, w)
		}
	}
	if err := os.WriteFile(known, []byte("@revoked * "+strings.SplitN(strings.Split(strings.TrimSpace(scan), "\n")[0], " ", 2)[1]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got = remote("-i", r.key, hub); !strings.Contains(got, "revoked") {
		t.Errorf("a revoked host key: %s", got)
	}
}

func TestRemotePrint(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"viewer"}, "ssh viewer"},
		{[]string{"me@box:2222"}, "ssh -p 2222 me@box"},
		{[]string{"-F", "/a b/config", "box"}, "ssh -F '/a b/config' box"},
		{[]string{"--remote-mcpsnoop-home", "/x y", "box"}, `ssh -t box 'env MCPSNOOP_HOME='\''/x y'\'' mcpsnoop'`},
	} {
		var out, errs bytes.Buffer
		a := &App{Args: append([]string{"remote", "--print"}, tt.args...), Streams: Streams{Out: &out, Err: &errs}, Clock: SystemClock{}}
		if code := a.Run(t.Context()); code != 0 || out.String() != tt.want+"\n" {
			t.Errorf("%q: exit %d, %q, %q; want %q", tt.args, code, &out, &errs, tt.want)
		}
	}
}
