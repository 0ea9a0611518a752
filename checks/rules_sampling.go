package checks

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const samplingPage = "2026-07-28/client/sampling"

// Sampling and roots.
var samplingRules = []Rule{
	{
		ID: "sampling-shape", Signal: Invalid, Level: Must, on: onSample, check: samplingShape,
		Title: "A request for sampling lacks messages or maxTokens, or has an unknown role",
		Help:  "The client cannot turn it into a call of a model.",
		Fix:   "Send messages with role user or assistant, and maxTokens above 0.",
		Spec:  samplingPage + "#creating-messages",
	},
	{
		ID: "sampling-content-array-early", Signal: Invalid, Level: Must, Revisions: R1 | R2 | R3, on: onSample | onSampled, check: samplingEarly,
		Title: "Sampling has an array of content or tools in a revision without them",
		Help:  "Before 2025-11-25 a message has one block of text, image or audio.",
		Fix:   "Send one block a message.",
		Spec:  "2025-11-25/changelog",
	},
	{
		ID: "sampling-block-type", Signal: Invalid, Level: Must, Revisions: R4Up, on: onSample, check: samplingBlock,
		Title: "A message of sampling has a block that may not stand there",
		Help:  "text, image, audio, tool_use and tool_result may; resources may not.",
		Fix:   "Send the text of the resource.",
		Spec:  "2026-07-28/schema#samplingmessagecontentblock",
	},
	{
		ID: "sampling-tool-result-mixed", Signal: Warn, Level: Must, Revisions: R4Up, on: onSample, check: samplingMixed,
		Title: "A message of sampling mixes tool results with other content",
		Help:  "APIs of model providers give tool results a message of their own.",
		Fix:   "Put the rest into a message behind it.",
		Spec:  samplingPage + "#tool-result-messages",
	},
	{
		ID: "sampling-tool-balance", Signal: Warn, Level: Must, Revisions: R4Up, on: onSample, check: samplingBalance,
		Title: "A call of a tool in sampling is not followed by its result",
		Help:  "The message behind must hold a result for each tool_use; model providers refuse the request else.",
		Fix:   "Send all results in the next message of the user.",
		Spec:  samplingPage + "#tool-use-and-result-balance",
	},
	{
		ID: "sampling-tool-result-orphan", Signal: Warn, Level: Must, Revisions: R4Up, on: onSample, check: samplingOrphan,
		Title: "A tool result in sampling belongs to no call",
		Help:  "toolUseId names no tool_use before it.",
		Fix:   "Send the message with the tool_use too.",
		Spec:  samplingPage + "#tool-use-and-result-balance",
	},
	{
		ID: "sampling-toolchoice", Signal: Warn, Level: Should, Revisions: R4Up, on: onSample, check: samplingChoice,
		Title: "toolChoice has an unknown mode, or there are no tools to choose from",
		Help:  "The mode is auto, required or none.",
		Fix:   "Correct the mode, or send tools.",
		Spec:  samplingPage + "#tool-choice-modes",
	},
	{
		ID: "sampling-toolchoice-ignored", Signal: Warn, Level: Should, Revisions: R4Up, on: onSampled, check: samplingChoiceIgnored,
		Title: "The result of sampling does not keep to toolChoice",
		Help:  "none forbids tools, required demands one.",
		Fix:   "Hand toolChoice to the model.",
		Spec:  samplingPage + "#tool-choice-modes",
	},
	{
		ID: "sampling-stopreason", Signal: Warn, Level: Should, Revisions: R4Up, on: onSampled, check: samplingStop,
		Title: "stopReason says toolUse and there is none",
		Help:  "The server waits to run a tool that nobody named.",
		Fix:   "Send the tool_use, or another stopReason.",
		Spec:  samplingPage + "#result-fields",
	},
	{
		ID: "sampling-result-shape", Signal: Invalid, Level: Must, Revisions: Legacy, on: onSampled, check: samplingResult,
		Title: "The result of sampling lacks role, content or model",
		Help:  "All three are required.",
		Fix:   "Send them.",
		Spec:  "2025-11-25/schema#createmessageresult",
	},
	{
		ID: "sampling-priorities", Signal: Invalid, Level: Must, on: onSample, check: samplingPriorities,
		Title: "A priority of modelPreferences is not between 0 and 1",
		Help:  "Clients weigh cost, speed and intelligence by it.",
		Fix:   "Use a number from 0 to 1.",
		Spec:  samplingPage + "#capability-priorities",
	},
	{
		ID: "sampling-include-context", Signal: Deprecated, Level: Note, Revisions: R4Up, on: onSample, check: samplingContext,
		Title: "includeContext is used, which is deprecated",
		Help:  "thisServer and allServers will be removed.",
		Fix:   "Leave it out, and send what the model needs.",
		Spec:  samplingPage + "#context-inclusion",
	},
	{
		ID: "sampling-standalone", Signal: Info, Level: Note, Revisions: R4, on: onRequest, methods: inputMethods, check: samplingAlone,
		Title: "The server asks the client while no request of the client is open",
		Help:  "Since 2026-07-28 questions belong to a request; this one could not be asked there.",
		Fix:   "Ask while a request is being worked on.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "roots-uri", Signal: Warn, Level: Must, on: onRoots, check: rootsURI,
		Title: "A root is not a file:// URI",
		Help:  "Roots are folders; servers ignore others.",
		Fix:   "Send file:// and the path.",
		Spec:  "2026-07-28/client/roots#root",
	},
	{
		ID: "roots-shape", Signal: Invalid, Level: Must, Revisions: Legacy, on: onRoots, check: rootsShape,
		Title: "The list of roots is malformed",
		Help:  "roots is an array of objects with a uri.",
		Fix:   "Correct the list.",
		Spec:  "2025-11-25/client/roots#listing-roots",
	},
	{
		ID: "roots-notify-after-change", Signal: Warn, Level: Should, Revisions: Legacy, on: onEnd, check: rootsSilent,
		Title: "The roots changed and the client did not say so",
		Help:  "It declared roots.listChanged, so servers do not ask again by themselves.",
		Fix:   "Send notifications/roots/list_changed.",
		Spec:  "2025-11-25/client/roots#root-list-changes",
	},
}

