package sshui

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

// held is what a process holds: goroutines, descriptors (0 where they cannot
// be counted), bytes on the heap.
type held struct {
	goroutines, descriptors int
	heap                    uint64
}

func holding() held {
	runtime.GC()
	runtime.GC() // what finalizers of the first have let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h := held{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc}
	if d, err := os.Open("/proc/self/fd"); err == nil {
		names, _ := d.Readdirnames(-1)
		d.Close()
		h.descriptors = len(names)
	}
	return h
}

// screens opens n screens, each over a connection of its own.
func screens(t *testing.T, on *rig, n int) (all []*net.TCPConn) {
	t.Helper()
	r := *on
	r.t = t // what is kept for its end is let go then
	for range n {
		raw, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		conn, chans, reqs, err := gossh.NewClientConn(raw, r.addr, &gossh.ClientConfig{
			User: "killed", HostKeyCallback: gossh.FixedHostKey(r.host.PublicKey()), Auth: []gossh.AuthMethod{gossh.PublicKeys(r.viewer)},
		})
		if err != nil {
			t.Fatal(err)
		}
		c := gossh.NewClient(conn, chans, reqs)
		t.Cleanup(func() { c.Close() })
		_, out, _ := r.screen(c, "xterm-256color")
		eventually(t, "a screen", func() bool { return strings.Contains(out.String(), "no sessions yet") })
		all = append(all, raw.(*net.TCPConn))
	}
	return all
}

// kill ends connections as the kernel does that of a killed process which has
// not read all: by a reset.
func kill(t *testing.T, all []*net.TCPConn) {
	t.Helper()
	for _, c := range all {
		if err := errors.Join(c.SetLinger(0), c.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// Clients that vanish in mid-screen leave nothing behind.
func TestKilledClientsLeaveNothing(t *testing.T) {
	const clients = 50
	r := newRig(t, nil)
	t.Run("what is made once", func(t *testing.T) { kill(t, screens(t, r, clients)) })
	eventually(t, "the first ones end", func() bool { return r.src.viewers() == 0 })
	before := holding()
	eventually(t, "it is quiet", func() bool {
		last := before
		before = holding()
		return last.goroutines == before.goroutines
	})
	t.Run("many", func(t *testing.T) {
		all := screens(t, r, clients)
		with := holding()
		t.Logf("at first %+v, with %d clients %+v", before, clients, with)
		if r.src.viewers() != clients || with.goroutines < before.goroutines+clients || with.heap < before.heap+clients<<10 {
			t.Fatal("the clients cost nothing: nothing is measured")
		}
		for range clients { // in mid-screen: something is drawn and sent
			r.src.change()
		}
		kill(t, all)
	})
	const slack = 512 << 10 // of the heap: what libraries keep for later
	var after held
	eventually(t, "goroutines, descriptors and memory are those of the start", func() bool {
		after = holding()
		return r.src.viewers() == 0 && after.goroutines <= before.goroutines && after.descriptors <= before.descriptors && after.heap <= before.heap+slack
	})
	t.Logf("afterwards %+v", after)
}
