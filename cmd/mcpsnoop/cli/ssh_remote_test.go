//go:build unix

package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// The UI of a far hub without ssh: sizes, keys and the exit code go through,
// from a hub and from a plain sshd on a machine with mcpsnoop.
func TestRemoteAttach(t *testing.T) {
	r := newSSHRig(t)
	bin := filepath.Dir(mustFind(t, "mcpsnoop"))
	port := r.sshd("SetEnv PATH="+bin+":/usr/bin:/bin MCPSNOOP_HOME="+r.state+" GORACE=atexit_sleep_ms=0", "AcceptEnv LANG LC_* COLORTERM")
	config := r.config("Host *", "  User "+thisUser(t), "  StrictHostKeyChecking no", "  UserKnownHostsFile /dev/null", "  IdentityFile "+r.key, "  IdentitiesOnly yes", "  IdentityAgent none")
	for _, host := range []string{"127.0.0.1:" + r.port, "127.0.0.1:" + port} {
		c := r.cmd("mcpsnoop", "remote", "-F", config, "--attach", host)
		c.Env = append(c.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8")
		s := r.onTerminal(c)
		r.until("the list of "+host, s.has("files"))
		mark := len(s.out.String())
		if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 40, Cols: 132}); err != nil {
			t.Fatal(err)
		}
		r.until("it is drawn anew, and fills the new size", func() bool { return fills(s.out.String()[mark:], 132, 40, "files") })
		fmt.Fprint(s.tty, "\r")
		r.until("the stream", s.has("tools/call"))
		fmt.Fprint(s.tty, "q")
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("%s: q: %v\n%q", host, err, s.out)
		}
		r.until("the screen is given back", s.has("\x1b[?1049l"))
	}
	if code, out, errs := run(r.cmd("mcpsnoop", "remote", "-F", config, "--attach", "127.0.0.1:"+r.port)); code != 2 || out != "" || !strings.Contains(errs, "terminal") {
		t.Errorf("without a terminal: exit %d, %q, %q", code, out, errs)
	}
}

// The UI of remote says how the connection is now, each time that changes, and
// shows whose sessions they are.
func TestRemoteShowsTheConnection(t *testing.T) {
	r := newSSHRig(t)
	config := r.config("Host *", "  StrictHostKeyChecking no", "  UserKnownHostsFile /dev/null", "  IdentityFile "+r.key, "  IdentitiesOnly yes", "  IdentityAgent none",
		"Host box", "  HostName 127.0.0.1", "  Port "+r.port)
	c := r.cmd("mcpsnoop", "remote", "-F", config, "box")
	c.Env = append(c.Env, "TERM=xterm", "MCPSNOOP_HOME="+filepath.Join(r.work, "far"))
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	s := r.watch(c, tty)
	shown := func(word string) func() bool { return func() bool { return fills(s.out.String(), 200, 24, word) } }
	r.until("the list, with the origin", func() bool { return shown("files")() && shown(" box")() })
	port := r.port
	for range 2 {
		r.stop()
		r.until("it says that the connection is gone", shown("the connection is gone"))
		r.said = &lockedBuffer{}
		r.start("--ssh-listen", "127.0.0.1:"+port)
		r.until("it says that it is there again", shown("connected again"))
	}
	r.record("later")
	r.until("what comes then is shown", shown("later"))
	fmt.Fprint(s.tty, "q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("q: %v", err)
	}
}

// fills reports whether what was drawn has text in its last row, and the word.
func fills(drawn string, width, height int, word string) bool {
	e := vt.NewEmulator(width, height)
	var answering sync.WaitGroup
	answering.Go(func() { _, _ = io.Copy(io.Discard, e) })
	_, err := io.WriteString(e, drawn)
	rows := strings.Split(e.String(), "\n")
	_ = e.InputPipe().(io.Closer).Close() // Emulator.Close races with its Read
	answering.Wait()
	return err == nil && len(rows) == height && strings.TrimSpace(rows[height-1]) != "" && strings.Contains(strings.Join(rows, "\n"), word)
}

