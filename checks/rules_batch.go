package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Batches: arrays of messages, which only 2025-03-26 has.
var batchRules = []Rule{
	{
		ID: "batch-undefined", Signal: Warn, Level: Should, Revisions: R1, on: onJSON, check: batchUndefined,
		Title: "A batch in a revision that says nothing about batches",
		Help:  "2024-11-05 does not mention them, so the other side may not read them.",
		Fix:   "Send one message at a time.",
		Spec:  "2024-11-05/basic/messages",
	},
	{
		ID: "batch-not-allowed", Signal: Invalid, Level: Must, Revisions: R3Up, on: onJSON, check: batchNotAllowed,
		Title: "A batch in a revision without batches",
		Help:  "They were removed in 2025-06-18; the other side refuses the array or drops part of it.",
		Fix:   "Send each message by itself.",
		Spec:  "2025-06-18/changelog",
	},
	{
		ID: "batch-empty", Signal: Invalid, Level: Must, Revisions: R2, on: onJSON, check: batchEmpty,
		Title: "An empty batch",
		Help:  "An array without messages is not legal JSON-RPC.",
		Fix:   "Send nothing.",
		Spec:  "https://www.jsonrpc.org/specification#batch",
	},
	{
		ID: "batch-contains-initialize", Signal: Warn, Level: Must, Revisions: R2, on: onResult, methods: []string{mcp.Initialize}, check: batchInitialize,
		Title: "initialize was sent in a batch",
		Help:  "What may follow is not known before it is answered.",
		Fix:   "Send initialize by itself.",
		Spec:  "2025-03-26/basic/lifecycle#initialization",
	},
	{
		ID: "batch-mixed", Signal: Warn, Level: Must, Revisions: R2, Transports: OnHTTP, on: onJSON, check: batchMixed,
		Title: "A batch of a POST mixes responses with requests",
		Help:  "A POST holds either requests and notifications, or responses.",
		Fix:   "Send two POSTs.",
		Spec:  "2025-03-26/basic/transports#sending-messages-to-the-server",
	},
	{
		ID: "batch-response-incomplete", Signal: Info, Level: Note, Revisions: R2, on: onEnd, check: batchIncomplete,
		Title: "Requests of a batch have no answer",
		Help:  "Their answers may come in several pieces, but they did not.",
		Fix:   "See the finding on the unanswered request.",
		Spec:  "2025-03-26/basic/transports#sending-messages-to-the-server",
	},
}

// batchBegins reports whether the frame begins a batch: an array that is kept
// whole, or the first element of one.
func (c *ctx) batchBegins() bool {
	if c.root.isArray() {
		return c.stdio() || c.rec.Status < 400
	}
	if !c.rec.Batch {
		return false
	}
	last := &c.e.batch
	return !(last.on && last.dir == c.rec.Direction && last.ts == c.ev.Frame.TS && last.x == c.rec.Exchange)
}

func batchUndefined(c *ctx) {
	if c.batchBegins() {
		c.hitBatch("an array of messages; 2024-11-05 does not define it")
	}
}

func batchNotAllowed(c *ctx) {
	if c.batchBegins() {
		c.hitBatch("an array of messages; batches were removed in 2025-06-18")
	}
}

// hitBatch reports on the array, whose subject is no method.
func (c *ctx) hitBatch(text string) {
	method, tool := c.method, c.tool
	c.method, c.tool = "", ""
	c.hitAt("", "%s", text)
	c.method, c.tool = method, tool
}

func batchEmpty(c *ctx) {
	if c.root.isArray() && c.root.len() == 0 {
		c.hitAt("", "an array without messages")
	}
}

func batchInitialize(c *ctx) {
	if c.req != nil && c.req.batch {
		c.hitAt("", "initialize (#%d) was one of a batch", c.req.seq)
	}
}

func batchMixed(c *ctx) {
	x := c.x
	if !c.c2s() || !c.rec.Batch || x.guessed {
		return
	}
	answer := c.isAnswer()
	if answer && (x.calls || len(x.reqs) > 0) || !answer && c.ev.Msg.Kind != wire.Other && x.answers {
		c.hitBatch("requests and responses in the batch of one POST")
	}
}

func batchIncomplete(c *ctx) {
	for _, r := range c.e.open {
		if r.batch && r.rev == R2 && r.closed == 0 && !r.cancelled {
			c.hitPos(r.pos(), "", "%s was asked in a batch and has no answer", about(r.method, r.tool))
		}
	}
}
