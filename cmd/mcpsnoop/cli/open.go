package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
)

type openOptions struct {
	Theme   *choice
	Redact  redactOptions
	Replay  replayTo
	Session []string
}

func newThemeFlag() *choice {
	return newChoice("auto", "auto", "light", "dark", "contrast", "none")
}

func newOpenCmd(app *App) *cobra.Command {
	o := &openOptions{Theme: newThemeFlag()}
	cmd := &cobra.Command{
		Use:   "open [flags] [SESSION]",
		Short: "Look at one session in the user interface",
		Long: `Show the frames of one session, live when it still runs: filter, inspect, jump
between a request and its answer. ? lists the keys. Redaction flags change what
is shown and copied, never the log. On a terminal that cannot show screens
(TERM=dumb) the frames are printed.`,
		Example:           `  mcpsnoop open files`,
		Args:              atMostOne("session"),
		ValidArgsFunction: app.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Session = args
			return runOpen(cmd.Context(), app, o)
		},
	}
	cmd.Flags().Var(o.Theme, "theme", "colours: auto, light, dark, contrast or none")
	cmd.Flags().StringVar(&o.Replay.Target, "replay-target", "", "send calls again to the server at this `URL`, in place of the recorded command")
	cmd.Flags().StringArrayVar(&o.Replay.Headers, "replay-header", nil, "`'K: V'` to set when a call is sent again, the only credential; may be repeated")
	o.Redact.addFlags(cmd.Flags())
	return cmd
}

func runOpen(ctx context.Context, app *App, o *openOptions) error {
	engine, err := o.Redact.engine()
	if err != nil {
		return err
	}
	target, err := o.Replay.parse()
	if err != nil {
		return err
	}
	list, err := app.sources(o.Session)
	if err != nil {
		return err
	}
	if !app.OutTTY {
		return errNoTerminal("tail")
	}
	if !list[0].Stdin {
		s, remove, err := app.lined(ctx, list[0])
		if err != nil {
			return err
		}
		defer remove()
		src := newLogSource(app, s, engine)
		src.flags = o.Redact
		src.target = target
		return app.showLog(ctx, src, o.Theme.value, false)
	}
	s, flows, stop, err := app.spoolLive(ctx)
	if err != nil {
		return err
	}
	defer stop()
	src := newLogSource(app, s, engine)
	src.held, src.flags, src.target = flows, o.Redact, target
	return app.showLog(ctx, src, o.Theme.value, true)
}

// errNoTerminal says that the UI has nowhere to be shown.
func errNoTerminal(instead string) error {
	return withHint(errors.New("the user interface needs a terminal as standard output"), "mcpsnoop %s prints the same", instead)
}

// showLog shows the UI on one log.
func (a *App) showLog(ctx context.Context, src *logSource, theme string, fromPipe bool) error {
	if a.Tune != nil {
		a.Tune(collectAt)
	}
	s := src.source
	defer src.close()
	more, err := src.first(ctx)
	for err == nil && len(src.store.Sessions()) == 0 && fromPipe && src.held() && ctx.Err() == nil {
		<-a.Clock.After(10 * time.Millisecond) // the pipe has given nothing yet
		more, err = src.first(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return readError(s, err)
	}
	sessions := src.Sessions()
	if len(sessions) == 0 {
		return readError(s, capture.ErrEmpty)
	}
	opts := a.uiOptions(theme)
	opts.Actions.Export = &uiExport{app: a, redact: src.flags, pipe: fromPipe}
	opts.Actions.Replay = &replayer{app: a, read: src.Body, target: src.target, engine: src.engine, name: src.source.Name, pipe: fromPipe}
	opts.Messages = src.rules
	opts.Actions.Denied = "only in the list of all sessions, which mcpsnoop alone shows"
	if len(sessions) == 1 {
		opts.Open = sessions[0].ID
	}
	if tui.Plain(a.Env) {
		return a.plainLog(ctx, src, more, opts)
	}
	return a.show(ctx, src, opts, fromPipe, func(ctx context.Context) { src.follow(ctx) })
}

// plainLog prints what the log holds, where no screen can be shown.
func (a *App) plainLog(ctx context.Context, src *logSource, more bool, opts tui.Options) error {
	for more && ctx.Err() == nil {
		var err error
		if more, err = src.first(ctx); err != nil {
			return readError(src.source, err)
		}
	}
	src.standing()
	defer src.tailer.Close()
	for _, s := range src.Sessions() {
		if err := tui.WritePlain(ctx, a.Out, src, s, opts); err != nil {
			return fmt.Errorf("write to standard output: %w", err)
		}
	}
	return cause(ctx, ctx.Err())
}

// uiOptions are what the UI is told about this terminal.
func (a *App) uiOptions(theme string) tui.Options {
	return tui.Options{
		Env: a.Env, Now: a.Clock.Now, Zone: time.Local, Theme: theme, Version: version, Suspend: true,
		Baseline: a.trusted,
		Filters:  a.filters(), Actions: tui.Actions{Export: &uiExport{app: a}, Editor: a.editor()},
	}
}

// show runs the UI and, beside it, what feeds it.
func (a *App) show(ctx context.Context, src tui.Source, opts tui.Options, fromPipe bool, feed func(context.Context)) error {
	within, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { feed(within) })
	in := a.In
	if fromPipe || !a.InTTY {
		in = nil // the keyboard is the terminal's
	}
	err := tui.Run(within, src, opts, in, a.Out)
	stop()
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("show the user interface: %w", err)
	}
	return nil
}

// spoolLive copies a log from standard input to a temporary file in the
// background, so that it can be read by position while it comes. flows reports
// whether more may come.
func (a *App) spoolLive(ctx context.Context) (s source, flows func() bool, stop func(), err error) {
	f, err := os.CreateTemp(a.TempDir, "mcpsnoop-*.jsonl")
	if err != nil {
		return s, nil, nil, fmt.Errorf("keep standard input for looking at it: %w", err)
	}
	var done atomic.Bool
	go func() { // it ends with the pipe, or with the program
		_, _ = io.Copy(f, contextReader{ctx, a.In})
		_ = f.Close()
		done.Store(true)
	}()
	stop = func() { _ = os.Remove(f.Name()) }
	if s.Log, err = capture.Locate(a.FS, f.Name()); err != nil {
		stop()
		return s, nil, nil, fmt.Errorf("read standard input: %w", err)
	}
	s.Name, s.Log.ID = "standard input", "stdin"
	return s, func() bool { return !done.Load() }, stop, nil
}
