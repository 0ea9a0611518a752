package export

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
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

// slowest is how many calls the summary names.
const slowest = 10

// calls writes the calls of a session in the order of their requests.
func (d *document) calls(ctx context.Context, s *Session) {
	for i := range s.OpLen() {
		if i%1024 == 0 && ctx.Err() != nil {
			return // the events will say so
		}
		d.call(s, s.Op(i), true)
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
	d.time("started", time.Unix(0, o.Start))
	if o.Finish > 0 {
		d.millis("duration_ms", o.Duration(d.in.Now))
	}
	if a, ok := o.Answer(); ok {
		d.num("answer", int64(s.Frame(a).Seq))
		if withError && o.State == store.Failed {
			d.callError(s, o, s.Frame(a))
		}
	}
	if l, ok := o.Late(); ok {
		d.num("late_answer", int64(s.Frame(l).Seq))
	}
	d.numIf("progress", int64(o.Progress))
	d.textIf("why", s.Why(o))
	d.yes("uncertain", o.Uncertain)
	d.close("}")
}

func (d *document) callError(s *Session, o *store.Operation, answer *store.Frame) {
	if o.ToolError {
		d.yes("tool_error", true)
		return
	}
	rec, err := d.in.Body(s, answer)
	if err != nil {
		return // the log changed meanwhile; the events will say so
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

// toolStats is what became of all calls of one tool.
type toolStats struct {
	name          string
	calls, errors int
	took          []time.Duration
}

// timed is a call that ended, for the list of the slowest.
type timed struct {
	s    *Session
	o    *store.Operation
	took time.Duration
}

// summary writes totals over all sessions.
func (d *document) summary() {
	var total store.Counts
	var missing uint64
	tools := map[string]*toolStats{}
	var slow []timed
	for _, s := range d.sessions {
		sum := s.Summary()
		c := sum.Calls
		missing += sum.Missing
		total = store.Counts{Total: total.Total + c.Total, OK: total.OK + c.OK, Failed: total.Failed + c.Failed, Cancelled: total.Cancelled + c.Cancelled, Pending: total.Pending + c.Pending}
		slow = tally(s, tools, slow)
	}
	d.member("summary")
	d.open("{")
	d.num("missing_frames", int64(missing))
	d.counts(total)
	d.list("tools", func() {
		for _, t := range byName(tools) {
			d.tool(t)
		}
	})
	d.list("slowest", func() {
		for _, t := range slow {
			d.call(t.s, t.o, false)
		}
	})
	d.close("}")
}

// tally counts the calls of tools, and keeps the slowest ones in order.
func tally(s *Session, tools map[string]*toolStats, slow []timed) []timed {
	for i := range s.OpLen() {
		o := s.Op(i)
		if s.OpMethod(o) != mcp.ToolsCall {
			continue
		}
		name := s.OpName(o)
		t := tools[name]
		if t == nil {
			t = &toolStats{name: name}
			tools[name] = t
		}
		t.calls++
		if o.State == store.Failed {
			t.errors++
		}
		if o.State != store.OK && o.State != store.Failed {
			continue
		}
		took := time.Duration(o.Finish - o.Start)
		t.took = append(t.took, took)
		if len(slow) < slowest || took > slow[len(slow)-1].took {
			at, _ := slices.BinarySearchFunc(slow, took, func(x timed, d time.Duration) int { return cmp.Compare(d, x.took) })
			slow = slices.Insert(slow, at, timed{s, o, took})
			slow = slow[:min(len(slow), slowest)]
		}
	}
	return slow
}

func byName(tools map[string]*toolStats) []*toolStats {
	var list []*toolStats
	for _, t := range tools {
		slices.Sort(t.took)
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *toolStats) int { return strings.Compare(a.name, b.name) })
	return list
}

func (d *document) tool(t *toolStats) {
	d.open("{")
	d.text("name", t.name)
	d.num("calls", int64(t.calls))
	d.num("errors", int64(t.errors))
	if len(t.took) > 0 {
		d.millis("p50_ms", percentile(t.took, 50))
		d.millis("p95_ms", percentile(t.took, 95))
		d.millis("p99_ms", percentile(t.took, 99))
		d.millis("max_ms", t.took[len(t.took)-1])
	}
	d.close("}")
}

// percentile is the nearest-rank percentile of sorted durations.
func percentile(sorted []time.Duration, p int) time.Duration {
	rank := (p*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}
