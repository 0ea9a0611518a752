package capture

import (
	"sync"
	"sync/atomic"
)

// SlabSize is the size of the buffers that bytes are read into.
const SlabSize = 1 << 20

// minRoom is the least room a read gets: the capacity of an ordinary pipe.
const minRoom = 64 << 10

// slab is a buffer that its stream reads into and that the recorder reads
// from: bytes go from the descriptor to the peer and into the log without a
// copy in between. It goes back to the pool when neither needs it.
type slab struct {
	pool *slabPool
	refs atomic.Int32 // the stream, and each queued chunk
	buf  []byte
}

func (s *slab) release() {
	if s.refs.Add(-1) == 0 {
		s.pool.put(s)
	}
}

// slabPool keeps slabs for reuse, since a busy stream goes through hundreds a
// second: as many as the backlog can hold while there is traffic, a few when
// there is none.
type slabPool struct {
	mu   sync.Mutex
	max  int // slabs kept
	free []*slab
}

// idleSlabs are kept when nothing is queued: one for each stream of a shim.
const idleSlabs = 3

func (p *slabPool) get() *slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		s.refs.Store(1)
		return s
	}
	s := &slab{pool: p, buf: make([]byte, SlabSize)}
	s.refs.Store(1)
	return s
}

func (p *slabPool) put(s *slab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < p.max {
		p.free = append(p.free, s)
	}
}

// trim leaves the slabs of busier times to the collector.
func (p *slabPool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) > idleSlabs {
		clear(p.free[idleSlabs:])
		p.free = p.free[:idleSlabs]
	}
}
