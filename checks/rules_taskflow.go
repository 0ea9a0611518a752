package checks

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

const tasksExt = "https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md"

var (
	taskMethods = []string{mcp.TasksGet, mcp.TasksUpdate, mcp.TasksCancel, mcp.TasksResult}
	becomeTasks = []string{mcp.ToolsCall, mcp.CreateMessage, mcp.Elicit}
	relatedTo   = []string{mcp.TasksResult, mcp.TasksGet, mcp.TasksList, mcp.TasksCancel, mcp.TaskStatus}
)

// Tasks over time: what was asked, answered and promised before.
var taskFlowRules = []Rule{
	{
		ID: "task-iserror-completed-r4", Signal: Info, Level: Note, Revisions: R4, on: onResult | onTask, methods: []string{mcp.TasksResult, mcp.TasksGet}, check: taskErrorDone,
		Title: "A tool failed and its task has completed",
		Help:  "In 2025-11-25 a task whose result has isError true should be failed; since 2026-07-28 it is completed.",
		Fix:   "Report failed, to clients of that revision.",
		Spec:  tasksR4 + "#task-execution-errors",
	},
	{
		ID: "task-poll-fast", Signal: Info, Level: Note, on: onRequest, methods: []string{mcp.TasksGet}, check: taskFast,
		Title: "A task was polled more than twice as often as the server asks for",
		Help:  "Servers may refuse clients that do.",
		Fix:   "Wait for pollIntervalMs (pollInterval in 2025-11-25) between polls.",
		Spec:  tasksExt + "#task-polling",
	},
	{
		ID: "task-unknown", Signal: Info, Level: Note, on: onError, methods: taskMethods, check: taskNever,
		Title: "A task was asked for that nobody created in this session, and the server does not know it",
		Help:  "Ids of tasks may be older than the session; this one is older than the server remembers, or wrong.",
		Fix:   "Look at where the client has the id from.",
		Spec:  tasksExt + "#protocol-errors",
	},
	{
		ID: "task-durable-create", Signal: Warn, Level: Must, Revisions: R5, on: onError, methods: []string{mcp.TasksGet}, check: taskGone,
		Title: "A task that was just created is not found",
		Help:  "The server must not answer with a task before tasks/get would find it; clients take the call for lost.",
		Fix:   "Store the task, on all instances that may be asked, before the result is sent.",
		Spec:  tasksExt + "#task-creation",
	},
	{
		ID: "task-update-key-unknown", Signal: Warn, Level: Should, Revisions: R5, on: onRequest, methods: []string{mcp.TasksUpdate}, check: taskKeys,
		Title: "The client answers a question that the task does not ask",
		Help:  "Each key stands in the inputRequests that the task told last; servers ignore others.",
		Fix:   "Answer what is asked now, each once.",
		Spec:  tasksExt + "#task-update-requests",
	},
	{
		ID: "task-key-reused", Signal: Warn, Level: Must, Revisions: R5, on: onTask, check: taskKeyTwice,
		Title: "One key stands for two questions of a task",
		Help:  "Keys are unique for the life of a task. Clients answer each once, so the second question is never seen.",
		Fix:   "Use a new key.",
		Spec:  tasksExt + "#task-update-requests",
	},
	{
		ID: "task-ack-not-empty", Signal: Warn, Level: Should, Revisions: R5, on: onResult, methods: []string{mcp.TasksUpdate, mcp.TasksCancel}, check: taskAck,
		Title: "tasks/update or tasks/cancel was answered with more than an acknowledgment",
		Help:  "The result is empty: the task tells how it is by tasks/get. In 2025-11-25 tasks/cancel returned the task.",
		Fix:   `Send {"resultType":"complete"}.`,
		Spec:  tasksExt + "#task-cancellation",
	},
	{
		ID: "task-cancel-r4-terminal", Signal: Warn, Level: Must, Revisions: R4, on: onResult, methods: []string{mcp.TasksCancel}, check: taskCancelledLate,
		Title: "A task that had ended was cancelled",
		Help:  "In 2025-11-25 that is refused with -32602, so that the client knows that the work was done.",
		Fix:   "Send -32602.",
		Spec:  tasksR4 + "#task-cancellation",
	},
	{
		ID: "task-param-unsupported-r4", Signal: Warn, Level: Must, Revisions: R4, on: onRequest, methods: becomeTasks, check: taskUnwanted,
		Title: "A task was asked for where the other side supports none",
		Help:  "It has to declare tasks.requests for the method; a tool needs execution.taskSupport optional or required too.",
		Fix:   "Leave params.task out.",
		Spec:  tasksR4 + "#tool-level-negotiation",
	},
	{
		ID: "task-required-r4", Signal: Warn, Level: Must, Revisions: R4, on: onResult, methods: []string{mcp.ToolsCall}, check: taskNeeded,
		Title: "A tool that requires a task was run without one",
		Help:  "taskSupport is required: a call without params.task is refused with -32601.",
		Fix:   "Refuse it, or make taskSupport optional.",
		Spec:  tasksR4 + "#tool-level-negotiation",
	},
	{
		ID: "task-not-created-r4", Signal: Warn, Level: Must, Revisions: R4, on: onResult, methods: becomeTasks, check: taskNotMade,
		Title: "A task was asked for and the result came instead",
		Help:  "Who declares tasks for the method and accepts the request answers with a task; requestors read the result as one.",
		Fix:   "Answer with task, or do not declare it.",
		Spec:  tasksR4 + "#result-retrieval",
	},
	{
		ID: "task-related-meta-r4", Signal: Warn, Level: Must, Revisions: R4, on: onRequest | onResult | onNotification, methods: relatedTo, check: taskRelated,
		Title: "The metadata that ties a message to its task is missing, wrong or needless",
		Help:  "The result of tasks/result does not name its task but for io.modelcontextprotocol/related-task in _meta. The other methods of tasks name it themselves.",
		Fix:   "Send it with the result of tasks/result, and only there.",
		Spec:  tasksR4 + "#associating-task-related-messages",
	},
	{
		ID: "task-result-early-r4", Signal: Warn, Level: Must, Revisions: R4, on: onTask, methods: []string{mcp.TasksGet}, check: taskEarly,
		Title: "The result of a task was given out before the task had ended",
		Help:  "tasks/result waits for the end. A poll that was sent after the result still found the task at work.",
		Fix:   "Hold the answer to tasks/result back, or end the task first.",
		Spec:  tasksR4 + "#result-retrieval",
	},
	{
		ID: "progress-after-terminal-task", Signal: Warn, Level: Must, Revisions: R4, Transports: OnStdio, on: onNotification, methods: progressNotes, check: taskProgress,
		Title: "Progress came for a task that had ended",
		Help:  "The token of a task is over with its final status.",
		Fix:   "Stop reporting before the final status is told.",
		Spec:  "2025-11-25/basic/utilities/progress#behavior-requirements",
	},
	{
		ID: "task-list-undeclared-r4", Signal: Warn, Level: Must, Revisions: R4, on: onRequest, methods: []string{mcp.TasksList, mcp.TasksCancel}, check: taskUndeclared,
		Title: "tasks/list or tasks/cancel is used and the other side did not declare it",
		Help:  "tasks.list and tasks.cancel say whether there is such a method.",
		Fix:   "Declare it, or do not send the request.",
		Spec:  tasksR4 + "#capability-negotiation",
	},
	{
		ID: "task-notify-unsubscribed", Signal: Warn, Level: Must, Revisions: R5, on: onNotification, methods: []string{mcp.TasksNote}, check: taskNotAsked,
		Title: "The status of a task came that the subscription does not name",
		Help:  "Servers tell of the tasks in taskIds, as far as they acknowledged them.",
		Fix:   "Look at the subscription before sending.",
		Spec:  tasksExt + "#task-status-notifications",
	},
	{
		ID: "ext-unilateral", Signal: Warn, Level: Must, Revisions: R5, on: onRequest | onNotification, methods: []string{mcp.TasksGet, mcp.TasksUpdate, mcp.TasksCancel, mcp.Listen, mcp.TasksNote}, check: extAlone,
		Title: "One side uses an extension that the other did not declare",
		Help:  "Tasks are asked for where server/discover does not list io.modelcontextprotocol/tasks, or told of where subscriptions/listen did not declare it. Of extensions that are not known here nothing is said.",
		Fix:   "Keep to the core protocol where the other side does not declare the extension.",
		Spec:  "2026-07-28/basic/versioning#extension-negotiation",
	},
}

