package checks

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Metadata of requests and results (2026-07-28, basic/index#_meta).
var metaRules = []Rule{
	{
		ID: "meta-missing", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: metaMissing,
		Title: "A request has no _meta",
		Help:  "There is no handshake, so each request states its version and what the client can do.",
		Fix:   "Send protocolVersion and clientCapabilities in params._meta of each request.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-version-missing", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: metaVersionMissing,
		Title: "A request does not state its protocol version in _meta",
		Help:  "The header alone is not enough: the server has to refuse the request.",
		Fix:   "Send io.modelcontextprotocol/protocolVersion in params._meta.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-version-type", Signal: Invalid, Level: Must, Revisions: R5, on: onRequest, check: metaVersionType,
		Title: "The protocol version in _meta is not a string",
		Help:  "It cannot be compared with anything.",
		Fix:   "Send the date as a string.",
		Spec:  "2026-07-28/schema#requestmetaobject",
	},
	{
		ID: "meta-caps-missing", Signal: Warn, Level: Must, Revisions: R5, on: onRequest, check: metaCapsMissing,
		Title: "A request does not state the client's capabilities in _meta",
		Help:  "The server has to refuse it; it cannot know what it may ask for.",
		Fix:   "Send io.modelcontextprotocol/clientCapabilities, {} when there are none.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-caps-type", Signal: Invalid, Level: Must, Revisions: R5, on: onRequest, check: metaCapsType,
		Title: "The client's capabilities in _meta are not an object",
		Help:  "The server cannot read what the client supports.",
		Fix:   "Send an object; {} stands for none.",
		Spec:  "2026-07-28/schema#clientcapabilities",
	},
	{
		ID: "meta-clientinfo-missing", Signal: Info, Level: Note, Revisions: R5, on: onRequest, check: metaClientInfoMissing,
		Title: "A request does not say which client sent it",
		Help:  "It should, so that logs of the server can name the client.",
		Fix:   "Send io.modelcontextprotocol/clientInfo with name and version.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-implementation-shape", Signal: Invalid, Level: Must, on: onMessage, check: metaImplementation,
		Title: "clientInfo or serverInfo in _meta is no object with name and version",
		Help:  "Both are strings and required.",
		Fix:   `Send {"name":"...","version":"..."}.`,
		Spec:  "2026-07-28/schema#implementation",
	},
	{
		ID: "meta-serverinfo-missing", Signal: Info, Level: Note, Revisions: R5, on: onResult, check: metaServerInfoMissing,
		Title: "Results do not say which server made them",
		Help:  "They should, unless the server was told not to.",
		Fix:   "Send io.modelcontextprotocol/serverInfo in _meta of each result.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-serverinfo-in-result-body", Signal: Warn, Level: Should, Revisions: R5, on: onResult, methods: []string{mcp.Discover}, check: metaServerInfoInBody,
		Title: "serverInfo stands in the result of server/discover and not in _meta",
		Help:  "Drafts had it there; clients of the published revision do not look there.",
		Fix:   "Move it to result._meta as io.modelcontextprotocol/serverInfo.",
		Spec:  "2026-07-28/server/discover#discoverresult",
	},
	{
		ID: "meta-missing-accepted", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: metaMissingAccepted,
		Title: "The server answered a request that lacks required metadata",
		Help:  "It has to refuse it, so that clients notice the omission.",
		Fix:   "Answer -32602 when protocolVersion or clientCapabilities is missing.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-reject-wrong-code", Signal: Warn, Level: Should, Revisions: R5, on: onError, check: metaRejectCode,
		Title: "A request that lacks required metadata was refused with another code than -32602",
		Help:  "Clients tell by the code what to mend.",
		Fix:   "Answer -32602.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-key-format", Signal: Warn, Level: Should, Revisions: R3Up, on: onMeta, check: metaKeyFormat,
		Title: "A key of _meta is not formed as keys are",
		Help:  "A key is a name, with an optional prefix of labels with dots between them and a slash.",
		Fix:   "Use a key like com.example/name.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-reserved-prefix", Signal: Info, Level: Note, Revisions: R4Up, on: onMeta, check: metaReserved,
		Title: "A key of _meta stands in a reserved name space and is not defined",
		Help:  "Prefixes whose second label is modelcontextprotocol or mcp belong to the protocol.",
		Fix:   "Use a prefix of your own domain.",
		Spec:  "2026-07-28/basic/index#_meta",
	},
	{
		ID: "meta-traceparent", Signal: Warn, Level: Should, Revisions: R5, on: onMeta, check: metaTraceparent,
		Title: "Trace context in _meta is malformed",
		Help:  "Traces break at this message.",
		Fix:   "Send traceparent as W3C Trace Context has it: 00-traceid-spanid-flags in lower-case hex.",
		Spec:  "https://www.w3.org/TR/trace-context/#traceparent-header-field-values",
	},
	{
		ID: "meta-loglevel-value", Signal: Warn, Level: Should, Revisions: R5, on: onRequest, check: metaLogLevel,
		Title: "The log level in _meta is none of the eight",
		Help:  "The server should refuse the request.",
		Fix:   "Use debug, info, notice, warning, error, critical, alert or emergency.",
		Spec:  "2026-07-28/server/utilities/logging",
	},
	{
		ID: "result-type-missing", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: resultTypeMissing,
		Title: "A result has no resultType",
		Help:  "Clients tell by it whether the call is complete. A server that leaves it out is often an older one that ignores the metadata.",
		Fix:   `Send "resultType":"complete".`,
		Spec:  "2026-07-28/basic/index#resulttype",
	},
	{
		ID: "result-type-unknown", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: resultTypeUnknown,
		Title: "A result has a resultType that nobody defined",
		Help:  "Clients have to take such a result as invalid.",
		Fix:   "Use complete, input_required, or one of an extension that the client declared.",
		Spec:  "2026-07-28/basic/index#resulttype",
	},
	{
		ID: "result-type-in-legacy", Signal: Info, Level: Note, Revisions: Legacy, on: onResult, check: resultTypeInLegacy,
		Title: "A result of an older revision has a resultType",
		Help:  "It is harmless there.",
		Fix:   "Nothing.",
		Spec:  "2026-07-28/basic/index#resulttype",
	},
}

func metaMissing(c *ctx) {
	if c.c2s() && !c.meta.ok() && !c.cl.legacy {
		c.hitAt("/params/_meta", "%s has no params._meta", c.about())
	}
}

func metaVersionMissing(c *ctx) {
	if c.c2s() && c.meta.ok() && !c.meta.get(mcp.MetaVersion).ok() {
		c.hitAt("/params/_meta", "%s does not state %s", c.about(), mcp.MetaVersion)
	}
}

func metaVersionType(c *ctx) {
	if v := c.meta.get(mcp.MetaVersion); c.c2s() && v.ok() && !v.isString() {
		c.hit(v, "the version is %s; want a string", show(v))
	}
}

func metaCapsMissing(c *ctx) {
	if c.c2s() && c.meta.ok() && !c.meta.get(mcp.MetaClientCaps).ok() {
		c.hitAt("/params/_meta", "%s does not state %s", c.about(), mcp.MetaClientCaps)
	}
}

func metaCapsType(c *ctx) {
	if v := c.meta.get(mcp.MetaClientCaps); c.c2s() && v.ok() && !v.isObject() {
		c.hit(v, "the capabilities are %s; want an object", show(v))
	}
}

func metaClientInfoMissing(c *ctx) {
	if c.c2s() && c.meta.ok() && !c.meta.get(mcp.MetaClientInfo).ok() {
		c.hitAt("/params/_meta", "%s is not there", mcp.MetaClientInfo)
	}
}

func metaImplementation(c *ctx) {
	for _, k := range [...]string{mcp.MetaClientInfo, mcp.MetaServerInfo} {
		v := c.meta.get(k)
		if v.ok() && (!v.get("name").isString() || !v.get("version").isString()) {
			c.hit(v, "%s is %s; want an object with name and version", k, show(v))
		}
	}
}

// once reports on the server as such: one finding, whatever the call.
func (c *ctx) once(format string, args ...any) {
	method, tool := c.method, c.tool
	c.method, c.tool = "", ""
	c.hitAt("", format, args...)
	c.method, c.tool = method, tool
}

func metaServerInfoMissing(c *ctx) {
	if c.s2c() && c.result.get("resultType").ok() && !c.meta.get(mcp.MetaServerInfo).ok() {
		c.once("%s is not in _meta of the result", mcp.MetaServerInfo)
	}
}

func metaServerInfoInBody(c *ctx) {
	if c.result.get("serverInfo").ok() && !c.meta.get(mcp.MetaServerInfo).ok() {
		c.hit(c.result.get("serverInfo"), "serverInfo stands in the result itself")
	}
}

func metaMissingAccepted(c *ctx) {
	if c.s2c() && c.req != nil && c.req.unmeta && c.req.sure && !c.cl.legacy && c.result.get("resultType").ok() {
		c.hitAt("", "%s lacks required metadata and was answered with a result", c.about())
	}
}

func metaRejectCode(c *ctx) {
	if c.s2c() && c.req != nil && c.req.unmeta && c.req.sure && !c.cl.legacy && c.e.peer.modern &&
		!slices.Contains([]int{codeInvalidParams, codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion, codeMethodNotFound}, c.code()) &&
		strings.Contains(c.fail.get("message").str(), "_meta") {
		c.hitAt("/error/code", "%s lacks required metadata and was refused with %d; want %d", c.about(), c.code(), codeInvalidParams)
	}
}

var (
	metaLabel = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
	metaName  = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)
)

