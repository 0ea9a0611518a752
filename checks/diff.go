package checks

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// DiffSide is one of two sessions that are compared.
type DiffSide struct {
	Session     *store.Session
	Definitions *Definitions // nil when there was no whole tools/list
	Body        store.BodyFunc
}

// From when on a call counts as slower or faster where nobody says otherwise.
const (
	DiffThreshold = 100 * time.Millisecond
	DiffRatio     = 2
)

// DiffOptions say from when on a call counts as slower or faster: both have to
// be reached.
type DiffOptions struct {
	Threshold time.Duration
	Ratio     float64

	// Step, when not nil, is told now and then how many operations of how many
	// were looked at. It ends the comparison by returning false.
	Step func(done, total int) bool
}

// Diff is how the second session differs from the first.
type Diff struct {
	Definitions []DefinitionChange
	Uncompared  []string // kinds of definitions that one side did not list to the end
	Matched     int      // calls that are in both
	OnlyA       map[string]int
	OnlyB       map[string]int // calls by tool that are in one alone
	Calls       []CallChange
	Skipped     int // calls of Matched that were not compared: too many others differ
	Regressions int
	Stopped     bool // by DiffOptions.Step: the rest was not looked at

	kept int // changes of calls
}

// DefinitionChange is a definition that was added, removed or changed.
type DefinitionChange struct {
	Kind       string // tools, prompts, resources, resourceTemplates
	Name       string
	What       string // added, removed, or the field that changed
	Changes    []Change
	Regression bool
}

// CallChange is a call whose outcome differs.
type CallChange struct {
	Tool, Arguments string
	SeqA, SeqB      uint64
	What            string // status, slower, faster or answer
	A, B            string // status, or duration
	Changes         []Change
	More            int // changes that are not among them
	Regression      bool
}

// What is kept of calls at most: those that differ, and the places in which
// all their answers do. Beyond that one place is kept of each.
const (
	maxCallChanges   = 10_000
	maxAnswerChanges = 20_000
)

// Compare compares two sessions. Calls are matched by tool and arguments, so
// their order does not matter.
func Compare(a, b DiffSide, o DiffOptions) *Diff {
	d := &Diff{OnlyA: map[string]int{}, OnlyB: map[string]int{}}
	d.definitions(a.Definitions, b.Definitions)
	d.calls(&a, &b, o)
	for _, c := range d.Definitions {
		if c.Regression {
			d.Regressions++
		}
	}
	for _, c := range d.Calls {
		if c.Regression {
			d.Regressions++
		}
	}
	return d
}

func (d *Diff) definitions(a, b *Definitions) {
	for _, k := range defKinds() {
		var x, y Items
		if a != nil {
			x = a.Kinds[k.kind]
		}
		if b != nil {
			y = b.Kinds[k.kind]
		}
		switch {
		case x == nil && y == nil:
			continue
		case x == nil || y == nil:
			d.Uncompared = append(d.Uncompared, k.kind)
			continue
		}
		names := map[string]bool{}
		for n := range x {
			names[n] = true
		}
		for n := range y {
			names[n] = true
		}
		for _, n := range slices.Sorted(maps.Keys(names)) {
			d.definition(&k, n, x[n], y[n])
		}
	}
}

// definition compares one; of what is in one side alone the other is nil.
func (d *Diff) definition(k *defKind, name string, a, b Fields) {
	tool := k.kind == "tools"
	switch {
	case a == nil:
		d.Definitions = append(d.Definitions, DefinitionChange{Kind: k.kind, Name: name, What: "added"})
		return
	case b == nil:
		d.Definitions = append(d.Definitions, DefinitionChange{Kind: k.kind, Name: name, What: "removed", Regression: tool})
		return
	}
	for _, f := range k.fields {
		if a[f] == b[f] {
			continue
		}
		if changes := diffJSON([]byte(a[f]), []byte(b[f])); len(changes) > 0 {
			d.Definitions = append(d.Definitions, DefinitionChange{k.kind, name, f, changes, tool && f != "icons"})
		}
	}
}

// call is a tool call with its retries, by the operations at both ends.
type call struct{ first, last store.OpIndex }

type callKey [16]byte

// stepCalls is how many operations are looked at between two steps.
const stepCalls = 256

// callsOf goes over the calls of a side, until step says that it is enough.
func callsOf(s *DiffSide, step func(done int) bool, yield func(k callKey, c call)) bool {
	for i := range s.Session.OpLen() {
		if i%stepCalls == 0 && !step(int(i)) {
			return false
		}
		o := s.Session.Op(i)
		if !o.Client || s.Session.OpMethod(o) != mcp.ToolsCall || s.Session.Root(i) != i {
			continue
		}
		c := call{i, i}
		for next, ok := o.Next(); ok && s.Session.Root(next) == i; next, ok = s.Session.Op(next).Next() {
			c.last = next
		}
		sum := sha256.Sum256([]byte(s.tool(c) + "\x00" + s.arguments(c)))
		yield(callKey(sum[:16]), c)
	}
	return true
}

func (s *DiffSide) tool(c call) string { return s.Session.OpName(s.Session.Op(c.first)) }