func taskErrorDone(c *ctx) {
	switch {
	case c.item.ok(): // a task object
		id := c.item.get("taskId")
		if t := c.taskAt(id.str(), c.s2c()); t != nil && t.isError && !isFinal(t.status) && c.item.get("status").is("completed") {
			c.hit(c.item.get("status"), "the status is completed, and the result had isError true")
		}
	case c.method == mcp.TasksResult && c.result.get("isError").isTrue():
		if t := c.addressed(); t != nil && t.status == "completed" {
			c.hitAt("/result/isError", "isError is true, and the task has completed")
		}
	}
}

func taskFast(c *ctx) {
	t := c.addressed()
	if t == nil || t.polled == 0 || t.pace == 0 || t.poller != c.ev.Client || isFinal(t.status) {
		return
	}
	if gap := c.ev.Frame.TS - t.polled; gap >= 0 && gap < t.pace/2 {
		c.hitAt("", "%d ms after the poll before; the server asks for %d ms", gap/1e6, t.pace/1e6)
	}
}

func taskNever(c *ctx) {
	id := c.askedTask()
	if id == "" || c.code() != codeInvalidParams || c.addressed() != nil || !c.e.log.whole() || c.e.tasks.full || c.cl.cut {
		return
	}
	c.hitAt("/params/taskId", "%s was asked for", quote(id))
}

