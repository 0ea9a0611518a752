package checks

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const (
	pagePage  = "2026-07-28/server/utilities/pagination"
	cachePage = "2026-07-28/server/utilities/caching"
)

// paged are the methods that have pages, cacheable those that may be cached.
var (
	paged     = []string{mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList, mcp.TasksList}
	cacheable = []string{mcp.Discover, mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList, mcp.ResourcesRead}
	unpaged   = []string{mcp.ToolsCall, mcp.PromptsGet, mcp.ResourcesRead, mcp.Complete, mcp.Discover, mcp.Ping}
)

// More on pages and caching.
var cacheRules = []Rule{
	{
		ID: "page-cursor-type", Signal: Invalid, Level: Must, on: onRequest | onResult, methods: paged, check: cursorType,
		Title: "A cursor is not a string",
		Help:  "The other side cannot go on from it. null, for the last page, is common and not legal.",
		Fix:   "Send a string; leave nextCursor out on the last page.",
		Spec:  pagePage + "#response-format",
	},
	{
		ID: "page-cursor-invented", Signal: Warn, Level: Should, on: onRequest, methods: paged, check: cursorInvented,
		Title: "The client sends a cursor that it was not given",
		Help:  "Cursors are opaque; a server may refuse what it has not made.",
		Fix:   "Send nextCursor of the page before as it is.",
		Spec:  pagePage + "#implementation-guidelines",
	},
	{
		ID: "page-cursor-other-list", Signal: Warn, Level: Must, on: onRequest, methods: paged, check: cursorOther,
		Title: "The client sends a cursor of another list",
		Help:  "It means nothing in this one.",
		Fix:   "Keep a cursor for each list.",
		Spec:  pagePage + "#implementation-guidelines",
	},
	{
		ID: "page-cursor-empty-stop", Signal: Info, Level: Note, on: onEnd, check: cursorEmpty,
		Title: "The client stopped at a nextCursor that is an empty string",
		Help:  "It is a cursor like any other: there are more pages.",
		Fix:   "Stop where nextCursor is missing; servers do well to avoid empty cursors.",
		Spec:  pagePage + "#response-format",
	},
	{
		ID: "page-on-unpaged", Signal: Info, Level: Note, on: onRequest, methods: unpaged, check: cursorUnpaged,
		Title: "A cursor on a method that has no pages",
		Help:  "It is ignored.",
		Fix:   "Leave it out.",
		Spec:  pagePage + "#operations-supporting-pagination",
	},
	{
		ID: "page-invalid-cursor-code", Signal: Info, Level: Note, on: onError, methods: paged, check: cursorCode,
		Title: "An invalid cursor is not reported with -32602",
		Help:  "Clients tell by the code that they have to begin anew.",
		Fix:   "Send -32602.",
		Spec:  pagePage + "#error-handling",
	},
	{
		ID: "cache-ttl", Signal: Invalid, Level: Must, Revisions: R5, on: onResult, methods: cacheable, check: cacheTTL,
		Title: "ttlMs is not a whole number from 0 on",
		Help:  "Clients cannot tell how long the result holds.",
		Fix:   "Send milliseconds; 0 for what must not be cached.",
		Spec:  cachePage + "#time-to-live-ttl-field",
	},
	{
		ID: "cache-scope-value", Signal: Invalid, Level: Must, Revisions: R5, on: onResult, methods: cacheable, check: cacheScope,
		Title: "cacheScope is neither public nor private",
		Help:  "Gateways cannot tell who else may get the result.",
		Fix:   "Use private when in doubt.",
		Spec:  cachePage + "#cache-scope-field",
	},
	{
		ID: "cache-scope-pages", Signal: Warn, Level: Must, Revisions: R5, on: onResult, methods: paged, check: cachePages,
		Title: "Pages of one list have different cacheScope",
		Help:  "A list is cached as a whole.",
		Fix:   "Send the same on all pages.",
		Spec:  cachePage + "#interaction-with-pagination",
	},
	{
		ID: "cache-public-read-private", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onResult, methods: []string{mcp.ResourcesRead}, check: cachePublic,
		Title: "A resource that was read with a credential may be cached for everybody",
		Help:  "public says that nothing of it depends on who asks.",
		Fix:   "Use private unless that is so.",
		Spec:  cachePage + "#security-considerations",
	},
	{
		ID: "cache-hints-elsewhere", Signal: Info, Level: Note, Revisions: R5, on: onResult, methods: []string{mcp.ToolsCall, mcp.PromptsGet, mcp.Complete}, check: cacheElsewhere,
		Title: "Hints on caching on a result that is not cached",
		Help:  "Clients ignore them.",
		Fix:   "Leave them out.",
		Spec:  cachePage + "#cacheable-results",
	},
	{
		ID: "cache-hints-legacy", Signal: Info, Level: Note, Revisions: Legacy, on: onResult, methods: cacheable, check: cacheLegacy,
		Title: "Hints on caching in a revision without them",
		Help:  "They exist since 2026-07-28; older clients ignore them.",
		Fix:   "Nothing.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "cache-refetch-storm", Signal: Info, Level: Note, Revisions: R5, on: onRequest, methods: []string{mcp.ToolsList}, check: cacheStorm,
		Title: "The list of tools is read again and again while it is fresh",
		Help:  "The server said for how long it holds, and no change was announced.",
		Fix:   "Keep the list for ttlMs.",
		Spec:  cachePage + "#freshness-calculation",
	},
	{
		ID: "ext-ui-undeclared", Signal: Info, Level: Note, Revisions: R5, on: onResult, methods: []string{mcp.ToolsList}, check: uiUndeclared,
		Title: "A tool has a user interface that the client does not declare to show",
		Help:  "The client ignores it.",
		Fix:   "Nothing; the tool has to work without.",
		Spec:  "https://modelcontextprotocol.io/extensions/apps/overview",
	},
	{
		ID: "ext-ui-mime", Signal: Warn, Level: Should, Revisions: R5, on: onResult, methods: []string{mcp.ResourcesRead}, check: uiMIME,
		Title: "A user interface of a tool has another media type than hosts look for",
		Help:  "Hosts show ui:// resources of the type text/html;profile=mcp-app.",
		Fix:   "Send that mimeType.",
		Spec:  "https://modelcontextprotocol.io/extensions/apps/overview",
	},
	{
		ID: "ext-experimental", Signal: Info, Level: Note, on: onCaps, check: extExperimental,
		Title: "Experimental capabilities are declared",
		Help:  "What they mean is between this client and this server.",
		Fix:   "Nothing.",
		Spec:  "2026-07-28/basic/versioning",
	},
	{
		ID: "ext-unknown", Signal: Info, Level: Note, Revisions: R5, on: onCaps, check: extUnknown,
		Title: "An extension is declared that these rules do not know",
		Help:  "Its messages are judged by the rules of JSON-RPC alone.",
		Fix:   "Nothing.",
		Spec:  "2026-07-28/basic/versioning",
	},
}

