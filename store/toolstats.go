package store

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// ToolStats are the calls of one tool. A published one never changes. Every
// request counts by itself; retries count in Retries as well.
type ToolStats struct {
	Name    string
	Calls   Counts
	Late    uint64 // answers after the cancel
	Retries uint64 // requests that go on with an earlier one
	Trips   int    // the longest chain

	Ended   uint64        // calls with an end: what the durations are of
	Total   time.Duration // of all calls that ended
	Longest time.Duration
	Slowest OpIndex // the call of Longest, when Ended > 0

	ResultMax   uint32 // bytes of the largest answer as it came
	ResultFrame uint32 // and the frame that it is
	ResultBytes uint64 // of all answers

	hist histogram
}

// Quantile is the duration that the share q of the calls that ended did not
// exceed, or up to 7 % more; 0 when none ended.
func (t *ToolStats) Quantile(q float64) time.Duration {
	if t.Ended == 0 {
		return 0
	}
	return min(t.hist.quantile(q, t.Ended), t.Longest)
}

// tools are the statistics of a session's tools.
type tools struct {
	list   vector[atomic.Pointer[ToolStats]]
	byName map[uint32]uint32 // number of a name to index in list
}

// Tools lists the tools that were called, in the order of their first calls.
func (s *Session) Tools() []*ToolStats {
	out := make([]*ToolStats, 0, s.tools.list.Len())
	for i := range s.tools.list.Len() {
		out = append(out, s.tools.list.read(i).Load())
	}
	return out
}

// count keeps the statistics by what changed between two versions of an
// operation; old is nil for a new one.
func (a *Appender) count(old, op *Operation, i OpIndex) {
	if a.name(op.method) != mcp.ToolsCall {
		return
	}
	t := a.tool(op.name)
	before := Operation{}
	if old == nil {
		t.Calls.Total++
	} else {
		before = *old
		*t.Calls.of(before.State)--
	}
	*t.Calls.of(op.State)++
	if op.late > 0 && before.late == 0 {
		t.Late++
	}
	if op.link > Weak && before.link <= Weak {
		t.Retries++
	}
	t.Trips = max(t.Trips, op.Trip())
	if op.Finish > 0 && before.Finish == 0 {
		t.ended(op.Duration(time.Time{}), i)
	}
	if at, ok := op.Answer(); ok && before.answer == 0 {
		size := a.s.frames.at(at).Size
		t.ResultBytes += uint64(size)
		if size > t.ResultMax {
			t.ResultMax, t.ResultFrame = size, at
		}
	}
}

func (c *Counts) of(s State) *uint64 {
	return [...]*uint64{&c.Pending, &c.OK, &c.Failed, &c.Cancelled}[s]
}

func (t *ToolStats) ended(d time.Duration, i OpIndex) {
	t.Ended++
	t.Total += d
	if d > t.Longest || t.Ended == 1 {
		t.Longest, t.Slowest = d, i
	}
	t.hist.add(d)
}

// tool returns the version of a tool's statistics that may be written to.
func (a *Appender) tool(name uint32) *ToolStats {
	ts := &a.s.tools
	i, ok := ts.byName[name]
	if !ok && len(ts.byName) >= a.limits.ToolStats {
		name = a.s.names.others()
		i, ok = ts.byName[name]
	}
	if !ok {
		if ts.byName == nil {
			ts.byName = map[uint32]uint32{}
		}
		i, _ = ts.list.grow()
		ts.byName[name] = i
		a.dirtyTools[i] = &ToolStats{Name: a.name(name)}
	}
	t, ok := a.dirtyTools[i]
	if !ok {
		version := *ts.list.at(i).Load()
		version.hist = slices.Clone(version.hist)
		t = &version
		a.dirtyTools[i] = t
	}
	return t
}

func (a *Appender) publishTools() {
	for i, t := range a.dirtyTools {
		a.s.tools.list.at(i).Store(t)
	}
	clear(a.dirtyTools)
	a.s.tools.list.publish()
}

// histogram counts durations in microseconds, in sixteen steps for each power
// of two.
type histogram []uint32

const stepBits = 4

func (h *histogram) add(d time.Duration) {
	i := step(uint64(max(0, d.Microseconds())))
	if i >= len(*h) {
		*h = append(*h, make([]uint32, i+1-len(*h))...)
	}
	(*h)[i]++
}

func step(v uint64) int {
	e := bits.Len64(v) - 1 - stepBits
	if e < 0 {
		return int(v)
	}
	return e<<stepBits + int(v>>e)
}

// top is the largest value that falls into step i.
func top(i int) uint64 {
	if i < 2<<stepBits {
		return uint64(i)
	}
	e := i>>stepBits - 1
	return (uint64(i-e<<stepBits)+1)<<e - 1
}

func (h histogram) quantile(q float64, n uint64) time.Duration {
	want := uint64(q * float64(n))
	if float64(want) < q*float64(n) || want == 0 {
		want++
	}
	sum := uint64(0)
	for i, c := range h {
		if sum += uint64(c); sum >= want {
			return time.Duration(top(i)) * time.Microsecond
		}
	}
	return 0
}
