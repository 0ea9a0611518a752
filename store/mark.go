package store

import (
	"slices"
	"sync/atomic"
)

// Signal is what a finding means for a gate. The words are those of --fail-on.
type Signal uint8

// The signals.
const (
	SignalError      Signal = iota // a failed call
	SignalInvalid                  // bytes or messages that are not legal
	SignalWarn                     // a protocol rule is broken
	SignalMismatch                 // routing headers missing or against the body
	SignalPending                  // no answer
	SignalLateResult               // an answer after the cancel
	SignalDrift                    // tools changed against the baseline
	SignalDeprecated               // a feature on its way out
	SignalIncomplete               // frames lost or cut
	SignalSchema                   // constructs that clients handle badly
	SignalAuth                     // claims that cannot be verified
	SignalInfo                     // worth knowing
	signalCount
)

var signalNames = [signalCount]string{
	"error", "invalid", "warn", "mismatch", "pending", "late-result", "drift", "deprecated", "incomplete", "schema", "auth", "info",
}

// String is the word for the signal.
func (g Signal) String() string { return signalNames[g] }

// Signals lists all signals in the order of the command line's documentation.
func Signals() []Signal {
	out := make([]Signal, signalCount)
	for i := range out {
		out[i] = Signal(i)
	}
	return out
}

// signals is a set of signals.
type signals uint16

func (m signals) has(g Signal) bool { return m&(1<<g) != 0 }

// Mark is a finding on a frame: which rule, and what it means.
type Mark struct {
	Frame  uint32
	rule   uint32 // number of the rule's name
	next   uint32 // index + 1 of the mark before this one on the same frame
	Signal Signal
}

// marks are the findings of a session. They come in any order of frames, so
// each frame has a list; what heads the lists is there for stretches of frames
// that have a mark.
type marks struct {
	list  vector[Mark]
	heads vector[atomic.Pointer[chunk[atomic.Uint32]]] // index + 1 of the newest mark of a frame
	rules *names
}

// Mark notes that a rule has something to say about the frame index. One frame
// may have several marks, also of one rule. Readers see it after Publish.
func (a *Appender) Mark(index uint32, rule string, g Signal) {
	if index >= a.s.frames.n || g >= signalCount {
		return
	}
	a.fresh = true
	m := Mark{Frame: index, rule: a.s.marks.rules.number([]byte(rule)), Signal: g}
	a.marked = append(a.marked, m)
	i, ok := a.s.frames.at(index).Op()
	if !ok {
		return
	}
	if o := a.peek(i); o.signals.has(g) && slices.Contains(o.marked(), m.rule) {
		return
	}
	op := a.change(i)
	op.signals |= 1 << g
	if !slices.Contains(op.marked(), m.rule) {
		rules := append(slices.Clip(slices.Clone(op.marked())), m.rule)
		op.rules = &rules
	}
}

func (a *Appender) publishMarks() {
	ms := &a.s.marks
	for ms.heads.n<<chunkBits < a.s.frames.n {
		ms.heads.grow()
	}
	ms.heads.publish()
	first := ms.list.n
	for _, m := range a.marked {
		_, p := ms.list.grow()
		*p = m
	}
	ms.list.share()
	for i := first; i < ms.list.n; i++ {
		m := ms.list.at(i)
		head := ms.heads.at(m.Frame >> chunkBits)
		c := head.Load()
		if c == nil {
			c = new(chunk[atomic.Uint32])
			head.Store(c)
		}
		h := &c[m.Frame&(chunkLen-1)]
		m.next = h.Load()
		h.Store(i + 1)
	}
	ms.list.publish()
	a.marked = a.marked[:0]
}

// Marks calls visit with the marks of a frame, the newest first, until it
// returns false.
func (s *Session) Marks(i uint32, visit func(rule string, g Signal) bool) {
	for k := s.marks.head(i); k > 0; {
		m := s.marks.list.read(k - 1)
		if !visit(*s.marks.rules.list.read(m.rule), m.Signal) {
			return
		}
		k = m.next
	}
}

// MarkLen is the number of marks on all frames.
func (s *Session) MarkLen() uint32 { return s.marks.list.Len() }

func (ms *marks) head(i uint32) uint32 {
	if i>>chunkBits >= ms.heads.Len() {
		return 0
	}
	c := ms.heads.read(i >> chunkBits).Load()
	if c == nil {
		return 0
	}
	return c[i&(chunkLen-1)].Load()
}
