package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// maxScrapes is how many scrapes are answered at the same time.
const maxScrapes = 4

// Handler serves /metrics, /healthz, and /readyz: ready when the logs that
// were there are indexed.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(settled{m}, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes, ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		done, total := m.opts.Source.Progress()
		if done < total {
			say(w, http.StatusServiceUnavailable, fmt.Sprintf("indexing: %d of %d bytes", done, total))
			return
		}
		say(w, http.StatusOK, "ready")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusOK, "mcpsnoop hub: /metrics /healthz /readyz")
	})
	return mux
}

func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text) // who asked is gone, or not
}

// settled gathers what is up to date: collectors are read at the same time,
// so the counters are settled before.
type settled struct{ m *Metrics }

// Gather is a part of prometheus.Gatherer.
func (g settled) Gather() ([]*dto.MetricFamily, error) {
	g.m.mu.Lock()
	g.m.look()
	g.m.mu.Unlock()
	return g.m.registry.Gather()
}

var _ prometheus.Gatherer = settled{}

// Serve answers on l until ctx ends. It returns when all of its goroutines have.
func (m *Metrics) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler: m.Handler(), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve metrics: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close() // a scrape hangs
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}
