package shim

import (
	"runtime"
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
// server's end is closed.
func (p *pump) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	broken := false
	for {
		n, err := p.in.read(p.tap.Room())
		if n > 0 {
			p.last.Store(int64(p.clock.Now().Sub(p.start)))
			b := p.tap.Took(n)
			if broken {
				continue
			}
			p.writing.Store(true)
			werr := p.out.write(b)
			p.writing.Store(false)
			if werr != nil {
				broken = true
				if p.drain {
					continue
				}
				p.why = writeFailed
				break
			}
			continue
		}
		if err != nil {
			break
		}
	}
	p.in.close()
	p.out.closeServer()
}

// moved is when bytes last came; the start of the run when none have.
func (p *pump) moved() time.Time { return p.start.Add(time.Duration(p.last.Load())) }

// busy reports whether the pump waits for the other side to take bytes.
func (p *pump) busy() bool { return p.writing.Load() }

// closeOut closes the client's end; only after the pump has ended.
func (p *pump) closeOut() { p.out.close() }
