package checks

import (
	"regexp"
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const tasksR4 = "2025-11-25/basic/utilities/tasks"

var taskCalls = []string{mcp.TasksGet, mcp.TasksUpdate, mcp.TasksCancel}

// Tasks: the experiment of 2025-11-25 and the extension since.
var taskRules = []Rule{
	{
		ID: "task-shape-modern", Signal: Invalid, Level: Must, Revisions: R5, on: onTask, check: taskShape,
		Title: "A task lacks a member, or has one of the wrong type",
		Help:  "taskId, status, createdAt, lastUpdatedAt and ttlMs are required. ttl and pollInterval were the names of 2025-11-25.",
		Fix:   "Send them; ttlMs is null where a task is kept for ever.",
		Spec:  tasksPage,
	},
	{
		ID: "task-nested-modern", Signal: Invalid, Level: Must, Revisions: R5, on: onResult, check: taskNested,
		Title: "A task stands in a member of its own",
		Help:  "Since 2026-07-28 its members stand in the result itself.",
		Fix:   "Move them up.",
		Spec:  tasksPage,
	},
	{
		ID: "task-shape-r4", Signal: Invalid, Level: Must, Revisions: R4, on: onTask, check: taskShape,
		Title: "A task of 2025-11-25 lacks a member, or has one of the wrong type",
		Help:  "taskId, status, createdAt, lastUpdatedAt and ttl are required.",
		Fix:   "Send them; ttl is null where a task is kept for ever.",
		Spec:  "2025-11-25/schema#task",
	},
	{
		ID: "task-unsupported-request", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: taskElsewhere,
		Title: "A task answers what cannot become one",
		Help:  "Only tools/call can; clients take the result for invalid.",
		Fix:   "Answer with the result.",
		Spec:  tasksPage,
	},
	{
		ID: "task-get-result-type", Signal: Warn, Level: Should, Revisions: R5, on: onResult, methods: taskCalls, check: taskResultType,
		Title: "The result of a method of tasks is not complete",
		Help:  "resultType task stands for a call that became a task; here the task is told about.",
		Fix:   `Send "resultType":"complete".`,
		Spec:  tasksPage,
	},
	{
		ID: "task-get-id", Signal: Warn, Level: Must, on: onResult, methods: []string{mcp.TasksGet}, check: taskOther,
		Title: "Another task was returned than the one that was asked for",
		Help:  "The client takes its status for that of the task that it waits for.",
		Fix:   "Echo the taskId.",
		Spec:  tasksPage,
	},
	{
		ID: "task-status-value", Signal: Invalid, Level: Must, on: onTask, check: taskStatus,
		Title: "The status of a task is unknown",
		Help:  "It is working, input_required, completed, failed or cancelled.",
		Fix:   "Use one of the five.",
		Spec:  tasksPage,
	},
	{
		ID: "task-transition", Signal: Warn, Level: Must, Transports: OnStdio, on: onTask, check: taskMoved,
		Title: "A task that had ended has another status",
		Help:  "completed, failed and cancelled are final; the client may have dropped the task.",
		Fix:   "Keep the status.",
		Spec:  tasksPage,
	},
	{
		ID: "task-initial-status", Signal: Warn, Level: Must, Revisions: R4, on: onTask, check: taskInitial,
		Title: "A new task is not working",
		Help:  "In 2025-11-25 each task begins so.",
		Fix:   "Begin with working.",
		Spec:  tasksR4 + "#task-status-lifecycle",
	},
	{
		ID: "task-time-format", Signal: Warn, Level: Should, on: onTask, check: taskTimes,
		Title: "The times of a task are malformed or contradict each other",
		Help:  "createdAt and lastUpdatedAt are ISO 8601, and the first is not after the second.",
		Fix:   "Use the form 2026-08-01T10:00:00Z.",
		Spec:  tasksPage,
	},
	{
		ID: "task-not-found-code", Signal: Warn, Level: Must, on: onError, methods: []string{mcp.TasksGet, mcp.TasksResult, mcp.TasksCancel, mcp.TasksUpdate}, check: taskNotFound,
		Title: "A task that does not exist is not reported with -32602",
		Help:  "Clients tell by the code that there is nothing to wait for.",
		Fix:   "Send -32602.",
		Spec:  tasksPage,
	},
	{
		ID: "task-cancel-r4-status", Signal: Warn, Level: Must, Revisions: R4, on: onResult, methods: []string{mcp.TasksCancel}, check: taskNotCancelled,
		Title: "A task was cancelled and is not cancelled",
		Help:  "In 2025-11-25 it is before the response is sent.",
		Fix:   "Send the status cancelled, or refuse with -32602.",
		Spec:  tasksR4 + "#task-cancellation",
	},
	{
		ID: "task-param-modern", Signal: Info, Level: Note, Revisions: R5, on: onRequest, methods: []string{mcp.ToolsCall}, check: taskParam,
		Title: "The client asks for a task, which servers decide since 2026-07-28",
		Help:  "params.task is ignored.",
		Fix:   "Declare the extension io.modelcontextprotocol/tasks.",
		Spec:  tasksPage,
	},
	{
		ID: "task-id-weak", Signal: Info, Level: Note, on: onTask, check: taskWeak,
		Title: "The id of a task can be guessed",
		Help:  "Without credentials whoever knows the id gets the result.",
		Fix:   "Use random ids, a UUID for example.",
		Spec:  tasksPage,
	},
}

func taskShape(c *ctx) {
	for _, k := range [...]string{"taskId", "status", "createdAt", "lastUpdatedAt"} {
		if v := c.item.get(k); !v.isString() {
			c.hit(c.item, "%s is %s; want a string", k, show(v))
			return
		}
	}
	ttl, poll := "ttlMs", "pollIntervalMs"
	if c.rev == R4 {
		ttl, poll = "ttl", "pollInterval"
	}
	if v := c.item.get(ttl); !v.isNull() && !v.isInt() {
		c.hit(c.item, "%s is %s; want milliseconds or null", ttl, show(v))
	}
	if v := c.item.get(poll); v.ok() && !v.isInt() {
		c.hit(v, "%s is %s; want milliseconds", poll, show(v))
	}
}

func taskNested(c *ctx) {
	if v := c.result.get("task"); c.s2c() && v.isObject() && c.result.get("resultType").is(mcp.ResultTask) {
		c.hit(v, "the members of the task stand under task")
	}
}

func taskElsewhere(c *ctx) {
	if c.s2c() && c.req != nil && c.result.get("resultType").is(mcp.ResultTask) && c.mi > 0 && c.method != mcp.ToolsCall && !slices.Contains(taskCalls, c.method) {
		c.hitAt("/result/resultType", "%s became a task", c.method)
	}
}

func taskResultType(c *ctx) {
	if v := c.result.get("resultType"); v.ok() && !v.is(mcp.ResultComplete) {
		c.hit(v, "resultType is %s", show(v))
	}
}

func taskOther(c *ctx) {
	v := c.result.get("taskId")
	if c.req != nil && c.req.tool != "" && v.isString() && !marked(v) && len(c.req.tool) < maxSubjectLen && !v.is(c.req.tool) {
		c.hit(v, "the taskId is %s; %s was asked for", show(v), quote(c.req.tool))
	}
}

var taskStates = []string{"working", "input_required", "completed", "failed", "cancelled"}

func taskStatus(c *ctx) {
	if v := c.item.get("status"); v.isString() && !slices.Contains(taskStates, v.str()) {
		c.hit(v, "the status is %s", show(v))
	}
}

func taskMoved(c *ctx) {
	id, now := c.item.get("taskId"), c.item.get("status")
	t := c.taskAt(id.str(), c.s2c())
	if t == nil || !isFinal(t.status) || c.method == mcp.TasksCancel && t.ended < c.req.seq {
		return // a cancel that came too late has a rule of its own
	}
	if was := t.status; now.isString() && !now.is(was) && !marked(id) {
		c.hit(now, "the task had %s, and is %s now", was, show(now))
	}
}

func taskInitial(c *ctx) {
	if v := c.item.get("status"); c.req != nil && c.req.task && c.result.get("task").ok() && v.isString() && !v.is("working") {
		c.hit(v, "the status is %s", show(v))
	}
}

var isoTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$`)

func taskTimes(c *ctx) {
	from, to := c.item.get("createdAt"), c.item.get("lastUpdatedAt")
	for _, v := range [...]val{from, to} {
		if v.isString() && !isoTime.MatchString(v.str()) && !marked(v) {
			c.hit(v, "%s is %s", v.key(), show(v))
			return
		}
	}
	a, err := time.Parse(time.RFC3339Nano, from.str())
	b, err2 := time.Parse(time.RFC3339Nano, to.str())
	if err == nil && err2 == nil && b.Before(a) {
		c.hit(to, "lastUpdatedAt is before createdAt")
	}
}

var noTask = regexp.MustCompile(`(?i)\btask (\S+ )?(was |has )?(not found|does not exist|expired)|\b(unknown|no such) task\b`)

func taskNotFound(c *ctx) {
	if m := c.fail.get("message"); c.req != nil && c.code() != codeInvalidParams && c.code() != codeMethodNotFound && noTask.MatchString(m.str()) {
		c.hitAt("/error/code", "the code is %d, the message %s", c.code(), show(m))
	}
}

func taskNotCancelled(c *ctx) {
	if t := c.addressed(); t != nil && t.ended > 0 && t.ended < c.req.seq {
		return // it had ended before; there is a rule of its own
	}
	if v := c.result.get("status"); v.isString() && !v.is("cancelled") {
		c.hit(v, "the status is %s", show(v))
	}
}

func taskParam(c *ctx) {
	if v := c.params.get("task"); c.c2s() && v.ok() {
		c.hit(v, "params.task")
	}
}

var onlyDigits = regexp.MustCompile(`^[A-Za-z_-]{0,8}[0-9]{0,10}$`)

func taskWeak(c *ctx) {
	if v := c.item.get("taskId"); v.isString() && (len(v.raw()) < 12 || onlyDigits.MatchString(v.str())) && !marked(v) {
		c.hit(v, "the taskId is %s", show(v))
	}
}
