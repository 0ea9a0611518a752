package checks

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// ask is a result that asks for input (2026-07-28, basic/patterns/mrtr), kept
// until it is forgotten: the retry that brings the input is judged by it.
type ask struct {
	op       store.OpIndex
	id       wire.ID
	method   string
	tool     string
	args     uint64 // hash of the canonical arguments
	keys     []askKey
	hasState bool
	state    string
	marked   bool // a mark of redaction stands in it
	inputs   uint64
	round    int // how often the same was asked before, one after the other
	retried  bool
	at       pos
}

type askKey struct {
	key, method, mode string
	q                 *question
}

type asks struct {
	known map[store.OpIndex]*ask
	order []store.OpIndex
}

// maxStateLen is the longest requestState that is kept to be compared.
const maxStateLen = 64 << 10

// learnAsked keeps a result that asks for input.
func (c *ctx) learnAsked() {
	r, a := c.req, &c.e.asks
	n := &ask{op: r.op, id: r.id, method: r.method, tool: r.tool, args: r.hash, at: c.pos()}
	for _, in := range c.result.get("inputRequests").each() {
		if len(n.keys) < 64 {
			m := in.get("method").str()
			n.keys = append(n.keys, askKey{in.key(), m, in.at("params", "mode").str(), questionOf(m, in.get("params"), c.rev)})
		}
	}
	if s := c.result.get("requestState"); s.isString() && len(s.raw()) <= maxStateLen {
		n.hasState, n.state, n.marked = true, s.str(), marked(s)
	}
	n.inputs = hashText(c.result.get("inputRequests").raw())
	if before, link := c.previous(); link > store.Weak && before.inputs == n.inputs {
		n.round = before.round + 1
	}
	if a.known == nil {
		a.known = map[store.OpIndex]*ask{}
	}
	a.known[r.op] = n
	if a.order = append(a.order, r.op); len(a.order) > maxInputs {
		delete(a.known, a.order[0])
		a.order = a.order[1:]
	}
}

// learnInputs notes that a request brings input.
func (c *ctx) learnInputs() {
	if a, link := c.previous(); link > store.Weak {
		a.retried = true
	}
}

// previous is the result that the request of the frame follows up, and how
// sure that is.
func (c *ctx) previous() (*ask, store.Link) {
	if c.ev.Op == nil {
		return nil, store.NoLink
	}
	i, link := c.ev.Op.Previous()
	a := c.e.asks.known[i]
	if link == store.NoLink || a == nil {
		return nil, store.NoLink
	}
	return a, link
}

// byState finds an open result by its requestState.
func (a *asks) byState(state string) *ask {
	for _, i := range slices.Backward(a.order) {
		if n := a.known[i]; n.hasState && !n.retried && n.state == state {
			return n
		}
	}
	return nil
}

// hashArgs is a hash of the arguments of a request that may be retried.
func (c *ctx) hashArgs() uint64 {
	if !mcp.AsksForInput(c.method) {
		return 0
	}
	v := c.params.get("arguments")
	if !v.ok() {
		return hashText("{}") // none and no members say the same
	}
	return hashText(wire.AppendCanonical(nil, v.raw()))
}
