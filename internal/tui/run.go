package tui

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// Run shows the UI on a terminal until its user quits or ctx ends; neither is
// an error. in and out are the terminal, or in is nil for that of the process;
// opts.Env tells what it can do. Signals are the caller's: they end ctx.
func Run(ctx context.Context, src Source, opts Options, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithOutput(out), tea.WithEnvironment(opts.Env), tea.WithColorProfile(Profile(opts.Env)),
		tea.WithFPS(FPS), tea.WithoutSignalHandler(),
	}
	if in != nil {
		all = append(all, tea.WithInput(promptEsc(in)))
	}
	_, err := tea.NewProgram(New(ctx, src, opts), all...).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return err
}

// FPS is how often a program shows what has changed at most: often enough for
// a key to be answered at once, seldom enough to cost nothing while idle.
const FPS = 40

// Plain reports whether a terminal with this environment can only take lines
// after each other: the UI has no place there.
func Plain(env []string) bool {
	term := lookup(env, "TERM")
	return term == "" || term == "dumb"
}