// askedTask is the id of the task that the answered request names, "" when
// that is not known for sure.
func (c *ctx) askedTask() string {
	if c.req == nil || c.req.cut || len(c.req.tool) > maxSubjectLen || hasMark(c.req.tool) {
		return ""
	}
	return c.req.tool
}

// taskGone leaves out what may be another reason: another credential, a
// request that lacks metadata, a task that was cancelled or has lived its time.
func taskGone(c *ctx) {
	t := c.addressed()
	if t == nil || t.made == 0 || t.found || t.stopped || c.code() != codeInvalidParams || c.askedTask() == "" {
		return
	}
	if c.req.seq < t.madeSeq || c.req.unmeta || !c.req.caps.extension(mcp.TasksExtension) || c.req.auth != t.auth || t.auth == "" && t.client != c.ev.Client {
		return
	}
	age := c.ev.Frame.TS - t.made
	if age >= 0 && age < 60e9 && (t.ttl == 0 || age < t.ttl) {
		c.hitAt("/error", "%s was created %d ms before", quote(c.req.tool), age/1e6)
	}
}

// slow is after which time a client must have seen what it was sent.
const slow = 5e9

func taskKeys(c *ctx) {
	t := c.addressed()
	if t == nil || t.snap == 0 || !c.e.log.whole() || c.cl.cut || len(t.asked) >= maxTaskKeys || marked(c.params) {
		return
	}
	for _, v := range c.params.get("inputResponses").each() {
		k := hashText(v.t.key(v.i))
		_, before := t.asked[k]
		switch {
		case t.open[k]:
		case !before:
			c.hit(v, "%s was never asked", quote(v.key()))
		case t.answered[k]:
			c.hit(v, "%s was answered before", quote(v.key()))
		case c.stdio() && c.ev.Frame.TS-t.snap > slow:
			c.hit(v, "%s is not asked any more", quote(v.key()))
		}
	}
}

func taskKeyTwice(c *ctx) {
	t := c.taskAt(c.item.get("taskId").str(), c.s2c())
	if t == nil {
		return
	}
	for _, in := range c.item.get("inputRequests").each() {
		if h, ok := t.asked[hashText(in.t.key(in.i))]; ok && h != hashQuestion(in) && !marked(in) {
			c.hit(in, "%s stood for another question before", quote(in.key()))
		}
	}
}

func taskAck(c *ctx) {
	if !c.s2c() || c.req == nil || !c.result.get("resultType").ok() && !c.e.peer.modern {
		return // an older server that ignores the metadata
	}
	for _, v := range c.result.each() {
		if k := v.key(); k != "resultType" && k != "_meta" {
			c.hit(v, "the result has %s", quote(k))
			return
		}
	}
}

func taskCancelledLate(c *ctx) {
	if t := c.addressed(); t != nil && t.ended > 0 && t.ended < c.req.seq && c.askedTask() != "" {
		c.hitAt("/result", "the task had ended in #%d", t.ended)
	}
}

// takesTasks says whether the receiver of a request of that method declared
// tasks for it, and whether that is known.
func (c *ctx) takesTasks(method string, client bool) (declared, known bool) {
	caps := c.cl.client
	if client {
		caps = c.serverCaps()
	}
	what := map[string]string{mcp.ToolsCall: "tools.call", mcp.CreateMessage: "sampling.createMessage", mcp.Elicit: "elicitation.create"}[method]
	return caps.has("tasks.requests." + what), caps != nil && what != ""
}

func taskUnwanted(c *ctx) {
	v := c.params.get("task")
	if !v.isObject() || c.req == nil {
		return
	}
	declared, known := c.takesTasks(c.method, c.c2s())
	switch d := c.req.def; {
	case !known:
	case !declared:
		c.hit(v, "params.task, and tasks are not declared for %s", c.method)
	case d != nil && d.rev == R4 && (d.task == "" || d.task == "forbidden"):
		c.hit(v, "params.task, and execution.taskSupport of the tool is %s", orAbsent(d.task))
	}
}

