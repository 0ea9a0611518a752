package capture

import (
	"hash/maphash"
	"slices"
)

// Bounds of what a Tailer remembers of what it gave.
const (
	maxSeenSessions = 64
	maxSeenSpans    = 4096    // gaps in a session's numbers
	maxSeenLines    = 1 << 16 // lines without a number
)

// seenSet remembers which records were given: numbers as spans, so that a
// session without gaps costs one span, and other lines by their hash.
type seenSet struct {
	sessions map[string]*spans
	seed     maphash.Seed
	lines    map[uint64]struct{}
	ring     []uint64 // the hashes in order, to forget the oldest
	next     int
	last     string // session of the record before
	lastSeen *spans
}

// record notes a record by its number and reports whether it was there already.
func (s *seenSet) record(session string, seq uint64) bool {
	if s.lastSeen == nil || s.last != session {
		s.last, s.lastSeen = session, s.of(session)
	}
	return s.lastSeen.add(seq)
}

func (s *seenSet) of(session string) *spans {
	if p := s.sessions[session]; p != nil {
		return p
	}
	if s.sessions == nil || len(s.sessions) >= maxSeenSessions {
		s.sessions = map[string]*spans{}
	}
	p := &spans{}
	s.sessions[session] = p
	return p
}

// line notes a line that has no number.
func (s *seenSet) line(b []byte) bool {
	if s.lines == nil {
		s.lines, s.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	h := maphash.Bytes(s.seed, b)
	if _, ok := s.lines[h]; ok {
		return true
	}
	if len(s.ring) < maxSeenLines {
		s.ring = append(s.ring, h)
	} else {
		delete(s.lines, s.ring[s.next])
		s.ring[s.next] = h
		s.next = (s.next + 1) % maxSeenLines
	}
	s.lines[h] = struct{}{}
	return false
}

// span is a run of numbers, both ends included.
type span struct{ lo, hi uint64 }

// spans is a set of numbers as runs in order.
type spans struct{ runs []span }

// add reports whether n is in the set, and puts it there.
func (s *spans) add(n uint64) bool {
	if k := len(s.runs); k > 0 && s.runs[k-1].hi+1 == n {
		s.runs[k-1].hi = n
		return false
	}
	// i is the first run that ends at n-1 or later.
	i, _ := slices.BinarySearchFunc(s.runs, n, func(r span, n uint64) int {
		if r.hi+1 < n {
			return -1
		}
		return 1
	})
	switch {
	case i < len(s.runs) && s.runs[i].lo <= n && n <= s.runs[i].hi:
		return true
	case i < len(s.runs) && s.runs[i].hi+1 == n:
		s.runs[i].hi = n
		if i+1 < len(s.runs) && s.runs[i+1].lo == n+1 {
			s.runs[i].hi = s.runs[i+1].hi
			s.runs = slices.Delete(s.runs, i+1, i+2)
		}
	case i < len(s.runs) && s.runs[i].lo == n+1:
		s.runs[i].lo = n
	default:
		s.runs = slices.Insert(s.runs, i, span{n, n})
	}
	if len(s.runs) > maxSeenSpans { // a gap that old holds frames that were lost
		s.runs[1].lo = s.runs[0].lo
		s.runs = slices.Delete(s.runs, 0, 1)
	}
	return false
}
