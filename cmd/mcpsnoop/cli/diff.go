package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type diffOptions struct {
	ExitCode bool
	Format   *choice
	checks.DiffOptions
}

func newDiffCmd(app *App) *cobra.Command {
	o := &diffOptions{Format: newChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "diff [flags] A B",
		Short: "Compare two sessions: definitions, outcomes and times",
		Long: `Compare session B with session A: what the server offers, and the tool calls
that have the same tool and arguments in both, in whatever order. With
--exit-code, 1 for a regression: a tool dropped; its description, title, schemas
or annotations changed; a call whose status got worse, or that is slower.`,
		Example:           `  mcpsnoop diff --exit-code before.jsonl after.jsonl`,
		ValidArgsFunction: app.completeSessions,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("diff takes two sessions, and got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runDiff(cmd.Context(), app, o, args) },
	}
	f := cmd.Flags()
	f.Var(o.Format, "format", "how to report")
	f.BoolVar(&o.ExitCode, "exit-code", false, "end with exit code 1 on a regression")
	f.DurationVar(&o.Threshold, "duration-threshold", checks.DiffThreshold, "a call is slower when it takes at least this `TIME` longer")
	f.Float64Var(&o.Ratio, "duration-ratio", checks.DiffRatio, "and at least `N` times as long")
	return cmd
}

func runDiff(ctx context.Context, app *App, o *diffOptions, args []string) error {
	if o.Threshold < 0 || o.Ratio < 0 {
		return usagef("--duration-threshold and --duration-ratio want no negative value")
	}
	bodies := capture.NewBodies(app.FS)
	defer bodies.Close()
	var sides [2]checks.DiffSide
	var sources [2]source
	stdin := false
	for i, arg := range args { // each by itself: both may be the same session
		list, err := app.sources([]string{arg})
		if err != nil {
			return err
		}
		s := list[0]
		if s.Stdin && stdin {
			return usagef("standard input (-) can be read only once")
		}
		stdin = stdin || s.Stdin
		sources[i] = s
	}
	for i, s := range sources {
		s, remove, err := app.spool(ctx, s)
		if err != nil {
			return err
		}
		defer remove()
		if sides[i], err = app.diffSide(ctx, s, bodies); err != nil {
			return err
		}
	}
	o.Step = func(int, int) bool { return ctx.Err() == nil }
	d := checks.Compare(sides[0], sides[1], o.DiffOptions)
	if d.Stopped {
		return cause(ctx, ctx.Err())
	}
	write := d.WriteText
	if o.Format.value == "json" {
		write = d.WriteJSON
	}
	if err := write(app.Out, sides[0].Session.ID, sides[1].Session.ID); err != nil {
		return fmt.Errorf("write the difference: %w", err)
	}
	if o.ExitCode && d.Regressions > 0 {
		return errFound
	}
	return nil
}

// diffSide indexes a log; of several sessions in it, the last.
func (a *App) diffSide(ctx context.Context, s source, bodies *capture.Bodies) (checks.DiffSide, error) {
	options := checks.Options{Definitions: true}
	list, err := a.load(ctx, s, loadOptions{Observer: func(string) store.Observer { return checks.NewEngine(options) }})
	if err != nil {
		return checks.DiffSide{}, err
	}
	if len(list) == 0 {
		return checks.DiffSide{}, readError(s, capture.ErrEmpty)
	}
	one := list[len(list)-1]
	engine, ok := one.Observer.(*checks.Engine)
	if !ok {
		return checks.DiffSide{}, errors.New("a session has no engine")
	}
	return checks.DiffSide{Session: one.Session, Definitions: engine.Definitions(), Body: store.NewBodyFunc(bodies)}, nil
}
