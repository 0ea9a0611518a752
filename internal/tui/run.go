package tui

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// Run shows the UI on a terminal until its user quits or ctx ends; neither is
// an error. in and out are the terminal; opts.Env tells what it can do.
func Run(ctx context.Context, src Source, opts Options, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := tea.NewProgram(New(ctx, src, opts), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithEnvironment(opts.Env), tea.WithColorProfile(Profile(opts.Env)), tea.WithFPS(FPS))
	_, err := p.Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return err
}

// FPS is how often a program shows what has changed at most: often enough for
// a key to be answered at once.
const FPS = 60

// Plain reports whether a terminal with this environment can only take lines
// after each other: the UI has no place there.
func Plain(env []string) bool {
	term := lookup(env, "TERM")
	return term == "" || term == "dumb"
}
