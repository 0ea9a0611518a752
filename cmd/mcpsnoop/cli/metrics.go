package cli

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/hub/metrics"
)

// metricsOptions are the flags of the metrics for Prometheus.
type metricsOptions struct {
	Listen  string
	viewers func() int // who watches over SSH; nil where nobody can
}

func (o *metricsOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Listen, "metrics-listen", "", "serve metrics for Prometheus at `ADDR`: a port is one of loopback; there is no password")
}

// metricsPart sets up the metrics of a hub and the address that serves them.
func (a *App) metricsPart(ctx context.Context, o *metricsOptions, src *hubSource, sent func() []metrics.Delivery) ([]part, error) {
	addr, err := loopbackUnlessSaid(o.Listen)
	if err != nil {
		return nil, usagef("--metrics-listen %q: %w", o.Listen, err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, withHint(fmt.Errorf("listen on %s: %w", addr, plainNet(err)), "is another program there? give another port with --metrics-listen")
	}
	m := metrics.New(metrics.Options{Source: src, Now: a.Clock.Now, Version: version, Sent: sent, Viewers: o.viewers})
	reach := ""
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		reach = ", open to the network: whoever reaches it sees the names of servers and tools"
	}
	a.note("metrics on http://%s/metrics%s", l.Addr(), reach)
	return []part{m.Run, func(ctx context.Context) error { return notable("metrics", m.Serve(ctx, l)) }}, nil
}

// runDaemon is the program without a command, with --metrics-listen: a hub.
func runDaemon(cmd *cobra.Command, app *App, o *hubOptions) error {
	if cmd.ArgsLenAtDash() >= 0 {
		return usagef("--metrics-listen is for a hub, which runs no server: one hub watches all sessions")
	}
	ctx := cmd.Context()
	if app.Interrupt != nil {
		ctx = app.Interrupt(ctx, nil)
	}
	return runHub(ctx, app, o)
}
