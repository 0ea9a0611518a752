package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// taskKey names a task: ids are unique among the tasks of the side that works
// on them.
type taskKey struct {
	server bool // the server works on it
	client int  // the client session, when a client does
	id     string
}

// taskState is what is known of one task.
type taskState struct {
	status string
	ended  uint64 // the frame that first told a final status; 0 for none

	made    int64 // when the result came that made it; 0 when that was not seen
	madeSeq uint64
	client  int    // who asked for it
	auth    string // with which credential, as far as that was recorded
	ttl     int64  // nanoseconds; 0 for no bound
	found   bool   // tasks/get was answered with it
	stopped bool   // it was asked to end

	pace   int64 // nanoseconds that polls are to be apart; 0 when nobody said so
	polled int64 // when the last poll that was answered was sent; 0 when something else came since
	poller int   // by whom

	result  uint64 // the frame that brought its result (2025-11-25)
	isError bool   // of a tool that failed

	asked    map[uint64]uint64 // what was asked of the client, by key: hashes
	open     map[uint64]bool   // the keys of the newest snapshot
	snap     int64             // when that came; 0 for none
	answered map[uint64]bool   // keys whose answers were acknowledged
}

// tasks are the tasks of one session, oldest first. The oldest are forgotten.
type tasks struct {
	known map[taskKey]*taskState
	order []taskKey
	full  bool // some were forgotten
}

// maxTaskKeys bounds the questions that are kept of one task.
const maxTaskKeys = 64

// task returns the state of a task, nil when it is not known.
func (c *ctx) taskAt(id string, server bool) *taskState {
	return c.e.tasks.known[c.taskKey(id, server)]
}

func (c *ctx) taskKey(id string, server bool) taskKey {
	k := taskKey{server: server, id: clip(id, maxSubjectLen)}
	if !server {
		k.client = c.ev.Client
	}
	return k
}

// addressed is the task that the request names, or the request that the frame
// answers.
func (c *ctx) addressed() *taskState {
	if c.req == nil {
		return nil
	}
	return c.taskAt(c.req.tool, c.req.client)
}

// noteTask returns the state of a task, a new one when it is not known yet.
func (c *ctx) noteTask(id string, server bool) *taskState {
	g, k := &c.e.tasks, c.taskKey(id, server)
	if t := g.known[k]; t != nil {
		return t
	}
	if g.known == nil {
		g.known = map[taskKey]*taskState{}
	}
	t := &taskState{}
	g.known[k] = t
	if g.order = append(g.order, k); len(g.order) > maxTasks {
		delete(g.known, g.order[0])
		g.order, g.full = g.order[1:], true
	}
	return t
}

// judgeTasks runs the rules on task objects.
func (c *ctx) judgeTasks() {
	switch c.ev.Msg.Kind {
	case wire.Result:
		switch {
		case c.req == nil:
		case c.rev == R5 && c.s2c() && (c.result.get("resultType").is(mcp.ResultTask) || c.method == mcp.TasksGet):
			c.judgeTask(c.result)
		case c.rev != R4:
		case c.method == mcp.TasksGet, c.method == mcp.TasksCancel:
			c.judgeTask(c.result)
		case c.method == mcp.TasksList:
			for _, t := range c.result.get("tasks").each() {
				c.judgeTask(t)
			}
		case c.req.task:
			c.judgeTask(c.result.get("task"))
		}
	case wire.Notification:
		if c.method == mcp.TasksNote && c.rev == R5 || c.method == mcp.TaskStatus && c.rev == R4 {
			c.judgeTask(c.params)
		}
	case wire.Request, wire.Error, wire.Other:
	}
}

func (c *ctx) judgeTask(t val) {
	if !t.isObject() || t.get("task").isObject() {
		return
	}
	c.item = t
	c.run(onTask)
	if id := t.get("taskId"); id.isString() && !id.is("") && !marked(id) {
		c.learnTask(c.noteTask(id.str(), c.s2c()), t)
	}
}

// learnTask takes what a task object says.
func (c *ctx) learnTask(s *taskState, t val) {
	if v := t.get("status"); v.isString() {
		s.status = c.e.intern([]byte(clip(v.str(), maxSubjectLen)))
		if isFinal(s.status) && s.ended == 0 {
			s.ended = c.rec.Seq
		}
	}
	ttl, pace := "ttlMs", "pollIntervalMs"
	if c.rev == R4 {
		ttl, pace = "ttl", "pollInterval"
	}
	s.ttl = millis(t.get(ttl))
	if v := t.get(pace); v.ok() {
		s.pace = millis(v)
	}
	switch {
	case c.ev.Msg.Kind == wire.Notification:
		s.polled = 0
		c.learnSnapshot(s, t)
	case c.method == mcp.TasksGet:
		s.found = true
		s.polled, s.poller = c.req.ts, c.ev.Client
		c.learnSnapshot(s, t)
	case c.method != mcp.TasksList && c.method != mcp.TasksCancel:
		s.made, s.madeSeq, s.client, s.auth = c.ev.Frame.TS, c.rec.Seq, c.ev.Client, c.req.auth
	}
}

// learnSnapshot takes the questions of a task that are open now
// (2026-07-28, extension tasks).
func (c *ctx) learnSnapshot(s *taskState, t val) {
	if c.rev != R5 {
		return
	}
	s.snap, s.open = c.ev.Frame.TS, nil
	for _, in := range t.get("inputRequests").each() {
		if s.asked == nil {
			s.asked = map[uint64]uint64{}
		}
		if s.open == nil {
			s.open = map[uint64]bool{}
		}
		k := hashText(in.t.key(in.i))
		if _, ok := s.asked[k]; ok || len(s.asked) < maxTaskKeys {
			s.asked[k], s.open[k] = hashQuestion(in), true
		}
	}
}

// hashQuestion is a hash of an entry of inputRequests but for its metadata,
// which may differ from poll to poll.
func hashQuestion(in val) uint64 {
	h := hashText(in.get("method").raw())
	for _, m := range in.get("params").each() {
		if k := m.key(); k != "_meta" {
			h += hashText(k) ^ hashText(wire.AppendCanonical(nil, m.raw()))*31
		}
	}
	return h
}

// learnTaskCalls notes what was asked about tasks and what came of it.
func (c *ctx) learnTaskCalls() {
	s := c.addressed()
	if s == nil {
		return
	}
	switch c.ev.Msg.Kind {
	case wire.Request:
		if c.method != mcp.TasksGet {
			s.polled = 0
		}
		s.stopped = s.stopped || c.method == mcp.TasksCancel
	case wire.Result:
		if c.method == mcp.TasksResult {
			s.result, s.isError = c.rec.Seq, c.result.get("isError").isTrue()
		}
		for k := range c.req.answers {
			if s.answered == nil {
				s.answered = map[uint64]bool{}
			}
			if len(s.answered) < maxTaskKeys {
				s.answered[k] = true
			}
		}
	case wire.Notification, wire.Error, wire.Other:
	}
}

// taskAnswers are the keys that a tasks/update answers.
func (c *ctx) taskAnswers() map[uint64]bool {
	if c.method != mcp.TasksUpdate {
		return nil
	}
	out := map[uint64]bool{}
	for _, v := range c.params.get("inputResponses").each() {
		if len(out) < maxTaskKeys {
			out[hashText(v.t.key(v.i))] = true
		}
	}
	return out
}

func isFinal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// millis is a number of milliseconds in nanoseconds, 0 for anything else.
func millis(v val) int64 {
	if n, ok := v.num(); ok && n > 0 && n < 1e12 {
		return int64(n * 1e6)
	}
	return 0
}
