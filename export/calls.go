package export

import (
	"cmp"
	"context"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// endOf is when a session ended, zero while it runs or when its end was lost.
func endOf(sum *store.Summary) time.Time {
	if !sum.Ended {
		return time.Time{}
	}
	return sum.Newest
}

// calls writes the calls of a session in the order of their requests.
func (d *document) calls(ctx context.Context, s *Session) {
	for i := range s.OpLen() {
		if i%1024 == 0 && (ctx.Err() != nil || d.failed() != nil) {
			return // the events will say so
		}
		if s.hasOp(i) {
			d.line()
			d.call(s, s.Op(i), true)
		}
	}
}

// call writes one call. Its error is read back from the log: the index does
// not keep bodies.
func (d *document) call(s *Session, o *store.Operation, withError bool) {
	d.open("{")
	d.of(s)
	d.num("seq", int64(s.Frame(o.Request).Seq))
	d.value("id", []byte(o.ID))
	d.text("direction", o.Direction().String())
	d.text("method", s.OpMethod(o))
	d.textIf("name", s.OpName(o))
	d.text("status", o.State.String())
	d.stamp("started", time.Unix(0, o.Start))
	if o.Finish > 0 {
		d.millis("duration_ms", o.Duration(s.until()))
	}
	if a, ok := o.Answer(); ok {
		d.num("answer", int64(s.Frame(a).Seq))
		if withError && o.State == store.Failed {
			d.callError(s, o, a)
		}
	}
	if l, ok := o.Late(); ok {
		d.num("late_answer", int64(s.Frame(l).Seq))
	}
	if p, link := o.Previous(); link > store.Weak {
		d.num("retry_of", int64(s.Frame(s.Op(p).Request).Seq))
	}
	d.yes("wants_input", o.WantsInput)
	d.numIf("http_status", int64(o.Status))
	if id, state := s.Task(o); state != store.NoTask {
		d.member("task")
		d.open("{")
		d.text("id", id)
		d.text("state", state.String())
		d.close("}")
	}
	d.numIf("progress", int64(o.Progress))
	d.textIf("why", s.Why(o))
	d.yes("uncertain", o.Uncertain)
	d.close("}")
}

func (d *document) callError(s *Session, o *store.Operation, answer uint32) {
	if o.ToolError {
		d.yes("tool_error", true)
		return
	}
	var rec capture.Record
	if err := d.bodies.read(s, answer, &rec); err != nil {
		d.err = cmp.Or(d.err, err)
		return
	}
	e := wire.Get(rec.Raw, "error")
	d.member("error")
	d.open("{")
	if code := wire.Get(e, "code"); code != nil {
		d.value("code", code)
	}
	d.textIf("message", wire.GetString(e, "message"))
	d.close("}")
}
