package checks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// newRequest makes what is remembered of the request in the frame.
func (c *ctx) newRequest() *request {
	r := c.e.spare
	if r == nil {
		r = &request{}
	}
	c.e.spare = nil
	*r = request{
		op: c.ev.OpIndex, frame: c.ev.Index, seq: c.rec.Seq, line: c.ev.Item.Line, segment: c.ev.Item.Ref.Segment, ts: c.ev.Frame.TS, id: c.ev.Msg.ID, client: c.c2s(),
		method: c.method, mi: c.mi, tool: c.target(), rev: c.rev, sure: c.sure, x: c.x, cut: c.rec.Truncated || !c.root.ok(),
		cl: c.cl, batch: c.rec.Batch, auth: c.authOf(), task: c.params.get("task").isObject(), answers: c.taskAnswers(),
	}
	if v := c.meta.get(mcp.MetaVersion); v.isString() {
		r.version = c.e.intern([]byte(v.str()))
	}
	if v := c.meta.get(mcp.MetaClientCaps); v.ok() {
		r.caps = c.e.capsOf(v)
	}
	if v := c.meta.get("progressToken"); v.ok() {
		r.token = wire.ParseID(v.raw())
	}
	if v := c.meta.get(mcp.MetaLogLevel); v.isString() {
		r.logLevel = c.e.intern([]byte(v.str()))
	}
	if v := c.params.get("cursor"); v.ok() {
		r.cursor = string(v.raw())
	}
	r.reader = c.reader()
	if c.rev == R5 {
		r.cacheKey = c.cacheKey()
		if r.client && r.cursor == "" && slices.Contains(cacheable, c.method) {
			r.pollKey = c.pollKey()
		}
		r.hash = c.hashArgs()
		if c.http() {
			r.body = hashText(c.method) ^ hashText(c.params.raw())
		}
	}
	if r.client && c.rev == R5 && !r.cut {
		r.unmeta = !c.meta.get(mcp.MetaVersion).ok() || !c.meta.get(mcp.MetaClientCaps).ok()
	}
	switch {
	case !r.client:
		r.q = questionOf(r.method, c.params, c.rev)
	case c.method == mcp.ToolsCall:
		r.def = c.toolDef(r.tool)
	case c.method == mcp.PromptsGet:
		r.lacks = c.lacksArgument(r.tool)
	}
	return r
}

// learn takes the frame into what is known.
func (c *ctx) learn() {
	if c.c2s() && c.ev.Msg.Kind != wire.Other {
		c.cl.shake.calls++
	}
	if c.x != nil {
		c.learnExchange()
	}
	switch c.ev.Msg.Kind {
	case wire.Request:
		c.learnRequest()
	case wire.Notification:
		c.learnNotification()
	case wire.Result, wire.Error:
		if c.x != nil && c.c2s() {
			c.x.notes++
			c.x.answers = true
		}
		if c.req != nil {
			c.learnAnswer()
			if c.x == nil {
				c.e.spare = c.req // nothing points to it any more
			}
		}
	case wire.Other:
	}
	c.learnMore()
	c.cl.said[dirIndex(c.c2s())] = true
	c.e.batch = batchState{c.rec.Batch, c.rec.Direction, c.ev.Frame.TS, c.rec.Exchange}
}

func (c *ctx) learnRequest() {
	r, cl := c.req, c.cl
	switch {
	case c.method == mcp.Initialize && r.client:
		cl.legacy = true
		cl.ids = [2]idSet{} // a new session of the protocol
		h := &cl.shake
		h.asked, h.failed, h.offer, h.batch = true, false, c.params.get("protocolVersion").str(), r.batch
		cl.client = c.e.capsOf(c.params.get("capabilities"))
	case c.rev == R5 && c.sure && r.client:
		cl.modern = true
	case r.client && !cl.legacy && cl.shake.first.seq == 0:
		cl.shake.first = c.pos()
		cl.shake.early = c.method != mcp.Ping
	}
	if r.token != "" {
		cl.tokens.offer(r.client, r.token, r)
	}
	if c.method == mcp.Listen && r.client {
		if cl.listens == nil {
			cl.listens = map[wire.ID]*listen{}
		}
		if len(cl.listens) < maxListens {
			cl.listens[r.id] = c.newListen()
		}
	}
	if r.client && c.x != nil {
		c.x.reqs = append(c.x.reqs, r)
	}
	cl.cut = cl.cut || r.cut
	if c.ev.Op != nil && len(c.e.open) < maxOpen {
		c.e.open[c.ev.OpIndex] = r
	}
	c.learnInputs()
}

