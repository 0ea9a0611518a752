package checks

import (
	"encoding/base64"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Routing headers against the body (2026-07-28, streamable-http, Request
// Metadata).
var routingRules = []Rule{
	{
		ID: "http-protocol-header-missing-modern", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: versionHeaderModern,
		Title: "A POST has no MCP-Protocol-Version",
		Help:  "Gateways route by it, and the server has to refuse a request without it.",
		Fix:   "Send the version of _meta as MCP-Protocol-Version.",
		Spec:  "2026-07-28/basic/transports/streamable-http#protocol-version-header",
	},
	{
		ID: "http-protocol-header-body", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: versionHeaderBody,
		Title: "MCP-Protocol-Version differs from the version in the body",
		Help:  "A gateway and the server would follow different rules for one request.",
		Fix:   "Take both from the same place.",
		Spec:  "2026-07-28/basic/transports/streamable-http#protocol-version-header",
	},
	{
		ID: "http-mcp-method-missing", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: methodHeaderMissing,
		Title: "A request has no Mcp-Method",
		Help:  "Gateways route by it, and the server has to refuse a request without it.",
		Fix:   "Send the method of the body as Mcp-Method.",
		Spec:  "2026-07-28/basic/transports/streamable-http#standard-request-headers",
	},
	{
		ID: "http-mcp-method-mismatch", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: methodHeader,
		Title: "Mcp-Method differs from the method in the body",
		Help:  "A gateway that allows by header lets through what the body does.",
		Fix:   "Take both from the same place; case counts.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-validation",
	},
	{
		ID: "http-mcp-name-missing", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: nameHeaderMissing,
		Title: "A call has no Mcp-Name",
		Help:  "tools/call, prompts/get and resources/read name their target in it; the server has to refuse a request without it.",
		Fix:   "Send params.name, or params.uri, as Mcp-Name.",
		Spec:  "2026-07-28/basic/transports/streamable-http#standard-request-headers",
	},
	{
		ID: "http-mcp-name-mismatch", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: nameHeader,
		Title: "Mcp-Name differs from the target in the body",
		Help:  "A gateway that allows by header lets through another call.",
		Fix:   "Take both from the same place.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-validation",
	},
	{
		ID: "http-mcp-name-task", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: nameHeaderTask,
		Title: "A request on a task does not have its id as Mcp-Name",
		Help:  "Gateways find the instance that runs the task by it.",
		Fix:   "Send params.taskId as Mcp-Name.",
		Spec:  "https://modelcontextprotocol.io/extensions/tasks/overview",
	},
	{
		ID: "http-mcp-name-unexpected", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: nameHeaderUnexpected,
		Title: "Mcp-Name on a method that has no name",
		Help:  "It is not defined there; extensions may do so.",
		Fix:   "Leave it out.",
		Spec:  "2026-07-28/basic/transports/streamable-http#standard-request-headers",
	},
	{
		ID: "http-sentinel-needed", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: sentinelNeeded,
		Title: "A header holds a value that has to be encoded",
		Help:  "Characters outside ASCII, blanks at the ends and values that look encoded do not survive as they are.",
		Fix:   "Send =?base64?...?= with the value in UTF-8.",
		Spec:  "2026-07-28/basic/transports/streamable-http#value-encoding",
	},
	{
		ID: "http-sentinel-bad-base64", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: sentinelBad,
		Title: "An encoded header value cannot be decoded",
		Help:  "The server has to refuse the request.",
		Fix:   "Use standard base64 with padding, of UTF-8.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-validation",
	},
	{
		ID: "http-sentinel-unneeded", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, check: sentinelUnneeded,
		Title: "A header value is encoded and need not be",
		Help:  "It is legal, and routing rules do not see the value.",
		Fix:   "Send plain ASCII as it is.",
		Spec:  "2026-07-28/basic/transports/streamable-http#value-encoding",
	},
	{
		ID: "http-mcp-param-missing", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, methods: []string{mcp.ToolsCall}, check: paramMissing,
		Title: "A call lacks the header of an annotated argument",
		Help:  "The tool says that the argument goes into a header as well. false, 0 and the empty text are values too.",
		Fix:   "Send Mcp-Param-NAME for each annotated argument that is not null.",
		Spec:  "2026-07-28/basic/transports/streamable-http#client-behavior",
	},
	{
		ID: "http-mcp-param-null-sent", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, methods: []string{mcp.ToolsCall}, check: paramNull,
		Title: "A call has the header of an argument that is null or absent",
		Help:  "The header has to be left out then; the server sees a value where there is none.",
		Fix:   "Leave the header out.",
		Spec:  "2026-07-28/basic/transports/streamable-http#client-behavior",
	},
	{
		ID: "http-mcp-param-mismatch", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, methods: []string{mcp.ToolsCall}, check: paramMismatch,
		Title: "The header of an argument differs from the argument",
		Help:  "A gateway that decides by header decides on another value than the tool gets.",
		Fix:   "Take both from the same place.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-validation",
	},
	{
		ID: "http-mcp-param-unknown", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onHTTPRequest, methods: []string{mcp.ToolsCall}, check: paramUnknown,
		Title: "A call has an Mcp-Param header that its tool does not define",
		Help:  "It is passed on and ignored; the client may have an old definition.",
		Fix:   "Read the list of tools again.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-behavior-for-custom-headers",
	},
	{
		ID: "http-header-on-batch", Signal: Mismatch, Level: Must, Transports: OnHTTP, on: onHTTPRequest, check: headerOnBatch,
		Title: "A routing header on a batch",
		Help:  "It names one call, and the body holds several.",
		Fix:   "POST each message by itself.",
		Spec:  "2026-07-28/basic/transports/streamable-http#standard-request-headers",
	},
	{
		ID: "http-header-mismatch-not-rejected", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onResult, check: mismatchAccepted,
		Title: "The server answered a request whose headers contradict its body",
		Help:  "It has to refuse it: what a gateway allowed is not what was done.",
		Fix:   "Compare headers and body, and answer 400 with -32020 when they differ.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-validation",
	},
	{
		ID: "http-mismatch-rejected", Signal: Mismatch, Level: Must, Revisions: R5, Transports: OnHTTP, on: onError, check: mismatchRejected,
		Title: "The server refused a request because of its headers",
		Help:  "It found a header missing, malformed or different from the body; nothing in the log shows which.",
		Fix:   "Read the message of the error.",
		Spec:  "2026-07-28/basic/transports/streamable-http#server-validation",
	},
}

// isModernPost reports whether the line is a POST of one request.
func (c *ctx) isModernPost() bool {
	return c.wrote() && c.isPost() && c.ev.Msg.Kind == wire.Request && !c.rec.Batch
}

// wrong reports a header that contradicts the body, and notes it for the
// answer.
func (c *ctx) wrong(path, format string, args ...any) {
	c.hitAt(path, format, args...)
	if c.req != nil {
		c.req.fault = c.rule.ID
	}
}

func versionHeaderModern(c *ctx) {
	if v := c.meta.get(mcp.MetaVersion); c.isModernPost() && c.rec.MCPProtocolVersion == "" && mcp.Revision(v.str()).Modern() {
		c.wrong("", "the body says %s, and there is no MCP-Protocol-Version", v.str())
	}
}

func versionHeaderBody(c *ctx) {
	v := c.meta.get(mcp.MetaVersion)
	if h := trimOWS(c.rec.MCPProtocolVersion); c.isModernPost() && h != "" && v.isString() && !v.is(h) && !marked(v) {
		c.wrong("", "MCP-Protocol-Version is %s, the body says %s", quote(h), show(v))
	}
}

func trimOWS(s string) string { return strings.Trim(s, " \t") }

func methodHeaderMissing(c *ctx) {
	if c.isModernPost() && c.rec.MCPMethod == "" && c.method != "" {
		c.wrong("", "%s has no Mcp-Method", c.about())
	}
}

func methodHeader(c *ctx) {
	if h := trimOWS(c.rec.MCPMethod); c.isModernPost() && h != "" && h != c.method {
		c.wrong("", "Mcp-Method is %s, the body says %s", quote(h), quote(c.method))
	}
}

// nameSource is the parameter that Mcp-Name repeats, "" for none.
func (c *ctx) nameSource() string {
	switch c.method {
	case mcp.ToolsCall, mcp.PromptsGet:
		return "name"
	case mcp.ResourcesRead:
		return "uri"
	}
	return ""
}

func nameHeaderMissing(c *ctx) {
	k := c.nameSource()
	if v := c.params.get(k); c.isModernPost() && k != "" && c.rec.MCPName == "" && v.isString() && !v.is("") {
		c.wrong("", "%s has no Mcp-Name", c.about())
	}
}

func nameHeader(c *ctx) {
	k := c.nameSource()
	v := c.params.get(k)
	if !c.isModernPost() || k == "" || c.rec.MCPName == "" || !v.isString() || hidden(c.rec.MCPName, v) {
		return
	}
	h := trimOWS(c.rec.MCPName)
	if got, ok := decodeHeader(h); ok && !v.is(got) && h != trimOWS(v.str()) && !latin1(h) {
		c.wrong("", "Mcp-Name is %s, the body says %s", quote(got), show(v))
	}
}

// hidden reports whether redaction has touched a header or the value that it
// repeats.
func hidden(header string, v val) bool { return redact.HasMark(header) || marked(v) }

func nameHeaderTask(c *ctx) {
	v := c.params.get("taskId")
	if c.method != mcp.TasksGet && c.method != mcp.TasksUpdate && c.method != mcp.TasksCancel || !c.isModernPost() || !v.isString() || hidden(c.rec.MCPName, v) {
		return
	}
	if got, ok := decodeHeader(trimOWS(c.rec.MCPName)); ok && !v.is(got) {
		c.wrong("", "Mcp-Name is %s, the task is %s", quote(c.rec.MCPName), show(v))
	}
}

func nameHeaderUnexpected(c *ctx) {
	if c.isModernPost() && c.rec.MCPName != "" && c.nameSource() == "" && !c.params.get("taskId").ok() {
		c.hitAt("", "Mcp-Name is %s", quote(c.rec.MCPName))
	}
}

const (
	sentinelOpen  = "=?base64?"
	sentinelClose = "?="
)

// isEncoded reports whether a header value is in the encoded form. Another
// case of the prefix is a literal value.
func isEncoded(h string) bool {
	return len(h) >= len(sentinelOpen)+len(sentinelClose) && strings.HasPrefix(h, sentinelOpen) && strings.HasSuffix(h, sentinelClose)
}

// decodeHeader gives the value that a header stands for; ok is false when it
// is encoded and cannot be decoded.
func decodeHeader(h string) (string, bool) {
	if !isEncoded(h) {
		return h, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(h[len(sentinelOpen) : len(h)-len(sentinelClose)])
	return string(b), err == nil && utf8.Valid(b)
}

// plainHeader reports whether a value may stand in a header as it is.
func plainHeader(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '\t' && (c < 0x20 || c > 0x7E) {
			return false
		}
	}
	return s == trimOWS(s) && !isEncoded(s)
}

func latin1(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 0x7E }) >= 0 }

