package checks

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

const (
	subsPage   = "2026-07-28/basic/patterns/subscriptions"
	filterPage = subsPage + "#notification-filter"
	ackPage    = subsPage + "#acknowledgment"
	gotPage    = subsPage + "#receiving-notifications"
	endPage    = subsPage + "#graceful-closure"
)

var listNotes = []string{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged, mcp.RootsChanged}

// subscribed are the notifications that come on subscriptions.
var subscribed = []string{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged, mcp.ResourceUpdated, mcp.TasksNote}

// Subscriptions, and changes of lists.
var subRules = []Rule{
	{
		ID: "sub-filter-shape", Signal: Invalid, Level: Must, Revisions: R5, on: onRequest, methods: []string{mcp.Listen}, check: subFilter,
		Title: "The filter of subscriptions/listen is malformed",
		Help:  "notifications is an object of booleans and lists of strings; the server cannot tell what is wanted.",
		Fix:   "Correct the filter.",
		Spec:  filterPage,
	},
	{
		ID: "sub-ack-never", Signal: Warn, Level: Should, Revisions: R5, on: onEnd, check: subNoAck,
		Title: "A subscription was never acknowledged",
		Help:  "The client does not know what it will be told.",
		Fix:   "Send notifications/subscriptions/acknowledged at once.",
		Spec:  ackPage,
	},
	{
		ID: "sub-ack-superset", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: []string{mcp.Acknowledged}, check: subAckMore,
		Title: "More was acknowledged than was asked for",
		Help:  "The acknowledgment names the part of the filter that the server keeps to.",
		Fix:   "Leave out what was not asked for.",
		Spec:  ackPage,
	},
	{
		ID: "sub-ack-dropped", Signal: Info, Level: Note, Revisions: R5, on: onNotification, methods: []string{mcp.Acknowledged}, check: subAckLess,
		Title: "Less was acknowledged than was asked for",
		Help:  "The server does not support the rest; the client has to poll.",
		Fix:   "Nothing.",
		Spec:  ackPage,
	},
	{
		ID: "sub-id-unknown", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: append([]string{mcp.Acknowledged}, subscribed...), check: subUnknown,
		Title: "A notification names a subscription that nobody opened",
		Help:  "The id is that of the subscriptions/listen request, in its type; clients drop the notification.",
		Fix:   "Echo the id as it was sent.",
		Spec:  gotPage,
	},
	{
		ID: "sub-id-wrong-stream", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onNotification, methods: append([]string{mcp.Acknowledged}, subscribed...), check: subWrongStream,
		Title: "A notification names another subscription than that of its stream",
		Help:  "Each subscription has a stream of its own.",
		Fix:   "Send it on the stream of the subscription that it names.",
		Spec:  gotPage,
	},
	{
		ID: "sub-type-unrequested", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: subscribed, check: subType,
		Title: "A notification came that the subscription does not ask for",
		Help:  "Servers send only what is in the filter.",
		Fix:   "Look at the filter before sending.",
		Spec:  filterPage,
	},
	{
		ID: "sub-uri-unrequested", Signal: Warn, Level: Should, Revisions: R5, on: onNotification, methods: []string{mcp.ResourceUpdated}, check: subURI,
		Title: "An update came for a resource that the subscription does not name",
		Help:  "The uri is neither one of resourceSubscriptions nor below one.",
		Fix:   "Send updates of the resources in the filter.",
		Spec:  "2026-07-28/schema#resourceupdatednotificationparams",
	},
	{
		ID: "sub-request-scoped", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: []string{mcp.ProgressNote}, check: subScoped,
		Title: "Progress came on a subscription",
		Help:  "Progress belongs to a request and comes with it.",
		Fix:   "Send it on the stream of the request, without a subscription id.",
		Spec:  gotPage,
	},
	{
		ID: "sub-after-end", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: subscribed, check: subAfterEnd,
		Title: "A notification came after its subscription had ended",
		Help:  "The result of subscriptions/listen is its last message.",
		Fix:   "Send the result last.",
		Spec:  endPage,
	},
	{
		ID: "sub-result-meta", Signal: Warn, Level: Must, Revisions: R5, on: onResult, methods: []string{mcp.Listen}, check: subResult,
		Title: "The end of a subscription does not name it",
		Help:  "The result carries the subscription id, as the notifications do.",
		Fix:   "Send io.modelcontextprotocol/subscriptionId in _meta, the id of the request.",
		Spec:  endPage,
	},
	{
		ID: "sub-end-silent", Signal: Info, Level: Note, Revisions: R5, on: onEnd, check: subSilent,
		Title: "A subscription was cancelled by the server and has no result",
		Help:  "A result tells the client that nothing was lost.",
		Fix:   "Answer subscriptions/listen when it ends.",
		Spec:  endPage,
	},
	{
		ID: "sub-update-unsubscribed", Signal: Warn, Level: Should, Revisions: Legacy, on: onNotification, methods: []string{mcp.ResourceUpdated}, check: subNever,
		Title: "An update came for a resource that nobody subscribed to",
		Help:  "Clients do not expect it.",
		Fix:   "Send updates to those who sent resources/subscribe.",
		Spec:  "2025-11-25/server/resources#subscriptions",
	},
	{
		ID: "list-changed-missing", Signal: Warn, Level: Should, Revisions: Legacy, Transports: OnStdio, on: onEnd, check: listSilent,
		Title: "The list of tools changed and the server did not say so",
		Help:  "It declared tools.listChanged, so clients do not read the list again by themselves.",
		Fix:   "Send notifications/tools/list_changed.",
		Spec:  "2025-11-25/server/tools#list-changed-notification",
	},
	{
		ID: "list-changed-params", Signal: Info, Level: Note, on: onNotification, methods: listNotes, check: listParams,
		Title: "A list_changed notification has parameters",
		Help:  "It has none but _meta; clients ignore the rest.",
		Fix:   "Leave them out.",
		Spec:  "2026-07-28/schema#toollistchangednotification",
	},
}

