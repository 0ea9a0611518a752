package otlp

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// ScopeName names the instrumentation scope of all that this program exports.
const ScopeName = "github.com/mcpsnoop/mcpsnoop"

// Resource describes the session that spans come from.
func Resource(s *store.Session) *resourcepb.Resource {
	sum := s.Summary()
	attrs := []*commonpb.KeyValue{
		text("service.name", sum.Label),
		text("mcpsnoop.session.id", s.ID),
		num("mcpsnoop.session.missing_frames", int64(sum.Missing)),
	}
	if s.Origin != "" {
		attrs = append(attrs, text("mcpsnoop.session.origin", s.Origin))
	}
	return &resourcepb.Resource{Attributes: attrs}
}

// Network says how client and server talk. On HTTP the server is the real one
// behind the proxy.
func Network(s *store.Session) []*commonpb.KeyValue {
	sum := s.Summary()
	if sum.Transport != capture.HTTP {
		return []*commonpb.KeyValue{text("network.transport", "pipe")}
	}
	attrs := []*commonpb.KeyValue{text("network.transport", "tcp"), text("network.protocol.name", "http")}
	u, err := url.Parse(sum.Meta.Target)
	if err != nil || u.Hostname() == "" {
		return attrs
	}
	attrs = append(attrs, text("server.address", u.Hostname()))
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	if n, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, num("server.port", int64(n)))
	}
	return attrs
}

// Text makes an attribute of a string.
func Text(key, v string) *commonpb.KeyValue { return text(key, v) }

// text makes an attribute. OTLP wants UTF-8. Spans have many of them, so each
// is one piece of memory.
func text(key, v string) *commonpb.KeyValue {
	a := &struct {
		pair  commonpb.KeyValue
		value commonpb.AnyValue
		text  commonpb.AnyValue_StringValue
	}{}
	a.text.StringValue = strings.ToValidUTF8(v, "\uFFFD")
	a.value.Value = &a.text
	a.pair.Key, a.pair.Value = key, &a.value
	return &a.pair
}

// Clip makes UTF-8 of at most limit bytes: one string of OTLP that is not UTF-8,
// and a collector refuses the whole message.
func Clip(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	return strings.ToValidUTF8(s, "")
}

func num(key string, v int64) *commonpb.KeyValue {
	a := &struct {
		pair  commonpb.KeyValue
		value commonpb.AnyValue
		num   commonpb.AnyValue_IntValue
	}{}
	a.num.IntValue = v
	a.value.Value = &a.num
	a.pair.Key, a.pair.Value = key, &a.value
	return &a.pair
}

func float(key string, v float64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}}
}

func yes(key string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}}}
}
