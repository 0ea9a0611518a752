package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// Linker variables: make build sets them.
var (
	version = "devel"
	commit  = ""
)

// App is all that a command gets from outside. The zero value of a field
// means that there is none of it, and commands that need it say so.
type App struct {
	Args []string // without the name of the program
	Env  []string // KEY=VALUE
	Dir  string   // working directory, for relative paths in .mcpsnoop.toml and logs
	Self string   // path of this program, for commands that start it again

	Streams
	Clock Clock
	FS    capture.FS // where logs are read
	OS    string     // runtime.GOOS of the machine the state lies on

	TempDir  string // for files of a moment
	ReadOnly bool   // no command may write a file

	Process Process

	// Tune adapts the memory manager to a command that reads a whole log: it
	// collects when the heap has grown by percent. nil where others live in
	// the same process, which is then left as it is.
	Tune func(percent int)
	// Interrupt makes a context that ends when the user asks the program to
	// end; nil where somebody else ends the one that Run is given.
	// hangup, when not nil, is called in place of that when the terminal is
	// gone (SIGHUP).
	Interrupt func(ctx context.Context, hangup func()) context.Context
	// Notify begins to receive the signals that a shim passes on.
	Notify func() (signals <-chan os.Signal, stop func())

	// Ask asks the user a question; nil where nobody can be asked.
	Ask func(ctx context.Context, question string, secret bool) (string, error)

	reload  chan struct{} // of one slot: a command that reloads is told to
	replays *inFlight     // copies of servers that viewers have started
}

// Streams are the three standard streams, and whether a person sits at their
// other end.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	InTTY, OutTTY, ErrTTY bool
}

// Process is what the log says about the process that writes it.
type Process struct {
	PID, Parent int
	Host, User  string
}

// Clock is where time comes from.
type Clock interface {
	Now() time.Time
	Since(time.Time) time.Duration
	After(time.Duration) <-chan time.Time
}

// SystemClock is the clock of this machine.
type SystemClock struct{}

// Now is time.Now.
func (SystemClock) Now() time.Time { return time.Now() }

// Since is time.Since, which is monotonic.
func (SystemClock) Since(t time.Time) time.Duration { return time.Since(t) }

// After is time.After.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Getenv returns the last value of a variable, "" when it is not set.
func (a *App) Getenv(name string) string {
	for i := len(a.Env) - 1; i >= 0; i-- {
		k, v, ok := strings.Cut(a.Env[i], "=")
		if ok && (k == name || a.OS == "windows" && strings.EqualFold(k, name)) {
			return v
		}
	}
	return ""
}

// Run runs the command that Args name and returns the exit code. What went
// wrong has been said on Err when it returns.
func (a *App) Run(ctx context.Context) int {
	a.replays = &inFlight{}
	defer a.replays.wait()
	return a.execute(ctx, newRoot(a))
}

// execute runs a command line with the App's arguments and streams.
func (a *App) execute(ctx context.Context, root *cobra.Command) int {
	root.SetArgs(append([]string{}, a.Args...)) // never nil: cobra would take the process's arguments
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if msg := message(err); msg != "" {
		a.note("%s", msg)
	}
	return exitCode(err)
}

// note tells the person something, on the standard error.
func (a *App) note(format string, args ...any) {
	fmt.Fprintf(a.Err, "mcpsnoop: %s\n", safe(fmt.Sprintf(format, args...)))
}

// errWriter remembers the first error of a writer, so that a loop may ask once.
type errWriter struct {
	w   io.Writer
	err error
}

func (w *errWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}

var errNoFiles = errors.New("this command needs the files of a terminal or a pipe as its streams; it cannot run here")

// files gives the standard streams as files, which a process that is started
// can share.
func (a *App) files() (in, out, err *os.File, e error) {
	var ok [3]bool
	in, ok[0] = a.In.(*os.File)
	out, ok[1] = a.Out.(*os.File)
	err, ok[2] = a.Err.(*os.File)
	if ok != [3]bool{true, true, true} {
		return nil, nil, nil, errNoFiles
	}
	return in, out, err, nil
}
