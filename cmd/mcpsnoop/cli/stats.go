package cli

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type statsOptions struct {
	Since  age
	Label  string
	Tools  bool
	Format *choice
}

func newStatsCmd(app *App) *cobra.Command {
	o := &statsOptions{Format: newChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Count sessions, calls and tools over all that is saved",
		Example: `  mcpsnoop stats --since 7d --tools`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStats(cmd.Context(), app, o) },
	}
	f := cmd.Flags()
	f.Var(&o.Since, "since", "only sessions that were written to since then, as 7d or 12h ago")
	f.StringVar(&o.Label, "label", "", "only sessions of this `LABEL`")
	f.BoolVar(&o.Tools, "tools", false, "a line for each tool: its calls, times and weight")
	f.Var(o.Format, "format", "how to report")
	return cmd
}

// labelStats is what is said of the sessions of one label.
type labelStats struct {
	Label    string
	Sessions int
	Frames   uint64
	Size     int64
	Calls    store.Counts
	First    time.Time
	Last     time.Time

	tools map[string]*toolSum
}

// toolSum is a tool over sessions: those that list it, and the calls.
type toolSum struct {
	listed     int
	definition int // bytes of its newest definition
	newest     time.Time
	parts      []*store.ToolStats
}

func runStats(ctx context.Context, app *App, o *statsOptions) error {
	logs, err := app.savedLogs()
	if err != nil {
		return err
	}
	if o.Since > 0 {
		oldest := app.Clock.Now().Add(-time.Duration(o.Since))
		logs = slices.DeleteFunc(logs, func(l savedLog) bool { return l.ModTime.Before(oldest) })
	}
	list, err := app.collectStats(ctx, logs, o.Label)
	if err != nil {
		return err
	}
	if o.Format.value == "json" {
		return writeStatsJSON(app.Out, list, o.Tools)
	}
	if len(list) == 0 {
		app.note("no such sessions")
		return nil
	}
	if o.Tools {
		return writeToolStats(app.Out, list)
	}
	return writeStats(app.Out, list)
}

// collectStats reads all logs, a few at a time. One that cannot be read is
// noted and left out.
func (a *App) collectStats(ctx context.Context, logs []savedLog, label string) ([]*labelStats, error) {
	found := make([][]*labelStats, len(logs))
	bad := make([]error, len(logs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)/2)) // each reads with two goroutines
	for i, l := range logs {
		g.Go(func() error {
			list, err := a.load(ctx, savedSource(l), loadOptions{})
			bad[i] = err
			for _, one := range list {
				found[i] = append(found[i], statsOf(one.Session))
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, cause(ctx, err)
	}
	byLabel := map[string]*labelStats{}
	for i := range found {
		if bad[i] != nil && len(found[i]) == 0 {
			a.note("left out: %v", bad[i])
		}
		for _, s := range found[i] {
			if label == "" || s.Label == label {
				merge(byLabel, s)
			}
		}
	}
	return slices.SortedFunc(maps.Values(byLabel), func(x, y *labelStats) int { return cmp.Compare(x.Label, y.Label) }), nil
}

// statsOf takes of a session what is added up; its index is let go of.
func statsOf(s *store.Session) *labelStats {
	sum := s.Summary()
	out := &labelStats{Label: sum.Label, Sessions: 1, Frames: sum.FrameTotal(), Size: sum.Size, First: sum.Started, Last: sum.Newest, tools: map[string]*toolSum{}}
	out.Calls = sum.Calls
	if l, ok := sum.Listing(mcp.ToolsList); ok {
		for _, d := range l.Tools {
			t := out.tool(d.Name)
			t.listed, t.definition, t.newest = 1, d.Bytes, sum.Newest
		}
	}
	for _, t := range s.Tools() {
		sum := out.tool(t.Name)
		sum.parts = append(sum.parts, t)
	}
	return out
}

func (l *labelStats) tool(name string) *toolSum {
	t := l.tools[name]
	if t == nil {
		t = &toolSum{}
		l.tools[name] = t
	}
	return t
}

func merge(byLabel map[string]*labelStats, s *labelStats) {
	l := byLabel[s.Label]
	if l == nil {
		byLabel[s.Label] = s
		return
	}
	l.Sessions += s.Sessions
	l.Frames += s.Frames
	l.Size += s.Size
	l.Calls.Add(&s.Calls)
	if l.First.IsZero() || !s.First.IsZero() && s.First.Before(l.First) {
		l.First = s.First
	}
	if s.Last.After(l.Last) {
		l.Last = s.Last
	}
	for name, t := range s.tools {
		to := l.tool(name)
		to.listed += t.listed
		if t.listed > 0 && !t.newest.Before(to.newest) {
			to.definition, to.newest = t.definition, t.newest
		}
		to.parts = append(to.parts, t.parts...)
	}
}