func (c *ctx) learnNotification() {
	if c.x != nil && c.c2s() {
		c.x.notes++
		c.x.calls = true
	}
	switch c.method {
	case mcp.Initialized:
		c.cl.shake.initialized = true
		if c.http() && c.rec.MCPSession == "" {
			c.e.web.initialized = true
		}
	case mcp.CancelledNote:
		c.learnCancel()
	case mcp.ProgressNote:
		c.learnProgress()
	case mcp.ToolsChanged:
		if c.s2c() {
			c.cl.toolsStale = true
			c.e.reg.notices++
		}
	case mcp.Acknowledged:
		if l := c.cl.listens[c.subscription()]; l != nil {
			l.acked = true
			l.grant(c.params.get("notifications"))
		}
	}
}

// subscription is the id of the subscription that the message names.
func (c *ctx) subscription() wire.ID {
	return wire.ParseID(c.meta.get(mcp.MetaSubscription).raw())
}

// learnCancel notes that a request was given up. It is kept for the answer
// that may still come, but not for ever.
func (c *ctx) learnCancel() {
	if c.req == nil {
		return
	}
	c.req.cancelled = true
	c.req.cancelSeq, c.req.cancelTS = c.rec.Seq, c.ev.Frame.TS
	e := c.e
	if e.stale = append(e.stale, c.ev.OpIndex); len(e.stale) > maxCancelled {
		delete(e.open, e.stale[0])
		e.stale = e.stale[1:]
	}
}

func (c *ctx) learnProgress() {
	p := c.progress()
	if p == nil || c.resumed() {
		return
	}
	p.learnPace(c)
	if n, ok := c.params.get("progress").num(); ok {
		p.last, p.any, p.stream = n, true, c.x
	}
}

// progress is the token that a progress notification names, nil when the other
// side did not offer it.
func (c *ctx) progress() *progress {
	v := c.params.get("progressToken")
	if !v.ok() {
		return nil
	}
	return c.cl.tokens.get(c.s2c(), wire.ParseID(v.raw()))
}

// resumed reports whether the frame came on a stream that brings again what
// was sent before.
func (c *ctx) resumed() bool { return c.x != nil && c.x.resumed || c.ev.Frame.Has(store.Replayed) }

func (c *ctx) learnAnswer() {
	r, cl, e := c.req, c.cl, c.e
	delete(e.open, c.ev.OpIndex)
	if c.ev.Msg.Kind == wire.Result && mcp.AsksForInput(c.method) {
		e.heaviest.see(int64(c.ev.Frame.Size), func() string { return c.about() + " (id " + string(r.id) + ")" })
	}
	cl.ids[dirIndex(r.client)].add(r.id)
	if c.x != nil && c.s2c() {
		c.x.done++
	}
	if r.token != "" {
		if p := cl.tokens.get(r.client, r.token); p != nil && p.id == r.id {
			p.answered, p.answerOn = true, c.x
			p.task = c.result.get("task").ok() || c.result.get("resultType").is(mcp.ResultTask)
			p.taskID = c.result.at("task", "taskId").str()
		}
	}
	if c.result.get("task").isObject() || c.result.get("resultType").is(mcp.ResultTask) {
		cl.task(r)
	}
	if !r.client {
		return
	}
	cl.answered = max(cl.answered, r.seq)
	c.learnRole()
	if c.result.ok() && strings.HasSuffix(c.method, "/list") {
		c.learnCursor()
	}
	switch {
	case c.method == mcp.ToolsList && c.result.ok():
		c.learnTools()
	case c.method == mcp.ResourcesList && c.result.ok():
		c.learnResources()
	case c.method == mcp.PromptsList && c.result.ok():
		c.learnPrompts()
	case c.method == mcp.TemplatesList && c.result.ok():
		list := c.result.get("resourceTemplates")
		e.listed.templates = list.isArray() && list.len() == 0 && !c.result.get("nextCursor").ok()
	case c.method == mcp.Listen:
		if l := cl.listens[r.id]; l != nil {
			l.ended = true
		}
	case c.result.get("resultType").is(mcp.ResultInputRequired):
		c.learnAsked()
	}
}

func (c *ctx) learnResources() {
	l := &c.e.listed
	if c.req.cursor == "" {
		l.uris, l.walking, l.complete = map[uint64]bool{}, true, false
	}
	for _, r := range c.result.get("resources").each() {
		if l.uris != nil && len(l.uris) < maxIDs {
			l.uris[hashText(r.get("uri").str())] = true
		}
	}
	if l.walking && !c.result.get("nextCursor").ok() {
		l.complete, l.walking = true, false
	}
}

