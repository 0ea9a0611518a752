package store

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// TaskState is the state of the task that a call became.
type TaskState uint8

// The states of a task (2025-11-25, basic/utilities/tasks; the tasks extension of 2026-07-28).
const (
	NoTask TaskState = iota
	TaskWorking
	TaskInputRequired
	TaskCompleted
	TaskFailed
	TaskCancelled
)

var taskStates = map[string]TaskState{
	"working": TaskWorking, "input_required": TaskInputRequired,
	"completed": TaskCompleted, "failed": TaskFailed, "cancelled": TaskCancelled,
}

// FailedTask is the call that is known to have failed since this frame told so
// of its task.
type FailedTask struct {
	Op           *Operation
	Index        OpIndex
	Method, Name string // of Op
}

// Over reports whether the state never changes any more.
func (t TaskState) Over() bool { return t >= TaskCompleted }

// String is the protocol's word for the state.
func (t TaskState) String() string {
	for word, state := range taskStates {
		if state == t {
			return word
		}
	}
	return ""
}

// Task is the task that the call became: its id's text and the newest state.
func (s *Session) Task(o *Operation) (id string, state TaskState) {
	return *s.names.list.read(o.task), o.TaskState
}

// handle ties a call to the task that its answer hands over: flat from
// 2026-07-28 on, in a member task before.
func (a *Appender) handle(ev *Event, cl *client, op *Operation) {
	task := wire.Get(ev.Msg.Result, "task")
	if wire.GetString(ev.Msg.Result, "resultType") == mcp.ResultTask {
		task = ev.Msg.Result
	}
	id := wire.GetString(task, "taskId")
	if id == "" || op.task != 0 {
		return
	}
	op.task = a.s.names.number([]byte(id))
	if len(cl.tasks) < a.limits.Tasks {
		cl.tasks[id] = ev.OpIndex
	}
	a.taskState(op, ev.OpIndex, ev, wire.GetString(task, "status"))
}

// taskMessage follows a task through the answers to tasks/get, tasks/cancel
// and tasks/result, and through its notifications.
func (a *Appender) taskMessage(ev *Event, cl *client) {
	body, id := ev.Msg.Params, wire.GetString(ev.Msg.Params, "taskId")
	if ev.Op != nil && ev.Frame.Kind != KindRequest {
		switch a.name(ev.Op.method) {
		case mcp.TasksGet, mcp.TasksCancel, mcp.TasksResult:
			body, id = ev.Msg.Result, a.name(ev.Op.name)
		default:
			return
		}
	}
	i, ok := cl.tasks[id]
	if !ok {
		return
	}
	op := a.change(i)
	op.LastSign = max(op.LastSign, ev.Frame.TS)
	ev.Task = op
	if ev.Frame.Kind == KindRequest {
		op.Polls++
		return
	}
	if ev.Op != nil && a.name(ev.Op.method) == mcp.TasksResult {
		if ev.Frame.Kind == KindResult && string(wire.Get(ev.Msg.Result, "isError")) == "true" {
			a.taskFailed(op, i, ev)
		}
		return
	}
	a.taskState(op, i, ev, wire.GetString(body, "status"))
}

func (a *Appender) taskState(op *Operation, i OpIndex, ev *Event, word string) {
	state, ok := taskStates[word]
	if !ok || op.TaskState.Over() {
		return
	}
	op.TaskState = state
	if state.Over() {
		op.Finish = ev.Frame.TS
	}
	if state == TaskFailed {
		a.taskFailed(op, i, ev)
	}
}

// taskFailed turns a call that was answered by a task into a failed one.
func (a *Appender) taskFailed(op *Operation, i OpIndex, ev *Event) {
	if op.State != OK {
		return
	}
	op.State = Failed
	ev.Failed = &FailedTask{Op: op, Index: i, Method: a.name(op.method), Name: a.name(op.name)}
	a.sum.Calls.OK--
	a.sum.Calls.Failed++
}
