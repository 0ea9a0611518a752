package otlp

import (
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Context is the trace and the span that operation i has among the spans of
// the session: what says of other data that it belongs there.
func (x *Spans) Context(i store.OpIndex) (trace, span []byte, err error) {
	span = spanID(x.s.ID, x.s.Frame(x.s.Op(i).Request).Seq, 0)
	root := x.s.Root(i)
	rec, err := x.body(x.s, x.s.Op(root).Request)
	if err != nil {
		return traceID(x.s.ID), span, err
	}
	meta := wire.Get(wire.ParseMessage(rec.Body()).Params, "_meta")
	if p, ok := parseTraceparent(wire.GetString(meta, "traceparent")); ok {
		return p.trace, span, nil
	}
	return traceID(x.s.ID), span, nil
}