// legalMetaKey reports whether a key of _meta is well formed.
func legalMetaKey(k string) bool {
	prefix, name, ok := strings.Cut(k, "/")
	if !ok {
		return k != "" && metaName.MatchString(k)
	}
	return metaLabel.MatchString(prefix) && metaName.MatchString(name)
}

func metaKeyFormat(c *ctx) {
	for _, m := range c.item.each() {
		if k := m.key(); !slices.Contains(metaMembers, k) && !legalMetaKey(k) {
			c.hit(m, "the key %s is not a name with an optional prefix", quote(k))
		}
	}
}

func metaReserved(c *ctx) {
	for _, m := range c.item.each() {
		k := m.key()
		prefix, _, ok := strings.Cut(k, "/")
		labels := strings.Split(prefix, ".")
		if !ok || len(labels) < 2 || slices.Contains(metaMembers, k) || prefix == "io.modelcontextprotocol" {
			continue // extensions of the protocol have keys of their own below that prefix
		}
		if labels[1] == "modelcontextprotocol" || labels[1] == "mcp" {
			c.hit(m, "the prefix of %s is reserved", quote(k))
		}
	}
}

var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

func metaTraceparent(c *ctx) {
	if v := c.item.get("traceparent"); v.ok() && !marked(v) {
		s := v.str()
		if !traceparent.MatchString(s) || s[3:35] == strings.Repeat("0", 32) || s[36:52] == strings.Repeat("0", 16) {
			c.hit(v, "traceparent is %s", show(v))
		}
	}
	for _, k := range [...]string{"tracestate", "baggage"} {
		if v := c.item.get(k); v.ok() && !v.isString() {
			c.hit(v, "%s is %s; want a string", k, show(v))
		}
	}
}

