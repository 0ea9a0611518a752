package sink

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Bounds of frames as logs, in bytes.
const (
	maxBody  = 64 << 10 // of one frame that is sent
	maxBatch = 2 << 20  // of all frames of a batch, about
)

// recordMaker makes the log records of one session: the SDK's, with its
// resource. The sending goroutine uses it.
type recordMaker struct {
	logger log.Logger
	spans  *otlp.Spans
	out    []sdklog.Record
}

// OnEmit is a part of sdklog.Processor: it keeps the record.
func (m *recordMaker) OnEmit(_ context.Context, r *sdklog.Record) error {
	m.out = append(m.out, r.Clone())
	return nil
}

// Enabled, Shutdown and ForceFlush are parts of sdklog.Processor.
func (m *recordMaker) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// Shutdown has nothing to end.
func (m *recordMaker) Shutdown(context.Context) error { return nil }

// ForceFlush has nothing to flush.
func (m *recordMaker) ForceFlush(context.Context) error { return nil }

func (f *Follower) recordMaker() *recordMaker {
	if f.logs != nil {
		return f.logs
	}
	m := &recordMaker{spans: otlp.NewSpans(f.s, f.body, time.Time{})}
	sum := f.s.Summary()
	attrs := []attribute.KeyValue{
		attribute.String("service.name", strings.ToValidUTF8(sum.Label, "\uFFFD")),
		attribute.String("mcpsnoop.session.id", f.s.ID),
	}
	if f.s.Origin != "" {
		attrs = append(attrs, attribute.String("mcpsnoop.session.origin", f.s.Origin))
	}
	p := sdklog.NewLoggerProvider(sdklog.WithProcessor(m), sdklog.WithResource(resource.NewSchemaless(attrs...)))
	m.logger = p.Logger(otlp.ScopeName, log.WithInstrumentationVersion(f.k.opts.Version))
	f.logs = m
	return m
}

// records makes the log records of the first frames of a batch, as many as
// are worth one message, and what sends them.
func (k *Sink) records(batch []place) (upload func(context.Context) error, of []place) {
	var out []sdklog.Record
	size := 0
	for n, p := range batch {
		m := p.f.recordMaker()
		size += m.frame(p.f, p.i, k.opts.Now())
		out = append(out, m.out...)
		m.out = m.out[:0]
		if size > maxBatch {
			batch = batch[:n+1]
			break
		}
	}
	return func(ctx context.Context) error { return k.out.logs.Export(ctx, out) }, batch
}

// frame emits the record of a frame and returns how large its body is.
func (m *recordMaker) frame(f *Follower, i uint32, now time.Time) int {
	fr := f.s.Frame(i)
	var r log.Record
	r.SetTimestamp(fr.Time())
	r.SetObservedTimestamp(now)
	r.SetSeverity(log.SeverityInfo)
	r.SetSeverityText("INFO")
	if fr.Kind == store.KindError || fr.Kind == store.KindInvalid || fr.Status >= 400 {
		r.SetSeverity(log.SeverityError)
		r.SetSeverityText("ERROR")
	}
	attrs := []attribute.KeyValue{
		attribute.Int64("mcpsnoop.seq", int64(fr.Seq)),
		attribute.String("mcpsnoop.direction", fr.Direction().String()),
		attribute.String("mcpsnoop.kind", fr.Kind.String()),
		attribute.Int64("mcpsnoop.size", int64(fr.Size)),
	}
	if method := f.s.Method(fr); method != "" {
		attrs = append(attrs, attribute.String("mcp.method.name", otlp.Clip(method, maxDimension)))
	}
	if fr.Status > 0 {
		attrs = append(attrs, attribute.Int64("http.response.status_code", int64(fr.Status)))
	}
	body, cut := "", false
	if rec, err := f.body(f.s, i); err == nil {
		body, cut = bodyText(&rec)
	}
	if cut || fr.Has(store.Truncated) {
		attrs = append(attrs, attribute.Bool("mcpsnoop.cut", true))
	}
	r.SetBody(attribute.StringValue(body))
	r.AddAttributes(attrs...)
	ctx := context.Background()
	if op, ok := fr.Op(); ok {
		ctx = m.within(ctx, op)
	}
	m.logger.Emit(ctx, r)
	return len(body)
}

// within ties a record to the span of its operation.
func (m *recordMaker) within(ctx context.Context, op store.OpIndex) context.Context {
	traceID, spanID, _ := m.spans.Context(op) // without the body it is the session's own trace
	var c trace.SpanContextConfig
	copy(c.TraceID[:], traceID)
	copy(c.SpanID[:], spanID)
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(c))
}

// bodyText is what a frame holds, as UTF-8, cut at maxBody.
func bodyText(rec *capture.Record) (text string, cut bool) {
	b := rec.Body()
	if len(b) > maxBody {
		n := maxBody
		for n > 0 && !utf8.RuneStart(b[n]) {
			n--
		}
		b, cut = b[:n], true
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), cut
}
