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

// DiffOptions say from when on a call counts as slower or faster: both have to
// be reached.
type DiffOptions struct {
	Threshold time.Duration
	Ratio     float64
}

// Diff is how the second session differs from the first.
type Diff struct {
	Definitions []DefinitionChange
	Uncompared  []string // kinds of definitions that one side did not list to the end
	Matched     int      // calls that are in both
	OnlyA       map[string]int
	OnlyB       map[string]int // calls by tool that are in one alone
	Calls       []CallChange
	Regressions int
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
	Regression      bool
}

// maxCallChanges bounds the list of calls.
const maxCallChanges = 10_000

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

// call is a tool call with its retries.
type call struct {
	op, last store.OpIndex
	tool     string
	args     string
	state    store.State
	took     time.Duration
	seq      uint64
}

type callKey [16]byte

// callsOf goes over the calls of a side.
func callsOf(s *DiffSide, yield func(k callKey, c call)) {
	newest := s.Session.Summary().Newest
	for i := range s.Session.OpLen() {
		o := s.Session.Op(i)
		if !o.Client || s.Session.OpMethod(o) != mcp.ToolsCall || s.Session.Root(i) != i {
			continue
		}
		c := call{op: i, last: i, tool: s.Session.OpName(o), seq: s.Session.Frame(o.Request).Seq}
		for next, ok := o.Next(); ok && s.Session.Root(next) == i; next, ok = s.Session.Op(next).Next() {
			c.last = next
		}
		c.state = s.Session.Op(c.last).State
		chain := s.Session.Chain(i, newest)
		c.took = chain.Server + chain.Wait
		args := "{}"
		if body, err := s.Body(s.Session, o.Request); err == nil && wire.Check(body) == nil {
			if v := wire.Get(body, "params", "arguments"); v != nil {
				args = canonicalText(v)
			}
		}
		c.args = clip(args, 200)
		sum := sha256.Sum256([]byte(c.tool + "\x00" + args))
		yield(callKey(sum[:16]), c)
	}
}

func (d *Diff) calls(a, b *DiffSide, o DiffOptions) {
	before := map[callKey][]call{}
	callsOf(a, func(k callKey, c call) { before[k] = append(before[k], c) })
	callsOf(b, func(k callKey, c call) {
		list := before[k]
		if len(list) == 0 {
			d.OnlyB[c.tool]++
			return
		}
		before[k] = list[1:]
		d.Matched++
		if len(d.Calls) < maxCallChanges {
			d.call(a, b, list[0], c, o)
		}
	})
	for _, list := range before {
		for _, c := range list {
			d.OnlyA[c.tool]++
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
	c := CallChange{Tool: x.tool, Arguments: x.args, SeqA: x.seq, SeqB: y.seq}
	if x.state != y.state {
		c.What, c.A, c.B, c.Regression = "status", x.state.String(), y.state.String(), Worse(x.state, y.state)
		d.Calls = append(d.Calls, c)
		return
	}
	if x.state == store.OK {
		switch {
		case apart(x.took, y.took, o):
			c.What, c.Regression = "slower", true
		case apart(y.took, x.took, o):
			c.What = "faster"
		}
		if c.What != "" {
			c.A, c.B = shortly(x.took), shortly(y.took)
			d.Calls = append(d.Calls, c)
		}
	}
	old, now := answerOf(a, x), answerOf(b, y)
	if old == "" || now == "" || old == now {
		return
	}
	if changes := diffJSON([]byte(old), []byte(now)); len(changes) > 0 {
		d.Calls = append(d.Calls, CallChange{Tool: x.tool, Arguments: x.args, SeqA: x.seq, SeqB: y.seq, What: "answer", Changes: changes})
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
