package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type checkOptions struct {
	Format   *choice
	FailOn   string
	Ignore   *words
	Where    string
	Client   string
	Baseline string
	Gate     checks.Gate
	All      bool
	Sessions []string

	expect, forbid      *words
	definition, largest size
	where               *store.Query
}

func newCheckCmd(app *App) *cobra.Command {
	o := &checkOptions{Format: newChoice("text", checks.Formats()...), Ignore: newWords("RULE,RULE", ""), expect: newWords("NAME", ""), forbid: newWords("NAME", "")}
	cmd := &cobra.Command{
		Use:   "check [flags] [SESSION ...]",
		Short: "Judge sessions: failed calls, broken rules, holes in the record",
		Long: `Judge sessions one by one: failed calls, illegal messages, calls without an
answer, holes in the record. Without a session, the newest; "-" reads a log from
standard input. Exit code 0: passed. 1: something in --fail-on was found, or an
assertion failed. 2: nothing was judged.

Signals: error, invalid, warn, mismatch, pending, late-result, drift,
deprecated, incomplete, schema, auth, info; all and none are words too.`,
		Example: `  mcpsnoop check --fail-on error,invalid,pending files
  mcpsnoop check --expect-tool search --max-duration 5s --format json -`,
		ValidArgsFunction: app.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Sessions = args
			return runCheck(cmd.Context(), app, o, cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.Var(o.Format, "format", "how to report")
	f.StringVar(&o.FailOn, "fail-on", "error,invalid,warn", "`SIGNALS` that fail the check, with commas between them")
	f.Var(o.Ignore, "ignore", "rules that do not count; may be repeated")
	f.StringVar(&o.Where, "where", "", "count only findings on frames that match this `FILTER`; rules see everything")
	f.StringVar(&o.Baseline, "baseline", "", "compare definitions with the baselines in `DIR` instead of the state folder")
	f.StringVar(&o.Client, "client", "", "add what this `CLIENT` handles badly to schema: "+orList(checks.Clients()))
	f.BoolVar(&o.All, "all", false, "judge every saved session")
	f.Var(o.expect, "expect-tool", "fail unless this tool was called; may be repeated")
	f.Var(o.forbid, "forbid-tool", "fail when this tool was called; may be repeated")
	f.DurationVar(&o.Gate.MaxDuration, "max-duration", 0, "fail when a tool call took longer than `TIME`")
	f.DurationVar(&o.Gate.MaxServerDuration, "max-server-duration", 0, "fail when a server held a tool call for longer than `TIME`")
	f.IntVar(&o.Gate.MaxRoundTrips, "max-round-trips", 0, "fail when a tool call took more than `N` requests")
	f.IntVar(&o.Gate.MaxAuthAttempts, "max-auth-attempts", 0, "fail when an authorization took more than `N` attempts")
	f.Var(&o.definition, "max-definition-bytes", "fail when the definitions of a server's tools are larger, white space removed")
	f.Var(&o.largest, "max-result-bytes", "fail when a single result is larger")
	return cmd
}

// configure judges the flags and fills in the gate.
func (o *checkOptions) configure(app *App, flags *pflag.FlagSet) error {
	var err error
	if o.Gate.FailOn, err = checks.ParseSignals(o.FailOn); err != nil {
		return usagef("--fail-on: %w", err)
	}
	if o.All && len(o.Sessions) > 0 {
		return usagef("--all and a session exclude each other")
	}
	if o.Client != "" && !slices.Contains(checks.Clients(), o.Client) {
		return usagef("--client %s: want %s", o.Client, orList(checks.Clients()))
	}
	if app.ReadOnly && o.Baseline != "" {
		return usagef("--baseline: folders of this machine are not read here; the hub's own baselines are used")
	}
	if o.where, err = compileWhere(app, o.Where); err != nil {
		return err
	}
	o.Gate.ExpectTools, o.Gate.ForbidTools = o.expect.list, o.forbid.list
	o.Gate.MaxDefinitionBytes, o.Gate.MaxResultBytes = int64(o.definition), int64(o.largest)
	for _, name := range []string{"max-duration", "max-server-duration", "max-round-trips", "max-auth-attempts", "max-definition-bytes", "max-result-bytes"} {
		f := flags.Lookup(name)
		if f.Changed && slices.Contains([]string{"0", "0s"}, f.Value.String()) || f.Value.String()[0] == '-' {
			return usagef("--%s %s: want more than nothing", name, f.Value)
		}
	}
	for _, id := range o.Ignore.list {
		if _, ok := checks.Find(id); !ok {
			app.note("--ignore %s: there is no such rule%s", id, meant(id))
		}
	}
	return nil
}

// meant names the rule that a mistyped one may stand for.
func meant(id string) string {
	if name := nearest(id, ruleIDs()); name != "" {
		return "; did you mean " + name
	}
	return ""
}

func runCheck(ctx context.Context, app *App, o *checkOptions, flags *pflag.FlagSet) error {
	if err := o.configure(app, flags); err != nil {
		return err
	}
	sources, err := o.sources(app)
	if err != nil {
		return err
	}
	report := checks.NewReport(o.Gate)
	for _, s := range sources {
		err := app.checkLog(ctx, s, o, report)
		if err == nil {
			continue
		}
		if !o.All || ctx.Err() != nil {
			return err
		}
		app.note("left out: %v", err)
	}
	if len(report.Sessions) == 0 {
		return withHint(errNoSession, "record one with: mcpsnoop -- CMD, or name a log")
	}
	report.Judge()
	if err := report.Write(app.Out, o.Format.value, app.Dir, version); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if report.Exit != 0 {
		return errFound
	}
	return nil
}

func (o *checkOptions) sources(app *App) ([]source, error) {
	if !o.All {
		return app.sources(o.Sessions)
	}
	saved, err := app.savedLogs()
	if err != nil {
		return nil, err
	}
	var out []source
	for _, l := range saved {
		out = append(out, savedSource(l))
	}
	return out, nil
}

// checkLog judges the sessions of one log.
func (a *App) checkLog(ctx context.Context, s source, o *checkOptions, report *checks.Report) error {
	options := checks.Options{Ignore: o.Ignore.list, Client: o.Client, Definitions: true, WriterGone: writerGone(s)}
	stdin := s.Stdin
	if o.where != nil { // bodies are read again
		var remove func()
		var err error
		if s, remove, err = a.spool(ctx, s); err != nil {
			return err
		}
		defer remove()
	}
	list, err := a.load(ctx, s, loadOptions{Observer: func(string) store.Observer { return checks.NewEngine(options) }})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return readError(s, capture.ErrEmpty)
	}
	bodies := capture.NewBodies(a.FS)
	defer bodies.Close()
	for _, one := range list {
		engine, ok := one.Observer.(*checks.Engine)
		if !ok {
			return errors.New("a session has no engine")
		}
		if err := a.verifyDefinitions(one, engine, o); err != nil {
			return err
		}
		engine.Finish(one.Session)
		r := report.Add(one.Session, engine, o.match(one.Session, bodies))
		if stdin {
			r.Path = stdinArg
		}
	}
	return nil
}

// verifyDefinitions compares the definitions of a session with its baseline. Where no
// state folder is, there is none.
func (a *App) verifyDefinitions(one *loadedSession, engine *checks.Engine, o *checkOptions) error {
	dir, err := a.baselinesAt(o.Baseline)
	if err != nil {
		if o.drifts() {
			return err
		}
		return nil
	}
	return dir.compare(one, engine, o.drifts())
}

// match tells on which frames findings count; nil for all.
func (o *checkOptions) match(s *store.Session, bodies *capture.Bodies) func(uint32) bool {
	if o.where == nil {
		return nil
	}
	body := store.NewBodyFunc(bodies)
	return func(i uint32) bool { return o.where.MatchFrame(s, i, body) }
}

// writerGone reports whether nobody writes the log any more. Of a mirror, only
// its far end knows.
func writerGone(s source) bool {
	if s.Stdin {
		return true
	}
	return s.Origin == "" && !capture.Locked(lastSegment(s.Log))
}
