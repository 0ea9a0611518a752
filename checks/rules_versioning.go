package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Choosing a version, and server/discover (2026-07-28, basic/versioning).
var versioningRules = []Rule{
	{
		ID: "version-unsupported-accepted", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: versionAccepted,
		Title: "The server answered a version that it says it does not support",
		Help:  "server/discover does not list the version, so the request had to be refused with -32022.",
		Fix:   "List the version, or refuse it.",
		Spec:  "2026-07-28/basic/versioning#protocol-version-negotiation",
	},
	{
		ID: "discover-result-shape", Signal: Invalid, Level: Must, Revisions: R5, on: onResult, methods: []string{mcp.Discover}, check: discoverShape,
		Title: "The answer to server/discover lacks a member, or has it in another type",
		Help:  "supportedVersions (at least one), capabilities, ttlMs and cacheScope are required.",
		Fix:   "Send all of them.",
		Spec:  "2026-07-28/server/discover#discoverresult",
	},
	{
		ID: "discover-omits-own-version", Signal: Warn, Level: Must, Revisions: R5, on: onResult, methods: []string{mcp.Discover}, check: discoverOmits,
		Title: "server/discover answers in a version that it does not list",
		Help:  "A client has to conclude that it may not go on in the version it just used.",
		Fix:   "List the version of the request, or refuse it with -32022.",
		Spec:  "2026-07-28/basic/versioning#protocol-version-negotiation",
	},
	{
		ID: "discover-unimplemented", Signal: Warn, Level: Must, Revisions: R5, on: onResponse, check: discoverUnimplemented,
		Title: "The server speaks 2026-07-28 and does not implement server/discover",
		Help:  "Clients take the refusal as the sign of an older server and fall back to initialize.",
		Fix:   "Implement server/discover; it is required.",
		Spec:  "2026-07-28/server/discover",
	},
	{
		ID: "unsupported-version-shape", Signal: Invalid, Level: Must, Revisions: R5, on: onError, check: unsupportedShape,
		Title: "The error -32022 does not say which versions are supported",
		Help:  "The client cannot choose another one.",
		Fix:   "Send data.supported, an array of versions, and data.requested.",
		Spec:  "2026-07-28/schema#unsupportedprotocolversionerror",
	},
	{
		ID: "unsupported-version-contradiction", Signal: Warn, Level: Must, Revisions: R5, on: onError, check: unsupportedContradiction,
		Title: "The error -32022 contradicts its request",
		Help:  "It lists the version that was asked for as supported, or names another one as requested.",
		Fix:   "Compare with the version in _meta of the request.",
		Spec:  "2026-07-28/schema#unsupportedprotocolversionerror",
	},
	{
		ID: "unsupported-version-retry-ignored", Signal: Warn, Level: Should, Revisions: R5, on: onRequest, check: retryIgnored,
		Title: "The client repeats a version that the server has refused",
		Help:  "It will be refused again.",
		Fix:   "Choose one of the versions that the error names.",
		Spec:  "2026-07-28/basic/versioning#protocol-version-negotiation",
	},
	{
		ID: "capability-missing-shape", Signal: Invalid, Level: Must, Revisions: R5, on: onError, check: capabilityShape,
		Title: "The error -32021 does not say which capabilities are required",
		Help:  "The client cannot tell what it lacks.",
		Fix:   "Send data.requiredCapabilities in the form of clientCapabilities.",
		Spec:  "2026-07-28/schema#missingrequiredclientcapabilityerror",
	},
	{
		ID: "capability-missing-contradiction", Signal: Warn, Level: Must, Revisions: R5, on: onError, check: capabilityContradiction,
		Title: "The error -32021 asks for capabilities that the request declared",
		Help:  "The client has nothing to add.",
		Fix:   "Read clientCapabilities of this request, not of another one.",
		Spec:  "2026-07-28/schema#missingrequiredclientcapabilityerror",
	},
	{
		ID: "stateful-dependence", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onResponse, check: statefulDependence,
		Title: "The same request works on one connection and not on another",
		Help:  "The server seems to keep state of the connection, which the revision has done away with.",
		Fix:   "Take everything that is needed from the request.",
		Spec:  "2026-07-28/basic/index#statelessness",
	},
}

func versionAccepted(c *ctx) {
	p := &c.e.peer
	if c.s2c() && c.req != nil && c.method != mcp.Discover && len(p.versions) > 0 && mcp.Revision(c.req.version).Known() &&
		!slices.Contains(p.versions, c.req.version) {
		c.hitAt("", "version %s is not among %s of server/discover", c.req.version, strings.Join(p.versions, ", "))
	}
}

