package checks

import (
	"bytes"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

const (
	progressPage = "2026-07-28/basic/patterns/progress"
	cancelPage   = "2026-07-28/basic/patterns/cancellation"
	logPage      = "2026-07-28/server/utilities/logging"
)

var progressNotes = []string{mcp.ProgressNote}

// More on progress and cancellation.
var progressRules = []Rule{
	{
		ID: "progress-token-type", Signal: Invalid, Level: Must, on: onMeta, check: tokenType,
		Title: "progressToken is neither a string nor a whole number",
		Help:  "The other side cannot echo it.",
		Fix:   "Use a string or an integer.",
		Spec:  progressPage + "#progress-flow",
	},
	{
		ID: "progress-token-dup", Signal: Warn, Level: Must, on: onMeta, check: tokenTwice,
		Title: "Two open requests have the same progressToken",
		Help:  "Which of them the progress is for nobody can tell.",
		Fix:   "Use a token of its own for each; the id of the request will do.",
		Spec:  progressPage + "#progress-flow",
	},
	{
		ID: "progress-shape", Signal: Invalid, Level: Must, on: onNotification, methods: progressNotes, check: progressShape,
		Title: "A progress notification is malformed",
		Help:  "progressToken and progress are required, progress and total are numbers, message is a string.",
		Fix:   "Correct the member named.",
		Spec:  "2026-07-28/schema#progressnotificationparams",
	},
	{
		ID: "progress-on-task-modern", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: progressNotes, check: progressOnTask,
		Title: "Progress came for a task",
		Help:  "The call was answered with a task, and tasks tell how they are by their status.",
		Fix:   "Send statusMessage.",
		Spec:  tasksPage,
	},
	{
		ID: "progress-over-total", Signal: Info, Level: Note, on: onNotification, methods: progressNotes, check: progressOver,
		Title: "progress is more than total",
		Help:  "Clients show more than 100 percent.",
		Fix:   "Correct one of them.",
		Spec:  progressPage,
	},
	{
		ID: "progress-total-changes", Signal: Info, Level: Note, on: onNotification, methods: progressNotes, check: progressTotal,
		Title: "total changed under way",
		Help:  "It is allowed; bars jump.",
		Fix:   "Nothing, when the amount was not known before.",
		Spec:  progressPage,
	},
	{
		ID: "progress-from-client-modern", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: progressNotes, check: progressFromClient,
		Title: "The client sends progress",
		Help:  "Since 2026-07-28 servers ask nothing that progress could be for.",
		Fix:   "Do not send it.",
		Spec:  progressPage,
	},
	{
		ID: "progress-flood", Signal: Info, Level: Note, on: onNotification, methods: progressNotes, check: progressFlood,
		Title: "More than 50 progress notifications a second for one call",
		Help:  "Nobody can look at them; they cost both sides time.",
		Fix:   "Send a few a second.",
		Spec:  progressPage + "#implementation-notes",
	},
	{
		ID: "cancel-shape", Signal: Invalid, Level: Must, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelShape,
		Title: "A cancellation does not say which request it is for",
		Help:  "requestId is the id of the request, in its type.",
		Fix:   "Send requestId.",
		Spec:  cancelPage + "#cancellation-flow",
	},
	{
		ID: "cancel-unknown", Signal: Info, Level: Note, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelUnknown,
		Title: "A request was cancelled that was never sent",
		Help:  "The receiver ignores it.",
		Fix:   "Send the id of the request, in its type.",
		Spec:  cancelPage + "#behavior-requirements",
	},
	{
		ID: "cancel-wrong-direction", Signal: Warn, Level: Must, Revisions: Legacy, Transports: OnStdio, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelForeign,
		Title: "A request of the other side was cancelled",
		Help:  "Each side cancels what it asked; whoever does not want to answer sends an error.",
		Fix:   "Answer with an error.",
		Spec:  "2025-11-25/basic/utilities/cancellation#behavior-requirements",
	},
	{
		ID: "cancel-initialize", Signal: Warn, Level: Must, Revisions: Legacy, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelInit,
		Title: "initialize was cancelled",
		Help:  "It must not be; there is no session to go back to.",
		Fix:   "Close the connection.",
		Spec:  "2025-11-25/basic/utilities/cancellation#behavior-requirements",
	},
	{
		ID: "cancel-task-augmented", Signal: Warn, Level: Must, Revisions: R4, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelTask,
		Title: "A request that became a task was cancelled as a request",
		Help:  "The request is over; the task runs on.",
		Fix:   "Send tasks/cancel.",
		Spec:  "2025-11-25/basic/utilities/tasks#task-cancellation",
	},
	{
		ID: "cancel-task-modern", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelTask,
		Title: "A task was cancelled by notifications/cancelled",
		Help:  "The call was answered with the task; the notification does not reach it.",
		Fix:   "Send tasks/cancel.",
		Spec:  tasksPage,
	},
	{
		ID: "cancel-on-http-modern", Signal: Info, Level: Note, Revisions: R5, Transports: OnHTTP, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelOnHTTP,
		Title: "The client posts a cancellation, where closing the stream is one",
		Help:  "Servers need not look at it.",
		Fix:   "Close the response stream of the request.",
		Spec:  cancelPage + "#transport-specific-cancellation",
	},
	{
		ID: "cancel-by-server-modern", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: []string{mcp.CancelledNote}, check: cancelByServer,
		Title: "The server cancelled what is no subscription",
		Help:  "Servers cancel subscriptions alone; a request they answer.",
		Fix:   "Answer with an error.",
		Spec:  cancelPage + "#behavior-requirements",
	},
	{
		ID: "cancel-answered-modern", Signal: Warn, Level: Should, Revisions: R5, Transports: OnStdio, on: onOutcome, check: cancelledAnswer,
		Title: "A request was answered although the server knew that it was cancelled",
		Help:  "The server had read the cancellation, for it had answered a later request.",
		Fix:   "Drop the answer.",
		Spec:  cancelPage + "#transport-specific-cancellation",
	},
	{
		ID: "cancel-listen-continues", Signal: Warn, Level: Should, Revisions: R5, Transports: OnStdio, on: onNotification, methods: subscribed, check: cancelledListen,
		Title: "Notifications went on although the server knew that the subscription was cancelled",
		Help:  "The server had read the cancellation, for it had answered a later request.",
		Fix:   "Stop sending.",
		Spec:  subsPage + "#cancellation",
	},
}

func tokenType(c *ctx) {
	v := c.item.get("progressToken")
	if v.ok() && c.ev.Msg.Kind == wire.Request && !v.isString() && !v.isInt() {
		c.hit(v, "progressToken is %s", show(v))
	}
}

func tokenTwice(c *ctx) {
	if c.ev.Msg.Kind != wire.Request || c.req.token == "" || c.e.log.lossy || c.http() && (c.rec.MCPSession == "" || !c.cl.legacy) {
		return
	}
	p := c.cl.tokens.get(c.c2s(), c.req.token)
	if p == nil || p.answered {
		return
	}
	if r := c.e.open[p.op]; r != nil && !r.cancelled && r.closed == 0 && r.token == c.req.token && r.id == p.id && r.id != c.req.id && !marked(c.item.get("progressToken")) {
		c.hit(c.item.get("progressToken"), "%s with id %s has the token %s too", about(p.method, p.tool), p.id, c.req.token)
	}
}

func progressShape(c *ctx) {
	t, n, total, m := c.params.get("progressToken"), c.params.get("progress"), c.params.get("total"), c.params.get("message")
	switch {
	case !t.isString() && !t.isInt():
		c.hitAt("/params/progressToken", "progressToken is %s", show(t))
	case n.typ() != wire.Number:
		c.hitAt("/params/progress", "progress is %s; want a number", show(n))
	case total.ok() && total.typ() != wire.Number:
		c.hitAt("/params/total", "total is %s; want a number", show(total))
	case m.ok() && !m.isString() && c.rev.within(R2Up):
		c.hitAt("/params/message", "message is %s; want a string", show(m))
	}
}

// hitProgress reports on the call that progress is for.
func (c *ctx) hitProgress(p *progress, path, format string, args ...any) {
	c.method, c.tool = p.method, p.tool
	c.hitAt(path, format, args...)
	c.method, c.tool = mcp.ProgressNote, ""
}

func progressOnTask(c *ctx) {
	if p := c.progress(); p != nil && p.answered && p.task && p.answerOn == c.x && !c.resumed() {
		c.hitProgress(p, "", "%s with id %s had become a task", about(p.method, p.tool), p.id)
	}
}

func progressOver(c *ctx) {
	n, ok := c.params.get("progress").num()
	t, has := c.params.get("total").num()
	if p := c.progress(); ok && has && n > t && p != nil {
		c.hitProgress(p, "/params/progress", "progress is %v, total %v", n, t)
	}
}

func progressTotal(c *ctx) {
	t, has := c.params.get("total").num()
	if p := c.progress(); has && p != nil && p.hasTotal && p.total != t && !c.resumed() {
		c.hitProgress(p, "/params/total", "total is %v after %v", t, p.total)
	}
}

func progressFromClient(c *ctx) {
	if c.c2s() {
		c.hitAt("", "the client sends progress")
	}
}

func progressFlood(c *ctx) {
	if p := c.progress(); p != nil && p.inSecond == 50 && c.ev.Frame.TS-p.second < 1e9 {
		c.hitProgress(p, "", "more than 50 in a second")
	}
}

// learnPace takes from a progress notification its total and how fast they come.
func (p *progress) learnPace(c *ctx) {
	if t, ok := c.params.get("total").num(); ok {
		p.total, p.hasTotal = t, true
	}
	if ts := c.ev.Frame.TS; ts-p.second >= 1e9 {
		p.second, p.inSecond = ts, 0
	}
	p.inSecond++
}

func cancelShape(c *ctx) {
	v := c.params.get("requestId")
	if v.isString() || v.isInt() || !v.ok() && !c.rev.within(R1|R2|R3|R5) {
		return // 2025-11-25 leaves it out for tasks
	}
	c.hitAt("/params/requestId", "requestId is %s", show(v))
}

// cancelled is the id that is cancelled, "" when it is one that the sender has
// used or when that cannot be told.
func (c *ctx) strangeCancel() wire.ID {
	v := c.params.get("requestId")
	if !v.isString() && !v.isInt() {
		return ""
	}
	id := wire.ParseID(v.raw())
	own := &c.cl.ids[dirIndex(c.c2s())]
	if !c.ev.Frame.Has(store.Unpaired) || !c.e.log.whole() || !c.began() || c.cl.cut || own.full || own.has(id) || len(c.e.open) >= maxOpen || c.cl.listens[id] != nil {
		return ""
	}
	return id
}

// foreign reports whether the other side has used the id on stdio.
func (c *ctx) foreign(id wire.ID) bool {
	if c.cl.ids[dirIndex(c.s2c())].has(id) {
		return true
	}
	found := false
	c.e.search(func(r *request) bool {
		found = r.client == c.s2c() && r.id == id && r.cl == c.cl
		return !found
	})
	return found
}

func cancelUnknown(c *ctx) {
	if id := c.strangeCancel(); id != "" && !(c.stdio() && c.rev.within(Legacy) && c.foreign(id)) {
		c.hitAt("/params/requestId", "no request with id %s was sent", id)
	}
}

func cancelForeign(c *ctx) {
	if id := c.strangeCancel(); id != "" && c.foreign(id) {
		c.hitAt("/params/requestId", "the request %s is one of the other side", id)
	}
}

func cancelInit(c *ctx) {
	if c.c2s() && c.req != nil && c.req.method == mcp.Initialize {
		c.hitAt("/params/requestId", "the request %s is initialize", c.req.id)
	}
}

func cancelTask(c *ctx) {
	id := wire.ParseID(c.params.get("requestId").raw())
	if c.cl.tasked[tokenKey{c.c2s(), id}] && c.ev.Frame.Has(store.Unpaired) {
		c.hitAt("/params/requestId", "the request %s was answered with a task", id)
	}
}

func cancelOnHTTP(c *ctx) {
	if c.c2s() {
		c.once("notifications/cancelled is posted")
	}
}

func cancelByServer(c *ctx) {
	v := c.params.get("requestId")
	id := wire.ParseID(v.raw())
	if !c.s2c() || !v.ok() || c.cl.listens[id] != nil || !c.e.log.whole() || len(c.cl.listens) >= maxListens || c.cl.cut || c.e.anyLegacy() {
		return
	}
	c.hitAt("/params/requestId", "%s is no subscription", show(v))
}

func cancelledAnswer(c *ctx) {
	r := c.req
	if c.s2c() && r != nil && r.cancelled && c.paired() && r.method != mcp.Listen && c.heard(r.cancelSeq, r.cancelTS) {
		c.hitAt("", "%s was cancelled in #%d", c.about(), r.cancelSeq)
	}
}

func cancelledListen(c *ctx) {
	if l := c.listen(); l != nil && c.heard(l.cancelSeq, l.cancelTS) {
		c.hitAt("", "the subscription %s was cancelled in #%d", c.subscription(), l.cancelSeq)
	}
}

var logNotes = []string{mcp.LogNote}

// Log messages.
var loggingRules = []Rule{
	{
		ID: "log-shape", Signal: Invalid, Level: Must, on: onNotification, methods: logNotes, check: logShape,
		Title: "A log message has no level that is known, or no data",
		Help:  "The levels are those of syslog, lower case; data may be anything but has to be there.",
		Fix:   "Send both.",
		Spec:  logPage + "#log-levels",
	},
	{
		ID: "log-not-requested", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: logNotes, check: logUnasked,
		Title: "A log message came that no request asked for",
		Help:  "Since 2026-07-28 a server logs only for requests with io.modelcontextprotocol/logLevel.",
		Fix:   "Look for the level in the metadata of the request.",
		Spec:  logPage + "#per-request-log-level",
	},
	{
		ID: "log-below-level", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: logNotes, check: logBelow,
		Title: "A log message is below the level that was asked for",
		Help:  "The client asked for messages at that level or above.",
		Fix:   "Compare the levels before sending.",
		Spec:  logPage + "#per-request-log-level",
	},
	{
		ID: "log-below-set-level", Signal: Warn, Level: Should, Revisions: Legacy, Transports: OnStdio, on: onNotification, methods: logNotes, check: logBelowSet,
		Title: "A log message is below the level that was set",
		Help:  "logging/setLevel was answered, and asked for that level or above.",
		Fix:   "Compare the levels before sending.",
		Spec:  "2025-11-25/server/utilities/logging#setting-log-level",
	},
	{
		ID: "log-on-listen", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: logNotes, check: logOnListen,
		Title: "A log message came on a subscription",
		Help:  "Log messages belong to a request and come with it.",
		Fix:   "Send it on the stream of the request, without a subscription id.",
		Spec:  logPage + "#per-request-log-level",
	},
	{
		ID: "log-secret", Signal: Warn, Level: Should, on: onNotification, methods: logNotes, check: logSecret,
		Title: "A log message carries what looks like a credential",
		Help:  "Log messages are shown and kept by clients.",
		Fix:   "Take secrets out before logging.",
		Spec:  logPage + "#security",
	},
}

// levelOf is the place of a level, -1 for an unknown one.
func levelOf(s string) int { return slices.Index(logLevels, s) }

func logShape(c *ctx) {
	switch l := c.params.get("level"); {
	case levelOf(l.str()) < 0:
		c.hitAt("/params/level", "the level is %s", show(l))
	case !c.params.get("data").ok():
		c.hitAt("/params/data", "there is no data")
	}
}

func logUnasked(c *ctx) {
	if !c.s2c() || !c.e.log.whole() || c.cl.cut || c.e.anyLegacy() || !c.e.peer.modern || c.meta.get(mcp.MetaSubscription).ok() || c.ofStream() != "" {
		return
	}
	if c.stdio() && !c.cl.logs.asked {
		c.hitAt("", "no request asked for log messages")
	}
	if c.http() && !c.x.guessed && len(c.x.reqs) > 0 && !slices.ContainsFunc(c.x.reqs, func(r *request) bool { return r.logLevel != "" || r.cut }) {
		c.hitAt("", "%s did not ask for log messages", about(c.x.reqs[0].method, c.x.reqs[0].tool))
	}
}

func logBelow(c *ctx) {
	n := levelOf(c.params.get("level").str())
	if n < 0 || !c.s2c() || c.cl.legacy {
		return
	}
	low := -1
	switch {
	case c.stdio() && c.cl.logs.asked && c.e.log.whole() && !c.cl.cut:
		low = c.cl.logs.lowest
	case c.http() && !c.x.guessed && len(c.x.reqs) == 1:
		low = levelOf(c.x.reqs[0].logLevel)
	}
	if low > n {
		c.hitAt("/params/level", "the level is %s, and %s was asked for", logLevels[n], logLevels[low])
	}
}

func logBelowSet(c *ctx) {
	n := levelOf(c.params.get("level").str())
	if set := c.cl.logs.set - 1; c.s2c() && n >= 0 && set > n && !c.e.log.lossy {
		c.hitAt("/params/level", "the level is %s, and %s was set", logLevels[n], logLevels[set])
	}
}

func logOnListen(c *ctx) {
	if c.s2c() && (c.meta.get(mcp.MetaSubscription).ok() || c.ofStream() != "") {
		c.hitAt("", "a log message on a subscription")
	}
}

func logSecret(c *ctx) {
	v := c.params.get("data")
	if raw := v.raw(); c.s2c() && len(raw) <= maxSchema && mayHoldSecret(raw) && secretShape.Match(raw) {
		c.hitAt("/params/data", "data holds what looks like a credential")
	}
}

// mayHoldSecret is a quick look for the beginnings of secretShape.
func mayHoldSecret(b []byte) bool {
	for _, s := range [...]string{"earer ", "BEARER ", "sk-", "AKIA", "gh", "xox", "-----BEGIN", "eyJ"} {
		if bytes.Contains(b, []byte(s)) {
			return true
		}
	}
	return false
}

// logState of a client: which messages it asked for.
type wantedLogs struct {
	asked  bool // a request had a level
	lowest int
	set    int // level of logging/setLevel that holds, counted from 1; 0 when none is known
}

func (c *ctx) learnLogs() {
	l := &c.cl.logs
	switch {
	case c.ev.Msg.Kind == wire.Request && c.req.logLevel != "":
		if n := levelOf(c.req.logLevel); !l.asked || n < l.lowest {
			l.lowest = n
		}
		l.asked = true
	case c.method != mcp.SetLevel:
	case c.ev.Msg.Kind == wire.Request:
		l.set = 0
		c.req.level = levelOf(c.params.get("level").str()) + 1
	case c.result.ok() && c.req != nil:
		l.set = c.req.level
	}
}
