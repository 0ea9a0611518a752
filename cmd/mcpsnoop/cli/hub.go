package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/mcpsnoop/mcpsnoop/hub"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type hubOptions struct {
	SSH     sshOptions
	Metrics metricsOptions
	OTLP    otlpOptions
	TUI     bool
	Theme   *choice
	Limit   int // of the saved sessions that are loaded
}

// reloads marks a command for which SIGHUP means to read its files again, and
// not to end.
const reloads = "reloads"

func newHubCmd(app *App) *cobra.Command {
	o := &hubOptions{Theme: newThemeFlag()}
	cmd := &cobra.Command{
		Use:   "hub [--ssh-listen ADDR] [flags]",
		Short: "Watch all sessions as a daemon, and let others watch over SSH",
		Long: `Watch all sessions as a daemon. With --ssh-listen, viewers get the user
interface with nothing but ssh, and scripts the commands that only read:

  ssh -p 2222 HOST
  ssh -p 2222 HOST check --fail-on error

Public keys decide who gets in; start prints them, and how clients know the hub.
SIGHUP reads the keys again. Any number of hubs may run: they only read.`,
		Example:     `  mcpsnoop hub --ssh-listen :2222 --authorized-keys team.keys`,
		Annotations: map[string]string{reloads: ""},
		Args:        noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runHub(cmd.Context(), app, o)
		},
	}
	f := cmd.Flags()
	o.SSH.addFlags(f)
	o.Metrics.addFlags(f)
	o.OTLP.addFlags(f)
	f.BoolVar(&o.OTLP.Logs, "otlp-logs", false, "send each frame to the collector, too, as a log")
	f.BoolVar(&o.TUI, "tui", false, "show the user interface in this terminal, too")
	f.Var(o.Theme, "theme", "colours: auto, light, dark, contrast or none")
	f.IntVar(&o.Limit, "history-limit", 100, "load the `N` newest saved sessions; 0 means all")
	return cmd
}

// part is something that runs beside the hub until it is told to end.
type part func(ctx context.Context) error

// parts makes what the flags ask for. All of it is ready to run when there is
// no error: addresses are taken, files are read.
func (o *hubOptions) parts(ctx context.Context, app *App, src *hubSource) ([]part, error) {
	var all []part
	if o.SSH.Listen != "" {
		p, err := app.sshPart(ctx, &o.SSH, src, o)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	p, sink, err := app.otlpPart(ctx, &o.OTLP, src)
	if err != nil {
		return nil, err
	}
	if p != nil {
		all = append(all, p)
	}
	if o.Metrics.Listen != "" {
		more, err := app.metricsPart(ctx, &o.Metrics, src, deliveries(sink))
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// runHub runs a hub and what belongs to it until it is asked to end.
func runHub(ctx context.Context, app *App, o *hubOptions) error {
	if o.Limit < 0 {
		return usagef("--history-limit %d: want 0 or more", o.Limit)
	}
	if o.TUI && !app.OutTTY {
		return errNoTerminal("sessions")
	}
	src, err := app.newHubSource(o)
	if err != nil {
		return err
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	parts, err := o.parts(within, app, src)
	if err != nil {
		return err
	}
	g, within := errgroup.WithContext(within)
	for _, p := range append(parts, src.Run) {
		g.Go(func() error { return p(within) })
	}
	if o.TUI {
		opts := app.uiOptions(o.Theme.value)
		opts.Actions.Trash, opts.Actions.Replay = src.trash, app.newReplayer(src.Body, false)
		opts.Messages = src.rules
		g.Go(func() error {
			defer stop()
			return app.show(within, src, opts, false, func(context.Context) {})
		})
	}
	err = g.Wait()
	if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return err
	}
	return nil // being asked to end is how it ends
}

// runWatch is the program without a command: a hub and its UI in this terminal.
func runWatch(ctx context.Context, app *App) error {
	if tui.Plain(app.Env) {
		return runSessions(ctx, app, &sessionsOptions{Format: newChoice("text", "text", "json")})
	}
	return runHub(ctx, app, &hubOptions{TUI: true, Theme: newThemeFlag(), Limit: 100})
}

// hubSource is what viewers of a hub look at.
type hubSource struct {
	*hub.Hub
	state string // folder
	trash *uiTrash
	rules *liveRules
}

func (a *App) newHubSource(o *hubOptions) (*hubSource, error) {
	state, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	if a.Tune != nil {
		a.Tune(collectAt)
	}
	// A folder that is there can be watched: the first session shows up at
	// once. Where it cannot be made, it is looked for now and then.
	_ = os.MkdirAll(filepath.Join(state, sessionsDir), 0o700)
	rules := newLiveRules()
	h := hub.New(hub.Options{
		FS: a.FS, Dir: filepath.Join(state, sessionsDir), HistoryLimit: o.Limit, Observe: rules.observe,
		Sources: []hub.Source{&mirrors{fs: a.FS, dir: filepath.Join(state, remoteDir), limit: o.Limit}},
	})
	rules.there = h.Store().Sessions
	src := &hubSource{Hub: h, state: state, rules: rules}
	src.trash = a.newTrash(src)
	return src, nil
}

// mirrors is the source of the logs that were copied from other machines: a
// directory for each of them, also for those that come later.
type mirrors struct {
	fs    capture.FS
	dir   string
	hosts []string // nil for all
	limit int
}

// mirrorTick is how often mirrors of new hosts are looked for.
const mirrorTick = 2 * time.Second

// Run follows the mirrors until ctx ends.
func (m *mirrors) Run(ctx context.Context, sink hub.Sink) error {
	g, ctx := errgroup.WithContext(ctx)
	known := map[string]bool{}
	look := time.NewTicker(mirrorTick)
	defer look.Stop()
	for {
		for _, host := range m.now() {
			if !known[host] {
				known[host] = true
				d := hub.NewDirectory(hub.DirectoryOptions{FS: m.fs, Dir: filepath.Join(m.dir, host, sessionsDir), Origin: host, HistoryLimit: m.limit})
				g.Go(func() error { return d.Run(ctx, sink) })
			}
		}
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-look.C:
		}
	}
}

func (m *mirrors) now() []string {
	if m.hosts != nil {
		return m.hosts
	}
	var out []string
	entries, err := m.fs.ReadDir(m.dir)
	if err != nil {
		return nil // none yet; looked for again
	}
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// Bodies reads frames for filters.
func (s *hubSource) Bodies() store.Bodies { return s.Hub.Bodies() }

// zoneOf is where a viewer's times are shown: where it says it is, else where
// the hub is.
func zoneOf(env []string) *time.Location {
	a := App{Env: env}
	if name := a.Getenv("TZ"); name != "" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone
		}
	}
	return time.Local
}

// notable makes an error of a part, with what it was.
func notable(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
