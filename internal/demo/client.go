package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocol is the revision that the client asks for: the newest one that opens
// with the initialize handshake, which is what nearly all clients do.
const protocol = "2025-11-25"

// The defaults of Options.
const (
	onceGap     = 120 * time.Millisecond
	endlessGap  = 600 * time.Millisecond
	leaveTime   = 7 * time.Second // longer than the shim gives a server that will not go
	hangPause   = 500 * time.Millisecond
	roundPauses = 4 // pauses between two rounds
)

// Options say what RunClient starts and how it goes about its story.
type Options struct {
	// Command is the whole command line to start and to speak MCP with:
	// a server, or a shim with a server behind it.
	Command []string
	// Env is the environment of the command; nil means this process's.
	Env []string
	// Dir is the command's working directory; "" means this process's.
	Dir string
	// Stderr gets the command's standard error; nil throws it away.
	Stderr io.Writer

	// Log gets the story, a line for each thing that happens; nil means nobody
	// reads it.
	Log io.Writer

	// Rounds is how often the story is told; 0 means until the context ends.
	Rounds int
	// Pace is the pause before each call. 0 means a pace that looks alive when
	// Rounds is 0, and a quick one otherwise, at which a round takes about five
	// seconds. The tools take their own time.
	Pace time.Duration
	// Grace is how long the command may take to leave once its input has ended,
	// before it is killed; 0 means seven seconds.
	Grace time.Duration
	// Sleep makes the pauses; nil means on the clock. It returns an error when
	// ctx ends first.
	Sleep func(ctx context.Context, d time.Duration) error
}

func (o Options) withDefaults() Options {
	gap := onceGap
	if o.Rounds == 0 {
		gap = endlessGap
	}
	o.Pace = cmp.Or(o.Pace, gap)
	o.Grace = cmp.Or(o.Grace, leaveTime)
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

// RunClient starts the command, tells the story over its standard input and
// output, ends its input and waits until it has left. When ctx ends, the input
// ends at once and calls that are open stay without an answer; that is no error
// when Rounds is 0.
func RunClient(ctx context.Context, o Options) error {
	if len(o.Command) == 0 {
		return errors.New("demo: no command to start")
	}
	o = o.withDefaults()
	run, stop := context.WithCancel(ctx)
	defer stop()

	cmd := exec.CommandContext(run, o.Command[0], o.Command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = o.Env, o.Dir, o.Stderr
	cmd.WaitDelay = o.Grace
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	// The end of its input is how a stdio server is told to go.
	cmd.Cancel = func() error { _ = stdin.Close(); return nil }
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("demo: cannot start %q: %w", o.Command[0], err)
	}
	err = converse(run, stop, o, stdout, stdin)
	left := cmd.Wait()
	if errors.Is(left, context.Canceled) || errors.Is(left, context.DeadlineExceeded) {
		left = nil // it went by itself after its input ended
	}
	return outcome(ctx, o, err, left)
}

// outcome makes one error of how the story ended and how the command left.
func outcome(ctx context.Context, o Options, story, left error) error {
	if ctx.Err() != nil {
		story = nil
		if o.Rounds > 0 {
			story = ctx.Err()
		}
	}
	switch {
	case story != nil && left != nil:
		return fmt.Errorf("demo: %w; %s ended with: %w", story, o.Command[0], left)
	case story != nil:
		return fmt.Errorf("demo: %w", story)
	case left != nil:
		return fmt.Errorf("demo: %s ended with: %w", o.Command[0], left)
	}
	return nil
}

// converse tells the story over in and out. hangUp must end the context run;
// it is called when the story is over. converse returns when in has ended,
// which it makes happen itself when the other side takes longer than the grace.
func converse(run context.Context, hangUp func(), o Options, in io.ReadCloser, out io.WriteCloser) error {
	var background sync.WaitGroup
	defer background.Wait()
	defer hangUp()
	over := make(chan struct{})
	defer close(over)
	background.Go(func() {
		<-run.Done()
		_ = out.Close()
		t := time.NewTimer(o.Grace + time.Second)
		defer t.Stop()
		select {
		case <-over:
		case <-t.C:
			_ = in.Close()
		}
	})

	s, err := connect(run, o, in, out)
	if err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	err = s.tell(run)
	hangUp()
	<-s.gone
	s.hung.Wait()
	return err
}

// connect opens the session. Its calls outlive the run: a client that cancels
// what is open sends notifications, and this one just goes.
func connect(run context.Context, o Options, in io.ReadCloser, out io.WriteCloser) (*story, error) {
	s := &story{
		o:        o,
		calls:    context.WithoutCancel(run),
		log:      &lineWriter{w: o.Log},
		sent:     newCountWriter(out),
		progress: make(chan progress, maxReportSteps),
		gone:     make(chan struct{}),
	}
	client := mcp.NewClient(
		&mcp.Implementation{Name: "demo-client", Title: "mcpsnoop demo client", Version: "1.0.0"},
		&mcp.ClientOptions{
			Capabilities:                &mcp.ClientCapabilities{},
			ProgressNotificationHandler: s.onProgress,
		})
	transport := &mcp.IOTransport{Reader: newJSONLines(in, s.onStray), Writer: s.sent}
	cs, err := client.Connect(s.calls, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return nil, err
	}
	s.cs = cs
	go func() {
		_ = cs.Wait()
		close(s.gone)
	}()
	return s, nil
}
