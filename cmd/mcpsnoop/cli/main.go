package cli

import (
	"context"
	"os"
	"os/signal"
	"os/user"
	"runtime"
	"runtime/debug"

	"golang.org/x/term"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/shim"
)

// Main is the program: it fills an App with what the process was given, runs
// it and returns the exit code. args[0] is the name of the program.
func Main(args, env []string, in, out, err *os.File) int {
	if len(args) > 1 && args[1] == shim.GuardianArg {
		return shim.GuardianMain()
	}
	if len(args) == 0 {
		args = []string{"mcpsnoop"}
	}
	app := &App{
		Args: args[1:], Env: env, Clock: SystemClock{}, FS: capture.OS{}, OS: runtime.GOOS, TempDir: os.TempDir(),
		Streams: Streams{In: in, Out: out, Err: err, InTTY: isTerminal(in), OutTTY: isTerminal(out), ErrTTY: isTerminal(err)},
		Tune:    func(percent int) { debug.SetGCPercent(percent) },
		Notify:  shim.Notify,
	}
	app.Dir, _ = os.Getwd()       // "" where the folder is gone; who needs it says so
	app.Self, _ = os.Executable() // "" means no guardian
	app.Process = Process{PID: os.Getpid(), Parent: os.Getppid()}
	app.Process.Host, _ = os.Hostname()
	app.Process.User = app.userName()
	app.Interrupt = untilSignal
	if app.InTTY && app.ErrTTY {
		app.Ask = askTerminal(in, err)
	}
	return app.Run(context.Background())
}

// untilSignal gives a context that ends with the first signal that asks the
// program to end. A second one ends it the hard way.
func untilSignal(ctx context.Context, hangup func()) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	c := make(chan os.Signal, 1)
	signal.Notify(c, endSignals()...)
	go func() {
		s := <-c
		for hangup != nil && isHangup(s) {
			hangup()
			s = <-c
		}
		signal.Stop(c)
		cancel(interrupted{s})
	}()
	return ctx
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// userName is the name of the user for the log. It asks the environment first:
// the user database may be on the network, and a shim must start at once.
func (a *App) userName() string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := a.Getenv(name); v != "" {
			return v
		}
	}
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
