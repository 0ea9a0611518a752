package sink

import (
	"context"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// spans makes the spans of a batch, and what sends them. The metrics of the
// operations are noted on the way: a batch is made once.
func (k *Sink) spans(batch []place) func(context.Context) error {
	var out []*tracepb.ResourceSpans
	var maker *otlp.Spans
	var last *Follower
	var into *tracepb.ScopeSpans
	for _, p := range batch {
		if p.f != last {
			last = p.f
			maker = otlp.NewSpans(p.f.s, p.f.body, p.f.s.Summary().Newest)
			into = &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: otlp.ScopeName, Version: k.opts.Version}}
			out = append(out, &tracepb.ResourceSpans{Resource: p.f.resource(), ScopeSpans: []*tracepb.ScopeSpans{into}})
		}
		made, _ := maker.Operation(store.OpIndex(p.i)) // without its body a span lacks what stood there
		into.Spans = append(into.Spans, made...)
		if k.meters != nil {
			k.meters.note(p.f.s, made)
		}
	}
	return func(ctx context.Context) error { return k.out.traces.UploadTraces(ctx, out) }
}

// resource is that of the session, whose index may hold a part of it.
func (f *Follower) resource() *resourcepb.Resource {
	r := otlp.Resource(f.s)
	for _, a := range r.Attributes {
		if v, ok := a.Value.Value.(*commonpb.AnyValue_IntValue); ok && a.Key == "mcpsnoop.session.missing_frames" {
			v.IntValue += int64(f.Missing)
		}
	}
	return r
}
