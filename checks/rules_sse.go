package checks

import (
	"net/http"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Event streams (basic/transports; HTML, server-sent events). Comments are not
// recorded, so nothing is said on them.
var sseRules = []Rule{
	{
		ID: "sse-data-not-json", Signal: Invalid, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onText, check: sseText,
		Title: "The data of an event is not JSON",
		Help:  "Clients parse it as a message and fail.",
		Fix:   "Send one JSON-RPC message as data; keep-alives are comments, lines that begin with a colon.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
	{
		ID: "sse-data-not-message", Signal: Invalid, Level: Must, Revisions: R3Up, Transports: OnHTTP, on: onJSON, check: sseNotMessage,
		Title: "The data of an event is JSON and no message",
		Help:  "Clients drop it, or fail.",
		Fix:   "Send one JSON-RPC object as data.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
	{
		ID: "sse-event-name", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onEvent, check: sseName,
		Title: "An event has a name that carries no messages",
		Help:  "Clients read events named message, or without name; all others pass unseen.",
		Fix:   "Leave event out. For keep-alives send comments.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
	{
		ID: "sse-event-id-modern", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onEvent, check: sseIDModern,
		Title: "An event of 2026-07-28 has id or retry",
		Help:  "Streams cannot be resumed any more, so they serve nothing.",
		Fix:   "Leave them out.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "sse-event-id-duplicate", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onEvent, check: sseDuplicateID,
		Title: "The id of an event was used before in the session",
		Help:  "A client that resumes from it gets events of the wrong place.",
		Fix:   "Make ids unique over all streams of a session.",
		Spec:  "2025-11-25/basic/transports#resumability-and-redelivery",
	},
	{
		ID: "sse-replay-other-stream", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onEvent, check: sseReplayOther,
		Title: "A resumed stream brings events of another stream",
		Help:  "The client gets messages twice, or of calls that it does not wait for there.",
		Fix:   "Replay what the stream of the Last-Event-ID had to carry.",
		Spec:  "2025-11-25/basic/transports#resumability-and-redelivery",
	},
	{
		ID: "sse-broadcast", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onResponse | onRequest, check: sseBroadcast,
		Title: "The same message was sent on two streams",
		Help:  "The client handles it twice.",
		Fix:   "Send each message on one stream.",
		Spec:  "2025-11-25/basic/transports#multiple-connections",
	},
	{
		ID: "sse-response-on-get", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onResponse, check: sseResponseOnGet,
		Title: "A response came on a GET stream",
		Help:  "Responses come on the stream of their POST; on a GET stream only when it resumes one.",
		Fix:   "Answer on the POST.",
		Spec:  "2025-11-25/basic/transports#listening-for-messages-from-the-server",
	},
	{
		ID: "sse-request-on-get-nested", Signal: Info, Level: Note, Revisions: R4, Transports: OnHTTP, on: onRequest, check: sseNested,
		Title: "The server asks on a GET stream while no call of the client is open",
		Help:  "2025-11-25 allows it; later revisions tie each question to a call.",
		Fix:   "Ask within the call that needs the answer.",
		Spec:  "2025-11-25/basic/transports#listening-for-messages-from-the-server",
	},
	{
		ID: "sse-unrelated-message", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onNotification, check: sseUnrelated,
		Title: "A message on the stream of a call belongs elsewhere",
		Help:  "The stream of a POST carries what relates to its request; changes go to subscriptions/listen.",
		Fix:   "Send it on the stream that it belongs to.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
	{
		ID: "sse-unrelated-legacy", Signal: Info, Level: Note, Revisions: Sessions, Transports: OnHTTP, on: onNotification, check: sseUnrelated,
		Title: "A message on the stream of a call does not relate to it",
		Help:  "It should come on a GET stream.",
		Fix:   "Send it there, when the client has opened one.",
		Spec:  "2025-11-25/basic/transports#sending-messages-to-the-server",
	},
	{
		ID: "sse-after-response", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onMessage, check: sseAfter,
		Title: "A message came on a stream after its response",
		Help:  "The response ends the stream; clients stop reading there.",
		Fix:   "Send everything before the response, and close.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
	{
		ID: "sse-no-response", Signal: Warn, Level: Should, Revisions: R2 | R3 | R5, Transports: OnHTTP, on: onStreamEnd, check: sseNoResponse,
		Title: "The server ended a stream before the response",
		Help:  "The call is lost; the client cannot ask for the rest.",
		Fix:   "Send the response first. A time limit of a proxy looks the same.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
	{
		ID: "sse-close-no-retry", Signal: Info, Level: Note, Revisions: R4, Transports: OnHTTP, on: onStreamEnd, check: sseNoRetry,
		Title: "The server ended a stream early and did not say when to come back",
		Help:  "Clients choose a delay of their own.",
		Fix:   "Send retry before closing.",
		Spec:  "2025-11-25/basic/transports#sending-messages-to-the-server",
	},
	{
		ID: "sse-no-accel-buffering", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onHTTPResponse, check: sseBuffering,
		Title: "An event stream does not switch off buffering",
		Help:  "Reverse proxies may hold events back until the stream ends.",
		Fix:   "Send X-Accel-Buffering: no.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
}

// eventName is the name of the event of the frame; a message event is "".
func (c *ctx) eventName() string {
	if s := c.facts().SSE; s != nil && s.Event != "message" {
		return s.Event
	}
	return ""
}

func sseText(c *ctx) {
	if c.isStream() && c.rec.Text != "" && c.eventName() != "endpoint" && c.rec.Status < 400 {
		c.hitAt("", "the data is %s", quote(c.rec.Text))
	}
}

func sseNotMessage(c *ctx) {
	if c.isStream() && c.eventName() == "" && !c.root.isObject() && !c.root.isArray() {
		c.hitAt("", "the data is %s", show(c.root))
	}
}

func sseName(c *ctx) {
	if n := c.eventName(); n != "" && n != "endpoint" {
		c.hitAt("", "event: %s", quote(n))
	}
}

func sseIDModern(c *ctx) {
	if s := c.facts().SSE; s.HasID || s.HasRetry {
		c.once("an event has id or retry")
	}
}

// eventKey identifies an event within its session.
func (c *ctx) eventKey() (uint64, bool) {
	s := c.facts().SSE
	if !s.HasID || s.ID == "" || c.x.guessed {
		return 0, false
	}
	return hashText(s.ID) ^ uint64(c.ev.Client+1)*0x9E3779B97F4A7C15, true
}

func sseDuplicateID(c *ctx) {
	k, ok := c.eventKey()
	if _, was := c.e.web.events[k]; ok && was && !c.x.resumed {
		c.hitAt("", "the id %s was used before", quote(c.facts().SSE.ID))
	}
}

func sseReplayOther(c *ctx) {
	k, ok := c.eventKey()
	was, seen := c.e.web.events[k]
	if ok && seen && c.x.resumed && c.x.resumeOf != 0 && was != c.x.resumeOf && was != c.x.num {
		c.hitAt("", "the event %s had been sent on another stream than the one that is resumed", quote(c.facts().SSE.ID))
	}
}

// messageKey identifies a message with an id within its session.
func (c *ctx) messageKey() uint64 {
	return hashText(c.root.raw()) ^ uint64(c.ev.Client+1)*0x9E3779B97F4A7C15
}

func sseBroadcast(c *ctx) {
	if !c.isStream() || c.resumed() || c.x.guessed || c.ev.Msg.ID == "" {
		return
	}
	if was, ok := c.e.web.sent[c.messageKey()]; ok && was != c.x.num {
		c.hitAt("", "it had been sent on another stream before")
	}
}

func sseResponseOnGet(c *ctx) {
	if c.s2c() && c.facts().SSE != nil && c.x.verb == http.MethodGet && !c.x.guessed && !c.resumed() {
		c.hitAt("", "the response with id %s came on a GET stream without Last-Event-ID", show(c.root.get("id")))
	}
}

func sseNested(c *ctx) {
	if !c.s2c() || c.x.verb != http.MethodGet || c.x.guessed || c.method == mcp.Ping {
		return
	}
	for _, r := range c.e.open {
		if r.client && r.cl == c.cl && r.closed == 0 {
			return
		}
	}
	c.hitAt("", "%s is asked, and no call of the client is open", c.method)
}

// sseUnrelated judges only streams that were opened by one request.
func sseUnrelated(c *ctx) {
	x := c.x
	if !c.s2c() || !c.isStream() || x.guessed || x.verb != http.MethodPost || len(x.reqs) != 1 || x.reqs[0].method == mcp.Listen {
		return
	}
	switch c.method {
	case mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged, mcp.ResourceUpdated, mcp.TasksNote:
		c.hitAt("", "%s on the stream of %s", c.method, about(x.reqs[0].method, x.reqs[0].tool))
	case mcp.ProgressNote:
		if p := c.progress(); p != nil && p.exchange != x {
			c.hitAt("", "progress of %s on the stream of %s", about(p.method, p.tool), about(x.reqs[0].method, x.reqs[0].tool))
		}
	}
}

func sseAfter(c *ctx) {
	x := c.x
	if c.s2c() && c.isStream() && !x.guessed && x.verb == http.MethodPost && len(x.reqs) > 0 && x.done >= len(x.reqs) && c.ev.Msg.Kind != wire.Other {
		c.hitAt("", "%s after the response of %s", c.ev.Msg.Kind, about(x.reqs[0].method, x.reqs[0].tool))
	}
}

// unsettled is a request of the exchange that still waits, nil for none.
func (c *ctx) unsettled() *request {
	for _, r := range c.x.reqs {
		if c.e.open[r.op] == r && !r.cancelled && r.closed == 0 {
			return r
		}
	}
	return nil
}

func sseNoResponse(c *ctx) {
	r := c.unsettled()
	if c.facts().End == "server" && c.x.verb == http.MethodPost && !c.x.guessed && r != nil && c.x.rev.within(R2|R3|R5) && r.method != mcp.Listen {
		c.method, c.tool = r.method, r.tool
		c.hitAt("", "the stream of %s with id %s ended without response", about(r.method, r.tool), r.id)
	}
}

func sseNoRetry(c *ctx) {
	if c.facts().End == "server" && c.x.verb == http.MethodPost && !c.x.guessed && c.x.ids && c.x.retry == 0 && c.unsettled() != nil {
		c.once("the stream had event ids and no retry")
	}
}

func sseBuffering(c *ctx) {
	f := c.facts()
	if c.rec.Status == 200 && media(f.ContentType) == "text/event-stream" && c.ev.Frame.Has(store.StreamHead) && f.AccelBuffering != "no" {
		c.once("there is no X-Accel-Buffering: no")
	}
}
