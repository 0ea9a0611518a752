package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/hub/metrics"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/otlp/sink"
)

// otlpOptions are the flags of what is sent to an OpenTelemetry collector.
type otlpOptions struct {
	Endpoint string
	Headers  []string
	Flush    time.Duration
	Logs     bool // of a hub
}

func (o *otlpOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Endpoint, "otlp-endpoint", "", "send spans and metrics to the OpenTelemetry collector at `URL`: a base, or what ends in /v1/traces")
	f.StringArrayVar(&o.Headers, "otlp-header", nil, "`'K=V'` to send along to the collector; may be repeated")
	f.DurationVar(&o.Flush, "otlp-flush", sink.DefaultFlush, "`TIME` to send what is left at the end")
}

// sink makes what sends; nil when no endpoint was given. The endpoint turns it
// on; the OTEL_EXPORTER_OTLP_* variables, which are often meant for the server,
// only say how.
func (o *otlpOptions) sink(ctx context.Context, app *App, instance string, warn func(string)) (*sink.Sink, error) {
	if o.Endpoint == "" {
		return nil, nil //nolint:nilnil // no sink is wanted
	}
	opts := sink.Options{
		Env: app.Getenv, Logs: o.Logs, Instance: instance, Version: version, Flush: o.Flush,
		Now: app.Clock.Now, Warn: warn, Headers: map[string]string{},
	}
	var err error
	if opts.Endpoint, err = sink.ParseEndpoint(o.Endpoint, app.Getenv); err != nil {
		return nil, usagef("--otlp-endpoint: %w", err) // without the address, which may hold a secret
	}
	if o.Logs && opts.Endpoint.TracesOnly() {
		return nil, usagef("--otlp-logs wants the base of the collector's addresses, not that of traces, as --otlp-endpoint")
	}
	if o.Flush <= 0 {
		return nil, usagef("--otlp-flush %s: want more than nothing", o.Flush)
	}
	for _, h := range o.Headers {
		k, v, ok := strings.Cut(h, "=")
		if k = strings.TrimSpace(k); !ok || k == "" || strings.ContainsAny(k, " :\r\n\t") || strings.ContainsAny(v, "\r\n") {
			return nil, usagef("--otlp-header: want 'K=V', for example 'Authorization=Bearer ...'")
		}
		opts.Headers[k] = strings.TrimSpace(v)
	}
	return sink.New(ctx, opts)
}

// sender is the sink of a command that records, as it is told apart from others.
func (o *otlpOptions) sender(ctx context.Context, app *App, warn func(string)) (*sink.Sink, error) {
	return o.sink(ctx, app, fmt.Sprintf("%s-%d", app.Process.Host, app.Process.PID), warn)
}

// sending is a sink at work beside one or more recorders. The nil one sends
// nothing.
type sending struct {
	app   *App
	k     *sink.Sink
	flush time.Duration
	warn  func(string)

	reading context.Context    // until finish
	end     context.CancelFunc // of reading
	sent    context.CancelFunc // all is queued
	readers sync.WaitGroup
	sender  sync.WaitGroup
}

// send starts a sink; k may be nil. finish ends it.
func (o *captureOptions) send(ctx context.Context, app *App, k *sink.Sink, warn func(string)) *sending {
	if k == nil {
		return nil
	}
	s := &sending{app: app, k: k, flush: o.OTLP.Flush, warn: warn}
	ctx = context.WithoutCancel(ctx) // signals are the server's to judge
	var work context.Context
	s.reading, s.end = context.WithCancel(ctx)
	work, s.sent = context.WithCancel(ctx)
	s.sender.Go(func() {
		if err := k.Run(work); err != nil {
			warn(fmt.Sprintf("OTLP: %v", err))
		}
	})
	return s
}

// follow sends the session that rec records, by reading its log as everybody
// does: nothing of it is in the way of traffic.
func (s *sending) follow(rec *capture.Recorder, traceFile string) {
	if s == nil {
		return
	}
	if rec == nil {
		s.warn("nothing is sent to the OTLP endpoint: spans are made of the session log, and there is none")
		return
	}
	b := newBeside(s.app, s.k, rec, s.app.abs(traceFile))
	s.readers.Go(func() { b.run(s.reading, s.flush) })
}

// finish sends what is left: to be called once the logs are whole.
func (s *sending) finish() {
	if s == nil {
		return
	}
	s.end()
	s.readers.Wait()
	s.sent()
	s.sender.Wait()
}

// otlpPart sets up what a hub sends.
func (a *App) otlpPart(ctx context.Context, o *otlpOptions, src *hubSource) (part, *sink.Sink, error) {
	k, err := o.sink(ctx, a, fmt.Sprintf("hub-%s-%d", a.Process.Host, a.Process.PID), func(s string) { a.note("%s", s) })
	if k == nil || err != nil {
		return nil, nil, err
	}
	since := a.Clock.Now()
	return func(ctx context.Context) error {
		sending, sent := context.WithCancel(context.WithoutCancel(ctx))
		var work sync.WaitGroup
		work.Go(func() {
			defer sent()
			k.Watch(ctx, src, src.Body, since)
		})
		err := k.Run(sending)
		work.Wait()
		return notable("OTLP", err)
	}, k, nil
}

// deliveries are what became of the data of a sink, for the hub's metrics.
func deliveries(k *sink.Sink) func() []metrics.Delivery {
	if k == nil {
		return nil
	}
	return func() []metrics.Delivery {
		var out []metrics.Delivery
		for _, d := range k.Deliveries() {
			out = append(out, metrics.Delivery(d))
		}
		return out
	}
}
