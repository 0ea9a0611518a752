package checks

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// HTTP requests (basic/transports, Streamable HTTP).
var httpRules = []Rule{
	{
		ID: "http-method-not-post", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: notPost,
		Title: "A message was sent with another HTTP method than POST",
		Help:  "Servers take messages from POST alone.",
		Fix:   "POST each message.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-post-body-not-single", Signal: Invalid, Level: Must, Revisions: R3Up, Transports: OnHTTP, on: onHTTPRequest, check: postBody,
		Title: "The body of a POST is not one message",
		Help:  "Since 2025-06-18 it holds exactly one; an empty body or one message a line are not read.",
		Fix:   "POST one JSON-RPC object.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-post-content-type", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: postContentType,
		Title: "A POST is not labelled as application/json",
		Help:  "Many servers answer 415, or do not parse the body.",
		Fix:   "Send Content-Type: application/json.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-accept-missing", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: acceptMissing,
		Title: "A POST does not accept both JSON and event streams",
		Help:  "The server chooses between the two. Strict ones answer 406 when one is not listed.",
		Fix:   "Send Accept: application/json, text/event-stream.",
		Spec:  "2026-07-28/basic/transports/streamable-http#sending-messages",
	},
	{
		ID: "http-get-accept", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onHTTPRequest, check: getAccept,
		Title: "A GET for the event stream does not accept event streams",
		Help:  "The server may take it for a browser and answer something else.",
		Fix:   "Send Accept: text/event-stream.",
		Spec:  "2025-11-25/basic/transports#listening-for-messages-from-the-server",
	},
	{
		ID: "http-protocol-header-missing", Signal: Warn, Level: Must, Revisions: R3 | R4, Transports: OnHTTP, on: onHTTPRequest, check: versionHeaderMissing,
		Title: "A request after the handshake has no MCP-Protocol-Version",
		Help:  "The server has to guess 2025-03-26, and then behaves by other rules than were agreed on.",
		Fix:   "Send the negotiated version on every request after initialize.",
		Spec:  "2025-11-25/basic/transports#protocol-version-header",
	},
	{
		ID: "http-protocol-header-negotiated", Signal: Mismatch, Level: Must, Revisions: R3 | R4, Transports: OnHTTP, on: onHTTPRequest, check: versionHeaderNegotiated,
		Title: "MCP-Protocol-Version is not the negotiated version",
		Help:  "The server may refuse the request, or follow other rules than the client.",
		Fix:   "Send the version of the answer to initialize.",
		Spec:  "2025-11-25/basic/transports#protocol-version-header",
	},
	{
		ID: "http-session-missing", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onHTTPRequest, check: sessionMissing,
		Title: "The client leaves out the session id that it was given",
		Help:  "The server cannot find the session and answers 400, or starts over.",
		Fix:   "Send Mcp-Session-Id on every request after initialize; in browsers the server has to expose the header.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-session-404-reuse", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onHTTPRequest, check: sessionReuse,
		Title: "The client goes on with a session that has ended",
		Help:  "The server had answered 404 to its id; it will go on doing so.",
		Fix:   "Send initialize without a session id and begin a new session.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-delete-without-session", Signal: Warn, Level: Should, Revisions: Sessions, Transports: OnHTTP, on: onHTTPRequest, check: deleteWithoutSession,
		Title: "A DELETE does not say which session to end",
		Help:  "The session stays open on the server.",
		Fix:   "Send Mcp-Session-Id, or no DELETE when there is no session.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-plain-bearer", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: plainBearer,
		Title: "A bearer token was sent over plain HTTP",
		Help:  "Everyone on the way can read and use it.",
		Fix:   "Use https, also between a gateway and the server where others share the network.",
		Spec:  "2026-07-28/basic/authorization/security-considerations#communication-security",
	},
	{
		ID: "sse-last-event-id-modern", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: lastEventIDModern,
		Title: "A request of 2026-07-28 asks to resume a stream",
		Help:  "Streams cannot be resumed any more; the header is ignored.",
		Fix:   "Send the request again when its stream broke.",
		Spec:  "2026-07-28/basic/transports/streamable-http#receiving-messages",
	},
	{
		ID: "sse-retry-ignored", Signal: Warn, Level: Should, Revisions: R4, Transports: OnHTTP, on: onHTTPRequest, check: retryTooSoon,
		Title: "The client resumed a stream sooner than the server asked",
		Help:  "retry says how long to wait; servers rely on it to shed load.",
		Fix:   "Wait as long as the last retry field says.",
		Spec:  "2025-11-25/basic/transports#sending-messages-to-the-server",
	},
}

// wrote reports whether the recorder wrote down the headers of the request, so
// that one that is not there was not sent.
func (c *ctx) wrote() bool {
	return c.c2s() && (c.rec.HTTP != nil && c.rec.HTTP.Method != "" || c.x != nil && c.x.verb != "")
}

// isPost reports whether the line is the first of a POST that holds a message.
func (c *ctx) isPost() bool {
	return c.facts().Method == http.MethodPost && c.root.ok() && !c.x.begun
}

func notPost(c *ctx) {
	if v := c.facts().Method; v != "" && v != http.MethodPost && c.ev.Msg.Kind != wire.Other {
		c.hitAt("", "%s was sent with %s", c.about(), v)
	}
}

func postBody(c *ctx) {
	f := c.facts()
	if f.Method != http.MethodPost || c.x.begun || c.rec.Truncated {
		return
	}
	switch {
	case !c.rec.HasBody() && f.ContentLength != nil && *f.ContentLength == 0:
		c.hitAt("", "the body is empty")
	case c.rec.HasText && jsonLines(c.rec.Text):
		c.hitAt("", "the body holds one message a line")
	}
}

