package checks

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Results that ask for input, and the requests that bring it (2026-07-28,
// basic/patterns/mrtr). Requests are tied to results by the store; a weak tie
// is judged by no rule.
var mrtrRules = []Rule{
	{
		ID: "mrtr-wrong-method", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: mrtrMethod,
		Title: "A method asks for input that may not",
		Help:  "Only tools/call, prompts/get and resources/read may; clients do not expect it elsewhere.",
		Fix:   "Answer with a result or an error.",
		Spec:  "2026-07-28/basic/patterns/mrtr#supported-requests",
	},
	{
		ID: "mrtr-empty", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: mrtrEmpty,
		Title: "A result asks for input and does not say which",
		Help:  "It has neither inputRequests nor requestState, so the client has nothing to send.",
		Fix:   "Send at least one of them.",
		Spec:  "2026-07-28/basic/patterns/mrtr#inputrequiredresult",
	},
	{
		ID: "mrtr-request-shape", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: mrtrRequests,
		Title: "inputRequests is malformed",
		Help:  "It maps keys to objects with a method, which is elicitation/create, sampling/createMessage or roots/list.",
		Fix:   "Correct the entry named.",
		Spec:  "2026-07-28/basic/patterns/mrtr#inputrequests",
	},
	{
		ID: "mrtr-request-has-id", Signal: Info, Level: Note, Revisions: R5, on: onInput, check: mrtrHasID,
		Title: "An entry of inputRequests has id or jsonrpc",
		Help:  "It is no JSON-RPC message; the key tells the answer apart.",
		Fix:   "Leave both out.",
		Spec:  "2026-07-28/basic/patterns/mrtr#inputrequests",
	},
	{
		ID: "mrtr-state-type", Signal: Invalid, Level: Must, Revisions: R5, on: onResult | onRequest, check: mrtrStateType,
		Title: "requestState is not a string",
		Help:  "It is an opaque string that is sent back as it is.",
		Fix:   "Serialize the state.",
		Spec:  "2026-07-28/schema#inputrequiredresult",
	},
	{
		ID: "mrtr-cache-hints", Signal: Info, Level: Note, Revisions: R5, on: onResult, check: mrtrCache,
		Title: "A result that asks for input carries hints on caching",
		Help:  "There is nothing to cache yet.",
		Fix:   "Send ttlMs and cacheScope with the complete result.",
		Spec:  "2026-07-28/server/utilities/caching#cacheable-results",
	},
	{
		ID: "mrtr-same-id", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: mrtrSameID,
		Title: "A retry uses the id of the request that it follows up",
		Help:  "It is a request of its own; an equal id looks like the first one sent twice.",
		Fix:   "Take a new id.",
		Spec:  "2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow",
	},
	{
		ID: "mrtr-state-not-echoed", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: mrtrNotEchoed,
		Title: "A retry does not send requestState back",
		Help:  "The server cannot tell what it was doing.",
		Fix:   "Send the value of the result as it was.",
		Spec:  "2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow",
	},
	{
		ID: "mrtr-state-modified", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: mrtrModified,
		Title: "A retry sends requestState back changed",
		Help:  "The value is opaque; servers check that it is theirs.",
		Fix:   "Do not parse, trim or re-encode it.",
		Spec:  "2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow",
	},
	{
		ID: "mrtr-state-invented", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: mrtrInvented,
		Title: "A retry sends a requestState that the server did not give",
		Help:  "The server takes it for its own.",
		Fix:   "Send requestState only when the result had one.",
		Spec:  "2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow",
	},
	{
		ID: "mrtr-state-cross-request", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: mrtrCross,
		Title: "A requestState was sent with another call than the one it belongs to",
		Help:  "The server would go on with work that belongs elsewhere.",
		Fix:   "Keep the state with its call.",
		Spec:  "2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow",
	},
	{
		ID: "mrtr-args-changed", Signal: Warn, Level: Should, Revisions: R5, on: onRequest, check: mrtrArgs,
		Title: "A retry has other arguments than the first request",
		Help:  "It is the same call with the input added; changed arguments make it another one.",
		Fix:   "Send the original arguments.",
		Spec:  "2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow",
	},
	{
		ID: "mrtr-missing-key", Signal: Warn, Level: Should, Revisions: R5, on: onRequest, check: mrtrMissingKey,
		Title: "A retry leaves an input request unanswered",
		Help:  "Each key that was asked for needs an answer, also when the user declined. The server will ask again.",
		Fix:   `Send {"action":"decline"} for what the user did not give.`,
		Spec:  "2026-07-28/basic/patterns/mrtr#inputresponses",
	},
	{
		ID: "mrtr-extra-key", Signal: Info, Level: Note, Revisions: R5, on: onRequest, check: mrtrExtraKey,
		Title: "A retry answers something that was not asked",
		Help:  "The server ignores it.",
		Fix:   "Compare the keys with those of inputRequests.",
		Spec:  "2026-07-28/basic/patterns/mrtr#inputresponses",
	},
	{
		ID: "mrtr-response-shape", Signal: Invalid, Level: Must, Revisions: R5, on: onRequest, check: mrtrResponses,
		Title: "An answer in inputResponses is not the result of the method that was asked",
		Help:  "It is the bare result: an action for elicitation, a message for sampling, roots for roots/list. A whole JSON-RPC response is not one.",
		Fix:   "Send what stands in result.",
		Spec:  "2026-07-28/basic/patterns/mrtr#inputresponses",
	},
	{
		ID: "mrtr-unsolicited", Signal: Info, Level: Note, Revisions: R5, on: onRequest, check: mrtrUnsolicited,
		Title: "A request brings input that nothing in the log asked for",
		Help:  "The question may be older than the log.",
		Fix:   "Nothing, when the client kept it from an earlier run.",
		Spec:  "2026-07-28/basic/patterns/mrtr#inputresponses",
	},
	{
		ID: "mrtr-loop", Signal: Info, Level: Note, Revisions: R5, on: onResult, check: mrtrLoop,
		Title: "The same input is asked for again and again",
		Help:  "The server may repeat a question; more than five times it is likely not to read the answer.",
		Fix:   "Look at what the server expects in inputResponses.",
		Spec:  "2026-07-28/basic/patterns/mrtr#error-handling",
	},
	{
		ID: "mrtr-no-retry", Signal: Info, Level: Note, Revisions: R5, on: onEnd, check: mrtrNoRetry,
		Title: "A call that asked for input was never followed up",
		Help:  "Clients need not; the server must not wait for it.",
		Fix:   "Nothing, when the user gave up.",
		Spec:  "2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow",
	},
	{
		ID: "mrtr-state-readable", Signal: Info, Level: Note, Revisions: R5, on: onResult, check: mrtrReadable,
		Title: "requestState is plain JSON that the client can read and change",
		Help:  "Where the server relies on it, it has to be signed or encrypted.",
		Fix:   "Sign the state, or keep it on the server and send a handle.",
		Spec:  "2026-07-28/basic/patterns/mrtr#security-considerations",
	},
	{
		ID: "mrtr-legacy-params", Signal: Info, Level: Note, Revisions: Legacy, on: onRequest, check: mrtrLegacy,
		Title: "inputResponses or requestState in a request of an older revision",
		Help:  "Servers of that revision ignore them.",
		Fix:   "Send them with the metadata of 2026-07-28.",
		Spec:  "2026-07-28/basic/patterns/mrtr",
	},
}

// asksInput reports whether the result at hand asks for input.
func (c *ctx) asksInput() bool {
	return c.s2c() && c.result.get("resultType").is(mcp.ResultInputRequired)
}

func mrtrMethod(c *ctx) {
	if c.asksInput() && c.req != nil && !mcp.AsksForInput(c.method) {
		c.hitAt("/result/resultType", "%s may not ask for input", c.method)
	}
}

func mrtrEmpty(c *ctx) {
	if !c.asksInput() || c.result.get("requestState").ok() {
		return
	}
	if v := c.result.get("inputRequests"); !v.ok() || v.isObject() && v.len() == 0 {
		c.hitAt("/result", "neither inputRequests nor requestState")
	}
}

// inputMethods are what may be asked for.
var inputMethods = []string{mcp.Elicit, mcp.CreateMessage, mcp.RootsList}

func mrtrRequests(c *ctx) {
	v := c.result.get("inputRequests")
	if !c.asksInput() || !v.ok() {
		return
	}
	if !v.isObject() {
		c.hit(v, "inputRequests is %s; want an object", show(v))
		return
	}
	for _, in := range v.each() {
		if m := in.get("method"); !slices.Contains(inputMethods, m.str()) {
			c.hit(in, "the method is %s", show(m))
		}
	}
}

func mrtrHasID(c *ctx) {
	if c.item.get("id").ok() || c.item.get("jsonrpc").ok() {
		c.hit(c.item, "the entry is written as a JSON-RPC request")
	}
}

func mrtrStateType(c *ctx) {
	for _, v := range [...]val{c.result.get("requestState"), c.params.get("requestState")} {
		if v.ok() && !v.isString() {
			c.hit(v, "requestState is %s", show(v))
		}
	}
}

func mrtrCache(c *ctx) {
	if c.asksInput() && (c.result.get("ttlMs").ok() || c.result.get("cacheScope").ok()) {
		c.hitAt("/result", "ttlMs or cacheScope on a result that asks for input")
	}
}

// follows gives the result that the request at hand follows up, when that is
// sure.
func (c *ctx) follows() *ask {
	if !c.c2s() {
		return nil
	}
	if a, link := c.previous(); link > store.Weak {
		return a
	}
	return nil
}

func mrtrSameID(c *ctx) {
	if a := c.follows(); a != nil && a.id == c.req.id {
		c.hitAt("/id", "id %s is that of the request that this one follows up (asked in #%d)", show(c.root.get("id")), a.at.seq)
	}
}

func mrtrNotEchoed(c *ctx) {
	if a := c.follows(); a != nil && a.hasState && !c.params.get("requestState").ok() {
		c.hitAt("/params/requestState", "the result #%d has a requestState, and the retry has none", a.at.seq)
	}
}

func mrtrModified(c *ctx) {
	v := c.params.get("requestState")
	if a := c.follows(); a != nil && a.hasState && v.isString() && !a.marked && !marked(v) && v.str() != a.state && c.e.asks.byState(v.str()) == nil {
		c.hit(v, "the result #%d has %s, the retry %s", a.at.seq, quote(a.state), show(v))
	}
}

func mrtrInvented(c *ctx) {
	v := c.params.get("requestState")
	if a := c.follows(); a != nil && !a.hasState && v.ok() && c.e.log.whole() && c.e.asks.byState(v.str()) == nil {
		c.hit(v, "the result #%d has no requestState", a.at.seq)
	}
}

func mrtrCross(c *ctx) {
	v := c.params.get("requestState")
	if !c.c2s() || !v.isString() || v.is("") || marked(v) {
		return
	}
	if a := c.e.asks.byState(v.str()); a != nil && (a.method != c.method || a.tool != c.tool) {
		c.hit(v, "the state belongs to %s (#%d)", about(a.method, a.tool), a.at.seq)
	}
}

func mrtrArgs(c *ctx) {
	a, link := c.previous()
	if link == store.ByState && a.tool == c.tool && a.args != c.req.hash && !marked(c.params.get("arguments")) {
		c.hitAt("/params/arguments", "the arguments differ from those of the request that this one follows up")
	}
}

func mrtrMissingKey(c *ctx) {
	a := c.follows()
	if a == nil {
		return
	}
	v := c.params.get("inputResponses")
	for _, k := range a.keys {
		if !v.get(k.key).ok() {
			c.hitAt("/params/inputResponses", "%s was asked for and is not answered", quote(k.key))
			return
		}
	}
}

func mrtrExtraKey(c *ctx) {
	a := c.follows()
	if a == nil {
		return
	}
	for _, v := range c.params.get("inputResponses").each() {
		if !slices.ContainsFunc(a.keys, func(k askKey) bool { return k.key == v.key() }) {
			c.hit(v, "%s was not asked for", quote(v.key()))
		}
	}
}

func mrtrResponses(c *ctx) {
	v := c.params.get("inputResponses")
	if v.ok() && !v.isObject() {
		c.hit(v, "inputResponses is %s; want an object", show(v))
		return
	}
	for _, r := range v.each() {
		if !r.isObject() && !marked(r) {
			c.hit(r, "%s is %s; want an object", quote(r.key()), show(r))
			return
		}
	}
	a := c.follows()
	if a == nil {
		return
	}
	for _, k := range a.keys {
		r := v.get(k.key)
		if !r.ok() || fitsInput(k.method, r) {
			continue
		}
		hint := ""
		if r.get("result").ok() || r.get("jsonrpc").ok() {
			hint = ": it is wrapped in a response, send what stands in result"
		}
		c.hit(r, "no result of %s%s", k.method, hint)
	}
}

// fitsInput reports whether r could be the result of an input method.
func fitsInput(method string, r val) bool {
	switch method {
	case mcp.Elicit:
		a := r.get("action")
		return a.is("accept") || a.is("decline") || a.is("cancel")
	case mcp.CreateMessage:
		return r.get("role").isString() && r.get("content").ok() && r.get("model").isString()
	case mcp.RootsList:
		return r.get("roots").isArray()
	}
	return true
}

func mrtrUnsolicited(c *ctx) {
	if !c.c2s() || !c.params.get("inputResponses").ok() && !c.params.get("requestState").ok() {
		return
	}
	if _, link := c.previous(); link == store.NoLink && c.e.log.whole() {
		c.hitAt("/params", "no open result asked for this input")
	}
}

func mrtrLoop(c *ctx) {
	if !c.asksInput() || c.req == nil {
		return
	}
	if a, link := c.previous(); link > store.Weak && a.round >= 4 && a.inputs == hashText(c.result.get("inputRequests").raw()) {
		c.hitAt("/result/inputRequests", "the same was asked %d times before", a.round+1)
	}
}

func mrtrNoRetry(c *ctx) {
	for _, i := range c.e.asks.order {
		if a := c.e.asks.known[i]; !a.retried {
			c.hitPos(a.at, "", "%s asked for input, and no retry brought it", about(a.method, a.tool))
		}
	}
}

func mrtrReadable(c *ctx) {
	v := c.result.get("requestState")
	if !c.asksInput() || !v.isString() || len(v.raw()) > maxStateLen {
		return
	}
	s := []byte(v.str())
	for _, enc := range [...]*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		if d, err := enc.DecodeString(string(s)); err == nil && wire.TypeOf(d) == wire.Object {
			s = d
			break
		}
	}
	if wire.TypeOf(s) != wire.Object || wire.Check(s) != nil {
		return
	}
	for m := wire.MembersOf(s); m.Next(); {
		if k := strings.ToLower(string(m.Key)); strings.Contains(k, "sig") || strings.Contains(k, "mac") || strings.Contains(k, "hash") {
			return
		}
	}
	c.hit(v, "it decodes to %s", quote(string(s)))
}

func mrtrLegacy(c *ctx) {
	if c.c2s() && (c.params.get("inputResponses").ok() || c.params.get("requestState").ok()) && mcp.AsksForInput(c.method) {
		c.hitAt("/params", "%s has no such members before 2026-07-28", c.method)
	}
}
