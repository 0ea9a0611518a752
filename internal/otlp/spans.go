package otlp

import (
	"fmt"
	"strconv"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Body reads a frame of a session again.
type Body func(s *store.Session, i uint32) (capture.Record, error)

// Spans makes the spans of one session. One goroutine uses it.
type Spans struct {
	// Content puts what tools were given and gave into the attributes that the
	// conventions have for that. It is for files; what is sent on its own goes
	// without.
	Content bool

	s    *store.Session
	body Body
	now  time.Time

	same []*commonpb.KeyValue // attributes that all spans have
}

// NewSpans makes spans of s; now ends what is still open.
func NewSpans(s *store.Session, body Body, now time.Time) *Spans {
	x := &Spans{s: s, body: body, now: now}
	x.same = append(Network(s), text("mcpsnoop.session.id", s.ID))
	return x
}

// Operation returns the spans of the call that begins with operation i: one,
// and for a chain one for the whole and a child for each hop. A retry gives
// none: it belongs to the call that it retries. The error says which body
// could not be read; the spans are whole but for what stood in it.
func (x *Spans) Operation(i store.OpIndex) ([]*tracepb.Span, error) {
	if _, link := x.s.Op(i).Previous(); link > store.Weak {
		return nil, nil
	}
	chain := x.s.Chain(i, x.now)
	if len(chain.Hops) == 1 {
		sp, err := x.span(i, i, 0)
		return []*tracepb.Span{sp}, err
	}
	last := chain.Hops[len(chain.Hops)-1].Op
	whole, err := x.span(i, last, 1)
	whole.Attributes = append(whole.Attributes,
		num("mcpsnoop.chain.trips", int64(len(chain.Hops))),
		float("mcpsnoop.chain.server_seconds", chain.Server.Seconds()),
		float("mcpsnoop.chain.wait_seconds", chain.Wait.Seconds()),
	)
	spans := []*tracepb.Span{whole}
	for n, h := range chain.Hops {
		sp, hopErr := x.span(h.Op, h.Op, 0)
		if err == nil {
			err = hopErr
		}
		sp.TraceId, sp.ParentSpanId, sp.TraceState = whole.TraceId, whole.SpanId, whole.TraceState
		sp.Attributes = append(sp.Attributes, num("mcpsnoop.chain.trip", int64(n+1)))
		spans = append(spans, sp)
	}
	return spans, err
}

// span makes the span of a request and the answer to the request last, which
// is the same one but for a chain as a whole.
func (x *Spans) span(i, last store.OpIndex, part byte) (*tracepb.Span, error) {
	o, end := x.s.Op(i), x.s.Op(last)
	f := x.s.Frame(o.Request)
	method, name := x.s.OpMethod(o), x.s.OpName(o)
	sp := &tracepb.Span{
		TraceId: traceID(x.s.ID), SpanId: spanID(x.s.ID, f.Seq, part), Name: Clip(method, maxName),
		Kind:              tracepb.Span_SPAN_KIND_CLIENT, // seen from the side that asks
		StartTimeUnixNano: uint64(o.Start), EndTimeUnixNano: uint64(end.Start + int64(end.Duration(x.now))),
	}
	sp.Attributes = append(make([]*commonpb.KeyValue, 0, 16), text("mcp.method.name", Clip(method, maxName)), text("jsonrpc.request.id", Clip(idText(o.ID), maxID)))
	if method == mcp.ToolsCall {
		sp.Attributes = append(sp.Attributes, text("gen_ai.operation.name", "execute_tool"))
	}
	if key := targetKey(method); key != "" && name != "" {
		sp.Attributes = append(sp.Attributes, text(key, Clip(name, maxURI)))
		if key != "mcp.resource.uri" { // a URI has too many values for a name
			sp.Name += " " + Clip(name, maxName)
		}
	}
	if rev, _ := o.Revision(); rev != "" {
		sp.Attributes = append(sp.Attributes, text("mcp.protocol.version", string(rev)))
	}
	sp.Attributes = append(sp.Attributes, x.same...)
	sp.Attributes = append(sp.Attributes,
		num("mcpsnoop.request.seq", int64(f.Seq)), text("mcpsnoop.state", end.State.String()))
	if o.Progress > 0 {
		sp.Attributes = append(sp.Attributes, num("mcpsnoop.progress", int64(o.Progress)))
	}
	err := x.context(sp, o)
	if err2 := x.outcome(sp, end); err == nil {
		err = err2
	}
	return sp, err
}

// targetKey is the attribute for what a method addresses.
func targetKey(method string) string {
	switch method {
	case mcp.ToolsCall:
		return "gen_ai.tool.name"
	case mcp.PromptsGet:
		return "gen_ai.prompt.name"
	case mcp.ResourcesRead, mcp.Subscribe, mcp.Unsubscribe:
		return "mcp.resource.uri"
	}
	return ""
}

// idText is the id as the conventions want it: a string's text, a number's digits.
func idText(id wire.ID) string {
	if s, ok := wire.Text([]byte(id)); ok {
		return s
	}
	return string(id)
}

// context joins the caller's trace, when the request carries a valid one, and
// passes its state on unchanged.
func (x *Spans) context(sp *tracepb.Span, o *store.Operation) error {
	rec, err := x.body(x.s, o.Request)
	if err != nil {
		return fmt.Errorf("read the request of #%d: %w", x.s.Frame(o.Request).Seq, err)
	}
	m := wire.ParseMessage(rec.Body())
	meta := wire.Get(m.Params, "_meta")
	if args := wire.Get(m.Params, "arguments"); x.Content && args != nil && x.s.OpMethod(o) == mcp.ToolsCall {
		sp.Attributes = append(sp.Attributes, text("gen_ai.tool.call.arguments", string(args)))
	}
	if v, ok := wire.Text(m.Version); ok && v != "2.0" {
		sp.Attributes = append(sp.Attributes, text("jsonrpc.protocol.version", v))
	}
	p, ok := parseTraceparent(wire.GetString(meta, "traceparent"))
	if !ok {
		return nil
	}
	sp.TraceId, sp.ParentSpanId, sp.Flags = p.trace, p.span, p.flags
	if state := wire.GetString(meta, "tracestate"); len(state) <= maxState { // half of it would be another
		sp.TraceState = Clip(state, maxState)
	}
	return nil
}

// Bounds of what peers choose, in bytes. Many spans travel in one message, which
// may have 4 MiB.
const (
	maxName   = 256  // of a span, each of its words
	maxID     = 512  // of a request
	maxURI    = 2048 // of a resource
	maxStatus = 1024 // an error message
	maxState  = 1024 // a tracestate; W3C asks for 512 to be passed on
)

// outcome sets what came of the call: the conventions want a status of ERROR
// exactly where there is an error.type.
func (x *Spans) outcome(sp *tracepb.Span, o *store.Operation) error {
	fail := func(kind, message string) {
		sp.Attributes = append(sp.Attributes, text("error.type", kind))
		sp.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: Clip(message, maxStatus)}
	}
	if _, ok := o.Late(); ok {
		sp.Attributes = append(sp.Attributes, yes("mcpsnoop.late"))
	}
	if why := x.s.Why(o); why != "" {
		sp.Attributes = append(sp.Attributes, text("mcpsnoop.unanswered", why))
		return nil
	}
	if o.State == store.OK || o.ToolError {
		if o.ToolError {
			fail("tool_error", "")
		}
		return x.result(sp, o)
	}
	if o.State != store.Failed {
		return nil
	}
	i, ok := o.Answer()
	if !ok || o.TaskState == store.TaskFailed {
		fail("_OTHER", "the task failed")
		return nil
	}
	rec, err := x.body(x.s, i)
	if err != nil {
		fail("_OTHER", "")
		return fmt.Errorf("read the answer #%d: %w", x.s.Frame(i).Seq, err)
	}
	e := wire.ParseMessage(rec.Body()).Error
	code := string(wire.Get(e, "code"))
	if _, err := strconv.ParseFloat(code, 64); err != nil {
		fail("_OTHER", wire.GetString(e, "message"))
		return nil //nolint:nilerr // a code that is no number is the server's fault, and said
	}
	fail(code, wire.GetString(e, "message"))
	sp.Attributes = append(sp.Attributes, text("rpc.response.status_code", code))
	return nil
}

// result puts what a tool gave into its span, when that is wanted.
func (x *Spans) result(sp *tracepb.Span, o *store.Operation) error {
	i, ok := o.Answer()
	if !x.Content || !ok || x.s.OpMethod(o) != mcp.ToolsCall {
		return nil
	}
	rec, err := x.body(x.s, i)
	if err != nil {
		return fmt.Errorf("read the answer #%d: %w", x.s.Frame(i).Seq, err)
	}
	if result := wire.Get(rec.Body(), "result"); result != nil {
		sp.Attributes = append(sp.Attributes, text("gen_ai.tool.call.result", string(result)))
	}
	return nil
}
