package checks

import "github.com/mcpsnoop/mcpsnoop/internal/mcp"

// Pages and caching of lists, tasks, and what is deprecated.
var listRules = []Rule{
	{
		ID: "page-cursor-loop", Signal: Warn, Level: Should, on: onResult, methods: []string{mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList, mcp.TasksList}, check: cursorLoop,
		Title: "The pages of a list go round in a circle",
		Help:  "A page names a cursor that was used before, so a client that reads to the end never gets there.",
		Fix:   "Move the cursor on, and leave nextCursor out on the last page.",
		Spec:  "2026-07-28/server/utilities/pagination",
	},
	{
		ID: "cache-missing", Signal: Warn, Level: Must, Revisions: R5, on: onResult, methods: []string{mcp.Discover, mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList, mcp.ResourcesRead}, check: cacheMissing,
		Title: "A result that may be cached does not say for how long and for whom",
		Help:  "ttlMs and cacheScope are required, so that clients and gateways need not guess.",
		Fix:   `Send "ttlMs":0 and "cacheScope":"private" when it must not be cached.`,
		Spec:  "2026-07-28/server/utilities/caching#cacheable-results",
	},
	{
		ID: "task-status-payload", Signal: Warn, Level: Must, Revisions: R5, on: onResult | onNotification, methods: []string{mcp.TasksGet, mcp.TasksNote}, check: taskPayload,
		Title: "A task lacks what its status promises",
		Help:  "A completed task has its result, a failed one its error, one that waits its questions.",
		Fix:   "Send the member that goes with the status.",
		Spec:  tasksPage,
	},
	{
		ID: "task-iserror-failed", Signal: Warn, Level: Must, Revisions: R5, on: onResult | onNotification, methods: []string{mcp.TasksGet, mcp.TasksNote}, check: taskFailed,
		Title: "A failure of the tool was reported as a failed task",
		Help:  "failed stands for JSON-RPC errors; a tool that failed has completed, with isError true in its result. In 2025-11-25 it was the other way.",
		Fix:   "Report completed, with the result.",
		Spec:  tasksPage,
	},
	{
		ID: "dep-roots", Signal: Deprecated, Level: Note, Revisions: R5, on: onCaps | onInput, check: depRoots,
		Title: "Roots are used, which are deprecated",
		Help:  "They will be removed, not before 2027-07-28.",
		Fix:   "Pass folders as tool parameters, resource URIs or configuration of the server.",
		Spec:  "2026-07-28/deprecated",
	},
	{
		ID: "dep-sampling", Signal: Deprecated, Level: Note, Revisions: R5, on: onCaps | onInput, check: depSampling,
		Title: "Sampling is used, which is deprecated",
		Help:  "It will be removed, not before 2027-07-28.",
		Fix:   "Call the API of a model provider from the server.",
		Spec:  "2026-07-28/deprecated",
	},
	{
		ID: "dep-logging", Signal: Deprecated, Level: Note, Revisions: R5, on: onCaps | onRequest | onNotification, check: depLogging,
		Title: "Logging over the protocol is used, which is deprecated",
		Help:  "It will be removed, not before 2027-07-28.",
		Fix:   "Write to stderr over stdio, or send telemetry by OpenTelemetry.",
		Spec:  "2026-07-28/deprecated",
	},
	{
		ID: "dep-tasks-r4", Signal: Info, Level: Note, Revisions: R4, on: onCaps, check: depTasks,
		Title: "The tasks of 2025-11-25 are used, which were an experiment",
		Help:  "Tasks are an extension since 2026-07-28 and work in another way on the wire.",
		Fix:   "Move to the extension io.modelcontextprotocol/tasks with that revision.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "dep-session", Signal: Info, Level: Note, Revisions: Sessions, Transports: OnHTTP, on: onHTTPRequest, check: depSession,
		Title: "Sessions of the transport are used, which 2026-07-28 has removed",
		Help:  "So are GET streams and resuming.",
		Fix:   "With that revision use handles in arguments, and subscriptions/listen.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "dep-old-revision", Signal: Info, Level: Note, Revisions: R1 | R2, on: onResult, methods: []string{mcp.Initialize}, check: depRevision,
		Title: "An old revision was negotiated",
		Help:  "Newer ones exist, and clients will drop old ones at some time.",
		Fix:   "Update the side that offered or chose it.",
		Spec:  "2025-11-25/changelog",
	},
}

const tasksPage = "https://modelcontextprotocol.io/extensions/tasks/overview"

// walk is a list that is being read page by page.
type walk struct {
	seen  map[uint64]bool // hashes of the cursors of this walk
	names map[uint64]bool // hashes of the names of its tools
}

