package checks

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// HTTP responses: status, type and body (basic/transports, Streamable HTTP).
var httpAnswerRules = []Rule{
	{
		ID: "http-protocol-header-invalid-accepted", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: badVersionAccepted,
		Title: "The server accepted an MCP-Protocol-Version that is no version",
		Help:  "It has to answer 400, so that clients notice.",
		Fix:   "Refuse versions that are not supported.",
		Spec:  "2025-11-25/basic/transports#protocol-version-header",
	},
	{
		ID: "http-header-mismatch-status", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onError, check: statusHeaderMismatch,
		Title: "The error -32020 was not sent with status 400",
		Help:  "Gateways and clients tell by the status that the request was refused.",
		Fix:   "Answer HTTP 400.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-validation",
	},
	{
		ID: "http-unsupported-version-status", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onError, check: statusUnsupported,
		Title: "The error -32022 was not sent with status 400",
		Help:  "Clients that choose a version look for a 400.",
		Fix:   "Answer HTTP 400.",
		Spec:  "2026-07-28/schema#unsupportedprotocolversionerror",
	},
	{
		ID: "http-missing-capability-status", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onError, check: statusCapability,
		Title: "The error -32021 was not sent with status 400",
		Help:  "Clients tell by it that the request was refused before any work.",
		Fix:   "Answer HTTP 400.",
		Spec:  "2026-07-28/schema#missingrequiredclientcapabilityerror",
	},
	{
		ID: "http-missing-meta-status", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onError, check: statusMeta,
		Title: "A request without required metadata was not refused with status 400",
		Help:  "Clients tell by it that the request was refused before any work.",
		Fix:   "Answer HTTP 400 with -32602.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "http-unknown-method-status", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onError, check: statusUnknownMethod,
		Title: "The error -32601 was not sent with status 404",
		Help:  "Clients that look for an older server go by status and body together.",
		Fix:   "Answer HTTP 404 with the JSON-RPC error as body.",
		Spec:  "2026-07-28/basic/transports/streamable-http#protocol-version-header",
	},
	{
		ID: "http-404-no-body-modern", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onHTTPResponse, check: bare404,
		Title: "A 404 has no JSON-RPC error as body",
		Help:  "Without one it looks like a server of the old HTTP+SSE transport, and clients fall back to it.",
		Fix:   "Send the error -32601 as body.",
		Spec:  "2026-07-28/basic/transports/streamable-http#backward-compatibility",
	},
	{
		ID: "http-notification-status", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: notificationStatus,
		Title: "A POST without request was answered with another status than 202",
		Help:  "202 says that nothing more will come; on 200 some clients wait for a body.",
		Fix:   "Answer 202 without body.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-202-with-body", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: body202,
		Title: "A 202 has a body",
		Help:  "Clients do not read it, and some fail on null or {}.",
		Fix:   "Send no body.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-202-for-request", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: request202,
		Title: "A request was answered with 202",
		Help:  "A request is answered with JSON or an event stream; after a 202 the client waits for ever.",
		Fix:   "Answer 200 with the response. An id of null makes some servers take the request for a notification.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-response-content-type", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: responseType,
		Title: "The answer to a request is neither JSON nor an event stream",
		Help:  "Clients go by Content-Type and refuse what they do not know.",
		Fix:   "Send Content-Type: application/json, or text/event-stream.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-json-body-not-object", Signal: Invalid, Level: Must, Revisions: R3Up, Transports: OnHTTP, on: onHTTPResponse, check: responseBody,
		Title: "The JSON answer to a request is not one response",
		Help:  "The body is empty, an array or a bare value; the call is never settled.",
		Fix:   "Send the one JSON-RPC response.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-error-2xx-mismatch", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onResult, check: resultWithError,
		Title: "A result was sent with an error status",
		Help:  "Clients that look at the status take it for a failure, others for success.",
		Fix:   "Send results with 200.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-origin-unchecked", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: originUnchecked,
		Title: "A local server answered a request from another origin",
		Help:  "Any web page that the user visits could call it. Whether the origin is on a list of the server cannot be seen from here.",
		Fix:   "Compare Origin with the origins that are allowed, and answer 403 to all others.",
		Spec:  "2026-07-28/basic/transports/streamable-http#security-endpoint",
	},
	{
		ID: "http-origin-status", Signal: Warn, Level: Should, Revisions: R4Up, Transports: OnHTTP, on: onHTTPResponse, check: originStatus,
		Title: "A request was refused for its Origin with another status than 403",
		Help:  "The revision asks for 403.",
		Fix:   "Answer HTTP 403.",
		Spec:  "2026-07-28/basic/transports/streamable-http#security-endpoint",
	},
	{
		ID: "http-get-status", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onHTTPResponse, check: getStatus,
		Title: "A GET was answered with something that is no event stream",
		Help:  "The client waits for messages on it and none can come.",
		Fix:   "Answer with an event stream, or 405 when there is none.",
		Spec:  "2025-11-25/basic/transports#listening-for-messages-from-the-server",
	},
	{
		ID: "http-get-modern", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPResponse, check: getModern,
		Title: "A server of 2026-07-28 did not answer 405 to GET",
		Help:  "There is no GET in this revision; servers that also serve older ones may answer it.",
		Fix:   "Answer 405.",
		Spec:  "2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions",
	},
	{
		ID: "http-delete-modern", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPResponse, check: deleteModern,
		Title: "A server of 2026-07-28 did not answer 405 to DELETE",
		Help:  "There are no sessions to end in this revision; servers that also serve older ones may answer it.",
		Fix:   "Answer 405.",
		Spec:  "2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions",
	},
	{
		ID: "http-redirect", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: redirect,
		Title: "A POST was redirected",
		Help:  "On 301, 302 and 303 clients go on with GET and lose the body; on 307 and 308 many drop Authorization.",
		Fix:   "Configure the final URL; mind the slash at its end.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc9110#section-15.4",
	},
	{
		ID: "http-oldsse-used", Signal: Deprecated, Level: Note, Transports: OnHTTP, on: onEvent, check: oldSSEUsed,
		Title: "The server uses the old HTTP+SSE transport",
		Help:  "It was replaced in 2025-03-26 and is deprecated.",
		Fix:   "Move to Streamable HTTP.",
		Spec:  "2026-07-28/deprecated",
	},
	{
		ID: "http-oldsse-endpoint", Signal: Warn, Level: Must, Revisions: R1, Transports: OnHTTP, on: onResult, methods: []string{mcp.Initialize}, check: oldSSEEndpoint,
		Title: "The event stream of HTTP+SSE does not begin with the event endpoint",
		Help:  "Clients learn from it where to POST.",
		Fix:   "Send event: endpoint with the URI as the first event.",
		Spec:  "2024-11-05/basic/transports#http-with-sse",
	},
}

