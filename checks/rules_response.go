package checks

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// The shape of responses, and whom they answer (basic, Responses).
var responseRules = []Rule{
	{
		ID: "response-both", Signal: Invalid, Level: Must, on: onResponse, check: responseBoth,
		Title: "A response has a result and an error",
		Help:  "One reader takes it for success, another for failure.",
		Fix:   "Leave out the member that does not apply; error: null next to a result counts as both.",
		Spec:  "2026-07-28/basic/index#responses",
	},
	{
		ID: "response-neither", Signal: Invalid, Level: Must, on: onMessage, check: responseNeither,
		Title: "A response has neither result nor error",
		Help:  "The call is never settled.",
		Fix:   "Send result, an empty object when there is nothing to say.",
		Spec:  "2026-07-28/basic/index#responses",
	},
	{
		ID: "response-id-missing", Signal: Invalid, Level: Must, on: onResult, check: responseIDMissing,
		Title: "A result has no id, or null",
		Help:  "It belongs to no request, so the caller waits on.",
		Fix:   "Echo the id of the request.",
		Spec:  "2026-07-28/basic/index#result-responses",
	},
	{
		ID: "error-response-id-null", Signal: Info, Level: Note, on: onError, check: errorIDNull,
		Title: "An error response has the id null",
		Help:  "JSON-RPC says so for requests that could not be read; MCP leaves the id out.",
		Fix:   "Nothing, unless the request could be read: then echo its id.",
		Spec:  "2026-07-28/basic/index#error-responses",
	},
	{
		ID: "error-response-id-absent", Signal: Info, Level: Note, Revisions: R1 | R2 | R3, on: onError, check: errorIDAbsent,
		Title: "An error response has no id",
		Help:  "The schemas up to 2025-06-18 demand one.",
		Fix:   "Echo the id of the request where it could be read.",
		Spec:  "2025-06-18/basic/index#responses",
	},
	{
		ID: "response-unknown-id", Signal: Warn, Level: Must, on: onResponse, check: responseUnknownID,
		Title: "A response answers no request",
		Help:  "No request with this id was sent the other way; the request it was meant for stays open.",
		Fix:   "Echo the id of the request, unchanged.",
		Spec:  "2026-07-28/basic/index#responses",
	},
	{
		ID: "response-id-type-changed", Signal: Warn, Level: Must, on: onResponse, check: responseIDType,
		Title: "A response has the id of its request in another type",
		Help:  `1 and "1" are two ids. Strict clients find no request for the answer and wait on.`,
		Fix:   "Keep the id as it came; do not convert it to a string or a number.",
		Spec:  "2026-07-28/basic/index#responses",
	},
	{
		ID: "response-duplicate", Signal: Warn, Level: Must, on: onResponse, check: responseDuplicate,
		Title: "A request was answered twice",
		Help:  "The second answer belongs to nothing, and may meet a later request with the same id.",
		Fix:   "Answer once; look for a handler that both returns and sends.",
		Spec:  "https://www.jsonrpc.org/specification#response_object",
	},
	{
		ID: "result-not-object", Signal: Invalid, Level: Must, on: onResult, check: resultNotObject,
		Title: "The result is not an object",
		Help:  "All results are objects, the answer to ping an empty one.",
		Fix:   "Return {}.",
		Spec:  "2026-07-28/basic/index#result-responses",
	},
	{
		ID: "error-shape", Signal: Invalid, Level: Must, on: onError, check: errorShape,
		Title: "The error is not an object with a whole number as code and a text as message",
		Help:  "Clients that decode it strictly fail with an error of their own and hide yours.",
		Fix:   `Send {"code":-32603,"message":"..."}.`,
		Spec:  "2026-07-28/basic/index#error-responses",
	},
	{
		ID: "error-message-long", Signal: Info, Level: Note, on: onError, check: errorMessageLong,
		Title: "The message of an error is long",
		Help:  "It is meant to be one short sentence; details go into data.",
		Fix:   "Move traces and details to error.data.",
		Spec:  "2026-07-28/schema#error",
	},
	{
		ID: "response-to-notification", Signal: Warn, Level: Should, Transports: OnHTTP, on: onResponse, check: responseToNotification,
		Title: "A notification was answered with a response",
		Help:  "The sender of a notification expects none.",
		Fix:   "Answer the POST with 202 and no body.",
		Spec:  "2026-07-28/basic/index#notifications",
	},
	{
		ID: "response-wrong-direction", Signal: Warn, Level: Must, Revisions: R5, on: onResponse, check: responseWrongDirection,
		Title: "The client sent a response",
		Help:  "Since 2026-07-28 servers ask nothing, so there is nothing to answer.",
		Fix:   "Send answers in inputResponses of the retried request.",
		Spec:  "2026-07-28/basic/transports/stdio#sending-messages",
	},
}

