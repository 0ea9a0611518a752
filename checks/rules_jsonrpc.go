package checks

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// The shape of JSON-RPC messages and of requests (basic, Messages).
var jsonrpcRules = []Rule{
	{
		ID: "message-shape", Signal: Invalid, Level: Must, on: onShape, check: messageShape,
		Title: "A message does not have the shape that its revision gives it",
		Help:  "A member that is required is missing, or one has another type. Where a rule says more of the same message, this one says nothing.",
		Fix:   "Correct the member that is named.",
		Spec:  "2026-07-28/schema",
	},
	{
		ID: "jsonrpc-version", Signal: Invalid, Level: Must, on: onMessage, check: jsonrpcVersion,
		Title: `The member jsonrpc is not the string "2.0"`,
		Help:  "Without it the object is no JSON-RPC 2.0 message, and strict readers refuse it.",
		Fix:   `Send "jsonrpc":"2.0" on each message.`,
		Spec:  "2026-07-28/basic/index#messages",
	},
	{
		ID: "message-unclassifiable", Signal: Invalid, Level: Must, on: onMessage, check: messageUnclassifiable,
		Title: "An object is neither request, notification nor response",
		Help:  "It has no method, no result and no error, so nobody can tell what it is for.",
		Fix:   "Check the spelling of the members; their case counts.",
		Spec:  "2026-07-28/basic/index#messages",
	},
	{
		ID: "message-mixed", Signal: Invalid, Level: Must, on: onMessage, check: messageMixed,
		Title: "A message is request and response at once",
		Help:  "It has a method and a result or error; each reader takes it for something else.",
		Fix:   "Send a response without method.",
		Spec:  "2026-07-28/basic/index#messages",
	},
	{
		ID: "request-id-null", Signal: Invalid, Level: Must, on: onRequest, check: requestIDNull,
		Title: "A request has the id null",
		Help:  "No answer could ever be told to belong to it. Some libraries take it for a notification and never answer.",
		Fix:   "Give each request an id that is a string or a whole number.",
		Spec:  "2026-07-28/basic/index#requests",
	},
	{
		ID: "request-id-type", Signal: Invalid, Level: Must, on: onRequest, check: requestIDType,
		Title: "The id of a request is neither string nor whole number",
		Help:  "Other types are refused, or come back in another form.",
		Fix:   "Use a string or a whole number.",
		Spec:  "2026-07-28/basic/index#requests",
	},
	{
		ID: "request-id-empty", Signal: Info, Level: Note, on: onRequest, check: requestIDEmpty,
		Title: "The id of a request is the empty string",
		Help:  "That is legal, and code that tests ids for truth takes it for none.",
		Fix:   "Use a visible id.",
		Spec:  "2026-07-28/basic/index#requests",
	},
	{
		ID: "request-id-reused-in-flight", Signal: Warn, Level: Must, on: onRequest, check: idReusedInFlight,
		Title: "A request uses the id of one that is still open",
		Help:  "Which answer belongs to which call cannot be told any more: results go to the wrong caller.",
		Fix:   "Count ids up, one counter for each connection.",
		Spec:  "2026-07-28/basic/index#requests",
	},
	{
		ID: "request-id-reused-session", Signal: Warn, Level: Must, Revisions: Legacy, on: onRequest, check: idReusedSession,
		Title: "A request uses an id again in the same session",
		Help:  "Up to 2025-11-25 an id is used once in a session. Peers that remember ids drop the second request.",
		Fix:   "Count ids up.",
		Spec:  "2025-11-25/basic/index#requests",
	},
	{
		ID: "method-not-string", Signal: Invalid, Level: Must, on: onMessage, check: methodNotString,
		Title: "The method is not a string, or an empty one",
		Help:  "The message cannot be dispatched.",
		Fix:   "Send the name of the method as a string.",
		Spec:  "2026-07-28/basic/index#requests",
	},
	{
		ID: "method-rpc-prefix", Signal: Warn, Level: Should, on: onRequest | onNotification, check: methodRPCPrefix,
		Title: "A method begins with the prefix rpc",
		Help:  "JSON-RPC keeps these names for itself.",
		Fix:   "Choose another prefix.",
		Spec:  "https://www.jsonrpc.org/specification#request_object",
	},
	{
		ID: "params-not-object", Signal: Invalid, Level: Must, on: onRequest | onNotification, check: paramsNotObject,
		Title: "params is not an object",
		Help:  "JSON-RPC would allow an array, MCP does not: parameters are named.",
		Fix:   "Send an object, or leave params out.",
		Spec:  "2026-07-28/basic/index#requests",
	},
	{
		ID: "notification-has-id", Signal: Invalid, Level: Must, on: onRequest, check: notificationHasID,
		Title: "A notification has an id",
		Help:  "With an id it is a request, so the sender waits for an answer that will not come.",
		Fix:   "Send notifications without id.",
		Spec:  "2026-07-28/basic/index#notifications",
	},
	{
		ID: "request-without-id", Signal: Invalid, Level: Must, on: onNotification, check: requestWithoutID,
		Title: "A request has no id",
		Help:  "It is read as a notification, and nobody answers it.",
		Fix:   "Give the request an id.",
		Spec:  "2026-07-28/basic/index#requests",
	},
	{
		ID: "server-request-in-modern", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: serverRequestInModern,
		Title: "The server sent a request",
		Help:  "Since 2026-07-28 only clients ask. A server that needs input answers with input_required and is asked again.",
		Fix:   "Put the question into inputRequests of the result.",
		Spec:  "2026-07-28/basic/patterns/index",
	},
	{
		ID: "wrong-direction-method", Signal: Warn, Level: Must, on: onCall, check: wrongDirection,
		Title: "A method was sent by the side that may not send it",
		Help:  "The receiver does not implement it and answers with an error, or nothing.",
		Fix:   "Check which side the method belongs to.",
		Spec:  "2026-07-28/schema",
	},
	{
		ID: "unknown-method", Signal: Info, Level: Note, on: onCall, check: unknownMethod,
		Title: "A method that the specification does not know",
		Help:  "Vendors and extensions may have their own methods; a typing error looks the same.",
		Fix:   "Compare the name with the specification when the call fails.",
		Spec:  "2026-07-28/schema",
	},
	{
		ID: "removed-method", Signal: Warn, Level: Must, Revisions: R5, on: onCall, check: removedMethod,
		Title: "A method that this revision has removed",
		Help:  "It carries the metadata of 2026-07-28, which has no such method any more.",
		Fix:   "Use what replaced it: metadata on each request for the handshake, subscriptions/listen for subscribe, logLevel in _meta for setLevel.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "method-not-in-revision", Signal: Warn, Level: Should, Revisions: Legacy, on: onCall, check: methodNotInRevision,
		Title: "A method that is newer than the negotiated revision",
		Help:  "The other side agreed to a revision without it and need not know it.",
		Fix:   "Negotiate a newer revision, or do not use the method.",
		Spec:  "2025-11-25/basic/lifecycle#operation",
	},
}

