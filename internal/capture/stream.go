package capture

import (
	"bytes"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Stream carries the bytes of one direction into the log, where they are cut
// into lines. One goroutine reads and passes on; it calls
//
//	n, err := read(s.Room())
//	p := s.Took(n) // numbered and dated here, before a byte is passed on
//	write(p)
//
// Took may wait while the recorder's backlog is full and moving, never longer.
// The slab that is in use at the end is left to the collector.
type Stream struct {
	dir   Direction
	queue *queue
	pool  *slabPool
	slab  *slab
	used  int // bytes of the slab that hold queued chunks

	begun bool // bytes of an unfinished frame are queued
	skip  bool // the rest of the current frame belongs to a lost one
	ended bool // Close was called

	lines wire.Splitter // the recorder's side
}

// Room returns where the next bytes may be read to.
func (s *Stream) Room() []byte {
	if s.slab != nil && s.slab.refs.Load() == 1 {
		s.used = 0 // the recorder is through with all of it
	}
	if s.slab != nil && SlabSize-s.used < minRoom {
		s.slab.release()
		s.slab = nil
	}
	if s.slab == nil {
		s.slab, s.used = s.pool.get(), 0
	}
	return s.slab.buf[s.used:]
}

// Took hands the first n bytes of the last Room to the recorder and returns
// them for passing on. They stay unchanged until the next call of Room.
func (s *Stream) Took(n int) []byte {
	p := s.slab.buf[s.used : s.used+n]
	q := s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.ended {
		return p
	}
	if !q.admit(int64(n) + itemCost) {
		s.lose(p)
		return p
	}
	rest := p
	if s.skip {
		k := bytes.IndexByte(p, '\n')
		if k < 0 {
			return p
		}
		s.skip, rest = false, p[k+1:]
	}
	if len(rest) == 0 {
		return p
	}
	s.begun = rest[len(rest)-1] != '\n'
	s.slab.refs.Add(1)
	s.used += n
	q.push(item{stream: s, data: rest, slab: s.slab, event: evChunk}, int64(len(rest))+itemCost)
	return p
}

// lose counts each frame that loses bytes in p once. Called with the queue locked.
func (s *Stream) lose(p []byte) {
	if len(p) == 0 {
		return
	}
	open := p[len(p)-1] != '\n'
	n := bytes.Count(p, []byte{'\n'})
	if open {
		n++
	}
	if s.skip {
		n-- // counted when its first bytes were lost
	}
	if s.begun && !s.skip {
		s.queue.push(item{stream: s, event: evAbort}, itemCost)
	}
	s.queue.lose(uint64(n))
	s.begun, s.skip = false, open
}

// Close says that the stream has ended. What the last line feed left open
// becomes a frame marked eol none. Any goroutine may call it, at any time and
// more than once, also while a read into Room goes on: what Took gets later is
// no longer recorded.
func (s *Stream) Close() {
	q := s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	q.push(item{stream: s, event: evClose}, itemCost)
}
