package checks

import (
	"fmt"
	"net/http"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// What happened, whether or not a rule of the specification was broken: failed
// and unanswered calls, and holes in the record.
var logRules = []Rule{
	{
		ID: "call-error", Signal: Error, Level: Note, on: onOutcome | onNotification, check: callError,
		Title: "A call failed",
		Help:  "The answer is a JSON-RPC error, or the result of a tool with isError true, or the task that the call became has ended failed.",
		Fix:   "Read the error: the code says which side is to blame, the message what went wrong.",
	},
	{
		ID: "http-status-error", Signal: Error, Level: Note, Transports: OnHTTP, on: onHTTPResponse, check: httpStatusError,
		Title: "An HTTP request was answered with 4xx or 5xx",
		Help:  "The request never reached a handler, or the handler gave up. A 405 on GET or DELETE is how a server declines an optional feature and does not count.",
		Fix:   "Look at the status, the body and the headers of the response.",
	},
	{
		ID: "request-unanswered", Signal: Pending, Level: Note, on: onEnd, check: requestUnanswered,
		Title: "A request has no answer",
		Help:  "The side that asked waits until its own time limit, or for ever.",
		Fix:   "See why in the message: the server ended, the stream broke, or the handler hangs.",
	},
	{
		ID: "cancel-answered", Signal: LateResult, Level: Note, on: onOutcome, check: cancelAnswered,
		Title: "An answer came after the cancel",
		Help:  "The two crossed on the way, or the receiver did not stop. The side that asked ignores the answer.",
		Fix:   "Nothing, when it is rare. Else let the handler stop when the cancellation arrives.",
		Spec:  "2025-11-25/basic/utilities/cancellation#behavior-requirements",
	},
	{
		ID: "frames-missing", Signal: Incomplete, Level: Note, on: onGap, check: framesMissing,
		Title: "Frames are missing from the log",
		Help:  "Numbers in the log have a gap: the recorder dropped frames because the disk stood still, or lines were lost later. Rules that need the missing frames are silent.",
		Fix:   "Record to a faster disk, or find out who removed the lines.",
	},
	{
		ID: "frame-cut", Signal: Incomplete, Level: Note, on: onCut, check: frameCut,
		Title: "The recorded copy of a frame was cut",
		Help:  "What passed through was whole, but the record keeps only the beginning, so its content is not judged.",
		Fix:   "Record with a larger --max-frame.",
	},
	{
		ID: "log-torn", Signal: Incomplete, Level: Note, on: onEnd, check: logTorn,
		Title: "The log ends inside a line, or without its last line",
		Help:  "Its writer was killed or its disk was full: the end of the session is not in the record.",
		Fix:   "Read the findings with the end missing in mind.",
	},
	{
		ID: "log-line-unreadable", Signal: Incomplete, Level: Note, on: onProblem, check: logLineUnreadable,
		Title: "A line of the log cannot be read",
		Help:  "It is skipped, and with it whatever it recorded.",
		Fix:   "Look at the line; two writers on one file and a crash are the usual causes.",
	},
}

func callError(c *ctx) {
	if c.ev.Failed != nil {
		c.taskFailed(c.ev.Failed)
		return
	}
	if c.method == mcp.TasksResult && c.ev.Task != nil && c.ev.Task.TaskState == store.TaskFailed {
		return // the error of the call, which was told before
	}
	if !c.isAnswer() || !c.paired() || c.ev.Op.State != store.Failed || c.ev.Frame.Has(store.Late) {
		return
	}
	status := ""
	if c.rec.Status >= 400 {
		status = fmt.Sprintf(" (HTTP %d)", c.rec.Status)
	}
	if c.ev.Msg.Kind != wire.Error {
		c.hitAt("", "%s failed with isError%s%s", c.about(), textOf(c.result), status)
		return
	}
	code := "an error"
	if v := c.fail.get("code"); v.ok() {
		code = show(v)
	}
	c.hitAt("", "%s answered %s %s%s", c.about(), code, quote(c.fail.get("message").str()), status)
}

// textOf is the first text of a tool's result, for a message.
func textOf(result val) string {
	for _, b := range result.get("content").each() {
		if b.get("type").is("text") {
			return ": " + quote(b.get("text").str())
		}
	}
	return ""
}

// taskFailed tells of the call, on the frame that said how its task ended.
func (c *ctx) taskFailed(t *store.FailedTask) {
	says := c.result
	if c.params.ok() {
		says = c.params
	}
	why := textOf(says)
	for _, v := range [...]val{says.at("error", "message"), says.get("statusMessage"), says.at("task", "statusMessage")} {
		if v.isString() {
			why = ": " + quote(v.str())
			break
		}
	}
	p := c.pos()
	p.op, p.hasOp, p.id, p.method, p.tool = t.Index, true, string(t.Op.ID), t.Method, t.Name
	c.hitPos(p, "", "%s failed: its task ended failed%s", about(t.Method, t.Name), why)
}

// httpStatusError counts one error for an exchange: not when its answer is a
// JSON-RPC error that call-error has.
func httpStatusError(c *ctx) {
	x := c.x
	if c.rec.Status < 400 || x.failed {
		return
	}
	if c.rec.Status == http.StatusMethodNotAllowed && x.verb != http.MethodPost && len(x.reqs) == 0 {
		return
	}
	x.failed = true
	if c.isAnswer() && c.paired() && c.ev.Op.State == store.Failed {
		return
	}
	what := x.verb
	for _, r := range x.reqs {
		if c.e.open[r.op] == r {
			r.closed = c.rec.Status
		}
	}
	if len(x.reqs) > 0 {
		c.method, c.mi, c.tool = x.reqs[0].method, x.reqs[0].mi, x.reqs[0].tool
		what = c.about()
	}
	if what == "" {
		what = "the request"
	}
	reason := http.StatusText(c.rec.Status)
	switch {
	case c.fail.isObject():
		reason += ": " + quote(c.fail.get("message").str())
	case c.rec.HasText && c.rec.Text != "":
		reason += ": " + quote(c.rec.Text)
	}
	c.hitAt("", "%s answered HTTP %d %s", what, c.rec.Status, reason)
}

func cancelAnswered(c *ctx) {
	if !c.paired() || !c.ev.Frame.Has(store.Late) {
		return
	}
	after := time.Duration(c.ev.Frame.TS - c.ev.Op.Finish).Round(time.Millisecond)
	c.hitAt("", "%s was answered %s after it had been cancelled", c.about(), after)
}

func framesMissing(c *ctx) {
	first := c.e.log.lastSeq + 1
	which := fmt.Sprintf("#%d", first)
	if c.missing > 1 {
		which = fmt.Sprintf("#%d to #%d", first, c.rec.Seq-1)
	}
	by := ""
	if c.rec.Dropped > 0 {
		by = fmt.Sprintf("; the recorder says that it dropped %d itself", c.rec.Dropped)
	}
	f := c.e.found.find(subject{rule: c.rule})
	if f.Count == 0 {
		f.Seq, f.Line, f.Segment = c.rec.Seq, c.ev.Item.Line, c.ev.Item.Ref.Segment
		f.Message = message("%s missing before this line%s", which, by)
	}
	f.Count += int(min(c.missing, 1<<40))
}

func frameCut(c *ctx) {
	c.hitAt("", "%d of %d bytes are in the record", len(c.rec.Body()), c.rec.WireSize())
}

func logTorn(c *ctx) {
	sum := c.s.Summary()
	switch {
	case sum.Torn:
		line := 0
		for i := range sum.Problems {
			if sum.Problems[i].Kind == capture.Torn {
				line = sum.Problems[i].Line
			}
		}
		f := c.e.found.find(subject{rule: c.rule})
		f.Line, f.Message, f.Count = line, message("the log ends inside line %d", line), 1
	case c.e.opts.WriterGone && !sum.Ended && sum.Meta.Version != "": // writers that give no version write no last line
		f := c.e.found.find(subject{rule: c.rule})
		f.Message, f.Count = "the log has no last line, and nobody writes it any more", 1
	}
}

func logLineUnreadable(c *ctx) {
	p := c.problem
	if p.Kind == capture.Torn || p.Kind > capture.TooLong {
		return
	}
	f := c.e.found.find(subject{rule: c.rule, path: fmt.Sprintf("segment %d line %d", p.Segment, p.Line)})
	f.Line, f.Segment, f.Message = p.Line, p.Segment, message("%s", p.Error())
	f.Count++
}

// requestUnanswered goes over the operations that nothing ended.
func requestUnanswered(c *ctx) {
	s := c.s
	sum := s.Summary()
	owes := clientOwes(s)
	for i := range s.OpLen() {
		o := s.Op(i)
		if o.State != store.Pending {
			continue
		}
		method, tool := s.OpMethod(o), s.OpName(o)
		if method == mcp.Listen {
			continue // open as long as the client listens
		}
		if r := c.e.open[i]; r != nil && r.closed > 0 {
			continue
		}
		fr := s.Frame(o.Request)
		who := "the client"
		if o.Client {
			who = c.e.serverName(sum)
		}
		age := sum.Newest.Sub(fr.Time()).Round(time.Millisecond)
		p := pos{seq: fr.Seq, line: int(fr.Line), segment: s.Ref(fr).Segment, frame: o.Request, op: i, hasOp: true, id: string(o.ID), method: method, tool: tool}
		rest := c.e.lastSign(o)
		if owes {
			rest += owed(s, o)
		}
		c.hitPos(p, "", "%s: no answer from %s after %s: %s%s", about(method, tool), who, age, s.Why(o), rest)
	}
}

// clientOwes reports whether any request of a server has no answer.
func clientOwes(s *store.Session) bool {
	for i := range s.OpLen() {
		if o := s.Op(i); !o.Client && o.State == store.Pending {
			return true
		}
	}
	return false
}

// owed says what the server waited for itself.
func owed(s *store.Session, o *store.Operation) string {
	asked, ok := s.Owed(o)
	if !ok {
		return ""
	}
	return fmt.Sprintf("; the server itself waits for the answer to %s (#%d)", about(s.OpMethod(asked), s.OpName(asked)), s.Frame(asked.Request).Seq)
}

// serverName names the server for a message: its label, and its command or URL.
func (e *Engine) serverName(sum *store.Summary) string {
	name := "the server"
	if sum.Label != "" {
		name = sum.Label
	}
	switch {
	case len(sum.Meta.Command) > 0:
		return fmt.Sprintf("%s (%s)", name, clip(sum.Meta.Command[0], 60))
	case sum.Meta.Target != "":
		return fmt.Sprintf("%s (%s)", name, clip(sum.Meta.Target, 60))
	}
	return name
}

// lastSign says when the operation last showed life.
func (e *Engine) lastSign(o *store.Operation) string {
	if e.log.lossy {
		return "; frames are missing from the log, the answer may be among them"
	}
	if o.LastSign == 0 {
		return ""
	}
	return fmt.Sprintf("; last sign of life after %s", time.Duration(o.LastSign-o.Start).Round(time.Millisecond))
}
