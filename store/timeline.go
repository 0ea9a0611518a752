package store

import (
	"math"
	"sort"
)

// Since is the first frame at ts or later, in nanoseconds since 1970; Len when
// there is none. Where the clock of a log goes back, a frame counts as of the
// latest time before it, so that the order by time is that of the log.
func (s *Session) Since(ts int64) uint32 {
	n := s.Len()
	chunks := int((n + chunkLen - 1) >> chunkBits)
	// The peak before the chunk after this one is not below ts, so the first
	// frame that reaches ts is in this one.
	c := sort.Search(chunks, func(k int) bool { return *s.peaks.read(uint32(k)) >= ts }) - 1
	if c < 0 {
		return 0
	}
	i, end := uint32(c)<<chunkBits, min(uint32(c+1)<<chunkBits, n)
	for i < end && s.Frame(i).TS < ts {
		i++
	}
	return i
}

// peak is the latest time of the frames up to i.
func (s *Session) peak(i uint32) int64 {
	return s.peakFrom(i&^(chunkLen-1), *s.peaks.read(i >> chunkBits), i)
}

// peakFrom is peak for one who knows that of the frames before from.
func (s *Session) peakFrom(from uint32, before int64, i uint32) int64 {
	for ; from <= i; from++ {
		before = max(before, s.Frame(from).TS)
	}
	return before
}

// peaked notes the time of a new frame. The index has one entry for each
// chunk of frames: the latest time before it.
func (a *Appender) peaked(i uint32, ts int64) {
	if i == 0 {
		a.peak = math.MinInt64
	}
	if i&(chunkLen-1) == 0 {
		_, p := a.s.peaks.grow()
		*p = a.peak
	}
	a.peak = max(a.peak, ts)
}
