package sink

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// maxSets bounds the attribute sets of a server's metrics; what is beyond is
// counted with otel.metric.overflow.
const maxSets = 2000

// maxDimension bounds the value of an attribute of a metric, in bytes.
const maxDimension = 256

// meters keep the conventions' metrics of each server: those of the client's
// side, which is what is seen from between. The time a server takes by itself
// is the server's own to tell. The sending goroutine uses them.
type meters struct {
	opts     *Options
	byServer map[string]*meter
}

// meter is the metrics of one server.
type meter struct {
	reader             *sdkmetric.ManualReader
	operation, session metric.Float64Histogram
}

func newMeters(o *Options) *meters { return &meters{o, map[string]*meter{}} }

// bounds are those that the conventions want, in seconds.
func bounds() []float64 {
	return []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
}

// of finds or makes the meter of a session's server.
func (ms *meters) of(s *store.Session) *meter {
	label := s.Summary().Label
	if ms.byServer[label] == nil && len(ms.byServer) >= maxInstances {
		label = "(other)"
	}
	if m := ms.byServer[label]; m != nil {
		return m
	}
	m := &meter{reader: sdkmetric.NewManualReader()}
	provider := sdkmetric.NewMeterProvider(
		sdkmetric.WithReader(m.reader), sdkmetric.WithCardinalityLimit(maxSets),
		sdkmetric.WithResource(resource.NewSchemaless(
			attribute.String("service.name", strings.ToValidUTF8(label, "\uFFFD")),
			attribute.String("service.instance.id", ms.opts.Instance),
		)),
	)
	of := provider.Meter(otlp.ScopeName, metric.WithInstrumentationVersion(ms.opts.Version))
	var err, err2 error
	m.operation, err = histogram(of, "mcp.client.operation.duration",
		"The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received.")
	m.session, err2 = histogram(of, "mcp.client.session.duration", "The duration of the MCP session as observed on the MCP client.")
	if err != nil || err2 != nil {
		return nil
	}
	ms.byServer[label] = m
	return m
}

// histogram makes one of the conventions' histograms.
func histogram(of metric.Meter, name, help string) (metric.Float64Histogram, error) {
	return of.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(bounds()...))
}

// dimensions are the attributes of a span that its metric has, too.
func dimensions(key string) bool {
	switch key {
	case "mcp.method.name", "error.type", "gen_ai.tool.name", "gen_ai.prompt.name", "gen_ai.operation.name",
		"rpc.response.status_code", "mcp.protocol.version", "network.transport", "network.protocol.name",
		"server.address", "server.port":
		return true
	}
	return false
}

// note counts the requests that spans are of. A chain's own span is none; a
// call without an answer has no duration.
func (ms *meters) note(s *store.Session, spans []*tracepb.Span) {
	m := ms.of(s)
	if m == nil {
		return
	}
	for _, sp := range spans {
		var attrs []attribute.KeyValue
		counts := true
		for _, a := range sp.Attributes {
			switch {
			case a.Key == "mcpsnoop.chain.trips", a.Key == "mcpsnoop.unanswered":
				counts = false
			case dimensions(a.Key):
				attrs = append(attrs, plainAttribute(a))
			}
		}
		if counts {
			d := float64(sp.EndTimeUnixNano-sp.StartTimeUnixNano) / 1e9
			m.operation.Record(context.Background(), d, metric.WithAttributes(attrs...))
		}
	}
}

// over counts a session that ended.
func (ms *meters) over(e ended) {
	m := ms.of(e.s)
	if m == nil {
		return
	}
	var attrs []attribute.KeyValue
	if e.failure != "" {
		attrs = append(attrs, attribute.String("error.type", e.failure))
	}
	for _, a := range e.attrs {
		attrs = append(attrs, plainAttribute(a))
	}
	m.session.Record(context.Background(), e.took.Seconds(), metric.WithAttributes(attrs...))
}

func plainAttribute(a *commonpb.KeyValue) attribute.KeyValue {
	if v, ok := a.Value.Value.(*commonpb.AnyValue_IntValue); ok {
		return attribute.Int64(a.Key, v.IntValue)
	}
	return attribute.String(a.Key, otlp.Clip(a.Value.GetStringValue(), maxDimension))
}

// collect reads all metrics.
func (ms *meters) collect(ctx context.Context) []*metricdata.ResourceMetrics {
	var out []*metricdata.ResourceMetrics
	for _, m := range ms.byServer {
		rm := &metricdata.ResourceMetrics{}
		if err := m.reader.Collect(ctx, rm); err == nil && len(rm.ScopeMetrics) > 0 {
			out = append(out, rm)
		}
	}
	return out
}
