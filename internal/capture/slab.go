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

// slabPool keeps a few slabs for reuse; more than that is left to the collector.
type slabPool struct {
	mu   sync.Mutex
	free []*slab
}

const keepSlabs = 6

func (p *slabPool) get() *slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
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
	if len(p.free) < keepSlabs {
		p.free = append(p.free, s)
	}
}
