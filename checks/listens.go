package checks

import (
	"net/url"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// listen is a subscription (2026-07-28, basic/patterns/subscriptions).
type listen struct {
	acked, ended bool
	stopped      bool // the server sent notifications/cancelled for it
	cancelSeq    uint64
	cancelTS     int64
	at           pos
	ts           int64
	x            *exchange
	cut          bool // what it asks for is not known
	asked        map[string]bool
	uris, tasks  []string
	granted      []string // tasks that the acknowledgment names; nil when it says nothing
	noTasks      bool     // the request does not declare the extension
}

// notesOf are the notifications that members of a filter stand for.
var notesOf = map[string]string{
	"toolsListChanged": mcp.ToolsChanged, "promptsListChanged": mcp.PromptsChanged, "resourcesListChanged": mcp.ResourcesChanged,
	"resourceSubscriptions": mcp.ResourceUpdated, "taskIds": mcp.TasksNote,
}

// maxFilter bounds the entries of a filter that are kept.
const maxFilter = 1024

// newListen reads the filter of the request at hand.
func (c *ctx) newListen() *listen {
	l := &listen{at: c.pos(), ts: c.ev.Frame.TS, x: c.x, cut: c.req.cut || marked(c.params), asked: map[string]bool{}}
	l.noTasks = c.req.caps != nil && !c.req.caps.extension(mcp.TasksExtension)
	for _, v := range c.params.get("notifications").each() {
		switch k := v.key(); {
		case v.isTrue(), v.isArray() && v.len() > 0:
			l.asked[k] = len(l.asked) < maxFilter
			if len(l.asked) >= maxFilter || v.len() > maxFilter {
				l.cut = true
				continue
			}
			for _, s := range v.each() {
				switch k {
				case "resourceSubscriptions":
					l.uris = append(l.uris, plainURI(s.str()))
				case "taskIds":
					l.tasks = append(l.tasks, s.str())
				}
			}
		}
	}
	return l
}

// grant notes which tasks an acknowledgment names.
func (l *listen) grant(filter val) {
	if !filter.isObject() || marked(filter) {
		return
	}
	l.granted = []string{}
	for _, s := range filter.get("taskIds").each() {
		if len(l.granted) < maxFilter {
			l.granted = append(l.granted, s.str())
		}
	}
}

// plainURI is a URI in a form in which spellings of one resource are mostly
// equal: escapes resolved, lower case, no slash at the end.
func plainURI(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		s = u
	}
	return strings.TrimRight(strings.ToLower(clip(s, 4096)), "/")
}

// below reports whether a resource is one of the list or below one.
func below(uri string, list []string) bool {
	uri = plainURI(uri)
	for _, u := range list {
		if uri == u || strings.HasPrefix(uri, u) {
			return true
		}
	}
	return false
}

// learnListens notes what ends subscriptions, and what subscribes to
// resources in older revisions.
func (c *ctx) learnListens() {
	switch c.method {
	case mcp.CancelledNote:
		if l := c.cl.listens[wire.ParseID(c.params.get("requestId").raw())]; l != nil {
			l.stopped = l.stopped || c.s2c()
			if c.c2s() {
				l.cancelSeq, l.cancelTS = c.rec.Seq, c.ev.Frame.TS
			}
		}
	case mcp.Subscribe:
		if c.ev.Msg.Kind != wire.Request {
			return
		}
		if len(c.cl.subs) >= maxFilter {
			c.cl.cut = true
			return
		}
		c.cl.subs = append(c.cl.subs, plainURI(c.params.get("uri").str()))
	}
}

// heard reports whether the server has read what the client sent as number
// seq over stdio: it answered a later request, and time has passed.
func (c *ctx) heard(seq uint64, ts int64) bool {
	return seq > 0 && c.stdio() && c.cl.answered > seq && c.ev.Frame.TS-ts > 1e9
}

// learnMore takes the frame into what only few rules ask for.
func (c *ctx) learnMore() {
	switch c.method {
	case mcp.Elicit, mcp.ElicitComplete:
		c.learnElicits()
	case mcp.RootsList, mcp.RootsChanged:
		c.learnRoots()
	case mcp.ToolsList, mcp.ToolsChanged:
		c.learnList()
	case mcp.CancelledNote, mcp.Subscribe:
		c.learnListens()
	case mcp.TasksGet, mcp.TasksUpdate, mcp.TasksCancel, mcp.TasksResult:
		c.learnTaskCalls()
	}
	if strings.HasSuffix(c.method, "/list") && c.ev.Msg.Kind != wire.Notification {
		c.learnCursors()
	}
	if c.fail.ok() {
		c.learnElicits()
	}
	if c.result.ok() {
		c.learnPolls()
	}
	if c.method == mcp.SetLevel || c.ev.Msg.Kind == wire.Request && c.req.logLevel != "" {
		c.learnLogs()
	}
}

// task notes that a request was answered with a task.
func (cl *client) task(r *request) {
	if cl.tasked == nil {
		cl.tasked = map[tokenKey]bool{}
	}
	if len(cl.tasked) < maxInputs {
		cl.tasked[tokenKey{r.client, r.id}] = true
	}
}
