package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Progress, cancellation and subscriptions.
var noteRules = []Rule{
	{
		ID: "progress-unknown-token", Signal: Warn, Level: Must, on: onNotification, methods: []string{mcp.ProgressNote}, check: progressUnknown,
		Title: "Progress for a token that nobody offered",
		Help:  "The receiver cannot tell which call it is for and drops it.",
		Fix:   "Echo the progressToken of the request, in its type.",
		Spec:  "2026-07-28/basic/patterns/progress#behavior-requirements",
	},
	{
		ID: "progress-not-increasing", Signal: Warn, Level: Must, on: onNotification, methods: []string{mcp.ProgressNote}, check: progressNotIncreasing,
		Title: "progress did not increase",
		Help:  "The value rises with each notification; one that stands still looks like a hung call, one that falls like a mistake.",
		Fix:   "Count up, or send nothing while there is no progress.",
		Spec:  "2026-07-28/basic/patterns/progress#progress-flow",
	},
	{
		ID: "progress-after-response", Signal: Warn, Level: Must, on: onNotification, methods: []string{mcp.ProgressNote}, check: progressAfter,
		Title: "Progress came after the call was answered",
		Help:  "The token is over with the answer; the receiver may have given it to another call.",
		Fix:   "Stop reporting before the response is sent.",
		Spec:  "2026-07-28/basic/patterns/progress#behavior-requirements",
	},
	{
		ID: "cancel-late", Signal: Info, Level: Note, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelLate,
		Title: "A cancel came after the answer",
		Help:  "The two crossed on the way; it is ignored.",
		Fix:   "Nothing.",
		Spec:  "2026-07-28/basic/patterns/cancellation",
	},
	{
		ID: "sub-ack-missing", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, check: ackMissing,
		Title: "A notification came on a subscription before it was acknowledged",
		Help:  "The client does not know yet what the server agreed to send.",
		Fix:   "Send notifications/subscriptions/acknowledged first, for each subscription.",
		Spec:  "2026-07-28/basic/patterns/subscriptions#acknowledgment",
	},
	{
		ID: "sub-id-missing", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: []string{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged, mcp.ResourceUpdated, mcp.TasksNote, mcp.Acknowledged}, check: subIDMissing,
		Title: "A notification does not say which subscription it belongs to",
		Help:  "Clients with several subscriptions cannot tell them apart.",
		Fix:   "Send io.modelcontextprotocol/subscriptionId in _meta, the id of the listen request.",
		Spec:  "2026-07-28/basic/patterns/subscriptions#receiving-notifications",
	},
	{
		ID: "sub-list-changed-no-refetch", Signal: Info, Level: Note, on: onRequest, methods: []string{mcp.ToolsCall}, check: noRefetch,
		Title: "The client calls a tool without reading the list that has changed",
		Help:  "It works with old definitions; the call may not fit any more.",
		Fix:   "Read tools/list after the notification.",
		Spec:  "2026-07-28/server/tools#list-changed-notification",
	},
}

func progressUnknown(c *ctx) {
	v := c.params.get("progressToken")
	t := &c.cl.tokens
	if !v.ok() || c.progress() != nil || t.full || !c.e.log.whole() || !c.began() || c.cl.cut {
		return
	}
	hint := ""
	if p := t.get(c.s2c(), other(wire.ParseID(v.raw()))); p != nil {
		hint = "; " + about(p.method, p.tool) + " offered it in another type"
	}
	c.tool = ""
	c.hitAt("/params/progressToken", "no open request offered the token %s%s", show(v), hint)
}

// began reports whether all that the client session could have offered is in
// the log.
func (c *ctx) began() bool {
	return c.stdio() || c.cl.legacy || c.rev == R5 && c.x != nil && !c.x.guessed && len(c.x.reqs) > 0
}

func progressNotIncreasing(c *ctx) {
	p := c.progress()
	n, ok := c.params.get("progress").num()
	if p == nil || !p.any || !ok || n > p.last || p.answered || c.resumed() || p.stream != c.x {
		return
	}
	c.method, c.tool = p.method, p.tool
	c.hitAt("/params/progress", "progress of %s is %v after %v", about(p.method, p.tool), n, p.last)
}

func progressAfter(c *ctx) {
	p := c.progress()
	if p == nil || !p.answered || p.task || c.resumed() || p.answerOn != c.x {
		return
	}
	c.method, c.tool = p.method, p.tool
	c.hitAt("", "%s with id %s had been answered", about(p.method, p.tool), p.id)
}

func cancelLate(c *ctx) {
	v := c.params.get("requestId")
	if c.ev.Frame.Has(store.Unpaired) && v.ok() && c.cl.ids[dirIndex(c.c2s())].has(wire.ParseID(v.raw())) {
		c.hitAt("", "the request %s had been answered", show(v))
	}
}

func ackMissing(c *ctx) {
	if !c.s2c() || c.method == mcp.Acknowledged || c.method == mcp.CancelledNote {
		return
	}
	id := c.subscription()
	if l := c.cl.listens[id]; l != nil && !l.acked && !l.ended {
		c.hitAt("", "%s for the subscription %s, which is not acknowledged yet", c.method, id)
	}
}

// subIDMissing needs a server that serves this revision alone, or a stream
// that says so: older sessions on the same process have no subscription ids.
func subIDMissing(c *ctx) {
	if !c.s2c() || c.meta.get(mcp.MetaSubscription).ok() || c.cl.legacy || c.e.anyLegacy() || !c.e.log.whole() {
		return
	}
	c.hitAt("/params/_meta", "%s has no %s", c.method, mcp.MetaSubscription)
}

func noRefetch(c *ctx) {
	if c.c2s() && c.cl.toolsStale && c.e.reg.readers[c.req.reader] {
		c.hitAt("", "tools/list_changed came, and the list was not read since")
	}
}