// headers gives each routing header with a value of its own.
func (c *ctx) headers(yield func(name, value string)) {
	if c.rec.MCPName != "" {
		yield("Mcp-Name", trimOWS(c.rec.MCPName))
	}
	for _, p := range c.rec.MCPParamHeaders {
		if !p.Redacted && !redact.HasMark(p.Value) {
			yield(p.Name, trimOWS(p.Value))
		}
	}
}

func sentinelNeeded(c *ctx) {
	if !c.isModernPost() {
		return
	}
	c.headers(func(name, h string) {
		if !isEncoded(h) && !plainHeader(h) {
			c.hitAt("", "%s is %s and must be encoded", name, quote(h))
		}
	})
	v := c.params.get(c.nameSource())
	if s := v.str(); c.rec.MCPName != "" && v.isString() && !plainHeader(s) && trimOWS(c.rec.MCPName) == trimOWS(s) && !latin1(s) {
		c.hitAt("", "the name %s was sent as it is and must be encoded", quote(s))
	}
}

func sentinelBad(c *ctx) {
	if !c.isModernPost() {
		return
	}
	c.headers(func(name, h string) {
		if _, ok := decodeHeader(h); !ok && c.params.get(c.nameSource()).str() != h {
			c.wrong("", "%s is %s, which does not decode", name, quote(h))
		}
	})
}

