package sink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// How the exporters try again by themselves, when a collector answers that it
// is busy.
const (
	timeout      = 10 * time.Second // of one try
	firstRetry   = 500 * time.Millisecond
	longestRetry = 2 * time.Second
	giveUpAfter  = 5 * time.Second // then the sink goes on trying
)

// exporters are the official ones, one a signal; nil for those not wanted.
type exporters struct {
	traces  otlptrace.Client
	metrics sdkmetric.Exporter
	logs    sdklog.Exporter
}

func newExporters(ctx context.Context, o *Options) (exporters, error) {
	var x exporters
	var err error
	if x.traces, err = newTraces(o); err != nil {
		return x, fmt.Errorf("traces: %w", err)
	}
	if err := x.traces.Start(ctx); err != nil {
		return x, fmt.Errorf("traces: %w", err)
	}
	if o.Endpoint.traces {
		return x, nil
	}
	if o.Env("OTEL_METRICS_EXPORTER") != "none" {
		if x.metrics, err = newMetrics(ctx, o); err != nil {
			return x, fmt.Errorf("metrics: %w", err)
		}
	}
	if o.Logs {
		if x.logs, err = newLogs(ctx, o); err != nil {
			return x, fmt.Errorf("logs: %w", err)
		}
	}
	return x, nil
}

// own reports whether a signal has an address of its own in the environment,
// which is closer than a base.
func own(o *Options, signal string) bool {
	return !o.Endpoint.traces && o.Env("OTEL_EXPORTER_OTLP_"+strings.ToUpper(signal)+"_ENDPOINT") != ""
}

func newTraces(o *Options) (otlptrace.Client, error) {
	h := headers("traces", o.Headers, o.Env)
	p := o.protocol("traces")
	if p == GRPC {
		opts := []otlptracegrpc.Option{otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: longestRetry, MaxElapsedTime: giveUpAfter})}
		if !own(o, "traces") {
			opts = append(opts, otlptracegrpc.WithEndpointURL(o.Endpoint.url("traces", p)))
		}
		if h != nil {
			opts = append(opts, otlptracegrpc.WithHeaders(h))
		}
		return otlptracegrpc.NewClient(opts...), nil
	}
	opts := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: longestRetry, MaxElapsedTime: giveUpAfter})}
	if !own(o, "traces") {
		opts = append(opts, otlptracehttp.WithEndpointURL(o.Endpoint.url("traces", p)))
	}
	if h != nil {
		opts = append(opts, otlptracehttp.WithHeaders(h))
	}
	if p == HTTPJSON {
		c, err := jsonClient("traces", o.Env)
		if err != nil {
			return nil, err
		}
		opts = append(opts, otlptracehttp.WithHTTPClient(c), otlptracehttp.WithCompression(otlptracehttp.NoCompression))
	}
	return otlptracehttp.NewClient(opts...), nil
}

func newMetrics(ctx context.Context, o *Options) (sdkmetric.Exporter, error) {
	h := headers("metrics", o.Headers, o.Env)
	p := o.protocol("metrics")
	if p == GRPC {
		opts := []otlpmetricgrpc.Option{otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: longestRetry, MaxElapsedTime: giveUpAfter})}
		if !own(o, "metrics") {
			opts = append(opts, otlpmetricgrpc.WithEndpointURL(o.Endpoint.url("metrics", p)))
		}
		if h != nil {
			opts = append(opts, otlpmetricgrpc.WithHeaders(h))
		}
		return otlpmetricgrpc.New(ctx, opts...)
	}
	opts := []otlpmetrichttp.Option{otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: longestRetry, MaxElapsedTime: giveUpAfter})}
	if !own(o, "metrics") {
		opts = append(opts, otlpmetrichttp.WithEndpointURL(o.Endpoint.url("metrics", p)))
	}
	if h != nil {
		opts = append(opts, otlpmetrichttp.WithHeaders(h))
	}
	if p == HTTPJSON {
		c, err := jsonClient("metrics", o.Env)
		if err != nil {
			return nil, err
		}
		opts = append(opts, otlpmetrichttp.WithHTTPClient(c), otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression))
	}
	return otlpmetrichttp.New(ctx, opts...)
}

func newLogs(ctx context.Context, o *Options) (sdklog.Exporter, error) {
	h := headers("logs", o.Headers, o.Env)
	p := o.protocol("logs")
	if p == GRPC {
		opts := []otlploggrpc.Option{otlploggrpc.WithRetry(otlploggrpc.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: longestRetry, MaxElapsedTime: giveUpAfter})}
		if !own(o, "logs") {
			opts = append(opts, otlploggrpc.WithEndpointURL(o.Endpoint.url("logs", p)))
		}
		if h != nil {
			opts = append(opts, otlploggrpc.WithHeaders(h))
		}
		return otlploggrpc.New(ctx, opts...)
	}
	opts := []otlploghttp.Option{otlploghttp.WithRetry(otlploghttp.RetryConfig{Enabled: true, InitialInterval: firstRetry, MaxInterval: longestRetry, MaxElapsedTime: giveUpAfter})}
	if !own(o, "logs") {
		opts = append(opts, otlploghttp.WithEndpointURL(o.Endpoint.url("logs", p)))
	}
	if h != nil {
		opts = append(opts, otlploghttp.WithHeaders(h))
	}
	if p == HTTPJSON {
		c, err := jsonClient("logs", o.Env)
		if err != nil {
			return nil, err
		}
		opts = append(opts, otlploghttp.WithHTTPClient(c), otlploghttp.WithCompression(otlploghttp.NoCompression))
	}
	return otlploghttp.New(ctx, opts...)
}

// stop ends the exporters, whose last data is out or given up.
func (x *exporters) stop(ctx context.Context) error {
	err := x.traces.Stop(ctx)
	if x.metrics != nil {
		err = errors.Join(err, x.metrics.Shutdown(ctx))
	}
	if x.logs != nil {
		err = errors.Join(err, x.logs.Shutdown(ctx))
	}
	return err
}
