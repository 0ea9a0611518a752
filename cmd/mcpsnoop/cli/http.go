package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/httpproxy"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
)

// httpOptions are those of the HTTP proxy.
type httpOptions struct {
	captureOptions
	Target  string
	Listen  string
	Headers []string
	TLSCA   string
	NoMap   bool
	Observe bool
	Forward bool
}

func newHTTPCmd(app *App) *cobra.Command {
	o := &httpOptions{}
	cmd := &cobra.Command{
		Use:   "http (--target URL | --forward) --listen ADDR",
		Short: "Stand between MCP clients and a server that speaks HTTP",
		Long: `Pass HTTP on to an MCP server, byte for byte, and record each request, response
and event. Give clients the address of the proxy with the path of the target.
A bare port listens on loopback; 0.0.0.0:PORT opens it to the network.

With --forward it is an explicit proxy: clients keep the addresses of their
servers and get the proxy's as HTTP_PROXY. Each MCP endpoint becomes a session;
plain HTTP in tunnels is read, TLS passes untouched and unread.`,
		Example: `  mcpsnoop http --target http://localhost:3000/mcp --listen :7000
  # the client's URL is now http://localhost:7000/mcp
  mcpsnoop http --forward --listen :7001
  # NODE_USE_ENV_PROXY=1 HTTP_PROXY=http://localhost:7001 NO_PROXY= node client.js`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runHTTP(cmd.Context(), app, o, cmd.Flags()) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Target, "target", "", "`URL` of the server's MCP endpoint")
	fs.StringVar(&o.Listen, "listen", "", "`ADDR` to listen on: a port, or HOST:PORT")
	fs.StringArrayVar(&o.Headers, "target-header", nil, "`'K: V'` to set on each request to the target; may be repeated")
	fs.StringVar(&o.TLSCA, "tls-ca", "", "`FILE` with the certificates (PEM) that may vouch for an https target, beside the system's")
	fs.BoolVar(&o.NoMap, "no-map", false, "leave addresses in what the server says as they are")
	fs.BoolVar(&o.Forward, "forward", false, "be an explicit proxy, in place of one that stands before --target")
	fs.BoolVar(&o.Observe, "observe-auth", false, "record facts about credentials: a hash, the scheme, claims of a JWT; never a credential")
	o.addFlags(fs)
	return cmd
}