func responseBoth(c *ctx) {
	if c.result.ok() && c.fail.ok() {
		hint := ""
		if c.fail.isNull() {
			hint = ": error is null, and should not be there"
		}
		c.hitAt("", "result and error in one response%s", hint)
	}
}

func responseNeither(c *ctx) {
	if c.ev.Msg.Kind == wire.Other && c.root.get("id").ok() && !c.root.get("method").ok() {
		c.hitAt("", "id %s without method, result or error", show(c.root.get("id")))
	}
}

func responseIDMissing(c *ctx) {
	if id := c.ev.Msg.ID; id == "" || id == "null" {
		c.hitAt("/id", "a result with the id %s belongs to no request", show(c.root.get("id")))
	}
}

func errorIDNull(c *ctx) {
	if c.ev.Msg.ID == "null" {
		c.hitAt("/id", "the error %s answers no request", show(c.fail.get("code")))
	}
}

func errorIDAbsent(c *ctx) {
	if c.ev.Msg.ID == "" && c.rec.Status < 400 {
		c.hitAt("/id", "the error %s has no id", show(c.fail.get("code")))
	}
}

// orphan reports whether the response answers no request although every
// request that it could answer would be in the log.
func (c *ctx) orphan() bool {
	id := c.ev.Msg.ID
	if !c.ev.Frame.Has(store.Unpaired) || c.ev.Frame.Has(store.Replayed) || id == "" || id == "null" || !c.e.log.whole() {
		return false
	}
	if c.stdio() {
		return c.s2c() || c.rev != R5 // response-wrong-direction has it
	}
	switch x := c.x; {
	case c.c2s():
		return false // the request may have come on any stream of any connection
	case x.guessed:
		return len(x.reqs) > 0 && !x.resumed
	case x.resumed, len(x.reqs) == 0 && x.notes == 0:
		return false // a stream that was not opened by a POST may bring any answer
	}
	return true
}

func responseUnknownID(c *ctx) {
	if !c.orphan() || c.retyped() != nil || c.answered() || c.e.unknownIDs(c) {
		return
	}
	if c.x != nil && c.x.notes > 0 && len(c.x.reqs) == 0 {
		return // response-to-notification has it
	}
	c.hitAt("/id", "no request with id %s was sent", show(c.root.get("id")))
}

// unknownIDs reports whether more ids were used than are kept.
func (e *Engine) unknownIDs(c *ctx) bool {
	return c.cl.ids[dirIndex(c.s2c())].full || len(e.open) >= maxOpen
}

// answered reports whether a request with the id of this response has been
// answered before.
func (c *ctx) answered() bool { return c.cl.ids[dirIndex(c.s2c())].has(c.ev.Msg.ID) }

// retyped finds the open request that has the id in another type.
func (c *ctx) retyped() *request {
	id := c.ev.Msg.ID
	other := wire.ID(strings.Trim(string(id), `"`))
	if other == id {
		other = wire.ID(`"` + string(id) + `"`)
	}
	for r := range c.e.search {
		if r.id == other && r.cl == c.cl && r.client == c.s2c() && r.closed == 0 {
			return r
		}
	}
	return nil
}

func responseIDType(c *ctx) {
	if !c.orphan() || c.answered() {
		return
	}
	if r := c.retyped(); r != nil {
		c.method, c.tool = r.method, r.tool
		c.hitAt("/id", "%s was asked with id %s and is answered with id %s", about(r.method, r.tool), r.id, show(c.root.get("id")))
	}
}

func responseDuplicate(c *ctx) {
	if c.orphan() && c.answered() {
		c.hitAt("/id", "the request with id %s has been answered before", show(c.root.get("id")))
	}
}

func resultNotObject(c *ctx) {
	if !c.result.isObject() {
		c.hit(c.result, "the result is %s", show(c.result))
	}
}

func errorShape(c *ctx) {
	switch code, text := c.fail.get("code"), c.fail.get("message"); {
	case c.fail.isNull():
		// response-both or response-neither
	case !c.fail.isObject():
		c.hit(c.fail, "the error is %s; want an object", show(c.fail))
	case !code.isInt():
		c.hitAt("/error/code", "the code is %s; want a whole number", show(code))
	case !text.isString():
		c.hitAt("/error/message", "the message is %s; want a string", show(text))
	}
}

func errorMessageLong(c *ctx) {
	if m := c.fail.get("message").str(); len(m) > 300 || strings.Contains(m, "\n") {
		c.hitAt("/error/message", "the message has %d bytes", len(m))
	}
}

func responseToNotification(c *ctx) {
	x := c.x
	if c.s2c() && !x.guessed && x.notes > 0 && len(x.reqs) == 0 && c.rec.Status == 200 && c.req == nil {
		c.hitAt("", "a POST that held no request was answered with a response")
	}
}

func responseWrongDirection(c *ctx) {
	if c.c2s() && c.req == nil {
		c.hitAt("", "the client answers id %s, and the server had asked nothing", show(c.root.get("id")))
	}
}