func orAbsent(s string) string {
	if s == "" {
		return "absent"
	}
	return quote(s)
}

func taskNeeded(c *ctx) {
	if c.req == nil || c.req.task || c.req.cut || c.req.def == nil || c.req.def.rev != R4 || c.req.def.task != "required" {
		return
	}
	declared, _ := c.takesTasks(c.method, true)
	switch weaker := c.weaker; {
	case !declared:
	case c.result.get("isError").isTrue(): // the npm SDK refuses so
		c.weaker = Info
		c.hitAt("/result", "taskSupport is required, and the call without a task was refused in a result, not with -32601")
		c.weaker = weaker
	default:
		c.hitAt("/result", "taskSupport is required, and the call without a task was answered")
	}
}

func taskNotMade(c *ctx) {
	if c.req == nil || !c.req.task || c.req.cut || c.result.get("task").ok() || c.result.get("isError").isTrue() {
		return
	}
	if a := c.result.get("action"); a.is("decline") || a.is("cancel") {
		return // it did not accept
	}
	declared, _ := c.takesTasks(c.method, c.req.client)
	d := c.req.def
	if declared && (c.method != mcp.ToolsCall || d != nil && d.rev == R4 && (d.task == "optional" || d.task == "required")) {
		c.hitAt("/result", "params.task was sent, and there is no task in the result")
	}
}

func taskRelated(c *ctx) {
	tie := c.meta.get(mcp.MetaRelatedTask)
	if c.method == mcp.TasksResult && c.ev.Msg.Kind == wire.Result {
		id := tie.get("taskId")
		switch want := c.askedTask(); {
		case want == "" || marked(tie):
		case !tie.ok():
			c.hitAt("/result/_meta", "the result of %s does not say whose it is", quote(want))
		case !id.is(want):
			c.hit(id, "the result of %s says that it is of %s", quote(want), show(id))
		}
		return
	}
	if tie.ok() {
		weaker := c.weaker
		c.weaker = Info
		c.hit(tie, "%s names its task by itself", c.method)
		c.weaker = weaker
	}
}

func taskEarly(c *ctx) {
	t := c.taskAt(c.item.get("taskId").str(), c.s2c())
	v := c.item.get("status")
	if t != nil && t.result > 0 && c.req != nil && c.req.seq > t.result && (v.is("working") || v.is("input_required")) {
		c.hit(v, "the status is %s, and the result was given out in #%d", show(v), t.result)
	}
}

func taskProgress(c *ctx) {
	p := c.progress()
	if p == nil || p.taskID == "" || hasMark(p.taskID) {
		return
	}
	if t := c.taskAt(p.taskID, c.s2c()); t != nil && t.ended > 0 {
		c.tool = p.tool
		c.hitAt("", "the task had ended in #%d", t.ended)
	}
}

func taskUndeclared(c *ctx) {
	caps := c.cl.client
	if c.c2s() {
		caps = c.serverCaps()
	}
	what := "tasks.list"
	if c.method == mcp.TasksCancel {
		what = "tasks.cancel"
	}
	if caps != nil && !caps.has(what) {
		c.hitAt("", "%s is sent, and %s is not declared", c.method, what)
	}
}

func taskNotAsked(c *ctx) {
	l, id := c.listen(), c.params.get("taskId")
	if l == nil || l.cut || !l.asked["taskIds"] || !id.isString() || marked(id) {
		return
	}
	of := l.tasks
	if l.granted != nil {
		of = l.granted
	}
	if !slices.Contains(of, id.str()) && len(of) < maxFilter {
		c.hit(id, "the subscription %s does not name %s", c.subscription(), show(id))
	}
}

func extAlone(c *ctx) {
	caps := c.e.peer.caps
	switch {
	case c.method == mcp.TasksNote:
		if l := c.listen(); l != nil && l.noTasks {
			c.hitAt("/method", "the subscription %s does not declare %s", c.subscription(), mcp.TasksExtension)
		}
	case !c.c2s() || caps == nil || caps.extension(mcp.TasksExtension):
	case c.method == mcp.Listen:
		if v := c.params.at("notifications", "taskIds"); v.len() > 0 {
			c.hit(v, "server/discover does not list %s", mcp.TasksExtension)
		}
	case c.addressed() == nil: // a task of the server's is no news to it
		c.hitAt("/method", "server/discover does not list %s", mcp.TasksExtension)
	}
}
