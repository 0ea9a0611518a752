package otlp

import (
	"encoding/hex"
	"errors"
	"io"
	"strconv"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// WriteJSON writes the spans of one session as one element of the array
// resourceSpans of OTLP JSON, each span on a line of its own. It holds one
// operation at a time. pick chooses operations, nil means all; a retry goes
// with the call that it belongs to. The error of a body that cannot be read is
// returned at the end; the spans are written without what stood in it.
func WriteJSON(w io.Writer, x *Spans, version string, pick func(store.OpIndex) bool) error {
	b := append([]byte(nil), `{"resource":{"attributes":`...)
	b = appendAttributes(b, Resource(x.s).Attributes)
	b = append(b, `},"scopeSpans":[{"scope":{"name":`...)
	b = wire.AppendString(b, ScopeName)
	if version != "" {
		b = wire.AppendString(append(b, `,"version":`...), version)
	}
	b = append(b, `},"spans":[`...)
	var unread error
	first := true
	for i := range x.s.OpLen() {
		if pick != nil && !pick(i) {
			continue
		}
		spans, err := x.Operation(i)
		if unread == nil {
			unread = err
		}
		for _, sp := range spans {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = appendSpan(append(b, '\n'), sp)
		}
		if len(b) < flushAt {
			continue
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		if b = b[:0]; cap(b) > 2*flushAt { // after a huge frame
			b = nil
		}
	}
	b = append(b, "]}]}"...)
	_, err := w.Write(b)
	return errors.Join(err, unread)
}

// flushAt is how much is written at once, in bytes.
const flushAt = 64 << 10

// appendSpan appends a span as the OTLP specification writes it in JSON: ids
// in hexadecimal, 64-bit numbers as strings.
func appendSpan(b []byte, sp *tracepb.Span) []byte {
	b = appendID(append(b, `{"traceId":`...), sp.TraceId)
	b = appendID(append(b, `,"spanId":`...), sp.SpanId)
	if sp.TraceState != "" {
		b = wire.AppendString(append(b, `,"traceState":`...), sp.TraceState)
	}
	if len(sp.ParentSpanId) > 0 {
		b = appendID(append(b, `,"parentSpanId":`...), sp.ParentSpanId)
	}
	if sp.Flags != 0 {
		b = strconv.AppendUint(append(b, `,"flags":`...), uint64(sp.Flags), 10)
	}
	b = wire.AppendString(append(b, `,"name":`...), sp.Name)
	b = strconv.AppendInt(append(b, `,"kind":`...), int64(sp.Kind), 10)
	b = strconv.AppendUint(append(b, `,"startTimeUnixNano":"`...), sp.StartTimeUnixNano, 10)
	b = strconv.AppendUint(append(b, `","endTimeUnixNano":"`...), sp.EndTimeUnixNano, 10)
	b = appendAttributes(append(b, `","attributes":`...), sp.Attributes)
	if s := sp.Status; s != nil {
		b = append(b, `,"status":{`...)
		if s.Message != "" {
			b = append(wire.AppendString(append(b, `"message":`...), s.Message), ',')
		}
		b = append(strconv.AppendInt(append(b, `"code":`...), int64(s.Code), 10), '}')
	}
	return append(b, '}')
}

func appendID(b, id []byte) []byte {
	return append(hex.AppendEncode(append(b, '"'), id), '"')
}

func appendAttributes(b []byte, attrs []*commonpb.KeyValue) []byte {
	b = append(b, '[')
	for i, a := range attrs {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `{"key":`...), a.Key)
		b = append(b, `,"value":{`...)
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			b = wire.AppendString(append(b, `"stringValue":`...), v.StringValue)
		case *commonpb.AnyValue_BoolValue:
			b = strconv.AppendBool(append(b, `"boolValue":`...), v.BoolValue)
		case *commonpb.AnyValue_IntValue:
			b = append(strconv.AppendInt(append(b, `"intValue":"`...), v.IntValue, 10), '"')
		case *commonpb.AnyValue_DoubleValue:
			b = strconv.AppendFloat(append(b, `"doubleValue":`...), v.DoubleValue, 'g', -1, 64)
		}
		b = append(b, '}', '}')
	}
	return append(b, ']')
}