func sentinelUnneeded(c *ctx) {
	if !c.isModernPost() {
		return
	}
	c.headers(func(name, h string) {
		if v, ok := decodeHeader(h); ok && isEncoded(h) && plainHeader(v) && v != "" {
			c.hitAt("", "%s is encoded, and %s could stand as it is", name, quote(v))
		}
	})
}

// paramHeader finds the header of an annotated property.
func (c *ctx) paramHeader(name string) (*capture.ParamHeader, bool) {
	for i := range c.rec.MCPParamHeaders {
		h := &c.rec.MCPParamHeaders[i]
		if strings.EqualFold(strings.TrimPrefix(http.CanonicalHeaderKey(h.Name), "Mcp-Param-"), name) {
			return h, true
		}
	}
	return nil, false
}

// annotated goes over the annotated arguments of a call, when the definition
// is known.
func (c *ctx) annotated(yield func(p headerParam, v val, h *capture.ParamHeader)) {
	if !c.isModernPost() || c.req == nil || c.req.def == nil || marked(c.params.get("arguments")) {
		return
	}
	for _, p := range c.req.def.headers {
		h, _ := c.paramHeader(p.name)
		yield(p, c.params.get("arguments").at(p.path...), h)
	}
}

func paramMissing(c *ctx) {
	c.annotated(func(p headerParam, v val, h *capture.ParamHeader) {
		if v.ok() && !v.isNull() && h == nil && c.e.reg.readers[c.req.reader] && !v.is("") {
			c.wrong("/params/arguments/"+strings.Join(p.path, "/"), "want Mcp-Param-%s: %s, as %s is annotated (#%d)", p.name, show(v), strings.Join(p.path, "."), c.req.def.seq)
		}
	})
}

