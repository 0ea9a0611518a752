package collector

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	otelreceiver "go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// attributes stands for the processor of that name, which drags in more modules
// than this test is worth: it takes the members that the real one has, and
// passes everything on.
func attributes() processor.Factory {
	type action struct {
		Key       string `mapstructure:"key"`
		Action    string `mapstructure:"action"`
		Value     any    `mapstructure:"value"`
		FromAttr  string `mapstructure:"from_attribute"`
		FromCtx   string `mapstructure:"from_context"`
		Pattern   string `mapstructure:"pattern"`
		Converted string `mapstructure:"converted_type"`
	}
	type config struct {
		Actions []action `mapstructure:"actions"`
	}
	return processor.NewFactory(component.MustNewType("attributes"), func() component.Config { return &config{} },
		processor.WithTraces(func(_ context.Context, _ processor.Settings, _ component.Config, next consumer.Traces) (processor.Traces, error) {
			return pass{next}, nil
		}, component.StabilityLevelDevelopment))
}

type pass struct{ consumer.Traces }

// Start and Shutdown have nothing to do.
func (pass) Start(context.Context, component.Host) error { return nil }

// Shutdown has nothing to end.
func (pass) Shutdown(context.Context) error { return nil }

func factories() (otelcol.Factories, error) {
	var f otelcol.Factories
	var err error
	set := func(e error) {
		if err == nil {
			err = e
		}
	}
	var e error
	f.Receivers, e = otelcol.MakeFactoryMap[otelreceiver.Factory](otlpreceiver.NewFactory())
	set(e)
	f.Processors, e = otelcol.MakeFactoryMap[processor.Factory](memorylimiterprocessor.NewFactory(), attributes())
	set(e)
	f.Exporters, e = otelcol.MakeFactoryMap[exporter.Factory](otlpexporter.NewFactory())
	set(e)
	f.Extensions, e = otelcol.MakeFactoryMap[extension.Factory](filestorage.NewFactory())
	set(e)
	f.Telemetry = otelconftelemetry.NewFactory()
	return f, err
}

// newCollector is one that runs the configuration in deploy, with more on top.
func newCollector(t *testing.T, more ...string) *otelcol.Collector {
	t.Helper()
	uris := []string{"file:" + filepath.Join("..", "..", "deploy", "otel-collector", "collector.yaml")}
	for _, m := range more {
		uris = append(uris, "yaml:"+m)
	}
	col, err := otelcol.NewCollector(otelcol.CollectorSettings{
		Factories: factories, BuildInfo: component.NewDefaultBuildInfo(), DisableGracefulShutdown: true, SkipSettingGRPCLogger: true,
		LoggingOptions: []zap.Option{zap.WrapCore(func(zapcore.Core) zapcore.Core { return zapcore.NewNopCore() })},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs:              uris,
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory(), yamlprovider.NewFactory()},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return col
}

// The collector takes its configuration.
func TestConfiguration(t *testing.T) {
	t.Setenv("BACKEND_OTLP_ENDPOINT", "https://backend.example:4317")
	if err := newCollector(t).DryRun(t.Context()); err != nil {
		t.Error(err)
	}
	if err := newCollector(t, "exporters::otlp::sending_queue::storages: x").DryRun(t.Context()); err == nil {
		t.Error("the test takes everything")
	}
}

// run runs a collector until end.
func run(t *testing.T, col *otelcol.Collector) (end func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- col.Run(context.WithoutCancel(t.Context())) }()
	for col.GetState() != otelcol.StateRunning {
		select {
		case err := <-done:
			t.Fatalf("the collector ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return func() {
		col.Shutdown()
		if err := <-done; err != nil {
			t.Errorf("the collector ended with %v", err)
		}
	}
}

// The configuration holds what it promises: while the backend is away, spans
// wait on disk, also while the collector itself is started anew.
func TestSpool(t *testing.T) {
	backend := newReceiver(t)
	t.Setenv("BACKEND_OTLP_ENDPOINT", backend.grpc)
	spool, grpc, http := t.TempDir(), freeAddress(t), freeAddress(t)
	here := []string{
		"extensions::file_storage::directory: " + spool, "extensions::file_storage::compaction::directory: " + spool,
		"receivers::otlp::protocols::grpc::endpoint: " + grpc, "receivers::otlp::protocols::http::endpoint: " + http,
		"exporters::otlp::tls::insecure: true", "service::telemetry::metrics::level: none",
	}
	end := run(t, newCollector(t, here...))
	s := startShim(t, t.TempDir(), nil, "--otlp-endpoint", "http://"+http)
	s.calls(1000)
	if said := s.leave(); said != "" {
		t.Error(said)
	}
	end()
	end = run(t, newCollector(t, here...))
	backend.listen(t, nil)
	backend.waitFor(t, 1000)
	end()
}
