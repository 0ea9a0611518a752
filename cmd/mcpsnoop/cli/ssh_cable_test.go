//go:build unix

package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// cable is the way from a viewer to the hub, which can be pulled: what is sent
// vanishes or waits then, and nobody is told.
type cable struct {
	t          *testing.T
	listen     string // where the hub listens
	host, port string // where viewers find it
	net        string // the first three numbers of the addresses of its ends
	ns, ours   string // namespace of the viewer, and the hub's end; "" for a relay
	relay      *relay
}

// newCable lays a cable between two network namespaces, and where the system
// does not permit that, one of a relay that stands still when it is pulled.
func newCable(t *testing.T) *cable {
	t.Helper()
	pid := os.Getpid() // other runs lay cables of their own
	c := &cable{t: t, net: fmt.Sprintf("10.%d.%d", 128+pid>>8%128, pid%256), ns: fmt.Sprintf("mcpsnoop%d", pid), ours: fmt.Sprintf("ms%da", pid)}
	c.listen = c.net + ".1:0"
	theirs := fmt.Sprintf("ms%db", pid)
	t.Cleanup(func() {
		_ = exec.Command("ip", "link", "del", c.ours).Run()
		_ = exec.Command("ip", "netns", "del", c.ns).Run()
	})
	for _, line := range []string{
		"netns add " + c.ns, "link add " + c.ours + " type veth peer name " + theirs + " netns " + c.ns,
		"addr add " + c.net + ".1/30 dev " + c.ours, "link set " + c.ours + " up",
		"-n " + c.ns + " addr add " + c.net + ".2/30 dev " + theirs, "-n " + c.ns + " link set " + theirs + " up", "-n " + c.ns + " link set lo up",
	} {
		if code, _, errs := run(exec.Command("ip", strings.Fields(line)...)); code != 0 {
			t.Logf("a relay stands for the cable: ip %s: %s", line, strings.TrimSpace(errs))
			c.listen, c.relay = "127.0.0.1:0", newRelay(t)
			return c
		}
	}
	return c
}

// plug leads the cable to a hub that listens.
func (c *cable) plug(r *sshRig) {
	c.host, c.port = c.net+".1", r.port
	if c.relay != nil {
		c.host, c.port = "127.0.0.1", c.relay.serve("127.0.0.1:"+r.port)
	}
}

// set pulls the cable, or puts it back.
func (c *cable) set(up bool) {
	c.t.Helper()
	if c.relay != nil {
		c.relay.set(up)
		return
	}
	state := map[bool]string{true: "up", false: "down"}[up]
	if code, _, errs := run(exec.Command("ip", "link", "set", c.ours, state)); code != 0 {
		c.t.Fatalf("ip link set %s: %s", state, errs)
	}
}

// at makes a command one that runs at the viewer's end.
func (c *cable) at(r *sshRig, cmd *exec.Cmd) *exec.Cmd {
	if c.relay != nil {
		return cmd
	}
	inside := r.cmd("ip", append([]string{"netns", "exec", c.ns, cmd.Path}, cmd.Args[1:]...)...)
	inside.Env = cmd.Env
	return inside
}

// relay passes on what comes while it is up.
type relay struct {
	t  *testing.T
	mu sync.Mutex
	up *sync.Cond
	is bool
}

func newRelay(t *testing.T) *relay {
	r := &relay{t: t, is: true}
	r.up = sync.NewCond(&r.mu)
	return r
}

func (r *relay) set(up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.is = up
	r.up.Broadcast()
}

func (r *relay) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.is {
		r.up.Wait()
	}
}

// serve listens until the test ends.
func (r *relay) serve(to string) (port string) {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	r.t.Cleanup(func() { _ = l.Close(); r.set(true) })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go r.pump(near, far)
			go r.pump(far, near)
		}
	}()
	return port
}

func (r *relay) pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		r.wait()
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func TestSSHOverACableThatIsPulled(t *testing.T) { pulled(t, newCable(t)) }

// The same without the right to make namespaces.
func TestSSHOverARelayThatStops(t *testing.T) {
	pulled(t, &cable{t: t, listen: "127.0.0.1:0", relay: newRelay(t)})
}

// pulled looks at a screen and a mirror over a cable that is pulled: what was
// recorded meanwhile comes when it is back, byte for byte.
func pulled(t *testing.T, c *cable) {
	r := newSSHRig(t, "--ssh-listen", c.listen)
	c.plug(r)
	config := r.config("Host *", "  StrictHostKeyChecking accept-new", "  UserKnownHostsFile "+filepath.Join(r.work, "known5"), "  IdentityFile "+r.key, "  IdentitiesOnly yes", "  IdentityAgent none",
		"  BatchMode yes", "  LogLevel ERROR", "  ConnectTimeout 3", "  ServerAliveInterval 1", "  ServerAliveCountMax 2")
	mirror := c.at(r, r.cmd("mcpsnoop", "remote", "-F", config, c.host+":"+c.port))
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
	equal := func() bool { return r.mirrored(filepath.Join(r.work, "far"), c.host+"_"+c.port) == nil }
	r.until("the first copy", equal)
	// One who asks whether the hub is there gives up; one who does not, waits.
	screen := func(more ...string) *sshTerminal {
		cmd := r.cmd("ssh", append(append([]string{"-F", config}, more...), "-tt", "-p", c.port, c.host)...)
		cmd.Env = append(cmd.Env, "TERM=xterm")
		return r.onTerminal(c.at(r, cmd))
	}
	patient, asking := screen("-o", "ServerAliveInterval=0"), screen()
	r.until("the lists", func() bool { return patient.has("files")() && asking.has("files")() })
	for i := range 2 {
		label := fmt.Sprintf("pulled%d", i)
		shown := func() bool { return fills(patient.out.String(), 80, 24, label) } // only what is new is drawn
		says := func(words string) func() bool {                                   // from now on: it may try more than once
			before := strings.Count(said.String(), words)
			return func() bool { return strings.Count(said.String(), words) > before }
		}
		notices, again := says("trying again"), says("connected again")
		c.set(false)
		r.record(label)
		r.until("remote notices", notices)
		if i == 0 && asking.cmd.Wait() == nil {
			t.Error("the viewer who asks whether the hub is there did not notice")
		}
		if shown() || equal() {
			t.Error("the cable was not pulled")
		}
		c.set(true)
		r.until("remote is there again, and has all", func() bool { return again() && equal() })
		r.until("the screen has it, too", shown)
	}
	fmt.Fprint(patient.tty, "q")
	if err := patient.cmd.Wait(); err != nil {
		t.Errorf("q: %v", err)
	}
}