func paramNull(c *ctx) {
	c.annotated(func(p headerParam, v val, h *capture.ParamHeader) {
		if h != nil && (!v.ok() || v.isNull()) && !h.Redacted && !redact.HasMark(h.Value) {
			c.wrong("/params/arguments/"+strings.Join(p.path, "/"), "Mcp-Param-%s is sent, and the argument is %s", p.name, show(v))
		}
	})
}

func paramMismatch(c *ctx) {
	c.annotated(func(p headerParam, v val, h *capture.ParamHeader) {
		if h == nil || !v.ok() || v.isNull() || h.Redacted || redact.HasMark(h.Value) {
			return
		}
		got, ok := decodeHeader(trimOWS(h.Value))
		if ok && !sameValue(got, v) {
			c.wrong("/params/arguments/"+strings.Join(p.path, "/"), "Mcp-Param-%s is %s, the argument is %s", p.name, quote(got), show(v))
		}
	})
}

var decimal = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?$`)

// sameValue compares a decoded header with an argument: numbers by value, all
// else as text.
func sameValue(header string, v val) bool {
	switch v.typ() {
	case wire.String:
		return v.is(header) || trimOWS(v.str()) == header
	case wire.Number:
		raw := string(v.raw())
		if header == raw {
			return true
		}
		a, ok1 := new(big.Rat).SetString(header)
		return decimal.MatchString(header) && decimal.MatchString(raw) && ok1 && a.Cmp(ratOf(raw)) == 0
	case wire.Bool:
		return header == string(v.raw())
	case wire.None, wire.Null, wire.Array, wire.Object:
	}
	return true // not one of the types that may be annotated
}

func ratOf(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat)
	}
	return r
}

func paramUnknown(c *ctx) {
	if !c.isModernPost() || c.req == nil || c.req.def == nil {
		return
	}
	for _, h := range c.rec.MCPParamHeaders {
		name := strings.TrimPrefix(http.CanonicalHeaderKey(h.Name), "Mcp-Param-")
		known := false
		for _, p := range c.req.def.headers {
			known = known || strings.EqualFold(p.name, name)
		}
		if !known {
			c.hitAt("", "%s is not among the annotations of #%d", quote(h.Name), c.req.def.seq)
		}
	}
}

func headerOnBatch(c *ctx) {
	if c.c2s() && !c.x.begun && (c.rec.Batch || c.root.isArray()) && (c.rec.MCPMethod != "" || c.rec.MCPName != "") {
		c.hitBatch("Mcp-Method or Mcp-Name on an array of messages")
	}
}

func mismatchAccepted(c *ctx) {
	if c.s2c() && c.req != nil && c.req.fault != "" && c.rec.Status < 300 {
		c.hitAt("", "%s (#%d) broke %s and was answered with a result", c.about(), c.req.seq, c.req.fault)
	}
}

func mismatchRejected(c *ctx) {
	if c.s2c() && c.code() == codeHeaderMismatch && (c.req == nil || c.req.fault == "") {
		c.hitAt("", "the server says %s", quote(c.fail.get("message").str()))
	}
}