func subFilter(c *ctx) {
	f := c.params.get("notifications")
	if !c.c2s() {
		return
	}
	if !f.isObject() {
		c.hitAt("/params/notifications", "notifications is %s; want an object", show(f))
		return
	}
	for _, v := range f.each() {
		switch k := v.key(); k {
		case "toolsListChanged", "promptsListChanged", "resourcesListChanged":
			if v.typ() != wire.Bool {
				c.hit(v, "%s is %s; want true or false", k, show(v))
			}
		case "resourceSubscriptions", "taskIds":
			bad := !v.isArray()
			for _, s := range v.each() {
				bad = bad || !s.isString()
			}
			if bad {
				c.hit(v, "%s is %s; want an array of strings", k, show(v))
			}
		}
	}
}

// hitListens reports on subscriptions at the end of the log, oldest first.
func (c *ctx) hitListens(broken func(l *listen) bool, text string) {
	for _, cl := range c.e.clients {
		var list []*listen
		for _, l := range cl.listens {
			if broken(l) {
				list = append(list, l)
			}
		}
		slices.SortFunc(list, func(a, b *listen) int { return int(a.at.seq) - int(b.at.seq) })
		for _, l := range list {
			c.hitPos(l.at, "", "%s", text)
		}
	}
}

func subNoAck(c *ctx) {
	if c.e.log.lossy || c.e.log.filtered || !c.e.peer.modern {
		return
	}
	c.hitListens(func(l *listen) bool {
		_, open := c.e.open[l.at.op]
		if l.x != nil && (l.x.status != 200 || l.x.endedTS > 0) {
			return false
		}
		return open && !l.acked && !l.ended && !l.stopped && l.cancelSeq == 0 && c.e.log.lastTS-l.ts > 30e9
	}, "no acknowledgment came within 30 s")
}

// listen is the subscription that the notification at hand names.
func (c *ctx) listen() *listen {
	if !c.s2c() {
		return nil
	}
	return c.cl.listens[c.subscription()]
}

func subAckMore(c *ctx) {
	l := c.listen()
	if l == nil || l.cut {
		return
	}
	for _, v := range c.params.get("notifications").each() {
		k := v.key()
		if v.isTrue() && !l.asked[k] {
			c.hit(v, "%s was not asked for", quote(k))
		}
		for _, s := range v.each() {
			if k == "resourceSubscriptions" && !slices.Contains(l.uris, plainURI(s.str())) || k == "taskIds" && !slices.Contains(l.tasks, s.str()) {
				c.hit(s, "%s was not asked for", show(s))
			}
		}
	}
}

func subAckLess(c *ctx) {
	l := c.listen()
	if l == nil || l.cut {
		return
	}
	got := c.params.get("notifications")
	for k := range notesOf {
		if v := got.get(k); l.asked[k] && !v.isTrue() && v.len() == 0 {
			c.hitAt("/params/notifications/"+k, "%s was asked for", k)
		}
	}
}