func TestWatchSizes(t *testing.T) {
	nudges, looked := make(chan int), make(chan [2]int)
	sizes, stop := watchSizes(nudges, func() (int, int, error) {
		size := <-looked
		if size[0] == 0 {
			return 0, 0, os.ErrClosed
		}
		return size[0], size[1], nil
	})
	for _, tt := range []struct {
		size [2]int
		told bool
	}{{[2]int{80, 24}, true}, {[2]int{80, 24}, false}, {[2]int{}, false}, {[2]int{132, 40}, true}} {
		nudges <- 1
		looked <- tt.size
		if tt.told {
			if got := <-sizes; got != tt.size {
				t.Errorf("told %v; want %v", got, tt.size)
			}
		}
	}
	stop()
	select {
	case got := <-sizes:
		t.Errorf("told %v again", got)
	default:
	}
}

func mustFind(t *testing.T, name string) string {
	t.Helper()
	needTools(t, name)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Each step on the way fails for real, and the error names it.
func TestRemoteNamesTheStep(t *testing.T) {
	r := newSSHRig(t)
	needTools(t, "ssh-agent", "ssh-add")
	bare := r.sshd("ForceCommand echo Only for backups >&2; exit 1")
	strict := r.sshd("MaxAuthTries 2")
	closed := r.sshd("AllowTcpForwarding no")
	web, err := net.Listen("tcp", "127.0.0.1:0") // not an SSH server
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	go func() {
		for {
			c, err := web.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			c.Close()
		}
	}()
	locked := r.keygen("locked")
	r.must(r.cmd("ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", locked))
	copyTo(t, locked+".pub", filepath.Join(r.work, "keys-of-all"))
	keys := []string{"Host many", "  Port " + strict}
	for i := range 5 {
		keys = append(keys, "  IdentityFile "+r.keygen(fmt.Sprintf("no%d", i)))
	}
	_, webPort, _ := net.SplitHostPort(web.Addr().String())
	lines := append(keys,
		"Host bare", "  Port "+bare, "Host web", "  Port "+webPort,
		"Host behind-bare", "  Port 1", "  ProxyJump bare",
		"Host behind-closed", "  Port "+r.port, "  ProxyJump closed", "Host closed", "  Port "+closed,
		"Host behind-nothing", "  ProxyJump 127.0.0.1:1",
		"Host command", "  ProxyCommand nc %h %p",
		"Host nokey", "  Port "+bare, "  IdentityFile "+filepath.Join(r.work, "missing"),
		"Host locked", "  Port "+bare, "  IdentityFile "+locked,
		"Host *", "  HostName 127.0.0.1", "  User "+thisUser(t), "  StrictHostKeyChecking no", "  UserKnownHostsFile /dev/null", "  IdentitiesOnly yes", "  IdentityAgent none", "  ConnectTimeout 10")
	withKey := append(lines, "Match all", "  IdentityFile "+r.key)
	for _, tt := range []struct {
		host  string
		lines []string
		want  []string
	}{
		{"bare", withKey, []string{"bare: far end", "subsystem", "Only for backups", "mcpsnoop stream", "SFTP", "--sessions-dir"}},
		{"web", withKey, []string{"web: connect", "handshake", "SSH server"}},
		{"behind-bare", withKey, []string{"behind-bare: connect", "refused", "bare must be able to reach"}},
		{"behind-closed", withKey, []string{"behind-closed: connect", "prohibited", "forwarding"}},
		{"behind-nothing", withKey, []string{"127.0.0.1:1: connect", "refused"}},
		{"command", withKey, []string{"command: configuration", "ProxyCommand", "--print"}},
		{"many", lines, []string{"many: authentication", "too many", "IdentitiesOnly"}},
		{"nokey", lines, []string{"nokey: authentication", "missing", "tried", "no key to offer"}},
		{"locked", lines, []string{"locked: authentication", "SHA256:", "publickey"}},
	} {
		config := filepath.Join(r.work, "config-"+tt.host)
		if err := os.WriteFile(config, []byte(strings.Join(tt.lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := run(r.cmd("mcpsnoop", "remote", "-F", config, "--once", tt.host))
		if code != 2 || out != "" || strings.Count(strings.TrimSpace(errs), "\n") > 1 {
			t.Errorf("%s: exit %d, %q, %q; want exit 2 and at most two lines", tt.host, code, out, errs)
		}
		for _, w := range tt.want {
			if !strings.Contains(errs, w) {
				t.Errorf("%s lacks %q: %s", tt.host, w, errs)
			}
		}
	}
}