// logLevels are the levels of RFC 5424, least urgent first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func metaLogLevel(c *ctx) {
	if v := c.meta.get(mcp.MetaLogLevel); c.c2s() && v.ok() && !slices.Contains(logLevels, v.str()) {
		c.hit(v, "the level is %s", show(v))
	}
}

func resultTypeMissing(c *ctx) {
	if c.method == mcp.Discover && !c.result.get("supportedVersions").ok() {
		return // an older server that answers whatever comes
	}
	if c.s2c() && c.result.isObject() && !c.result.get("resultType").ok() && c.method != mcp.Initialize {
		hint := ""
		if !c.e.peer.modern {
			hint = "; the server may be one of an older revision that ignores the metadata"
		}
		c.hitAt("/result/resultType", "the result of %s has no resultType%s", c.about(), hint)
	}
}

func resultTypeUnknown(c *ctx) {
	v := c.result.get("resultType")
	if !v.ok() || c.req == nil || v.is(mcp.ResultComplete) || v.is(mcp.ResultInputRequired) || v.is(mcp.ResultTask) {
		return
	}
	if c.req.caps.otherExtensions(mcp.TasksExtension) || c.e.peer.caps.otherExtensions(mcp.TasksExtension) {
		return // an extension may define it
	}
	if v.typ() != wire.String || !marked(v) {
		c.hit(v, "resultType is %s", show(v))
	}
}

func resultTypeInLegacy(c *ctx) {
	if v := c.result.get("resultType"); v.ok() && c.s2c() {
		c.hit(v, "resultType is new in 2026-07-28")
	}
}
