package demo

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sleepFunc waits for d or until ctx ends, and then says why it ended.
type sleepFunc func(ctx context.Context, d time.Duration) error

// RunServer serves the demo's tools to one client until stdin ends, then
// returns nil, or until ctx ends, then returns its error. A call that is open
// at that moment gets no answer. Log lines go to stderr. stdin is closed when
// it can be; stdout is not.
func RunServer(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	return newServer(stdout, stderr, sleep).run(ctx, stdin)
}

type server struct {
	out   *lineWriter // frames, and the stray line
	log   *lineWriter
	sleep sleepFunc
}

func newServer(stdout, stderr io.Writer, sleep sleepFunc) *server {
	return &server{out: &lineWriter{w: stdout}, log: &lineWriter{w: stderr}, sleep: sleep}
}

func (s *server) run(ctx context.Context, stdin io.Reader) error {
	in, ok := stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(stdin)
	}
	m := mcp.NewServer(
		&mcp.Implementation{Name: "demo-server", Title: "mcpsnoop demo server", Version: "1.0.0"},
		&mcp.ServerOptions{
			Instructions: "Fixed answers for a demonstration. Nothing is looked up.",
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	s.addTools(m)
	m.AddReceivingMiddleware(s.logCalls)
	s.log.printf("demo-server: ready")
	err := m.Run(context.WithoutCancel(ctx), untilDone{&mcp.IOTransport{Reader: in, Writer: s.out}, ctx})
	s.log.printf("demo-server: bye")
	return err
}

// logCalls writes a line on standard error for each tool that is called.
func (s *server) logCalls(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok {
			s.log.printf("demo-server: call %s", call.Params.Name)
		}
		return next(ctx, method, req)
	}
}

// untilDone reads from a connection until run ends. The SDK then takes its
// input as ended and gives no answers any more; of a context's own end its
// reader hears nothing, and a read of a terminal cannot be broken off.
type untilDone struct {
	mcp.Transport
	run context.Context
}

func (t untilDone) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return untilDoneConn{c, t.run}, err
}

type untilDoneConn struct {
	mcp.Connection
	run context.Context
}

func (c untilDoneConn) Read(context.Context) (jsonrpc.Message, error) {
	return c.Connection.Read(c.run)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
