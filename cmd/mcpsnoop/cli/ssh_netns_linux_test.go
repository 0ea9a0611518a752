package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// cable is a network namespace of a viewer, with a cable to the one of the hub
// that can be pulled: packets vanish then, and nobody is told.
type cable struct {
	r        *sshRig
	ns, ours string
	hub      string // address of the hub's end
}

// newCable lays a cable, where the system permits it.
func newCable(t *testing.T) *cable {
	t.Helper()
	needTools(t, "ip")
	if os.Geteuid() != 0 {
		t.Skip("network namespaces are made by root")
	}
	pid := os.Getpid()
	c := &cable{r: &sshRig{t: t}, ns: fmt.Sprintf("mcpsnoop%d", pid), ours: fmt.Sprintf("ms%da", pid), hub: "10.98.76.1"}
	theirs := fmt.Sprintf("ms%db", pid)
	if code, _, errs := run(exec.Command("ip", "netns", "add", c.ns)); code != 0 {
		t.Skipf("network namespaces are not permitted here: %s", errs)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", c.ns).Run() })
	if code, _, errs := run(exec.Command("ip", "link", "add", c.ours, "type", "veth", "peer", "name", theirs, "netns", c.ns)); code != 0 {
		t.Skipf("this kernel has no cables (veth): %s", errs)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", c.ours).Run() })
	for _, line := range []string{
		"addr add " + c.hub + "/30 dev " + c.ours, "link set " + c.ours + " up",
		"-n " + c.ns + " addr add 10.98.76.2/30 dev " + theirs, "-n " + c.ns + " link set " + theirs + " up", "-n " + c.ns + " link set lo up",
	} {
		if code, _, errs := run(exec.Command("ip", strings.Fields(line)...)); code != 0 {
			t.Fatalf("ip %s: %s", line, errs)
		}
	}
	return c
}

// set pulls the cable, or puts it back.
func (c *cable) set(state string) {
	c.r.t.Helper()
	if code, _, errs := run(exec.Command("ip", "link", "set", c.ours, state)); code != 0 {
		c.r.t.Fatalf("ip link set %s: %s", state, errs)
	}
}

// at makes a command one that runs at the viewer's end.
func (c *cable) at(cmd *exec.Cmd) *exec.Cmd {
	inside := c.r.cmd("ip", append([]string{"netns", "exec", c.ns, cmd.Path}, cmd.Args[1:]...)...)
	inside.Env = cmd.Env
	return inside
}

// A screen and a mirror over a cable that is pulled: what was recorded
// meanwhile comes when it is back, byte for byte.
func TestSSHOverACableThatIsPulled(t *testing.T) {
	c := newCable(t)
	r := newSSHRig(t, "--ssh-listen", c.hub+":0")
	c.r = r
	known := filepath.Join(r.work, "known5")
	config := r.config("Host *", "  StrictHostKeyChecking accept-new", "  UserKnownHostsFile "+known, "  IdentityFile "+r.key, "  IdentitiesOnly yes", "  IdentityAgent none",
		"  BatchMode yes", "  LogLevel ERROR", "  ConnectTimeout 3", "  ServerAliveInterval 1", "  ServerAliveCountMax 2")
	mirror := c.at(r.cmd("mcpsnoop", "remote", "-F", config, c.hub+":"+r.port))
	mirror.Env = append(mirror.Env, "MCPSNOOP_HOME="+filepath.Join(r.work, "far"))
	said := &lockedBuffer{}
	mirror.Stderr = said
	if err := mirror.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = mirror.Process.Signal(syscall.SIGTERM)
		if err := mirror.Wait(); err != nil {
			t.Errorf("remote: %v\n%s", err, said)
		}
	}()
	theirs := func() error {
		return r.mirrored(filepath.Join(r.work, "far"), strings.ReplaceAll(c.hub+"_"+r.port, ":", "_"))
	}
	r.until("the first copy", func() bool { return theirs() == nil })
	// One who asks whether the hub is there gives up; one who does not, waits.
	patient := c.r.cmd("ssh", "-F", config, "-o", "ServerAliveInterval=0", "-tt", "-p", r.port, c.hub)
	patient.Env = append(patient.Env, "TERM=xterm")
	screen := r.onTerminal(c.at(patient))
	asking := c.at(c.r.cmd("ssh", "-F", config, "-tt", "-p", r.port, c.hub))
	asking.Env = append(asking.Env, "TERM=xterm")
	other := r.onTerminal(asking)
	r.until("the lists", func() bool { return screen.has("files")() && other.has("files")() })
	for i := range 2 {
		c.set("down")
		label := fmt.Sprintf("pulled%d", i)
		r.record(label)
		r.until("remote notices", func() bool { return strings.Count(said.String(), "trying again") > i })
		shown := func() bool { return fills(screen.out.String(), 80, 24, label) } // only what is new is drawn
		if shown() || theirs() == nil {
			t.Error("the cable was not pulled")
		}
		c.set("up")
		r.until("remote is there again, and has all", func() bool {
			return strings.Count(said.String(), "connected again") > i && theirs() == nil
		})
		r.until("the screen has it, too", shown)
	}
	if err := other.cmd.Wait(); err == nil {
		t.Error("the viewer who asks whether the hub is there did not notice")
	}
	fmt.Fprint(screen.tty, "q")
	if err := screen.cmd.Wait(); err != nil {
		t.Errorf("q: %v", err)
	}
}
