package shim

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// tap is where a pump reads to, and who is told what was read before it is
// passed on. *capture.Stream is one.
type tap interface {
	Room() []byte
	Took(n int) []byte
	Close() // by whoever, at any time; nothing is taken after it
}

// plainTap records nothing.
type plainTap struct{ buf []byte }

func (t *plainTap) Room() []byte      { return t.buf }
func (t *plainTap) Took(n int) []byte { return t.buf[:n] }
func (t *plainTap) Close()            {}

const plainRoom = 256 << 10

// cause is why a pump ended.
type cause uint8

const (
	readEnded   cause = iota // end of file, or an error that amounts to it
	writeFailed              // the other side has gone
)

// pump passes one stream on, in one thread, until one of its ends has gone.
type pump struct {
	in, out port
	tap     tap
	drain   bool // go on reading when the other side has gone
	clock   Clock
	start   time.Time

	last    atomic.Int64 // when bytes last came, in ns since start
	writing atomic.Bool
	why     cause // valid once the pump has ended

	mu   sync.Mutex // held while the client's ends are touched, other than to wait for bytes
	over atomic.Bool

	broken bool // the other side has gone
}

func (r *run) newPump(dir capture.Direction, in, out port) *pump {
	p := &pump{in: in, out: out, clock: r.o.Clock, start: r.plan.started}
	if r.o.Recorder != nil {
		p.tap = r.o.Recorder.Stream(dir)
	} else {
		p.tap = &plainTap{make([]byte, plainRoom)}
	}
	return p
}

// run passes bytes on. Both ends are the pump's until it returns; then the
// client's input is let go and the server's end is closed.
func (p *pump) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		n, err := p.in.read(p.tap.Room())
		if err != nil {
			break
		}
		if !p.pass(n) {
			p.why = writeFailed
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in.ours || !p.over.Load() {
		p.in.close()
	}
	if p.out.ours {
		p.out.close()
	}
}

// pass takes n bytes into the record and passes them on. It reports whether to
// go on.
func (p *pump) pass(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over.Load() {
		return false
	}
	p.last.Store(int64(p.clock.Now().Sub(p.start)))
	b := p.tap.Took(n)
	if p.broken {
		return true
	}
	p.writing.Store(true)
	err := p.out.write(b)
	p.writing.Store(false)
	p.broken = err != nil
	return err == nil || p.drain
}

// end makes a pump that is left behind in a read let go of the client's ends:
// the run is over. One that the client keeps waiting in a write goes on with
// that write alone.
func (p *pump) end() {
	p.over.Store(true)
	p.tap.Close()
	if p.mu.TryLock() {
		p.mu.Unlock()
	}
}

// moved is when bytes last came; the start of the run when none have.
func (p *pump) moved() time.Time { return p.start.Add(time.Duration(p.last.Load())) }

// busy reports whether the pump waits for the other side to take bytes.
func (p *pump) busy() bool { return p.writing.Load() }

// closeOut closes the client's end; only after the pump has ended.
func (p *pump) closeOut() { p.out.close() }