func badVersionAccepted(c *ctx) {
	v := c.x.version
	if v == "" || mcp.Revision(v).Known() || strings.Contains(strings.ToLower(v), "draft") || c.x.guessed || c.x.rev == R5 || c.cl.negotiated&(R3|R4) == 0 {
		return
	}
	if c.rec.Status >= 200 && c.rec.Status < 300 {
		c.hitAt("", "MCP-Protocol-Version: %s was answered with %d", quote(v), c.rec.Status)
	}
}

// wrongStatus reports a JSON response with an error code that prescribes
// another status. On an event stream the status was sent before.
func (c *ctx) wrongStatus(code, want int) {
	if c.s2c() && c.code() == code && c.isJSONAnswer() && c.rec.Status != want && !c.rec.Batch && !c.cl.legacy {
		c.hitAt("", "%s was answered %d with HTTP %d; want %d", c.about(), code, c.rec.Status, want)
	}
}

func statusHeaderMismatch(c *ctx) { c.wrongStatus(codeHeaderMismatch, 400) }
func statusUnsupported(c *ctx)    { c.wrongStatus(codeUnsupportedVersion, 400) }
func statusCapability(c *ctx)     { c.wrongStatus(codeMissingCapability, 400) }

func statusMeta(c *ctx) {
	if c.req != nil && c.req.unmeta && c.req.sure && c.e.peer.modern {
		c.wrongStatus(codeInvalidParams, 400)
	}
}

// statusUnknownMethod leaves the probe alone: an older server answers it as it
// likes.
func statusUnknownMethod(c *ctx) {
	if c.method != mcp.Discover || c.e.peer.modern {
		c.wrongStatus(codeMethodNotFound, 404)
	}
}

func bare404(c *ctx) {
	if c.rec.Status == 404 && c.e.peer.modern && len(c.x.reqs) > 0 && !c.x.guessed && !c.fail.ok() && c.x.rev == R5 {
		c.hitAt("", "404 without a JSON-RPC error")
	}
}

// held reports whether the POST of this response held notifications or
// responses and no request.
func (c *ctx) onlyNotes() bool {
	return !c.x.guessed && c.x.verb == http.MethodPost && c.x.notes > 0 && len(c.x.reqs) == 0
}

func notificationStatus(c *ctx) {
	if s := c.rec.Status; c.onlyNotes() && s >= 200 && s < 300 && s != 202 {
		c.hitAt("", "answered with %d; want 202", s)
	}
}

func body202(c *ctx) {
	n := c.facts().ContentLength
	if c.rec.Status == 202 && c.x.verb == http.MethodPost && (len(c.rec.Body()) > 0 || n != nil && *n > 0) {
		c.hitAt("", "the body is %s", quote(string(c.rec.Body())))
	}
}

func request202(c *ctx) {
	if c.rec.Status == 202 && len(c.x.reqs) > 0 && !c.x.guessed {
		r := c.x.reqs[0]
		c.method, c.tool = r.method, r.tool
		c.hitAt("", "%s with id %s was answered with 202", about(r.method, r.tool), r.id)
	}
}

// toRequest reports whether the line is a 200 to a POST that held a request,
// and sets what it is about.
func (c *ctx) toRequest() bool {
	if c.rec.Status != 200 || len(c.x.reqs) == 0 || c.x.guessed || c.x.verb != http.MethodPost {
		return false
	}
	if c.req == nil {
		r := c.x.reqs[0]
		c.method, c.tool = r.method, r.tool
	}
	return true
}