// jsonLines reports whether a text is several lines of JSON.
func jsonLines(s string) bool {
	n := 0
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		if wire.Check([]byte(l)) != nil {
			return false
		}
		n++
	}
	return n > 1
}

func postContentType(c *ctx) {
	if f := c.facts(); c.isPost() && media(f.ContentType) != "application/json" {
		c.hitAt("", "Content-Type is %s", quote(f.ContentType))
	}
}

// accepts reports whether a media type is listed in an Accept header, and
// whether a wild card covers it.
func accepts(header, want string) (listed, wild bool) {
	for e := range strings.SplitSeq(header, ",") {
		t, params, _ := strings.Cut(e, ";")
		t = strings.ToLower(strings.TrimSpace(t))
		refused := false
		for p := range strings.SplitSeq(params, ";") {
			k, v, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(p, " ", "")), "=")
			if q, err := strconv.ParseFloat(v, 64); k == "q" && err == nil && q == 0 {
				refused = true
			}
		}
		if refused {
			continue
		}
		major, _, _ := strings.Cut(want, "/")
		listed = listed || t == want
		wild = wild || t == "*/*" || t == major+"/*"
	}
	return listed, wild
}

func acceptMissing(c *ctx) {
	if !c.isPost() {
		return
	}
	a := c.facts().Accept
	missing, wild := []string(nil), true
	for _, t := range [...]string{"application/json", "text/event-stream"} {
		if ok, w := accepts(a, t); !ok {
			missing, wild = append(missing, t), wild && w
		}
	}
	switch {
	case len(missing) == 0:
	case a == "":
		c.hitAt("", "there is no Accept header")
	case wild:
		c.hitAt("", "Accept is %s, which covers %s and does not list it", quote(a), strings.Join(missing, " and "))
	default:
		c.hitAt("", "Accept is %s; %s is missing", quote(a), strings.Join(missing, " and "))
	}
}

func getAccept(c *ctx) {
	f := c.facts()
	if f.Method != http.MethodGet || f.Doc != "" || c.rec.MCPSession == "" && c.rec.MCPProtocolVersion == "" {
		return // a browser, or somebody who looks whether the server is there
	}
	if ok, wild := accepts(f.Accept, "text/event-stream"); !ok && !wild {
		c.hitAt("", "Accept is %s", quote(f.Accept))
	}
}

// isMCP reports whether the line is one of the protocol: not a preflight and
// not a fetch of metadata.
func (c *ctx) isMCP() bool {
	f := c.facts()
	return c.wrote() && f.Method != http.MethodOptions && f.Doc == "" && !c.x.begun && c.method != mcp.Initialize && !strings.Contains(f.Path, "/.well-known/")
}

func versionHeaderMissing(c *ctx) {
	f := c.facts()
	if !c.isMCP() || c.rec.MCPProtocolVersion != "" || c.cl.negotiated&(R3|R4) == 0 {
		return
	}
	if f.Method == http.MethodPost && !c.root.ok() || f.Method == http.MethodGet && c.rec.MCPSession == "" {
		return // not at the endpoint, or somebody else
	}
	c.hitAt("", "%s %s has no MCP-Protocol-Version; %s was negotiated", f.Method, c.about(), c.cl.shake.answer)
}

func versionHeaderNegotiated(c *ctx) {
	h, v := &c.cl.shake, c.rec.MCPProtocolVersion
	if c.isMCP() && h.done && v != "" && v != h.answer && v != h.offer && mcp.Revision(h.answer).Known() {
		c.hitAt("", "the header says %s, %s was negotiated", quote(v), h.answer)
	}
}

func sessionMissing(c *ctx) {
	f := c.facts()
	if c.isMCP() && c.cl.session != "" && c.rec.MCPSession == "" && (c.root.ok() || f.Method == http.MethodDelete) && c.cl.negotiated != 0 && f.Method != http.MethodDelete {
		c.hitAt("", "%s has no Mcp-Session-Id, and the server gave one out", c.about())
	}
}

func sessionReuse(c *ctx) {
	at, ok := c.e.web.dead[c.rec.MCPSession]
	if c.isMCP() && ok && c.rec.MCPSession != "" && c.ev.Frame.TS > at {
		c.hitAt("", "%s carries a session id that was answered with 404 before, and the client did not initialize again", c.about())
	}
}

func deleteWithoutSession(c *ctx) {
	if c.facts().Method == http.MethodDelete && c.rec.MCPSession == "" {
		c.hitAt("", "DELETE without Mcp-Session-Id")
	}
}

func plainBearer(c *ctx) {
	if a := c.rec.Auth; a != nil && a.Present && strings.EqualFold(a.Scheme, "bearer") && !a.InBody {
		if u, err := url.Parse(c.e.log.target); err == nil && u.Scheme == "http" && !loopback(u.Hostname()) {
			c.hitAt("", "the token goes to %s without encryption", quote(u.Host))
		}
	}
}

// loopback reports whether a host name is this machine.
func loopback(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "::1" || strings.HasPrefix(host, "127.")
}

func lastEventIDModern(c *ctx) {
	if id := c.facts().LastEventID; id != "" {
		c.hitAt("", "Last-Event-ID is %s", quote(id))
	}
}

// retryTooSoon allows for a tenth less, since clocks and timers differ.
func retryTooSoon(c *ctx) {
	r := &c.cl.resume
	if c.facts().Method != http.MethodGet || c.facts().LastEventID == "" || r.ended == 0 || r.retry == 0 {
		return
	}
	waited := (c.ev.Frame.TS - r.ended) / 1e6
	if waited >= 0 && waited < r.retry*9/10 {
		c.hitAt("", "resumed %d ms after the stream had ended; retry says %d ms", waited, r.retry)
	}
}