// learnRole takes from an answer of the server what it says of the server.
func (c *ctx) learnRole() {
	r, cl, e := c.req, c.cl, c.e
	h := &cl.shake
	code := c.code()
	switch {
	case c.method == mcp.Initialize:
		h.asked = false
		if c.fail.ok() {
			h.failed = !h.done
			break
		}
		h.done, h.failed, h.answer = true, false, c.result.get("protocolVersion").str()
		cl.server = e.capsOf(c.result.get("capabilities"))
		e.peer.differ = e.peer.differ || e.peer.legacy != nil && e.peer.legacy != cl.server
		e.peer.legacy = cl.server
		if c.rev.within(Legacy) && c.rev != Legacy {
			cl.negotiated = c.rev
		}
		if c.http() && c.rec.MCPSession != "" {
			cl.session = c.rec.MCPSession
		}
	case c.method == mcp.Discover:
		c.learnDiscover(code)
	case r.rev == R5 && c.result.get("resultType").ok():
		e.peer.modern = true
	}
	if h.done && c.method != mcp.Initialize && c.method != mcp.Ping && r.version == "" {
		h.worked = true
		h.last = r.pos()
	}
	if code == codeUnsupportedVersion {
		e.peer.refuse(c, r.version)
		h.modernOnly = c.onlyModernSupported()
	}
}

func (c *ctx) learnDiscover(code int) {
	e := c.e
	if c.result.get("supportedVersions").ok() {
		e.peer.modern = true
		e.peer.caps = e.capsOf(c.result.get("capabilities"))
		e.peer.versions = nil
		for _, v := range c.result.get("supportedVersions").each() {
			if len(e.peer.versions) < 64 {
				e.peer.versions = append(e.peer.versions, v.str())
			}
		}
		return
	}
	c.cl.shake.probe = code
	if code == codeMethodNotFound && e.peer.refused.seq == 0 {
		e.peer.refused = c.pos()
	}
}

// code is the code of an error response, 0 for none.
func (c *ctx) code() int {
	v := c.fail.get("code")
	if !v.isInt() {
		return 0
	}
	n, err := strconv.Atoi(string(wire.ParseID(v.raw())))
	if err != nil {
		return 0
	}
	return n
}

// Error codes that rules are about (basic/index#error-codes).
const (
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

func (c *ctx) learnExchange() {
	x, f := c.x, c.facts()
	if c.c2s() {
		x.begun = true
		if !x.hasPos {
			x.at, x.hasPos = c.pos(), true
		}
		if f.Method != "" {
			x.verb = f.Method
		}
		if f.LastEventID != "" {
			x.resumed = true
			x.resumeOf = c.e.web.events[hashText(f.LastEventID)^uint64(c.ev.Client+1)*0x9E3779B97F4A7C15]
		}
		if c.rec.MCPProtocolVersion != "" {
			x.version = c.rec.MCPProtocolVersion
		}
		if f.Path != "" {
			x.path = f.Path
		}
		x.session = x.session || c.rec.MCPSession != ""
		if c.rec.MCPSession != "" {
			x.sess = c.rec.MCPSession
		}
		if f.Origin != "" {
			x.origin, x.host = f.Origin, f.Host
		}
		x.hasAuth = x.hasAuth || c.rec.Auth != nil && c.rec.Auth.Present
		if x.rev == 0 || x.rev == AnyRev {
			x.rev, x.sure = c.rev, c.sure
			if r := c.ofHeader(); r != 0 && c.rev != R5 {
				x.rev, x.sure = r, true
			}
		}
		return
	}
	if c.rec.Status > 0 {
		x.status = c.rec.Status
	}
	if x.status == 404 && x.sess != "" && c.rec.Status == 404 && c.code() != codeMethodNotFound && !x.guessed {
		c.e.web.bury(x.sess, c.ev.Frame.TS)
	}
	c.learnStream()
	x.lines++
	if c.rec.HasBody() {
		x.body = true
	}
}

func (c *ctx) learnStream() {
	x, f := c.x, c.facts()
	if f.ContentType != "" {
		x.ctype = media(f.ContentType)
	}
	x.stream = x.stream || x.ctype == "text/event-stream" || f.SSE != nil || c.ev.Frame.Has(store.StreamHead)
	if f.SSE != nil {
		if x.events == 0 {
			x.first = f.SSE.Event
		}
		if f.SSE.Event == "endpoint" && x.verb != "POST" {
			c.e.web.oldSSE = true
			c.e.picked = [triggers][]*[sets][]*Rule{}
		}
		if k, ok := c.eventKey(); ok {
			c.e.web.event(k, x)
		}
		x.events++
		x.ids = x.ids || f.SSE.HasID
		if f.SSE.HasRetry {
			x.retry = f.SSE.Retry
			c.cl.resume.retry = f.SSE.Retry
		}
	}
	if x.stream && c.ev.Msg.ID != "" && c.ev.Msg.Kind != wire.Other && c.root.ok() && !x.guessed && !x.resumed {
		c.e.web.message(c.messageKey(), x)
	}
	if f.End != "" {
		x.endedTS = c.ev.Frame.TS
		c.cl.resume.ended = c.ev.Frame.TS
	}
}
