package tui

import (
	"cmp"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Findings gives what the rules say: marks in the stream, counts in the list
// of sessions, findings in the inspector. A Source that has it knows more than
// the marks of the store, which are shown otherwise.
type Findings interface {
	// Worst is the most severe level of the findings on a frame, and their
	// number, beside those that its state shows anyway.
	Worst(s *store.Session, frame uint32) (Level, int)
	// OnFrame lists the findings on a frame, the most severe first.
	OnFrame(s *store.Session, frame uint32) []Finding
	// Count counts the findings of a session from a level on, beside failed
	// and open calls.
	Count(s *store.Session, from Level) int
}

// Messages is what is kept of the words of findings.
type Messages interface {
	// Message is what a rule said on a frame where it was broken first; ""
	// when it said nothing there, or that is not known any more. It may hold
	// wire text.
	Message(s *store.Session, rule string, frame uint32) string
}

// Level is how severe a finding is.
type Level uint8

// The levels.
const (
	LevelNone   Level = iota
	LevelInfo         // no rule of the specification
	LevelShould       // it says SHOULD, or the evidence is less than complete
	LevelMust         // it says MUST, or the bytes are not legal
)

// Finding is what a rule says about a frame. Message may hold wire text.
type Finding struct {
	Rule, Signal string
	Level        Level
	Times        int
	Message      string
	Fix          string // what to do about it
	Spec         string // where the specification says so
}

// markFindings reads the marks that rules leave in the store while frames
// arrive. One viewer uses it.
type markFindings struct {
	said   Messages // nil for none
	counts map[*store.Session]*markCount
}

// markCount is how many findings of each level a session has, each mark read once.
type markCount struct {
	read uint32
	n    [LevelMust + 1]int
}

// markStep is how many marks are read at once; the rest waits for the next redraw.
const markStep = 20000

func newMarkFindings(said Messages) *markFindings {
	return &markFindings{said: said, counts: map[*store.Session]*markCount{}}
}

func levelOf(rule string) (*checks.Rule, Level) {
	r, ok := checks.Find(rule)
	switch {
	case !ok:
		return nil, LevelNone
	case r.Level == checks.Must:
		return r, LevelMust
	case r.Level == checks.Should:
		return r, LevelShould
	}
	return r, LevelInfo
}

// shown reports whether a mark says what the row of its frame says itself.
func shown(g store.Signal) bool {
	switch g {
	case store.SignalError, store.SignalPending, store.SignalLateResult, store.SignalInfo:
		return true
	}
	return false
}

// maxFrameMarks is how many marks of a frame are looked at.
const maxFrameMarks = 100

// Worst is that of Findings.
func (f *markFindings) Worst(s *store.Session, frame uint32) (worst Level, n int) {
	seen := 0
	s.Marks(frame, func(rule string, g store.Signal) bool {
		if _, l := levelOf(rule); l > LevelNone && !shown(g) {
			worst = max(worst, l)
			n++
		}
		seen++
		return seen < maxFrameMarks
	})
	return worst, n
}

// OnFrame is that of Findings.
func (f *markFindings) OnFrame(s *store.Session, frame uint32) []Finding {
	var out []Finding
	seen := 0
	s.Marks(frame, func(rule string, g store.Signal) bool {
		seen++
		at := slices.IndexFunc(out, func(x Finding) bool { return x.Rule == rule })
		r, l := levelOf(rule)
		switch {
		case at >= 0:
			out[at].Times++
		case r != nil && g != store.SignalPending:
			out = append(out, Finding{Rule: rule, Signal: g.String(), Level: l, Times: 1, Message: cmp.Or(f.message(s, rule, frame), r.Title), Fix: r.Fix, Spec: r.Spec})
		}
		return seen < maxFrameMarks
	})
	slices.SortStableFunc(out, func(a, b Finding) int { return int(b.Level) - int(a.Level) })
	return out
}

func (f *markFindings) message(s *store.Session, rule string, frame uint32) string {
	if f.said == nil {
		return ""
	}
	return f.said.Message(s, rule, frame)
}

// Count is that of Findings.
func (f *markFindings) Count(s *store.Session, from Level) int {
	m := f.counts[s]
	if m == nil {
		m = &markCount{}
		f.counts[s] = m
	}
	for end := min(s.MarkLen(), m.read+markStep); m.read < end; m.read++ {
		if _, rule, g := s.MarkAt(m.read); !shown(g) {
			_, l := levelOf(rule)
			m.n[l]++
		}
	}
	n := 0
	for _, x := range m.n[max(from, LevelInfo):] {
		n += x
	}
	return n
}