func cursorType(c *ctx) {
	for _, v := range [...]val{c.params.get("cursor"), c.result.get("nextCursor")} {
		switch {
		case v.isNull():
			c.hitLess(v, "%s is null; leave it out", v.key())
		case v.ok() && !v.isString():
			c.hit(v, "%s is %s; want a string", v.key(), show(v))
		}
	}
}

// issued reports whether the server gave out a cursor in the walk of a method.
func (cl *client) issued(method string, h uint64) bool {
	w := cl.walks[method]
	return w != nil && w.seen[h]
}

// strangeCursor is the cursor of the request when no page of its list named it
// although all pages are in the log.
func (c *ctx) strangeCursor() (v val, h uint64) {
	v = c.params.get("cursor")
	if !c.c2s() || !v.isString() || marked(v) || !c.e.log.whole() || !c.cl.legacy && !c.stdio() || c.http() && c.rec.MCPSession == "" {
		return val{}, 0
	}
	h = hashText(v.raw())
	if c.cl.issued(c.method, h) || c.cl.pages.has(c.method, h) || c.cl.pages.full {
		return val{}, 0
	}
	return v, h
}

// others reports whether another list of the client named the cursor.
func (c *ctx) others(h uint64) string {
	for _, m := range paged {
		if m != c.method && c.cl.pages.has(m, h) {
			return m
		}
	}
	return ""
}

func cursorInvented(c *ctx) {
	if v, h := c.strangeCursor(); v.ok() && c.others(h) == "" {
		c.hit(v, "no page of %s named the cursor %s", c.method, show(v))
	}
}

// cursorOther leaves short cursors alone, which can be equal by chance.
func cursorOther(c *ctx) {
	if v, h := c.strangeCursor(); v.ok() && len(v.raw()) > 8 {
		if m := c.others(h); m != "" {
			c.hit(v, "the cursor %s is one of %s", show(v), m)
		}
	}
}

func cursorEmpty(c *ctx) {
	for _, cl := range c.e.clients {
		for _, m := range paged {
			if p, ok := cl.pages.empty[m]; ok && !c.e.log.lossy {
				c.hitPos(p, "/result/nextCursor", `%s named the cursor "", and the next page was not read`, m)
			}
		}
	}
}

func cursorUnpaged(c *ctx) {
	if v := c.params.get("cursor"); v.ok() {
		c.hit(v, "%s has no pages", c.method)
	}
}

var badCursor = regexp.MustCompile(`(?i)\b(invalid|unknown|bad|expired) cursor\b`)

func cursorCode(c *ctx) {
	if m := c.fail.get("message"); c.req != nil && c.req.cursor != "" && c.code() != codeInvalidParams && badCursor.MatchString(m.str()) {
		c.hitAt("/error/code", "the code is %d, the message %s", c.code(), show(m))
	}
}

func cacheTTL(c *ctx) {
	v := c.result.get("ttlMs")
	if n, ok := v.num(); v.ok() && (!ok || n < 0 || !v.isInt()) {
		c.hit(v, "ttlMs is %s", show(v))
	}
}

func cacheScope(c *ctx) {
	if v := c.result.get("cacheScope"); v.ok() && !v.is("public") && !v.is("private") {
		c.hit(v, "cacheScope is %s", show(v))
	}
}

