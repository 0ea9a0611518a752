package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type baselineOptions struct {
	Accept, Reset bool
	Dir           string
}

func newBaselineCmd(app *App) *cobra.Command {
	o := &baselineOptions{}
	cmd := &cobra.Command{
		Use:   "baseline [--accept|--reset] [SESSION]",
		Short: "Compare what a server offers with what was trusted, or trust it",
		Long: `Compare the tools, prompts and resources that a session lists with the baseline
of its label. The first whole listing becomes the baseline. Exit code 1: they
differ, or the baseline is of another server.`,
		Example: `  mcpsnoop baseline files
  mcpsnoop baseline --accept files    # the change is fine`,
		Args:              atMostOne("session"),
		ValidArgsFunction: app.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBaseline(cmd.Context(), app, o, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Accept, "accept", false, "trust what the session lists, in place of the baseline")
	f.BoolVar(&o.Reset, "reset", false, "forget the baseline: the next whole listing is trusted")
	f.StringVar(&o.Dir, "baseline", "", "keep baselines in `DIR` instead of the state folder")
	return cmd
}

func runBaseline(ctx context.Context, app *App, o *baselineOptions, args []string) error {
	if o.Accept && o.Reset {
		return usagef("--accept and --reset exclude each other")
	}
	dir, err := app.baselinesAt(o.Dir)
	if err != nil {
		return err
	}
	sources, err := app.sources(args)
	if err != nil {
		return err
	}
	list, err := app.load(ctx, sources[0], loadOptions{Observer: func(string) store.Observer { return checks.NewEngine(checks.Options{Definitions: true}) }})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return readError(sources[0], capture.ErrEmpty)
	}
	one := list[len(list)-1]
	label := one.Summary().Label
	if o.Reset {
		return app.resetBaseline(dir, label)
	}
	engine, ok := one.Observer.(*checks.Engine)
	if !ok {
		return errors.New("a session has no engine")
	}
	d := engine.Definitions()
	if d == nil {
		return withHint(fmt.Errorf("session %s has no whole tools/list", one.ID), "a baseline is made of a listing that was read to its last page")
	}
	base, err := dir.load(label)
	if err != nil && !o.Accept {
		return err
	}
	switch {
	case o.Accept || base == nil:
		if err := dir.save(checks.NewBaseline(label, one.ID, one.Summary().Newest, d)); err != nil {
			return err
		}
		if o.Accept {
			fmt.Fprintf(app.Out, "accepted: %s is the baseline of %s\n", safe(one.ID), safe(label))
		} else {
			fmt.Fprintln(app.Out, firstSeen)
		}
		return nil
	case !base.Comparable(d):
		fmt.Fprintf(app.Out, "not comparable: the baseline of %s is of another server (command or origin)\n", safe(label))
		return errFound
	}
	return app.tellDrift(dir, one, engine)
}

func (a *App) resetBaseline(dir *baselines, label string) error {
	switch err := os.Remove(dir.path(label)); {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(a.Out, "%s has no baseline; its next whole listing becomes it\n", safe(label))
	case err != nil:
		return fmt.Errorf("remove the baseline of %s: %w", label, plain(err))
	default:
		fmt.Fprintf(a.Out, "reset: the next whole listing of %s becomes its baseline\n", safe(label))
	}
	return nil
}

// tellDrift prints the findings of drift alone.
func (a *App) tellDrift(dir *baselines, one *loadedSession, engine *checks.Engine) error {
	if err := dir.compare(one, engine, false); err != nil {
		return err
	}
	engine.Finish(one.Session)
	n := 0
	for _, f := range engine.Findings() {
		if f.Signal == checks.Drift {
			n++
			fmt.Fprintf(a.Out, "%s #%d %s: %s\n", f.Rule.ID, f.Seq, safe(f.Tool), safe(f.Message))
		}
	}
	if n > 0 {
		return errFound
	}
	fmt.Fprintf(a.Out, "%s is as its baseline\n", safe(one.Summary().Label))
	return nil
}