func cursorLoop(c *ctx) {
	v := c.result.get("nextCursor")
	if c.req == nil || !v.isString() {
		return
	}
	w := c.cl.walks[c.method]
	if h := hashText(v.raw()); c.req.cursor == string(v.raw()) || w != nil && c.req.cursor != "" && w.seen[h] {
		c.hitAt("/result/nextCursor", "the cursor %s has come before in this walk", show(v))
	}
}

// learnCursor notes the cursor that a page names.
func (c *ctx) learnCursor() {
	v := c.result.get("nextCursor")
	if c.cl.walks == nil {
		c.cl.walks = map[string]*walk{}
	}
	w := c.cl.walks[c.method]
	if w == nil || c.req.cursor == "" {
		w = &walk{seen: map[uint64]bool{}, names: map[uint64]bool{}}
		c.cl.walks[c.method] = w
	}
	if v.isString() && len(w.seen) < maxCursors {
		w.seen[hashText(v.raw())] = true
	}
	for _, t := range c.result.get("tools").each() {
		if len(w.names) < maxTools {
			w.names[hashText(t.get("name").raw())] = true
		}
	}
}

func cacheMissing(c *ctx) {
	if !c.complete() || c.method == mcp.Discover && !c.result.get("resultType").ok() {
		return
	}
	ttl, scope := c.result.get("ttlMs"), c.result.get("cacheScope")
	switch {
	case !c.result.get("resultType").ok() && !c.e.peer.modern:
		return // an older server that ignores the metadata
	case !ttl.ok() && !scope.ok():
		c.hitAt("/result", "%s has neither ttlMs nor cacheScope", c.about())
	case !ttl.ok():
		c.hitAt("/result", "%s has no ttlMs", c.about())
	case !scope.ok():
		c.hitAt("/result", "%s has no cacheScope", c.about())
	}
}

// task is the task object of a message.
func (c *ctx) task() val {
	if c.result.ok() {
		return c.result
	}
	return c.params
}

func taskPayload(c *ctx) {
	t := c.task()
	e := t.get("error")
	switch {
	case !c.s2c():
	case t.get("status").is("completed") && !t.get("result").isObject():
		c.hit(t, "the task has completed and has no result")
	case t.get("status").is("failed") && (!e.get("code").isInt() || !e.get("message").isString()) && !t.get("result").ok():
		c.hit(t, "the task has failed and has no error with code and message")
	case t.get("status").is("input_required") && !t.get("inputRequests").isObject():
		c.hit(t, "the task waits for input and has no inputRequests")
	}
}

func taskFailed(c *ctx) {
	t := c.task()
	r := t.get("result")
	if c.s2c() && t.get("status").is("failed") && (r.get("isError").isTrue() || !t.get("error").ok() && r.get("content").ok()) {
		c.hit(t, "the status is failed, and there is the result of a tool")
	}
}

// hitUse reports the use of a feature, once for each side.
func (c *ctx) hitUse(what string) {
	method, tool := c.method, c.tool
	c.method, c.tool = what, ""
	c.hitAt("", "%s (in %s)", what, about(method, tool))
	c.method, c.tool = method, tool
}

func depRoots(c *ctx) {
	if v := c.item.get("roots"); v.ok() && c.capsOfClient() {
		c.hitUse("the client declares roots")
	}
	if v := c.item.get("method"); v.is(mcp.RootsList) {
		c.hitUse("the server asks for roots")
	}
}

func depSampling(c *ctx) {
	if v := c.item.get("sampling"); v.ok() && c.capsOfClient() {
		c.hitUse("the client declares sampling")
	}
	if v := c.item.get("method"); v.is(mcp.CreateMessage) {
		c.hitUse("the server asks for sampling")
	}
}

func depLogging(c *ctx) {
	switch {
	case c.item.ok():
		if v := c.item.get("logging"); v.ok() && !c.capsOfClient() {
			c.hitUse("the server declares logging")
		}
	case c.method == mcp.LogNote:
		c.hitUse("the server sends log messages")
	case c.c2s() && c.meta.get(mcp.MetaLogLevel).ok():
		c.hitUse("the client asks for log messages")
	}
}

func depTasks(c *ctx) {
	if v := c.item.get("tasks"); v.ok() {
		c.hitUse("tasks are declared")
	}
}

func depSession(c *ctx) {
	if c.rec.MCPSession != "" {
		c.once("Mcp-Session-Id is in use")
	}
}

func depRevision(c *ctx) {
	if c.s2c() {
		c.hitAt("/result/protocolVersion", "%s was negotiated", c.rev)
	}
}