func responseType(c *ctx) {
	t := media(c.facts().ContentType)
	if c.toRequest() && t != "" && t != "application/json" && t != "text/event-stream" {
		c.hitAt("", "Content-Type is %s", quote(c.facts().ContentType))
	}
}

func responseBody(c *ctx) {
	t := media(c.facts().ContentType)
	if t == "text/event-stream" || c.rec.HTTP == nil || c.rec.Truncated || c.isStream() || !c.toRequest() {
		return
	}
	switch {
	case !c.rec.HasBody():
		c.hitAt("", "%s was answered with 200 and an empty body", c.about())
	case t != "application/json":
	case c.rec.Batch || c.root.isArray():
		c.hitAt("", "%s was answered with an array", c.about())
	case c.root.ok() && !c.root.isObject():
		c.hitAt("", "%s was answered with %s", c.about(), show(c.root))
	case c.rec.HasText:
		c.hitAt("", "%s was answered with %s, which is not JSON", c.about(), quote(c.rec.Text))
	}
}

func resultWithError(c *ctx) {
	if c.rec.Status >= 400 && c.s2c() && c.root.get("jsonrpc").ok() {
		c.hitAt("", "a result with HTTP %d", c.rec.Status)
	}
}

// crossOrigin reports whether the request of this response came from a page of
// another host.
func (c *ctx) crossOrigin() bool {
	u, err := url.Parse(c.x.origin)
	return c.x.origin != "" && err == nil && u.Host != "" && c.x.host != "" && !strings.EqualFold(u.Host, c.x.host)
}

func originUnchecked(c *ctx) {
	host := c.x.host
	if u, err := url.Parse("//" + host); err == nil {
		host = u.Hostname()
	}
	if c.crossOrigin() && c.x.verb != http.MethodOptions && c.rec.Status >= 200 && c.rec.Status < 300 && private(host) {
		u, _ := url.Parse(c.x.origin)
		if !loopback(u.Hostname()) {
			c.once("Origin %s was answered by %s", quote(c.x.origin), quote(c.x.host))
		}
	}
}

// private reports whether a host is not reachable from everywhere.
func private(host string) bool {
	return loopback(host) || strings.HasPrefix(host, "10.") || strings.HasPrefix(host, "192.168.") || strings.HasSuffix(host, ".local")
}

func originStatus(c *ctx) {
	if c.rec.Status < 400 || c.rec.Status == 403 || c.x.origin == "" {
		return
	}
	text := c.fail.get("message").str() + c.rec.Text
	if strings.Contains(strings.ToLower(text), "origin") {
		c.once("HTTP %d: %s", c.rec.Status, quote(text))
	}
}

func getStatus(c *ctx) {
	t := media(c.facts().ContentType)
	if c.facts().Doc == "" && c.x.verb == http.MethodGet && (c.x.session || c.x.version != "") && c.rec.Status >= 200 && c.rec.Status < 300 && t != "" && t != "text/event-stream" {
		c.hitAt("", "GET was answered with %d and %s", c.rec.Status, quote(c.facts().ContentType))
	}
}

func getModern(c *ctx)    { c.verbModern(http.MethodGet) }
func deleteModern(c *ctx) { c.verbModern(http.MethodDelete) }

func (c *ctx) verbModern(verb string) {
	if c.x.verb != verb || !c.e.peer.modern || c.e.anyLegacy() || strings.Contains(c.x.path, "/.well-known/") {
		return
	}
	switch c.rec.Status {
	case 405, 404, 401, 403:
	default:
		c.once("%s was answered with %d", verb, c.rec.Status)
	}
}

// anyLegacy reports whether some client used a handshake.
func (e *Engine) anyLegacy() bool {
	for _, cl := range e.clients {
		if cl.legacy {
			return true
		}
	}
	return false
}

func redirect(c *ctx) {
	if c.x.verb != http.MethodPost && !c.x.guessed || len(c.x.reqs)+c.x.notes == 0 {
		return
	}
	where := c.facts().Location
	slash := ""
	if u, err := url.Parse(where); err == nil && c.x.path != "" && u.Path == c.x.path+"/" {
		slash = ": only a slash at the end is missing from " + c.x.path
	}
	switch c.rec.Status {
	case 301, 302, 303:
		c.once("HTTP %d to %s%s; the client goes on with GET", c.rec.Status, quote(where), slash)
	case 307, 308:
		c.weaker = Info
		c.once("HTTP %d to %s%s", c.rec.Status, quote(where), slash)
		c.weaker = ""
	}
}

func oldSSEUsed(c *ctx) {
	if c.facts().SSE.Event == "endpoint" && c.x.verb != http.MethodPost {
		c.once("the event endpoint on a GET stream")
	}
}

func oldSSEEndpoint(c *ctx) {
	if c.s2c() && c.x.verb == http.MethodGet && c.facts().SSE != nil && c.x.first != "endpoint" && c.ev.Msg.Kind == wire.Result && !c.x.resumed {
		c.hitAt("", "the first event of the stream is %s", quote(c.x.first))
	}
}