func jsonrpcVersion(c *ctx) {
	if v := c.root.get("jsonrpc"); !v.is("2.0") {
		c.hitAt("/jsonrpc", `jsonrpc is %s; want "2.0"`, show(v))
	}
}

func messageUnclassifiable(c *ctx) {
	if c.ev.Msg.Kind == wire.Other && !c.root.get("id").ok() && !c.root.get("method").ok() {
		c.hitAt("", "no method, result or error: %s", show(c.root))
	}
}

func messageMixed(c *ctx) {
	if c.root.get("method").ok() && (c.result.ok() || c.fail.ok()) {
		c.hitAt("", "method stands beside a result or an error")
	}
}

// isNote reports whether the method is one of a notification by its name.
func (c *ctx) isNote() bool { return strings.HasPrefix(c.method, "notifications/") }

func requestIDNull(c *ctx) {
	if c.ev.Msg.ID == "null" && !c.isNote() {
		c.hitAt("/id", "the id of %s is null", c.about())
	}
}

func requestIDType(c *ctx) {
	v := c.root.get("id")
	if c.isNote() || v.isString() || v.isInt() || v.isNull() {
		return
	}
	c.hit(v, "the id is %s; want a string or a whole number", show(v))
}

func requestIDEmpty(c *ctx) {
	if v := c.root.get("id"); v.is("") {
		c.hit(v, "the id is the empty string")
	}
}

