package otlp

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// play makes a session out of "> json" and "< json" lines.
func play(lines ...string) (*store.Session, Body) {
	s, a := store.NewSession("play-1-00000000000a", "", store.Limits{}, nil)
	recs := make([]capture.Record, len(lines))
	for i, l := range lines {
		recs[i] = capture.Record{Label: "play", Seq: uint64(i + 1), TS: time.Unix(1000, int64(i)*1e6), Transport: capture.Stdio, Direction: capture.S2C, Raw: []byte(l[2:])}
		if l[0] == '>' {
			recs[i].Direction = capture.C2S
		}
		a.Append(&capture.Item{Record: recs[i]})
	}
	a.Publish()
	return s, func(_ *store.Session, i uint32) (capture.Record, error) { return recs[i], nil }
}

const story = `> {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"read","_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"v=1"}}}
< {"jsonrpc":"2.0","id":"a","result":{"isError":true}}
> {"jsonrpc":"2.0","id":9007199254740993,"method":"resources/read","params":{"uri":"file:///x","_meta":{"traceparent":"00-00000000000000000000000000000000-b7ad6b7169203331-01"}}}
< {"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32002,"message":"no such file"}}
> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"book","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
< {"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","requestState":"s","inputRequests":{}}}
> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"book","requestState":"s","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
< {"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","isError":true}}
> {"jsonrpc":"2.0","id":5,"method":"ping"}`

// export returns the spans of the story as the collector reads them.
func export(t *testing.T) []ptrace.Span {
	t.Helper()
	s, body := play(strings.Split(story, "\n")...)
	var b bytes.Buffer
	b.WriteString(`{"resourceSpans":[`)
	if err := WriteJSON(&b, NewSpans(s, body, time.Unix(1001, 0)), "test", nil); err != nil {
		t.Fatal(err)
	}
	b.WriteString("]}")
	var u ptrace.JSONUnmarshaler
	traces, err := u.UnmarshalTraces(b.Bytes())
	if err != nil {
		t.Fatalf("the collector cannot read it: %v\n%s", err, b.Bytes())
	}
	rs := traces.ResourceSpans().At(0)
	if v, ok := rs.Resource().Attributes().Get("mcpsnoop.session.missing_frames"); !ok || v.Int() != 0 {
		t.Error("the resource does not say how many frames are missing")
	}
	if got := rs.ScopeSpans().At(0).Scope().Name(); got != ScopeName {
		t.Errorf("scope %q", got)
	}
	var out []ptrace.Span
	for _, sp := range rs.ScopeSpans().At(0).Spans().All() {
		out = append(out, sp)
	}
	return out
}

func TestSpansByTheConventions(t *testing.T) {
	spans := export(t)
	want := []struct{ name, id, kind, status string }{
		{"tools/call read", "a", "tool_error", "Error"},
		{"resources/read", "9007199254740993", "-32002", "Error"},
		{"tools/call book", "3", "tool_error", "Error"}, // the chain ends as its last request does
		{"tools/call book", "3", "", "Unset"},
		{"tools/call book", "4", "tool_error", "Error"},
		{"ping", "5", "", "Unset"},
	}
	if len(spans) != len(want) {
		t.Fatalf("%d spans, want %d", len(spans), len(want))
	}
	for i, w := range want {
		sp := spans[i]
		if sp.Name() != w.name || attr(sp, "jsonrpc.request.id") != w.id || attr(sp, "error.type") != w.kind || sp.Status().Code().String() != w.status {
			t.Errorf("span %d: %s id %s error %q status %s; want %+v", i, sp.Name(), attr(sp, "jsonrpc.request.id"), attr(sp, "error.type"), sp.Status().Code(), w)
		}
	}
	first := spans[0]
	if id := first.TraceID(); hex.EncodeToString(id[:]) != "0af7651916cd43dd8448eb211c80319c" || first.TraceState().AsRaw() != "v=1" {
		t.Error("the caller's trace was not joined")
	}
	if spans[1].TraceID() != spans[5].TraceID() {
		t.Error("an invalid traceparent was joined, or the session has two traces")
	}
	whole := spans[2]
	if spans[3].ParentSpanID() != whole.SpanID() || spans[4].ParentSpanID() != whole.SpanID() || whole.EndTimestamp() != spans[4].EndTimestamp() {
		t.Error("the hops of a chain do not stand under it")
	}
}

func attr(sp ptrace.Span, key string) string {
	v, ok := sp.Attributes().Get(key)
	if !ok {
		return ""
	}
	return v.AsString()
}

// conventions are the attributes of the semantic conventions that spans may
// carry; the rest is under mcpsnoop.
var conventions = []string{
	"mcp.method.name", "mcp.protocol.version", "mcp.resource.uri", "error.type", "gen_ai.tool.name", "gen_ai.prompt.name",
	"gen_ai.operation.name", "jsonrpc.request.id", "jsonrpc.protocol.version", "rpc.response.status_code",
	"network.transport", "network.protocol.name", "server.address", "server.port",
	"gen_ai.tool.call.arguments", "gen_ai.tool.call.result", // only where they are asked for
}

func TestNoAttributeOfOurOwnMaking(t *testing.T) {
	known := map[string]bool{}
	for _, c := range conventions {
		known[c] = true
	}
	for _, sp := range export(t) {
		sp.Attributes().Range(func(k string, _ pcommon.Value) bool {
			if !known[k] && !strings.HasPrefix(k, "mcpsnoop.") {
				t.Errorf("%s: attribute %s is neither in the conventions nor ours", sp.Name(), k)
			}
			return true
		})
	}
}

func TestIdsAreDerived(t *testing.T) {
	a, b := export(t), export(t)
	for i := range a {
		if a[i].SpanID() != b[i].SpanID() || a[i].TraceID() != b[i].TraceID() {
			t.Fatalf("span %d has other ids the second time", i)
		}
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Add("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Fuzz(func(t *testing.T, s string) {
		if p, ok := parseTraceparent(s); ok && (len(p.trace) != 16 || len(p.span) != 8) {
			t.Errorf("%q gave ids of %d and %d bytes", s, len(p.trace), len(p.span))
		}
	})
}