// blocks gives the content blocks of a message of sampling: one or an array.
func blocks(m val) []val {
	v := m.get("content")
	if v.isObject() {
		return []val{v}
	}
	var out []val
	for _, b := range v.each() {
		out = append(out, b)
	}
	return out
}

func ofType(list []val, typ string) []val {
	var out []val
	for _, b := range list {
		if b.get("type").is(typ) {
			out = append(out, b)
		}
	}
	return out
}

func samplingShape(c *ctx) {
	m, n := c.item.get("messages"), c.item.get("maxTokens")
	if !m.isArray() {
		c.hit(c.item, "messages is %s; want an array", show(m))
	}
	if v, ok := n.num(); !ok || !n.isInt() || v < 1 {
		c.hit(c.item, "maxTokens is %s; want a whole number above 0", show(n))
	}
	for _, v := range m.each() {
		if r := v.get("role"); !r.is("user") && !r.is("assistant") {
			c.hit(v, "the role is %s", show(r))
		}
	}
}

func samplingEarly(c *ctx) {
	early := func(m val) {
		if v := m.get("content"); v.isArray() || v.get("type").is("tool_use") || v.get("type").is("tool_result") {
			c.hit(v, "the content is %s", show(v))
		}
	}
	if c.q != nil {
		early(c.item)
		return
	}
	for _, m := range c.item.get("messages").each() {
		early(m)
	}
}

var samplingBlocks = []string{"text", "image", "audio", "tool_use", "tool_result"}

func samplingBlock(c *ctx) {
	for _, m := range c.item.get("messages").each() {
		for _, b := range blocks(m) {
			if t := b.get("type"); !slices.Contains(samplingBlocks, t.str()) && !marked(t) {
				c.hit(b, "the type is %s", show(t))
			}
		}
	}
}

func samplingMixed(c *ctx) {
	for _, m := range c.item.get("messages").each() {
		all := blocks(m)
		if n := len(ofType(all, "tool_result")); n > 0 && n < len(all) {
			c.hit(m, "%d of %d blocks are tool results", n, len(all))
		}
	}
}

// sameCalls reports whether each call has its result.
func sameCalls(uses, results []val) bool {
	for _, u := range uses {
		if !slices.ContainsFunc(results, func(r val) bool { return r.get("toolUseId").str() == u.get("id").str() }) {
			return false
		}
	}
	return true
}

