package sink

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
)

// receiver is a collector in the test: what it got, and how it answers.
type receiver struct {
	mu      sync.Mutex
	spans   []ptrace.Span
	metrics []pmetric.Metric // of the last message
	bodies  []string         // of logs
	ids     []string         // trace and span of logs
	paths   map[string]bool
	types   map[string]bool
	headers http.Header
	status  int // what HTTP answers, 0 for 200
}

func newReceiver() *receiver { return &receiver{paths: map[string]bool{}, types: map[string]bool{}} }

func (r *receiver) traces(t ptrace.Traces) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range t.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				r.spans = append(r.spans, sp)
			}
		}
	}
}

func (r *receiver) take(q pmetricotlp.ExportRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = nil
	for _, rm := range q.Metrics().ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				r.metrics = append(r.metrics, m)
			}
		}
	}
}

func (r *receiver) records(q plogotlp.ExportRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rl := range q.Logs().ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, l := range sl.LogRecords().All() {
				r.bodies = append(r.bodies, l.Body().AsString())
				r.ids = append(r.ids, l.TraceID().String()+l.SpanID().String())
			}
		}
	}
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.spans)
}

// ServeHTTP takes OTLP over HTTP.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	b, err := io.ReadAll(q.Body)
	kind := q.Header.Get("Content-Type")
	r.mu.Lock()
	status := r.status
	r.paths[q.URL.Path], r.types[kind] = true, true
	r.headers = q.Header.Clone()
	r.mu.Unlock()
	if err != nil || status != 0 {
		w.WriteHeader(status)
		return
	}
	read := func(m message) {
		if strings.Contains(kind, "json") {
			err = m.UnmarshalJSON(b)
		} else {
			err = m.UnmarshalProto(b)
		}
	}
	switch {
	case strings.HasSuffix(q.URL.Path, "traces"):
		m := ptraceotlp.NewExportRequest()
		read(&m)
		r.traces(m.Traces())
	case strings.HasSuffix(q.URL.Path, "metrics"):
		m := pmetricotlp.NewExportRequest()
		read(&m)
		r.take(m)
	default:
		m := plogotlp.NewExportRequest()
		read(&m)
		r.records(m)
	}
	w.Header().Set("Content-Type", kind)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

type traceService struct {
	ptraceotlp.UnimplementedGRPCServer
	r *receiver
}

// Export takes spans.
func (s *traceService) Export(_ context.Context, q ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	s.r.traces(q.Traces())
	return ptraceotlp.NewExportResponse(), nil
}

type metricService struct {
	pmetricotlp.UnimplementedGRPCServer
	r *receiver
}

// Export takes metrics.
func (s *metricService) Export(_ context.Context, q pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	s.r.take(q)
	return pmetricotlp.NewExportResponse(), nil
}

type logService struct {
	plogotlp.UnimplementedGRPCServer
	r *receiver
}

// Export takes logs.
func (s *logService) Export(_ context.Context, q plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	s.r.records(q)
	return plogotlp.NewExportResponse(), nil
}

// overHTTP starts the receiver and returns its address.
func (r *receiver) overHTTP(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	return srv.URL
}

func (r *receiver) overGRPC(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(srv, &traceService{r: r})
	pmetricotlp.RegisterGRPCServer(srv, &metricService{r: r})
	plogotlp.RegisterGRPCServer(srv, &logService{r: r})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Stop()
		<-done
	})
	return "grpc://" + l.Addr().String()
}