func (s *DiffSide) seq(c call) uint64 { return s.Session.Frame(s.Session.Op(c.first).Request).Seq }

func (s *DiffSide) state(c call) store.State { return s.Session.Op(c.last).State }

// arguments are those of a call in canonical form. They are read again for the
// few calls that are told of, rather than kept for all.
func (s *DiffSide) arguments(c call) string {
	body, err := s.Body(s.Session, s.Session.Op(c.first).Request)
	if err == nil && wire.Check(body) == nil {
		if v := wire.Get(body, "params", "arguments"); v != nil {
			return canonicalText(v)
		}
	}
	return "{}"
}

// took is how long a call lasted, the user's time in it left out.
func (s *DiffSide) took(c call) time.Duration {
	chain := s.Session.Chain(c.first, s.Session.Summary().Newest)
	return chain.Server + chain.Wait
}

func (d *Diff) calls(a, b *DiffSide, o DiffOptions) {
	before := map[callKey][]call{}
	ofA, total := int(a.Session.OpLen()), int(a.Session.OpLen())+int(b.Session.OpLen())
	step := func(from int) func(int) bool {
		return func(done int) bool {
			d.Stopped = d.Stopped || o.Step != nil && !o.Step(from+done, total)
			return !d.Stopped
		}
	}
	whole := callsOf(a, step(0), func(k callKey, c call) { before[k] = append(before[k], c) })
	whole = whole && callsOf(b, step(ofA), func(k callKey, c call) {
		list := before[k]
		if len(list) == 0 {
			d.OnlyB[b.tool(c)]++
			return
		}
		before[k] = list[1:]
		d.Matched++
		if len(d.Calls) < maxCallChanges {
			d.call(a, b, list[0], c, o)
		} else {
			d.Skipped++
		}
	})
	if !whole {
		return
	}
	for _, list := range before {
		for _, c := range list {
			d.OnlyA[a.tool(c)]++
		}
	}
}

// Worse reports whether a call that ended as b is worse off than one that ended
// as a.
func Worse(a, b store.State) bool { return worse(b) > worse(a) }

// worse orders the states of a call.
func worse(s store.State) int {
	return [...]int{store.OK: 0, store.Cancelled: 1, store.Pending: 2, store.Failed: 3}[s]
}

func (d *Diff) call(a, b *DiffSide, x, y call, o DiffOptions) {
	differs := func(c CallChange) {
		c.Tool, c.Arguments, c.SeqA, c.SeqB = a.tool(x), clip(a.arguments(x), 200), a.seq(x), b.seq(y)
		d.Calls = append(d.Calls, c)
	}
	before, now := a.state(x), b.state(y)
	if before != now {
		differs(CallChange{What: "status", A: before.String(), B: now.String(), Regression: Worse(before, now)})
		return
	}
	if before == store.OK {
		was, is := a.took(x), b.took(y)
		switch {
		case apart(was, is, o):
			differs(CallChange{What: "slower", A: shortly(was), B: shortly(is), Regression: true})
		case apart(is, was, o):
			differs(CallChange{What: "faster", A: shortly(was), B: shortly(is)})
		}
	}
	old, new := answerOf(a, x), answerOf(b, y)
	if old == "" || new == "" || old == new {
		return
	}
	if changes := diffJSON([]byte(old), []byte(new)); len(changes) > 0 {
		c := CallChange{What: "answer", Changes: changes}
		if d.kept += len(changes); d.kept > maxAnswerChanges {
			c.Changes, c.More = slices.Clone(changes[:1]), len(changes)-1
		}
		differs(c)
	}
}

// apart reports whether b is so much longer than a that it counts.
func apart(a, b time.Duration, o DiffOptions) bool {
	return b-a >= max(o.Threshold, 1) && float64(b) >= o.Ratio*float64(a)
}

func shortly(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

// answerOf is the result or error of a call, without its metadata and with
// marks of redaction made equal; "" when it was not recorded.
func answerOf(s *DiffSide, c call) string {
	at, ok := s.Session.Op(c.last).Answer()
	if !ok || s.Session.Op(c.last).Cut {
		return ""
	}
	body, err := s.Body(s.Session, at)
	if err != nil || wire.Check(body) != nil {
		return ""
	}
	for _, k := range [...]string{"result", "error"} {
		v := wire.Get(body, k)
		if wire.TypeOf(v) != wire.Object {
			continue
		}
		out := []byte{'{'}
		for m := wire.MembersOf(v); m.Next(); {
			if string(m.Key) == "_meta" {
				continue
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(wire.AppendString(out, m.Key), ':'), m.Value...)
		}
		return canonicalText(append(out, '}'))
	}
	return ""
}

// Same reports whether nothing differs.
func (d *Diff) Same() bool {
	return len(d.Definitions)+len(d.Calls)+len(d.OnlyA)+len(d.OnlyB) == 0
}

// verdict is the last line of a diff for people.
func (d *Diff) verdict() string {
	switch {
	case d.Regressions == 1:
		return "1 regression"
	case d.Regressions > 1:
		return fmt.Sprintf("%d regressions", d.Regressions)
	case d.Same():
		return "no difference"
	}
	return "no regression"
}
