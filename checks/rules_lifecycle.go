package checks

import (
	"regexp"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// The handshake of the revisions up to 2025-11-25 (basic/lifecycle).
var lifecycleRules = []Rule{
	{
		ID: "init-not-first", Signal: Warn, Level: Must, Revisions: Legacy, Transports: OnStdio, on: onRequest, methods: []string{mcp.Initialize}, check: initNotFirst,
		Title: "The client asked for something before initialize",
		Help:  "The handshake comes first; before it nothing is agreed on.",
		Fix:   "Send initialize first and wait for its answer.",
		Spec:  "2025-11-25/basic/lifecycle#initialization",
	},
	{
		ID: "init-params", Signal: Invalid, Level: Must, Revisions: Legacy, on: onRequest, methods: []string{mcp.Initialize}, check: initParams,
		Title: "initialize lacks a member, or has it in another type",
		Help:  "protocolVersion, capabilities and clientInfo with name and version are required.",
		Fix:   "Send all of them; capabilities may be empty.",
		Spec:  "2025-11-25/schema#initializerequestparams",
	},
	{
		ID: "init-result", Signal: Invalid, Level: Must, Revisions: Legacy, on: onResult, methods: []string{mcp.Initialize}, check: initResult,
		Title: "The answer to initialize lacks a member, or has it in another type",
		Help:  "protocolVersion, capabilities and serverInfo with name and version are required.",
		Fix:   "Send all of them; capabilities may be empty.",
		Spec:  "2025-11-25/schema#initializeresult",
	},
	{
		ID: "init-version-format", Signal: Warn, Level: Should, Revisions: Legacy, on: onRequest | onResult, methods: []string{mcp.Initialize}, check: initVersionFormat,
		Title: "A protocol version is not a date",
		Help:  "Versions are written YYYY-MM-DD and compared as text.",
		Fix:   "Use a published version.",
		Spec:  "2025-11-25/basic/lifecycle#version-negotiation",
	},
	{
		ID: "init-version-newer-than-offer", Signal: Warn, Level: Should, Revisions: Legacy, on: onResult, methods: []string{mcp.Initialize}, check: initVersionNewer,
		Title: "The server chose a newer version than the client offered",
		Help:  "The client offers its newest, so it cannot know the one chosen and should disconnect.",
		Fix:   "Answer with the offered version, or an older one.",
		Spec:  "2025-11-25/basic/lifecycle#version-negotiation",
	},
	{
		ID: "init-version-modern", Signal: Warn, Level: Must, Revisions: Legacy, on: onResult, methods: []string{mcp.Initialize}, check: initVersionModern,
		Title: "initialize was answered with a version that has no initialize",
		Help:  "From 2026-07-28 on each request carries its version; there is no handshake to answer.",
		Fix:   "Answer initialize with the newest version before that.",
		Spec:  "2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions",
	},
	{
		ID: "init-offer-modern", Signal: Warn, Level: Should, Revisions: Legacy, on: onRequest, methods: []string{mcp.Initialize}, check: initOfferModern,
		Title: "initialize offers a version that has no initialize",
		Help:  "From 2026-07-28 on there is no handshake, so no server can agree to it this way.",
		Fix:   "Offer 2025-11-25, or send requests with metadata and no handshake.",
		Spec:  "2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions",
	},
	{
		ID: "init-version-ignored", Signal: Warn, Level: Must, Revisions: Legacy, Transports: OnHTTP, on: onHTTPRequest, check: initVersionIgnored,
		Title: "The client goes on with its own version after the server chose another",
		Help:  "Both sides now follow different rules.",
		Fix:   "Use the version of the server's answer, or disconnect.",
		Spec:  "2025-11-25/basic/lifecycle#version-negotiation",
	},
	{
		ID: "init-repeated", Signal: Warn, Level: Should, Revisions: Legacy, on: onRequest, methods: []string{mcp.Initialize}, check: initRepeated,
		Title: "initialize was sent again in a running session",
		Help:  "What becomes of the first session is nowhere said.",
		Fix:   "Initialize once; start a new process or session to begin anew.",
		Spec:  "2025-11-25/basic/lifecycle#initialization",
	},
	{
		ID: "init-error-continue", Signal: Warn, Level: Should, Revisions: Legacy, on: onRequest, check: initErrorContinue,
		Title: "The client goes on although initialize failed",
		Help:  "Without a handshake nothing is agreed on, and the server may refuse all of it.",
		Fix:   "Try initialize again with another version, or disconnect.",
		Spec:  "2025-11-25/basic/lifecycle#error-handling",
	},
	{
		ID: "initialized-missing", Signal: Warn, Level: Should, Revisions: Legacy, on: onEnd, check: initializedMissing,
		Title: "The client never sent notifications/initialized",
		Help:  "Some servers refuse requests, or hold back their own, until it comes.",
		Fix:   "Send it after the answer to initialize.",
		Spec:  "2025-11-25/basic/lifecycle#initialization",
	},
	{
		ID: "initialized-early", Signal: Warn, Level: Must, Revisions: Legacy, on: onNotification, methods: []string{mcp.Initialized}, check: initializedEarly,
		Title: "notifications/initialized came before initialize was answered",
		Help:  "The client cannot know yet what it agrees to.",
		Fix:   "Wait for the answer.",
		Spec:  "2025-11-25/basic/lifecycle#initialization",
	},
	{
		ID: "client-request-before-init-response", Signal: Warn, Level: Should, Revisions: Legacy, on: onRequest, check: requestBeforeInit,
		Title: "The client sent a request before initialize was answered",
		Help:  "The server need not take it yet; only ping is expected.",
		Fix:   "Wait for the answer to initialize.",
		Spec:  "2025-11-25/basic/lifecycle#initialization",
	},
	{
		ID: "server-request-before-initialized", Signal: Warn, Level: Should, Revisions: Legacy, on: onRequest, check: serverBeforeInitialized,
		Title: "The server sent a request before notifications/initialized",
		Help:  "The client is not ready; only ping is expected.",
		Fix:   "Wait for the notification.",
		Spec:  "2025-11-25/basic/lifecycle#initialization",
	},
	{
		ID: "discover-fallback-skipped", Signal: Warn, Level: Should, Revisions: Legacy, Transports: OnStdio, on: onRequest, methods: []string{mcp.Initialize}, check: fallbackSkipped,
		Title: "The client fell back to initialize although the server has no such version",
		Help:  "The server had named the versions that it supports, and none of them has a handshake.",
		Fix:   "Choose one of the versions that the error names.",
		Spec:  "2026-07-28/basic/transports/stdio#backward-compatibility",
	},
	{
		ID: "discover-fallback-keyed", Signal: Info, Level: Note, Transports: OnStdio, on: onEnd, check: fallbackKeyed,
		Title: "The client gave up after its probe was answered with an unusual error",
		Help:  "Any error that is not one of the new codes means an older server, whatever its number; initialize is the next step.",
		Fix:   "Fall back on any unrecognised error.",
		Spec:  "2026-07-28/basic/transports/stdio#backward-compatibility",
	},
	{
		ID: "modern-only-init-error-silent", Signal: Info, Level: Note, on: onError, methods: []string{mcp.Initialize}, check: initErrorSilent,
		Title: "A server without handshake refused initialize and named no version",
		Help:  "The user of an older client does not learn what to do.",
		Fix:   "Name the supported versions in the message of the error.",
		Spec:  "2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions",
	},
	{
		ID: "session-era-mix", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onRequest, check: sessionEraMix,
		Title: "A request of 2026-07-28 carries a session id",
		Help:  "That revision has no sessions; the header is ignored.",
		Fix:   "Nothing, when the client speaks both eras.",
		Spec:  "2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions",
	},
}

func initNotFirst(c *ctx) {
	h := &c.cl.shake
	if c.c2s() && h.early && !c.cl.legacy && c.e.log.whole() && h.first.seq > 0 {
		c.hitPos(h.first, "", "%s stands before initialize (#%d)", about(h.first.method, h.first.tool), c.rec.Seq)
	}
}

// wants reports the members of an object that are not of the type they must be.
func (c *ctx) wants(of val, where string, members ...want) {
	for _, m := range members {
		v := of.at(m.path...)
		if v.typ() != m.typ {
			path := where
			for _, p := range m.path {
				path += "/" + p
			}
			c.hitAt(path, "%s is %s; want %s %s", m.path[len(m.path)-1], show(v), article(m.typ), m.typ)
		}
	}
}

type want struct {
	typ  wire.Type
	path []string
}

func article(t wire.Type) string {
	if t == wire.Array || t == wire.Object {
		return "an"
	}
	return "a"
}

func initParams(c *ctx) {
	c.wants(c.params, "/params",
		want{wire.String, []string{"protocolVersion"}}, want{wire.Object, []string{"capabilities"}},
		want{wire.String, []string{"clientInfo", "name"}}, want{wire.String, []string{"clientInfo", "version"}})
}

func initResult(c *ctx) {
	c.wants(c.result, "/result",
		want{wire.String, []string{"protocolVersion"}}, want{wire.Object, []string{"capabilities"}},
		want{wire.String, []string{"serverInfo", "name"}}, want{wire.String, []string{"serverInfo", "version"}})
}

// version is the protocol version in an initialize request or its answer.
func (c *ctx) version() val {
	if c.result.ok() {
		return c.result.get("protocolVersion")
	}
	return c.params.get("protocolVersion")
}

func initVersionFormat(c *ctx) {
	if v := c.version(); v.isString() && !mcp.Revision(v.str()).Known() && !marked(v) {
		c.hit(v, "the version %s is not of the form YYYY-MM-DD", show(v))
	}
}

func initVersionNewer(c *ctx) {
	offer, got := mcp.Revision(c.cl.shake.offer), mcp.Revision(c.version().str())
	if c.req != nil && c.cl.shake.asked && offer.Known() && got.Known() && got > offer && !got.Modern() {
		c.hit(c.version(), "the client offered %s, the server chose %s", offer, got)
	}
}

func initVersionModern(c *ctx) {
	if v := mcp.Revision(c.version().str()); v.Modern() {
		c.hit(c.version(), "%s has no initialize", v)
	}
}

func initOfferModern(c *ctx) {
	if v := mcp.Revision(c.version().str()); v.Modern() && c.c2s() {
		c.hit(c.version(), "%s has no initialize", v)
	}
}

func initVersionIgnored(c *ctx) {
	h := &c.cl.shake
	if h.done && h.answer != h.offer && c.rec.MCPProtocolVersion == h.offer && c.method != mcp.Initialize && h.offer != "" {
		c.hitAt("", "the server chose %s, and the client goes on with %s", quote(h.answer), quote(h.offer))
	}
}

func initRepeated(c *ctx) {
	if c.c2s() && c.cl.shake.done && (c.stdio() || c.rec.MCPSession != "") {
		c.hitAt("", "initialize was already answered in this session")
	}
}

func initErrorContinue(c *ctx) {
	if c.c2s() && c.cl.shake.failed && c.method != mcp.Initialize && c.method != mcp.Ping && c.req.version == "" {
		c.hitAt("", "initialize had been answered with an error")
	}
}

func initializedMissing(c *ctx) {
	if !c.e.log.whole() {
		return
	}
	for _, cl := range c.e.clients {
		if h := &cl.shake; h.done && h.worked && !h.initialized && (cl.session != "" || !c.e.web.initialized) {
			c.hitPos(h.last, "", "%s was asked and answered, and notifications/initialized never came", about(h.last.method, h.last.tool))
		}
	}
}

func initializedEarly(c *ctx) {
	if c.c2s() && c.cl.shake.asked && !c.cl.shake.done {
		c.hitAt("", "initialize has no answer yet")
	}
}

func requestBeforeInit(c *ctx) {
	if c.c2s() && c.cl.shake.asked && !c.cl.shake.done && c.method != mcp.Ping && c.method != mcp.Initialize && !c.http() {
		c.hitAt("", "initialize has no answer yet")
	}
}

func serverBeforeInitialized(c *ctx) {
	if c.s2c() && c.method != mcp.Ping && c.cl.legacy && !c.cl.shake.initialized && c.e.log.whole() && (c.stdio() || c.cl.session != "") {
		c.hitAt("", "notifications/initialized has not come yet")
	}
}

// onlyModernSupported reports whether an error names the supported versions,
// and none of them has a handshake.
func (c *ctx) onlyModernSupported() bool {
	list := c.fail.at("data", "supported")
	for _, v := range list.each() {
		if r := mcp.Revision(v.str()); !r.Known() || !r.Modern() {
			return false
		}
	}
	return list.isArray() && list.len() > 0
}

func fallbackSkipped(c *ctx) {
	if c.c2s() && c.cl.shake.modernOnly {
		c.hitAt("", "the server had named its versions, and initialize is in none of them")
	}
}

func fallbackKeyed(c *ctx) {
	for _, cl := range c.e.clients {
		code := cl.shake.probe
		known := code == codeMethodNotFound || code == codeInvalidParams || code <= codeHeaderMismatch && code >= codeUnsupportedVersion
		if cl.shake.calls == 1 && code != 0 && !known {
			c.hitAt("", "server/discover was answered with %d, and the client tried nothing else", code)
		}
	}
}

var dated = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)

func initErrorSilent(c *ctx) {
	if c.e.peer.modern && !c.cl.shake.done && !dated.Match(c.fail.raw()) {
		c.hitAt("/error", "the error names no version: %s", show(c.fail.get("message")))
	}
}

func sessionEraMix(c *ctx) {
	if c.c2s() && c.rec.MCPSession != "" {
		c.hitAt("", "Mcp-Session-Id on a request with the metadata of 2026-07-28")
	}
}
