package collector

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// receiver is the collector's receiver, and what it took.
type receiver struct {
	http, grpc string // addresses, host:port

	consumertest.MetricsSink
	consumertest.LogsSink

	mu    sync.Mutex
	spans []string // trace, span and name of each
	keys  map[string]bool
}

// consume takes spans, and notes with which X-Key they came.
func (r *receiver) consume(ctx context.Context, td ptrace.Traces) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range client.FromContext(ctx).Metadata.Get("x-key") {
		r.keys[v] = true
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				r.spans = append(r.spans, fmt.Sprintf("%s %s %s", sp.TraceID(), sp.SpanID(), sp.Name()))
			}
		}
	}
	return nil
}

// count says how many spans came, how many different ones, and how many of a name.
func (r *receiver) count(name string) (all, different, named int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	for _, s := range r.spans {
		seen[s] = true
		if strings.HasSuffix(s, " "+name) {
			named++
		}
	}
	return len(r.spans), len(seen), named
}

// waitFor waits until that many different spans came.
func (r *receiver) waitFor(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, different, _ := r.count(""); different >= n {
			return
		}
	}
	_, different, _ := r.count("")
	t.Errorf("%d spans came, want %d", different, n)
}

// newReceiver makes one that does not listen yet.
func newReceiver(t *testing.T) *receiver {
	return &receiver{http: freeAddress(t), grpc: freeAddress(t), keys: map[string]bool{}}
}

// listen starts the receiver until the test ends. tls may be nil.
func (r *receiver) listen(t *testing.T, tls map[string]any) {
	t.Helper()
	protocol := func(address string) map[string]any {
		m := map[string]any{"endpoint": address, "include_metadata": true}
		if tls != nil {
			m["tls"] = tls
		}
		return m
	}
	f := otlpreceiver.NewFactory()
	cfg := f.CreateDefaultConfig()
	in := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": protocol(r.http), "grpc": protocol(r.grpc)}})
	if err := in.Unmarshal(cfg); err != nil {
		t.Fatal(err)
	}
	traces, err := consumer.NewTraces(r.consume)
	if err != nil {
		t.Fatal(err)
	}
	set := receivertest.NewNopSettings(f.Type())
	all, err := f.CreateTraces(t.Context(), set, cfg, traces)
	if err == nil {
		_, err = f.CreateMetrics(t.Context(), set, cfg, &r.MetricsSink) // the same receiver
	}
	if err == nil {
		_, err = f.CreateLogs(t.Context(), set, cfg, &r.LogsSink)
	}
	if err == nil {
		err = all.Start(context.WithoutCancel(t.Context()), componenttest.NewNopHost())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Shutdown(context.Background()) })
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