func runHTTP(ctx context.Context, app *App, o *httpOptions, flags *pflag.FlagSet) error {
	if err := o.configure(app, flags); err != nil {
		return err
	}
	engine, err := o.Redact.engine()
	if err != nil {
		return err
	}
	opts, err := o.proxyOptions(app)
	if err != nil {
		return err
	}
	warn := func(s string) { app.note("%s", s) }
	sender, err := o.OTLP.sender(ctx, app, warn)
	if err != nil {
		return err
	}
	addr, err := loopbackUnlessSaid(o.Listen)
	if err != nil {
		return usagef("--listen %q: %w", o.Listen, err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return withHint(fmt.Errorf("listen on %s: %w", addr, plainNet(err)), "is another program there? give another port with --listen")
	}
	opts.Warn = warn
	send := o.send(ctx, app, sender, warn)
	defer send.finish()
	if o.Forward {
		return runForward(ctx, app, o, engine, opts, l, send)
	}
	opts.Recorder = app.httpRecorder(o, engine, opts.Target, warn)
	send.follow(opts.Recorder, o.TraceFile)
	app.announce(l.Addr(), opts.Target, opts.Recorder)
	err = httpproxy.New(opts).Serve(ctx, l)
	if opts.Recorder == nil {
		return err
	}
	if lost := opts.Recorder.Close(endOf(ctx)); lost > 0 {
		warn(fmt.Sprintf("%d frames are not in the session log; the log says where", lost))
	}
	return err
}

// proxyOptions reads the flags that are the proxy's own.
func (o *httpOptions) proxyOptions(app *App) (httpproxy.Options, error) {
	opts := httpproxy.Options{MaxFrame: int(o.MaxFrame), Grace: o.Grace, NoMap: o.NoMap, ObserveAuth: o.Observe}
	switch {
	case o.Forward && o.Target != "":
		return opts, usagef("--forward and --target exclude each other: the clients of an explicit proxy say where they go")
	case o.Forward && o.TraceFile != "":
		return opts, usagef("--forward and --trace-file exclude each other: each endpoint has a log of its own")
	case !o.Forward && o.Target == "":
		return opts, usagef("no target: give the URL of the server with --target, for example --target http://localhost:3000/mcp")
	case o.Listen == "":
		return opts, usagef("no address: give a port to listen on with --listen, for example --listen :7000")
	}
	var roots *x509.CertPool
	if o.TLSCA != "" {
		var err error
		if roots, err = app.certificates(o.TLSCA); err != nil {
			return opts, err
		}
	}
	var err error
	if o.Forward {
		opts.Forward = &httpproxy.ForwardOptions{Roots: roots}
	} else if opts.Target, err = httpproxy.ParseTarget(o.Target, roots); err != nil {
		return opts, usagef("--target: %w", err)
	}
	for _, h := range o.Headers {
		header, err := httpproxy.ParseHeader(h)
		if err != nil {
			name, _, _ := strings.Cut(h, ":") // the value may be a secret
			return opts, usagef("--target-header %q: %w", name, err)
		}
		opts.Headers = append(opts.Headers, header)
	}
	if app.Process.Host != "" {
		opts.Names = []string{app.Process.Host}
	}
	return opts, nil
}

// certificates reads authorities in PEM, to be trusted beside the system's.
func (a *App) certificates(path string) (*x509.CertPool, error) {
	f, err := a.FS.Open(a.abs(path))
	if err != nil {
		return nil, fmt.Errorf("read the certificates in %s: %w", path, plain(err))
	}
	defer f.Close()
	const most = 16 << 20
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("read the certificates in %s: %w", path, plain(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(b) {
		return nil, withHint(fmt.Errorf("read the certificates in %s: there is none in PEM form", path), "it begins with -----BEGIN CERTIFICATE-----")
	}
	return pool, nil
}

// httpRecorder makes the recorder of an HTTP session, nil for none.
func (a *App) httpRecorder(o *httpOptions, engine *redact.Engine, t *httpproxy.Target, warn func(string)) *capture.Recorder {
	if o.NoTrace {
		return nil
	}
	label := o.Label
	if label == "" {
		label = t.Label()
	}
	meta := capture.MetaInfo{Cwd: a.Dir, Target: t.String(), PID: a.Process.PID, Host: a.Process.Host, User: a.Process.User, Version: version}
	rec, err := a.newRecorder(&o.captureOptions, engine, capture.CleanLabel(label), meta, capture.HTTP, warn)
	if err != nil {
		warn(fmt.Sprintf("nothing is recorded: %v", err))
		return nil
	}
	return rec
}

// announce says where the proxy listens, how far that reaches, and where it records.
func (a *App) announce(addr net.Addr, t *httpproxy.Target, rec *capture.Recorder) {
	host, port, _ := net.SplitHostPort(addr.String())
	reach := ""
	if ip := net.ParseIP(host); ip != nil && !ip.IsLoopback() {
		reach = ", open to the network"
		if ip.IsUnspecified() {
			host = "localhost"
		}
	}
	where := "nothing is recorded"
	if rec != nil {
		where = "recording to " + rec.Path()
	}
	a.note("listening on http://%s%s%s, passing on to %s; %s", net.JoinHostPort(host, port), t.Path(), reach, t, where)
}

// loopbackUnlessSaid completes an address to listen on: a bare port is one of
// loopback, so that nothing is opened to the network unasked.
func loopbackUnlessSaid(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		if strings.ContainsAny(addr, ":[]") {
			return "", errors.New("want a port, or HOST:PORT")
		}
		host, port = "", addr
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return "", fmt.Errorf("%q is not a port", port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// plainNet takes operation and address out of a network error: the message
// that it becomes part of has them.
func plainNet(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
