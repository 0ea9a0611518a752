package metrics

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// tracked is how far a session was counted.
type tracked struct {
	m       *Metrics
	s       *store.Session
	srv     *server
	round   uint64 // the last look that found it in the store
	version uint64

	op, frame, mark uint32 // the next ones
	open            []openCall
	listing         uint32 // index + 1 of the first frame of the newest listing
	definitions     int    // bytes of it; -1 when there is none
	missing         uint64 // frames that were counted as lost, or are history
	loaded          bool   // what is missing from now on is new
	refused         uint64 // the newest exchange that was counted as refused
}

// openCall is a request without an answer.
type openCall struct {
	i      store.OpIndex
	series *toolSeries // nil when it is not counted
}

// look counts what is new. It returns how late that was, -1 when there was
// nothing new.
func (t *tracked) look(now time.Time) time.Duration {
	v := t.s.Version()
	sum := t.s.Summary()
	if v == t.version || !sum.SawMeta && t.s.Len() == 0 {
		return -1
	}
	t.version = v
	if t.srv == nil {
		t.srv, t.definitions = t.m.server(t.s, sum), -1
		t.loaded = sum.Started.UnixNano() >= t.m.since
	}
	if l, ok := sum.Listing(mcp.ToolsList); ok && t.listing != l.First+1 {
		t.listing, t.definitions = l.First+1, l.Bytes
		t.srv.words.advertise(l.Tools)
	}
	t.losses(sum)
	for ; t.op < uint32(t.s.OpLen()); t.op++ {
		t.begin(store.OpIndex(t.op))
	}
	t.open = slices.DeleteFunc(t.open, t.end)
	for ; t.mark < t.s.MarkLen(); t.mark++ {
		i, _, g := t.s.MarkAt(t.mark)
		if t.s.Frame(i).TS >= t.m.since {
			t.m.families.findings.WithLabelValues(t.srv.label, t.srv.id, g.String()).Inc()
		}
	}
	return t.frames(now)
}

// losses counts frames that are missing. What is missing from the part of a
// log that was there before says nothing about now.
func (t *tracked) losses(sum *store.Summary) {
	if t.loaded {
		t.srv.lost.Add(float64(sum.Missing - t.missing))
	}
	t.missing = sum.Missing
	t.loaded = t.loaded || sum.Loaded
}

// frames counts frames, and the HTTP errors among them.
func (t *tracked) frames(now time.Time) time.Duration {
	oldest := int64(0)
	for ; t.frame < t.s.Len(); t.frame++ {
		f := t.s.Frame(t.frame)
		if f.TS < t.m.since {
			continue
		}
		if oldest == 0 {
			oldest = f.TS
		}
		t.srv.frames[f.Direction()].Inc()
		if f.Status >= 400 && f.Direction() == capture.S2C {
			t.httpError(f)
		}
	}
	if oldest == 0 {
		return -1
	}
	return max(0, time.Duration(now.UnixNano()-oldest))
}

// httpError counts an HTTP answer without a message, once an exchange. A 405
// that answers no request is how a server declines GET or DELETE.
func (t *tracked) httpError(f *store.Frame) {
	_, answers := f.Op()
	switch {
	case f.Kind == store.KindError || f.Kind == store.KindResult,
		f.Status == 405 && !answers,
		f.Exchange() != 0 && f.Exchange() == t.refused:
		return
	}
	t.refused = f.Exchange()
	t.m.families.transport.WithLabelValues(t.srv.label, t.srv.id, strconv.Itoa(int(f.Status))).Inc()
}

// begin takes a request.
func (t *tracked) begin(i store.OpIndex) {
	o := t.s.Op(i)
	if !o.Client {
		return
	}
	method := t.s.OpMethod(o)
	c := openCall{i: i}
	if method == mcp.ToolsCall && o.Start >= t.m.since {
		c.series = t.m.tool(t.srv, t.s.OpName(o))
		c.series.calls.Inc()
	}
	if method != mcp.Listen && (c.series != nil || o.State == store.Pending) {
		t.open = append(t.open, c)
	}
}

// end reports whether a request came to its end, and counts how.
func (t *tracked) end(c openCall) bool {
	o := t.s.Op(c.i)
	if o.State == store.Pending || o.TaskState == store.TaskWorking || o.TaskState == store.TaskInputRequired {
		return false
	}
	if c.series == nil {
		return true
	}
	answer, answered := o.Answer()
	switch {
	case o.State == store.Cancelled || !answered: // given up, or refused by HTTP, which is counted there
		return true
	case o.State == store.Failed && o.ToolError:
		c.series.toolErrors.Inc()
	case o.State == store.Failed:
		c.series.protocolErrors.Inc()
	default:
		t.srv.words.worked(t.s.OpName(o))
	}
	t.srv.results.Add(float64(t.s.Frame(answer).Size))
	if o.WantsInput || o.Uncertain { // not over yet, or which answer is whose is a guess
		return true
	}
	c.series.duration.Observe(o.Duration(time.Time{}).Seconds())
	if o.Trip() > 1 {
		chain := t.s.Chain(c.i, time.Time{})
		t.srv.chains.Inc()
		t.srv.chainServer.Add(max(0, chain.Server.Seconds()))
		t.srv.chainWait.Add(max(0, chain.Wait.Seconds()))
	}
	return true
}