func discoverShape(c *ctx) {
	list := c.result.get("supportedVersions")
	if !list.ok() && !c.result.get("resultType").ok() {
		return // an older server that answers whatever comes
	}
	strs := list.isArray() && list.len() > 0
	for _, v := range list.each() {
		strs = strs && v.isString()
	}
	if !strs {
		c.hitAt("/result/supportedVersions", "supportedVersions is %s; want versions", show(list))
	}
	c.wants(c.result, "/result", want{wire.Object, []string{"capabilities"}}, want{wire.Number, []string{"ttlMs"}}, want{wire.String, []string{"cacheScope"}})
}

func discoverOmits(c *ctx) {
	list := c.result.get("supportedVersions")
	if c.req == nil || c.req.version == "" || list.len() == 0 {
		return
	}
	for _, v := range list.each() {
		if v.is(c.req.version) {
			return
		}
	}
	c.hit(list, "version %s of the request is not among %s", c.req.version, show(list))
}

// discoverUnimplemented fires where both are known: that the server speaks the
// revision, and that it refuses the method.
func discoverUnimplemented(c *ctx) {
	p := &c.e.peer
	refusal := c.method == mcp.Discover && c.code() == codeMethodNotFound
	answer := c.result.get("resultType").ok() && c.req != nil && c.req.sure
	if p.told || c.cl.legacy || c.c2s() {
		return
	}
	if refusal && p.modern {
		p.told = true
		c.hitAt("", "server/discover was refused, and other requests of this revision are answered")
	}
	if answer && p.refused.seq > 0 {
		p.told = true
		c.hitPos(p.refused, "", "server/discover was refused, and %s (#%d) is answered as this revision has it", c.about(), c.rec.Seq)
	}
}

func unsupportedShape(c *ctx) {
	if c.code() != codeUnsupportedVersion {
		return
	}
	list := c.fail.at("data", "supported")
	ok := list.isArray()
	for _, v := range list.each() {
		ok = ok && v.isString()
	}
	if !ok {
		c.hitAt("/error/data/supported", "data.supported is %s; want an array of versions", show(list))
	}
	if v := c.fail.at("data", "requested"); !v.isString() {
		c.hitAt("/error/data/requested", "data.requested is %s; want the version that was asked for", show(v))
	}
}

func unsupportedContradiction(c *ctx) {
	if c.code() != codeUnsupportedVersion || c.req == nil || c.req.version == "" {
		return
	}
	for _, v := range c.fail.at("data", "supported").each() {
		if v.is(c.req.version) {
			c.hit(v, "%s was refused and is listed as supported", c.req.version)
		}
	}
	if v := c.fail.at("data", "requested"); v.isString() && !v.is(c.req.version) {
		c.hit(v, "%s was asked for, the error says %s", c.req.version, show(v))
	}
}

// reactTime is how long what was already on its way may still arrive.
const reactTime = 250 * time.Millisecond

func retryIgnored(c *ctx) {
	at, ok := c.e.peer.rejected[c.req.version]
	if ok && c.c2s() && c.req.version != "" && c.ev.Frame.TS-at > int64(reactTime) {
		c.hitAt("/params/_meta", "the server refused version %s before", c.req.version)
	}
}

func capabilityShape(c *ctx) {
	if v := c.fail.at("data", "requiredCapabilities"); c.code() == codeMissingCapability && (!v.isObject() || v.len() == 0) {
		c.hitAt("/error/data/requiredCapabilities", "data.requiredCapabilities is %s; want an object that names them", show(v))
	}
}

func capabilityContradiction(c *ctx) {
	v := c.fail.at("data", "requiredCapabilities")
	if c.code() != codeMissingCapability || c.req == nil || c.req.caps == nil || !v.isObject() || v.len() == 0 {
		return
	}
	need := c.e.capsOf(v)
	for _, p := range need.paths {
		if p == "elicitation.form" && c.req.caps.elicits("form") {
			continue
		}
		if !c.req.caps.has(p) {
			return
		}
	}
	c.hit(v, "the request declares all of %s", show(v))
}

// stateWords are how servers say that they miss state of the connection.
var stateWords = []string{"not initialized", "session"}

func statefulDependence(c *ctx) {
	if c.c2s() || c.req == nil || c.rec.ConnID == "" || c.req.body == 0 {
		return
	}
	w := &c.e.web
	if c.result.ok() {
		if w.worked == nil {
			w.worked = map[uint64]string{}
		}
		if len(w.worked) < maxClients {
			w.worked[c.req.body] = c.rec.ConnID
		}
		return
	}
	text := strings.ToLower(c.fail.get("message").str())
	if conn, ok := w.worked[c.req.body]; ok && conn != c.rec.ConnID && slices.ContainsFunc(stateWords, func(s string) bool { return strings.Contains(text, s) }) {
		c.hitAt("", "the same request was answered on another connection; here: %s", show(c.fail.get("message")))
	}
}
