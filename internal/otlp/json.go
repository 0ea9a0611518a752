package otlp

import (
	"errors"
	"fmt"
	"io"

	"go.opentelemetry.io/collector/pdata/ptrace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// jsonBatch is how many operations are encoded together: memory stays bounded
// whatever the length of a session.
const jsonBatch = 256

// WriteJSON writes the spans of one session as one element of the array
// resourceSpans of OTLP JSON. pick chooses operations, nil means all. The
// error of a body that cannot be read is returned at the end; the spans are
// written without what stood in it.
func WriteJSON(w io.Writer, x *Spans, version string, pick func(store.OpIndex) bool) error {
	rs := &tracepb.ResourceSpans{
		Resource:   Resource(x.s),
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: ScopeName, Version: version}}},
	}
	head, err := marshal(rs)
	if err != nil {
		return err
	}
	// What is written around the spans is what the marshaler writes around none.
	resource := wire.Get(head, "resource")
	scope := wire.Get(firstElement(wire.Get(head, "scopeSpans")), "scope")
	if _, err := fmt.Fprintf(w, `{"resource":%s,"scopeSpans":[{"scope":%s,"spans":[`, resource, scope); err != nil {
		return err
	}
	var unread error
	var batch []*tracepb.Span
	first := true
	for i := range x.s.OpLen() {
		if pick != nil && !pick(i) {
			continue
		}
		spans, err := x.Operation(i)
		unread = errors.Join(unread, firstOnly(unread, err))
		batch = append(batch, spans...)
		if len(batch) < jsonBatch && i+1 < x.s.OpLen() {
			continue
		}
		if err := writeBatch(w, rs, batch, &first); err != nil {
			return err
		}
		batch = batch[:0]
	}
	if err := writeBatch(w, rs, batch, &first); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "]}]}"); err != nil {
		return err
	}
	return unread
}

func firstOnly(have, err error) error {
	if have != nil {
		return nil
	}
	return err
}

func writeBatch(w io.Writer, rs *tracepb.ResourceSpans, batch []*tracepb.Span, first *bool) error {
	if len(batch) == 0 {
		return nil
	}
	rs.ScopeSpans[0].Spans = batch
	b, err := marshal(rs)
	if err != nil {
		return err
	}
	spans := wire.Get(firstElement(wire.Get(b, "scopeSpans")), "spans")
	if len(spans) < 2 {
		return errors.New("encode spans: the marshaler gave none")
	}
	spans = spans[1 : len(spans)-1]
	if !*first {
		spans = append([]byte{','}, spans...)
	}
	*first = false
	_, err = w.Write(spans)
	return err
}

// marshal encodes one ResourceSpans by the collector's own marshaler.
func marshal(rs *tracepb.ResourceSpans) ([]byte, error) {
	b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{rs}})
	if err != nil {
		return nil, fmt.Errorf("encode spans: %w", err)
	}
	var in ptrace.ProtoUnmarshaler
	traces, err := in.UnmarshalTraces(b)
	if err != nil {
		return nil, fmt.Errorf("encode spans: %w", err)
	}
	var out ptrace.JSONMarshaler
	b, err = out.MarshalTraces(traces)
	if err != nil {
		return nil, fmt.Errorf("encode spans as JSON: %w", err)
	}
	return firstElement(wire.Get(b, "resourceSpans")), nil
}

func firstElement(v []byte) []byte {
	e := wire.ElementsOf(v)
	if !e.Next() {
		return nil
	}
	return e.Value
}
