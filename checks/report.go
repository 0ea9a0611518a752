package checks

import (
	"fmt"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Report is the outcome of a check over one or more sessions. Add each
// session, call Judge once, then write it in any format.
type Report struct {
	Sessions   []*SessionReport
	Assertions []Assertion
	Failed     []string // words of --fail-on that tripped, in their order, then the flags of assertions that failed
	Exit       int      // 0, or 1 when something failed

	gate  Gate
	facts facts
}

// SessionReport is what a check says about one session.
type SessionReport struct {
	ID, Label, Path string

	Frames   uint64
	Missing  uint64 // frames that are missing
	Calls    Calls
	Signals  Counts
	Findings []*Finding
	Client   *ClientReport // nil when no client was named
}

// Calls counts the requests with an id, of both directions. A late answer
// leaves a call cancelled; an HTTP error that ended it makes it an error.
type Calls struct {
	Total     uint64 `json:"total"`
	OK        uint64 `json:"ok"`
	Error     uint64 `json:"error"`
	Cancelled uint64 `json:"cancelled"`
	Pending   uint64 `json:"pending"`
}

// Counts are the sums of the counts of findings by signal.
type Counts [12]int

// Of is the count of one signal.
func (c *Counts) Of(s Signal) int { return c[s.index()] }

// facts are what assertions are judged by, over all sessions.
type facts struct {
	tools         map[string]int
	total, server most[time.Duration]
	trips         most[int]
	attempts      most[int]
	definitions   most[int64]
	result        most[int64]
}

// NewReport makes an empty report for a gate.
func NewReport(g Gate) *Report {
	return &Report{gate: g, facts: facts{tools: map[string]int{}}, Assertions: []Assertion{}, Failed: []string{}, Sessions: []*SessionReport{}}
}

// Add takes a session that e has observed and finished. When match is not nil,
// only findings on frames that it matches count.
func (r *Report) Add(s *store.Session, e *Engine, match func(frame uint32) bool) *SessionReport {
	sum := s.Summary()
	sr := &SessionReport{
		ID: s.ID, Label: sum.Label, Path: s.Path, Frames: sum.FrameTotal(), Missing: sum.Missing,
		Calls: countCalls(s), Findings: matching(s, e.Findings(), match),
	}
	listing, _ := sum.Listing(mcp.ToolsList)
	sr.Client = e.clientReport(listing.Entries, sr.Findings)
	for _, f := range sr.Findings {
		sr.Signals[f.Signal.index()] += f.Count
	}
	r.Sessions = append(r.Sessions, sr)
	r.measure(s, e)
	return sr
}

// Judge settles what failed.
func (r *Report) Judge() {
	for _, w := range r.gate.FailOn {
		n := 0
		for _, s := range r.Sessions {
			n += s.Signals.Of(w)
			if w == Warn {
				n += s.Signals.Of(Mismatch)
			}
		}
		if n > 0 {
			r.Failed = append(r.Failed, string(w))
		}
	}
	r.assert()
	for _, a := range r.Assertions {
		if !a.OK {
			r.Failed = append(r.Failed, a.Flag)
		}
	}
	if len(r.Failed) > 0 {
		r.Exit = 1
	}
}

// countCalls gives the counts of the session's operations.
func countCalls(s *store.Session) Calls {
	n := s.Summary().Calls
	return Calls{Total: n.Total, OK: n.OK, Error: n.Failed, Cancelled: n.Cancelled, Pending: n.Pending}
}

// matching is the part of the findings that stands on frames that match.
func matching(s *store.Session, list []*Finding, match func(uint32) bool) []*Finding {
	if match == nil {
		return list
	}
	out := list[:0]
	for _, f := range list {
		g := *f
		g.Frames = nil
		for _, i := range f.Frames {
			if match(i) {
				g.Frames = append(g.Frames, i)
			}
		}
		if len(g.Frames) == 0 {
			continue
		}
		if len(g.Frames) < len(f.Frames) {
			g.Count = len(g.Frames)
			g.Frame = g.Frames[0]
			fr := s.Frame(g.Frame)
			g.Seq, g.Line, g.Segment = fr.Seq, int(fr.Line), s.Ref(fr).Segment
		}
		out = append(out, &g)
	}
	return out
}

// measure takes what assertions are judged by out of a session.
func (r *Report) measure(s *store.Session, e *Engine) {
	g := &r.gate
	sum := s.Summary()
	if l, ok := sum.Listing(mcp.ToolsList); ok {
		r.facts.definitions.see(int64(l.Bytes), func() string { return fmt.Sprintf("the %d tools of %s", l.Entries, sum.Label) })
	}
	if e.heaviest.value > r.facts.result.value {
		r.facts.result = e.heaviest
	}
	if e.attempts.value > r.facts.attempts.value {
		r.facts.attempts = e.attempts
	}
	if len(g.ExpectTools)+len(g.ForbidTools) == 0 && g.MaxDuration+g.MaxServerDuration == 0 && g.MaxRoundTrips == 0 {
		return
	}
	for i := range s.OpLen() {
		o := s.Op(i)
		if s.OpMethod(o) != mcp.ToolsCall || o.Direction() != capture.C2S {
			continue
		}
		r.facts.tools[s.OpName(o)]++
		if s.Root(i) != i {
			continue
		}
		chain := s.Chain(i, sum.Newest)
		what := func() string { return fmt.Sprintf("tools/call %s with id %s", s.OpName(o), o.ID) }
		r.facts.trips.see(len(chain.Hops), what)
		if !chain.Open {
			r.facts.total.see(chain.Server+chain.Wait, what)
			r.facts.server.see(chain.Server, what)
		}
	}
}