func cachePages(c *ctx) {
	v := c.result.get("cacheScope")
	if c.req == nil || c.req.cursor == "" || !v.isString() {
		return
	}
	if s := c.cl.pages.scope[hashText(c.method)^hashText(c.req.cursor)]; s != "" && s != v.str() {
		c.hit(v, "cacheScope is %s, and the page before has %s", show(v), quote(s))
	}
}

func cachePublic(c *ctx) {
	if v := c.result.get("cacheScope"); v.is("public") && c.req != nil && c.req.auth != "" {
		c.hit(v, "cacheScope is public, and the request has a credential")
	}
}

func cacheElsewhere(c *ctx) {
	if v := c.result.get("ttlMs"); v.ok() && !c.asksInput() {
		c.hit(v, "%s has ttlMs", c.method)
	}
}

func cacheLegacy(c *ctx) {
	if v := c.result.get("ttlMs"); v.ok() && c.sure {
		c.hit(v, "%s has ttlMs", c.method)
	}
}

func cacheStorm(c *ctx) {
	p := &c.cl.pages
	if c.c2s() && c.req.cursor == "" && p.rereads >= 10 && c.ev.Frame.TS < p.fresh && !c.cl.toolsStale {
		c.hitAt("", "the list of #%d was fresh, and was read %d times since", p.seq, p.rereads+1)
	}
}

// pages is what is known of pages and freshness, for one client.
type pages struct {
	cursors map[uint64]bool // hashes of method and cursor
	full    bool
	empty   map[string]pos    // pages that named the cursor ""
	scope   map[uint64]string // cacheScope of the page that named a cursor

	seq     uint64 // of the newest list of tools with a ttl
	fresh   int64
	rereads int
}

func (p *pages) has(method string, h uint64) bool { return p.cursors[hashText(method)^h] }

// learnCursors takes from a request and a page of a list what rules on pages need.
func (c *ctx) learnCursors() {
	p := &c.cl.pages
	if c.params.ok() || !c.result.ok() {
		if c.req != nil && c.req.cursor == `""` {
			delete(p.empty, c.method)
		}
		if c.req != nil && c.req.cursor == "" && c.method == mcp.ToolsList {
			p.rereads++
		}
		return
	}
	c.learnFresh()
	v := c.result.get("nextCursor")
	if !v.isString() {
		return
	}
	if p.cursors == nil {
		p.cursors, p.empty, p.scope = map[uint64]bool{}, map[string]pos{}, map[uint64]string{}
	}
	if v.is("") && (c.stdio() || c.cl.session != "") { // else the next page may be read on another connection
		p.empty[c.method] = c.pos()
	}
	if len(p.cursors) >= maxCursors {
		p.full = true
		return
	}
	h := hashText(c.method) ^ hashText(v.raw())
	p.cursors[h] = true
	if s := c.result.get("cacheScope"); s.isString() && len(s.raw()) < 16 {
		p.scope[h] = s.str()
	}
}

// learnFresh notes until when a list of tools holds: one that was read anew
// within that time does not make it longer.
func (c *ctx) learnFresh() {
	p := &c.cl.pages
	n, ok := c.result.get("ttlMs").num()
	if c.method != mcp.ToolsList || c.req == nil || c.req.cursor != "" || !ok || n <= 0 || n > 1e12 {
		return
	}
	if ts := c.ev.Frame.TS; ts >= p.fresh || c.cl.pages.seq == 0 {
		p.seq, p.fresh, p.rereads = c.rec.Seq, ts+int64(n)*1e6, 0
	}
}

const (
	uiExtension = "io.modelcontextprotocol/ui"
	uiType      = "text/html;profile=mcp-app"
)

func uiUndeclared(c *ctx) {
	if c.req == nil || c.req.caps == nil || c.req.caps.extension(uiExtension) {
		return
	}
	for _, t := range c.result.get("tools").each() {
		if v := t.at("_meta", "ui", "resourceUri"); v.ok() {
			c.once("a tool names %s, and the client does not declare %s", show(v), uiExtension)
			return
		}
	}
}

// uiMIME needs a client that shows user interfaces of this kind.
func uiMIME(c *ctx) {
	if c.req == nil || !c.req.caps.extension(uiExtension) {
		return
	}
	for _, v := range c.result.get("contents").each() {
		m := v.get("mimeType")
		if strings.HasPrefix(v.get("uri").str(), "ui://") && strings.ReplaceAll(strings.ToLower(m.str()), " ", "") != uiType && !m.is("text/html+skybridge") {
			c.hit(v, "the mimeType is %s", show(m))
		}
	}
}

func extExperimental(c *ctx) {
	if v := c.item.get("experimental"); v.len() > 0 {
		c.hitUse("experimental capabilities are declared")
	}
}

var knownExtensions = []string{mcp.TasksExtension, uiExtension}

func extUnknown(c *ctx) {
	for _, v := range c.item.get("extensions").each() {
		if k := v.key(); !slices.Contains(knownExtensions, k) {
			c.hitUse("the extension " + quote(k) + " is declared")
		}
	}
}
