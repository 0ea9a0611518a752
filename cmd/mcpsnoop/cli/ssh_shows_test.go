//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// recordMuch makes a session with many large calls: more than fits into any
// window or buffer between two programs.
func (r *sshRig) recordMuch(label string) {
	r.t.Helper()
	var in strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}`+"\n", i, strings.Repeat("grün </html> & ", 100))
	}
	c := r.cmd("mcpsnoop", "--label", label, "--", "cat")
	c.Stdin = strings.NewReader(in.String())
	r.must(c)
}

// `ssh host export -T html > x.html` gives a whole file, the one that the
// command makes there.
func TestSSHExportIsWhole(t *testing.T) {
	r := newSSHRig(t)
	r.recordMuch("much")
	for _, format := range []string{"html", "har", "jsonl"} {
		path := filepath.Join(r.work, "x."+format)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		c := r.ssh("127.0.0.1", "export", "-T", format, "much")
		c.Stdout = f
		if err := c.Run(); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		got, want := readAll(t, path), r.must(r.cmd("mcpsnoop", "export", "-T", format, "much"))
		if got != want {
			t.Errorf("%s: %d bytes over SSH, %d here", format, len(got), len(want))
		}
		if len(got) < 1<<16 {
			t.Errorf("%s has %d bytes: nothing is shown by that", format, len(got))
		}
		switch format {
		case "html":
			if !strings.HasPrefix(strings.ToLower(got), "<!doctype html>") || !strings.HasSuffix(strings.TrimSpace(got), "</html>") {
				t.Errorf("the page begins %.40q and ends %q", got, got[max(0, len(got)-40):])
			}
		case "har":
			if !json.Valid([]byte(got)) {
				t.Error("the HAR file is no JSON")
			}
		}
	}
}

// jumpConfig leads to the hub through a real sshd.
func (r *sshRig) jumpConfig(more ...string) string {
	r.t.Helper()
	jump := r.sshd()
	return r.config(append([]string{
		"Host jump", "  Port " + jump, "Host hub", "  Port " + r.port, "  ProxyJump jump",
		"Host *", "  HostName 127.0.0.1", "  User " + thisUser(r.t), "  IdentityFile " + r.key, "  IdentitiesOnly yes", "  IdentityAgent none",
		"  BatchMode yes", "  LogLevel ERROR", "  StrictHostKeyChecking accept-new", "  UserKnownHostsFile " + filepath.Join(r.work, "jumped"),
	}, more...)...)
}

func TestSSHThroughAJumpHost(t *testing.T) {
	r := newSSHRig(t)
	config := r.jumpConfig()
	if out := r.must(r.cmd("ssh", "-F", config, "hub", "sessions")); !strings.Contains(out, "files") {
		t.Errorf("sessions: %q", out)
	}
	c := r.cmd("ssh", "-F", config, "-tt", "hub")
	c.Env = append(c.Env, "TERM=xterm")
	s := r.onTerminal(c)
	r.until("the list", s.has("files"))
	fmt.Fprint(s.tty, "q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("q: %v\n%q", err, s.out)
	}
}

// Hosts that OpenSSH remembers hashed are known to remote, and the other way
// round; a hub with another key is refused by both.
func TestSSHKnownHosts(t *testing.T) {
	r := newSSHRig(t)
	known := func(name, strict string) string {
		return r.config("Host *", "  StrictHostKeyChecking "+strict, "  UserKnownHostsFile "+filepath.Join(r.work, name), "  GlobalKnownHostsFile /dev/null",
			"  HashKnownHosts yes", "  IdentityFile "+r.key, "  IdentitiesOnly yes", "  IdentityAgent none", "  BatchMode yes", "  LogLevel ERROR")
	}
	theirs := func(name, strict string) (int, string) {
		code, _, errs := run(r.cmd("ssh", "-F", known(name, strict), "-p", r.port, "127.0.0.1", "version"))
		return code, errs
	}
	ours := func(name, strict string) (int, string) {
		code, _, errs := run(r.cmd("mcpsnoop", "remote", "-F", known(name, strict), "--once", "127.0.0.1:"+r.port))
		return code, errs
	}
	if code, errs := theirs("a", "yes"); code != 255 {
		t.Errorf("unknown, ssh: exit %d, %s", code, errs)
	}
	if code, errs := ours("a", "yes"); code != 2 {
		t.Errorf("unknown, remote: exit %d, %s", code, errs)
	}
	for _, how := range []struct {
		name          string
		first, second func(name, strict string) (int, string)
	}{{"by-ssh", theirs, ours}, {"by-remote", ours, theirs}} {
		if code, errs := how.first(how.name, "accept-new"); code != 0 {
			t.Fatalf("%s: exit %d, %s", how.name, code, errs)
		}
		if text := readAll(t, filepath.Join(r.work, how.name)); !strings.HasPrefix(text, "|1|") || strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s is not hashed: %q", how.name, text)
		}
		if code, errs := how.second(how.name, "yes"); code != 0 {
			t.Errorf("%s: exit %d, %s", how.name, code, errs)
		}
	}
	port := r.port
	r.stop()
	if err := os.RemoveAll(filepath.Join(r.state, "ssh")); err != nil {
		t.Fatal(err)
	}
	r.said = &lockedBuffer{}
	r.start("--ssh-listen", "127.0.0.1:"+port)
	if code, errs := theirs("by-ssh", "accept-new"); code != 255 || !strings.Contains(errs, "IDENTIFICATION HAS CHANGED") {
		t.Errorf("changed, ssh: exit %d, %s", code, errs)
	}
	if code, errs := ours("by-ssh", "accept-new"); code != 2 || !strings.Contains(errs, "host key") || !strings.Contains(errs, "has changed") {
		t.Errorf("changed, remote: exit %d, %s", code, errs)
	}
}

// A host whose key an authority has signed is known by the authority alone.
func TestRemoteHostCertificate(t *testing.T) {
	r := newSSHRig(t)
	ca, host := r.keygen("hostca"), r.keygen("host")
	r.must(r.cmd("ssh-keygen", "-q", "-s", ca, "-h", "-I", "box", "-n", "127.0.0.1", "-V", "+1h", host+".pub"))
	port := r.sshd("HostKey "+host, "HostCertificate "+host+"-cert.pub")
	pub := strings.Fields(readAll(t, ca+".pub"))
	file := filepath.Join(r.work, "by-ca")
	config := r.config("Host *", "  User "+thisUser(t), "  StrictHostKeyChecking yes", "  UserKnownHostsFile "+file, "  IdentityFile "+r.key, "  IdentitiesOnly yes", "  IdentityAgent none")
	for line, want := range map[string]int{
		"@cert-authority [127.0.0.1]:" + port + " " + pub[0] + " " + pub[1]:                                           0,
		"@cert-authority other.example.test " + pub[0] + " " + pub[1]:                                                 2,
		"@revoked * " + pub[0] + " " + pub[1] + "\n@cert-authority [127.0.0.1]:" + port + " " + pub[0] + " " + pub[1]: 2,
	} {
		if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errs := run(r.cmd("mcpsnoop", "remote", "-F", config, "--once", "--sessions-dir", filepath.Join(r.state, "sessions"), "127.0.0.1:"+port))
		if code != want || want != 0 && !strings.Contains(errs, "host key") {
			t.Errorf("%.40s: exit %d, want %d\n%s", line, code, want, errs)
		}
	}
}

// A hub that is told to end gives viewers their screens back, ends what follows
// and what copies, and is gone.
func TestSSHHubEnds(t *testing.T) {
	r := newSSHRig(t)
	s := r.terminal([]string{"TERM=xterm"}, "-tt", "127.0.0.1")
	r.until("the list", s.has("files"))
	follow := r.ssh("127.0.0.1", "tail", "-f", "files")
	lines := &lockedBuffer{}
	follow.Stdout = lines
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	r.until("it follows", func() bool { return strings.Contains(lines.String(), "tools/call") })
	r.stop() // which waits for it
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the viewer: %v", err)
	}
	r.until("the screen is given back, with a word", func() bool { return s.has("\x1b[?1049l")() && s.has("the hub has ended")() })
	if err := follow.Wait(); follow.ProcessState == nil || !follow.ProcessState.Exited() {
		t.Errorf("what follows: %v", err)
	}
}

// descriptors counts what the hub has open, 0 where nobody can tell.
func (r *sshRig) descriptors() int {
	names, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.hub.Process.Pid))
	return len(names)
}

// Clients of OpenSSH that are killed in mid-screen leave nothing behind.
func TestSSHKilledClients(t *testing.T) {
	r := newSSHRig(t)
	warm := r.terminal([]string{"TERM=xterm"}, "-tt", "127.0.0.1")
	r.until("the list", warm.has("files"))
	_ = warm.cmd.Process.Kill()
	r.until("the hub has no viewer", r.noViewer)
	before := r.descriptors()
	var all []*sshTerminal
	for range 50 {
		all = append(all, r.terminal([]string{"TERM=xterm-256color"}, "-tt", "127.0.0.1"))
	}
	for _, s := range all {
		r.until("a list", s.has("files"))
	}
	if n := r.descriptors(); before > 0 && n < before+len(all) {
		t.Errorf("the hub has %d descriptors with %d viewers, %d without", n, len(all), before)
	}
	r.record("later") // in mid-screen
	for _, s := range all {
		if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	r.until("nothing is left of them", func() bool { return r.noViewer() && r.descriptors() <= before })
	r.must(r.ssh("127.0.0.1", "version"))
}

// onTerminal runs a command on a terminal of its own.
func (r *sshRig) onTerminal(c *exec.Cmd) *sshTerminal {
	r.t.Helper()
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		r.t.Fatal(err)
	}
	return r.watch(c, tty)
}