func samplingBalance(c *ctx) {
	var open val
	var uses []val
	for _, m := range c.item.get("messages").each() {
		if open.ok() && (!m.get("role").is("user") || !sameCalls(uses, ofType(blocks(m), "tool_result"))) && !marked(c.item) {
			c.hit(open, "the next message has not the results of all tools that this one calls")
		}
		open, uses = val{}, nil
		if u := ofType(blocks(m), "tool_use"); m.get("role").is("assistant") && len(u) > 0 {
			open, uses = m, u
		}
	}
}

func samplingOrphan(c *ctx) {
	var uses []val
	for _, m := range c.item.get("messages").each() {
		for _, r := range ofType(blocks(m), "tool_result") {
			id := r.get("toolUseId")
			if !marked(c.item) && !slices.ContainsFunc(uses, func(u val) bool { return u.get("id").str() == id.str() }) {
				c.hit(r, "no tool_use before has the id %s", show(id))
			}
		}
		uses = append(uses, ofType(blocks(m), "tool_use")...)
	}
}

func samplingChoice(c *ctx) {
	v := c.item.get("toolChoice")
	m := v.get("mode")
	switch {
	case !v.ok():
	case m.ok() && !m.is("auto") && !m.is("required") && !m.is("none"):
		c.hit(m, "the mode is %s", show(m))
	case !c.item.get("tools").ok() && !m.is("none"):
		c.hit(v, "toolChoice without tools")
	}
}

func samplingChoiceIgnored(c *ctx) {
	uses := len(ofType(blocks(c.item), "tool_use"))
	switch {
	case c.q.choice == "none" && uses > 0:
		c.hit(c.item, "toolChoice is none, and a tool is called")
	case c.q.choice == "required" && uses == 0:
		c.hit(c.item, "toolChoice is required, and no tool is called")
	}
}

func samplingStop(c *ctx) {
	if v := c.item.get("stopReason"); v.is("toolUse") && len(ofType(blocks(c.item), "tool_use")) == 0 {
		c.hit(v, "no tool is called")
	}
}

func samplingResult(c *ctx) {
	for _, k := range [...]string{"role", "content", "model"} {
		if !c.item.get(k).ok() && !c.item.get("task").ok() {
			c.hit(c.item, "%s is missing", k)
		}
	}
}

func samplingPriorities(c *ctx) {
	p := c.item.get("modelPreferences")
	for _, k := range [...]string{"costPriority", "speedPriority", "intelligencePriority"} {
		if v := p.get(k); v.ok() {
			if n, ok := v.num(); !ok || n < 0 || n > 1 {
				c.hit(v, "%s is %s", k, show(v))
			}
		}
	}
}

func samplingContext(c *ctx) {
	if v := c.item.get("includeContext"); v.is("thisServer") || v.is("allServers") {
		c.hit(v, "includeContext is %s", v.str())
	}
}

func samplingAlone(c *ctx) {
	if !c.s2c() || !c.e.log.whole() {
		return
	}
	busy := false
	c.e.search(func(r *request) bool {
		busy = busy || r.client
		return !busy
	})
	if !busy && c.e.scans <= maxScans {
		c.hitAt("", "%s while the client waits for nothing", c.method)
	}
}

func rootsURI(c *ctx) {
	for _, r := range c.item.get("roots").each() {
		if v := r.get("uri"); v.isString() && !marked(v) && !startsFile(v.str()) {
			c.hit(v, "the uri is %s", show(v))
		}
	}
}

func startsFile(s string) bool { return len(s) >= 7 && (s[:7] == "file://" || s[:7] == "FILE://") }

func rootsShape(c *ctx) {
	list := c.item.get("roots")
	if !list.isArray() {
		c.hit(c.item, "roots is %s; want an array", show(list))
		return
	}
	for _, r := range list.each() {
		if !r.get("uri").isString() {
			c.hit(r, "the uri is %s", show(r.get("uri")))
		}
	}
}

func rootsSilent(c *ctx) {
	for _, cl := range c.e.clients {
		if cl.roots.silent.seq > 0 && cl.client.has("roots.listChanged") && !c.e.log.lossy {
			c.hitPos(cl.roots.silent, "", "the list differs from the one before, and no %s came", mcp.RootsChanged)
		}
	}
}