// ofStream is the id of the subscription whose stream the frame came on, ""
// when that is no subscription or is not known.
func (c *ctx) ofStream() wire.ID {
	if c.x == nil || c.x.guessed || len(c.x.reqs) != 1 || c.x.reqs[0].method != mcp.Listen {
		return ""
	}
	return c.x.reqs[0].id
}

func subUnknown(c *ctx) {
	id := c.subscription()
	if !c.s2c() || id == "" || c.cl.listens[id] != nil || !c.e.log.whole() || len(c.cl.listens) >= maxListens || c.cl.cut {
		return
	}
	if c.http() && c.ofStream() == "" {
		return
	}
	hint := ""
	if c.cl.listens[other(id)] != nil {
		hint = "; it was opened with the id in another type"
	}
	c.hitAt("/params/_meta", "no subscription has the id %s%s", id, hint)
}

func subWrongStream(c *ctx) {
	if id, own := c.subscription(), c.ofStream(); own != "" && id != "" && id != own && c.cl.listens[id] != nil {
		c.hitAt("/params/_meta", "the id is %s on the stream of %s", id, own)
	}
}

func subType(c *ctx) {
	l := c.listen()
	if l == nil || l.cut {
		return
	}
	for k, note := range notesOf {
		if note == c.method && !l.asked[k] {
			c.hitAt("/method", "%s has no %s in its filter", c.subscription(), k)
		}
	}
}

func subURI(c *ctx) {
	v := c.params.get("uri")
	if l := c.listen(); l != nil && !l.cut && len(l.uris) > 0 && v.isString() && !marked(v) && !below(v.str(), l.uris) {
		c.hit(v, "%s is not in the filter", show(v))
	}
}

func subScoped(c *ctx) {
	if c.s2c() && (c.meta.get(mcp.MetaSubscription).ok() || c.ofStream() != "") {
		c.hitAt("", "progress on a subscription")
	}
}

func subAfterEnd(c *ctx) {
	if l := c.listen(); l != nil && l.ended && l.x == c.x {
		c.hitAt("", "the subscription %s had been answered", c.subscription())
	}
}

func subResult(c *ctx) {
	if id := c.subscription(); c.s2c() && id != c.ev.Msg.ID {
		c.hitAt("/result/_meta", "the subscription id is %s; want %s", show(c.meta.get(mcp.MetaSubscription)), c.ev.Msg.ID)
	}
}

func subSilent(c *ctx) {
	c.hitListens(func(l *listen) bool { return l.stopped && !l.ended }, "the server cancelled it and sent no result")
}

func subNever(c *ctx) {
	v := c.params.get("uri")
	if !c.s2c() || !v.isString() || marked(v) || !c.e.log.whole() || c.cl.cut || below(v.str(), c.cl.subs) {
		return
	}
	if !c.cl.legacy || c.http() && c.rec.MCPSession == "" {
		return // another connection may have subscribed
	}
	c.hit(v, "nobody subscribed to %s", show(v))
}

func listSilent(c *ctx) {
	for _, cl := range c.e.clients {
		if p := cl.lists.silent; p.seq > 0 && cl.server.has("tools.listChanged") && !c.e.log.lossy {
			c.hitPos(p, "/result/tools", "the tools are not those of #%d, and no notification came", cl.lists.seq)
		}
	}
}

func listParams(c *ctx) {
	for _, v := range c.params.each() {
		if k := v.key(); k != "_meta" {
			c.hit(v, "%s", quote(k))
		}
	}
}

// listState is the list of tools as one client knows it.
type listState struct {
	known   bool
	seq     uint64
	set     uint64
	noticed bool
	silent  pos // a list that differed although nobody had said so
}

// learnList notes how the list of tools changes. A notification that comes
// after the list all the same is one.
func (c *ctx) learnList() {
	s := &c.cl.lists
	if c.method == mcp.ToolsChanged {
		s.noticed, s.silent = true, pos{}
		return
	}
	l := c.listOfTools()
	if !l.ok || !c.stdio() || !c.rev.within(Legacy) || !oneRevision(c.rev) || marked(c.result) {
		return
	}
	if s.known && l.set != s.set && !s.noticed && s.silent.seq == 0 {
		s.silent = c.pos()
	}
	if s.silent.seq == 0 {
		s.seq = l.seq
	}
	s.known, s.set, s.noticed = true, l.set, false
}
