package sshui

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// pausable is a connection that can stop to read: bytes pile up in the kernel.
type pausable struct {
	net.Conn
	stopped atomic.Bool
	closed  chan struct{}
	once    sync.Once
}

func (p *pausable) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if p.stopped.Load() {
		<-p.closed
		return 0, io.EOF
	}
	return n, err
}

func (p *pausable) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Conn.Close()
}

// pausable logs a viewer in whose side can stop to read.
func (r *rig) pausable() (*gossh.Client, *pausable) {
	r.t.Helper()
	raw, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := raw.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil { // or the kernel reads in its place for long
		r.t.Fatal(err)
	}
	p := &pausable{Conn: raw, closed: make(chan struct{})}
	conn, chans, reqs, err := gossh.NewClientConn(p, r.addr, &gossh.ClientConfig{
		User: "stuck", HostKeyCallback: gossh.FixedHostKey(r.host.PublicKey()), Auth: []gossh.AuthMethod{gossh.PublicKeys(r.viewer)},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	c := gossh.NewClient(conn, chans, reqs)
	r.t.Cleanup(func() { c.Close() })
	return c, p
}

// A viewer that never reads is cut off after its time, whether it is its
// kernel that is full or the window of its channel; the others see all that
// comes meanwhile, and their own keys are answered.
func TestViewerThatNeverReads(t *testing.T) {
	for _, how := range []string{"the connection", "the channel"} {
		t.Run(how, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Limits.Stall = 500 * time.Millisecond })
			for i := range 200 { // so that there is much to draw
				id := fmt.Sprintf("%s-%d", strings.Repeat("session", 9), i)
				one, _ := store.NewSession(id, "/"+id+".jsonl", store.Limits{}, nil)
				r.src.list = append(r.src.list, one)
			}
			_, out, in := r.screen(r.client(r.viewer), "xterm")
			var c *gossh.Client
			var p *pausable
			if how == "the connection" {
				c, p = r.pausable()
			} else { // the client reads from the network, and nobody from the client
				c = r.client(r.viewer)
			}
			s := r.session(c)
			piped, err := s.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := s.RequestPty("xterm-256color", 200, 300, gossh.TerminalModes{}); err != nil {
				t.Fatal(err)
			}
			if err := s.Shell(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(piped, make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
			if p != nil {
				p.stopped.Store(true)
			}
			eventually(t, "both look", func() bool { return r.src.viewers() == 2 && out.String() != "" })
			var resizing sync.WaitGroup
			resizing.Go(func() { // makes the hub draw, until it closes the channel
				for i := 0; s.WindowChange(200-i%2, 300-i%2) == nil; i++ {
					time.Sleep(time.Second / fps)
				}
			})
			answered := 0
			eventually(t, "it is cut off, and the other is answered meanwhile", func() bool {
				mark := len(out.String())
				fmt.Fprint(in, "?")
				eventually(t, "an answer", func() bool { return len(out.String()) > mark })
				answered++
				return r.src.viewers() == 1
			})
			resizing.Wait()
			if answered == 0 || !strings.Contains(r.log.String(), "cut off: it does not read") {
				t.Errorf("%d answers; the log:\n%s", answered, r.log)
			}
			mark := len(out.String())
			fmt.Fprint(in, "?")
			eventually(t, "the other goes on", func() bool { return len(out.String()) > mark })
		})
	}
}
