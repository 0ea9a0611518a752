package cli

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/httpproxy"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
)

// forwardSessions makes a session for each endpoint that clients of an
// explicit proxy talk to, and ends all of them together.
type forwardSessions struct {
	app    *App
	o      *httpOptions
	engine *redact.Engine
	warn   func(string)
	send   *sending

	mu   sync.Mutex
	recs []*capture.Recorder
}

// open begins the session of an endpoint; nil is what goes to none.
func (s *forwardSessions) open(end *httpproxy.Target) *capture.Recorder {
	if s.o.NoTrace {
		return nil
	}
	label, what := "forward", "what goes to no MCP endpoint"
	meta := capture.MetaInfo{Cwd: s.app.Dir, PID: s.app.Process.PID, Host: s.app.Process.Host, User: s.app.Process.User, Version: version}
	if end != nil {
		label, what, meta.Target = end.Label(), end.String(), end.String()
	}
	if s.o.Label != "" {
		label = s.o.Label
	}
	rec, err := s.app.newRecorder(&s.o.captureOptions, s.engine, capture.CleanLabel(label), meta, capture.HTTP, s.warn)
	if err != nil {
		s.warn("nothing is recorded of " + what + ": " + err.Error())
		return nil
	}
	s.app.note("recording %s to %s", safe(what), rec.Path())
	s.send.follow(rec, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recs = append(s.recs, rec)
	return rec
}

// close writes what is queued and ends the sessions.
func (s *forwardSessions) close(end capture.EndInfo) (lost uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.recs {
		lost += r.Close(end)
	}
	return lost
}

// runForward is an explicit proxy for clients that honour HTTP_PROXY.
func runForward(ctx context.Context, app *App, o *httpOptions, engine *redact.Engine, opts httpproxy.Options, l net.Listener, send *sending) error {
	s := &forwardSessions{app: app, o: o, engine: engine, warn: opts.Warn, send: send}
	opts.Forward.Open = s.open
	app.announceForward(l.Addr(), o)
	err := httpproxy.New(opts).Serve(ctx, l)
	if lost := s.close(endOf(ctx)); lost > 0 {
		app.note("%d frames are not in the session logs; the logs say where", lost)
	}
	return err
}

// announceForward says where the proxy listens and how clients find it.
func (a *App) announceForward(addr net.Addr, o *httpOptions) {
	host, port, _ := net.SplitHostPort(addr.String())
	reach := ""
	if ip := net.ParseIP(host); ip != nil && !ip.IsLoopback() {
		reach = ", open to the network: anybody there can reach what this machine reaches"
		if ip.IsUnspecified() {
			host = "localhost"
		}
	}
	url := "http://" + net.JoinHostPort(host, port)
	a.note("an explicit proxy on %s%s; for a client on Node: NODE_USE_ENV_PROXY=1 HTTP_PROXY=%s NO_PROXY=", url, reach, url)
	if o.NoTrace {
		what := "nothing is recorded"
		if o.OTLP.Endpoint != "" {
			what += ", and nothing is sent to the OTLP endpoint: spans are made of session logs"
		}
		a.note("%s", what)
	}
}

// endOf says why the proxy has ended.
func endOf(ctx context.Context) capture.EndInfo {
	if ctx.Err() == nil {
		return capture.EndInfo{Reason: "listener failed"}
	}
	var in interrupted
	if errors.As(context.Cause(ctx), &in) {
		return capture.EndInfo{Reason: in.Error()}
	}
	return capture.EndInfo{Reason: "stopped"}
}
