package store

import "math"

// What stands in which row of a Merged is worked out when it is asked for:
// there is no list of all rows, so none has to be kept up while frames arrive
// and filters go on. It takes a few looks at each part, whatever they hold.

// rank is how many of the part's matches stand before its frame i.
func (p *part) rank(i uint32) uint32 {
	n, _ := p.c.Rank(min(i, p.limit))
	return n
}

// before is how many of the part's matches are of a time before ts.
func (p *part) before(ts int64) uint32 { return p.rank(p.c.s.Since(ts)) }

// Len is the number of frames found so far.
func (m *Merged) Len() int {
	n := 0
	for _, p := range m.parts {
		n += int(p.rank(p.c.s.Len()))
	}
	return n
}

// before is how many matches are of a time before ts.
func (m *Merged) before(ts int64) int {
	n := 0
	for _, p := range m.parts {
		n += int(p.before(ts))
	}
	return n
}

// Rank is the number of found frames before x, and whether x is found.
func (m *Merged) Rank(x Match) (row int, found bool) {
	at := -1
	for k, p := range m.parts {
		if p.c.s == x.Session && x.Frame < x.Session.Len() {
			at = k
		}
	}
	if at < 0 {
		return 0, false
	}
	ts := x.Session.peak(x.Frame)
	for k, p := range m.parts {
		switch {
		case k == at:
			row += int(p.rank(x.Frame))
			_, found = p.c.Rank(x.Frame)
			found = found && x.Frame < p.limit
		case k < at && ts < math.MaxInt64: // of one time, what stands in an earlier part comes first
			row += int(p.before(ts + 1))
		default:
			row += int(p.before(ts))
		}
	}
	return row, found
}

// near is how many matches are walked over rather than searched.
const near = 256

// Rows appends the matches from rank row on, at most n, to dst.
func (m *Merged) Rows(dst []Match, row, n int) []Match {
	if row < 0 || n <= 0 || row >= m.Len() {
		return dst
	}
	lo, hi := m.span(row)
	skip := row - m.before(lo)
	start := make(map[*part]uint32, len(m.parts))
	for _, p := range m.parts {
		start[p] = p.before(lo)
		if hi-lo == 1 && skip > 0 { // all of one time: part after part
			run := min(int(p.before(hi)-start[p]), skip)
			start[p] += uint32(run)
			skip -= run
		}
	}
	h := m.heads(min(rowsAtOnce, skip+n), func(p *part) uint32 { return start[p] })
	for ; skip > 0 && h.Len() > 0; skip-- {
		h.take()
	}
	for ; n > 0 && h.Len() > 0; n-- {
		dst = append(dst, h.take())
	}
	return dst
}

// span is a short stretch of time in which a row stands: from lo until before
// hi.
func (m *Merged) span(row int) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, p := range m.parts {
		if n := p.c.s.Len(); n > 0 {
			lo = min(lo, p.c.s.Frame(0).TS)
			hi = max(hi, p.c.s.peak(n-1)+1)
		}
	}
	first, last := 0, m.Len()
	for uint64(hi-lo) > 1 && last-first > near {
		mid := lo + int64(uint64(hi-lo)/2)
		if n := m.before(mid); n <= row {
			lo, first = mid, n
		} else {
			hi, last = mid, n
		}
	}
	return lo, hi
}