func idReusedInFlight(c *ctx) {
	if c.ev.Twin == nil || c.isNote() {
		return
	}
	var first *request
	for r := range c.e.search {
		if r.id == c.req.id && r.client == c.req.client && r.cl == c.cl && (first == nil || r.seq > first.seq) {
			first = r
		}
	}
	if first == nil || first.closed > 0 || first.cancelled || first.x != nil && first.x.status >= 300 {
		return // ended by HTTP, or given up: whether it is still open cannot be told
	}
	if c.http() && c.rec.MCPSession == "" && c.rec.ConnID == "" {
		return // two clients may share the endpoint
	}
	c.hitAt("/id", "id %s is in flight for %s (#%d) and is used again for %s", show(c.root.get("id")), about(first.method, first.tool), first.seq, c.about())
}

func idReusedSession(c *ctx) {
	if c.ev.Twin != nil || c.isNote() || c.method == mcp.Initialize || c.http() && c.rec.MCPSession == "" {
		return
	}
	if c.cl.ids[dirIndex(c.c2s())].has(c.req.id) {
		c.hitAt("/id", "id %s was already used and answered in this session", show(c.root.get("id")))
	}
}

func methodNotString(c *ctx) {
	if v := c.root.get("method"); v.ok() && (!v.isString() || v.is("")) {
		c.hit(v, "the method is %s", show(v))
	}
}

func methodRPCPrefix(c *ctx) {
	if strings.HasPrefix(c.method, "rpc.") {
		c.hitAt("/method", "the method %s is in the name space of JSON-RPC", quote(c.method))
	}
}

func paramsNotObject(c *ctx) {
	if c.params.ok() && !c.params.isObject() {
		c.hit(c.params, "params is %s", show(c.params))
	}
}

func notificationHasID(c *ctx) {
	if c.isNote() {
		c.hitAt("/id", "%s has the id %s", c.method, show(c.root.get("id")))
	}
}

func requestWithoutID(c *ctx) {
	if m := c.known(); m != nil && !m.Notification {
		c.hitAt("", "%s is a request and has no id", c.method)
	}
}

// known is the entry of the method in the inventory, nil when it has none.
func (c *ctx) known() *mcp.Method {
	if c.mi == 0 {
		return nil
	}
	return &mcp.Methods()[c.mi-1]
}

func serverRequestInModern(c *ctx) {
	if c.s2c() && !c.isNote() {
		c.hitAt("", "the server asks %s with id %s", c.about(), show(c.root.get("id")))
	}
}

func wrongDirection(c *ctx) {
	m := c.known()
	if m == nil {
		return
	}
	side, who := mcp.ByServer, "server"
	if c.c2s() {
		side, who = mcp.ByClient, "client"
	}
	if m.Sides&side == 0 {
		c.hitAt("/method", "the %s sent %s, which only the other side may send", who, c.method)
	}
}

func unknownMethod(c *ctx) {
	if c.mi == 0 && c.method != "" && !strings.HasPrefix(c.method, "rpc.") {
		c.hitAt("/method", "%s is not in the specification", quote(c.method))
	}
}

func removedMethod(c *ctx) {
	m := c.known()
	if m == nil || m.To == "" || m.To >= mcp.R5 || !c.c2s() || !c.meta.get(mcp.MetaVersion).ok() {
		return
	}
	c.hitAt("/method", "%s was removed after %s", c.method, m.To)
}

func methodNotInRevision(c *ctx) {
	m := c.known()
	if m == nil || m.From == "" || !c.sure || c.cl.negotiated == 0 || c.rev != c.cl.negotiated {
		return
	}
	if revisionsOf(m.From) > c.rev {
		c.hitAt("/method", "%s is new in %s; %s was negotiated", c.method, m.From, c.rev)
	}
}
