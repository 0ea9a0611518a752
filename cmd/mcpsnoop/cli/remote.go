package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/mcpsnoop/mcpsnoop/hub"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/remote"
)

type remoteOptions struct {
	Where               remote.Where
	Config              string
	Keys                []string
	Once, Attach, Print bool
	Theme               *choice
	Targets             []remote.Target
}

func newRemoteCmd(app *App) *cobra.Command {
	o := &remoteOptions{Theme: newThemeFlag()}
	cmd := &cobra.Command{
		Use:   "remote [flags] [user@]host[:port] ...",
		Short: "Watch the sessions of other machines here, through SSH",
		Long: `Copy the session logs of other machines through SSH, follow them, and show them
in the user interface here. A far end may be a hub, an sshd on a machine that
has mcpsnoop, or an sshd with nothing but the logs (SFTP). Hosts, keys, jump
hosts and known_hosts are those of ssh. A connection that breaks is made again;
copies go on where they ended, in remote/HOST/ of the state folder.`,
		Example: `  mcpsnoop remote build-box
  mcpsnoop remote --once ci@runner-1:2222 ci@runner-2:2222 && mcpsnoop check --all`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no host: name one, as for ssh: mcpsnoop remote [user@]host[:port]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				t, err := remote.ParseTarget(arg)
				if err != nil {
					return usagef("%w", err)
				}
				o.Targets = append(o.Targets, t)
			}
			return runRemote(cmd.Context(), app, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Once, "once", false, "copy what there is, and end")
	f.BoolVar(&o.Attach, "attach", false, "show the far hub's own user interface, and copy nothing")
	f.BoolVar(&o.Print, "print", false, "print the ssh command that leads there, and end")
	f.StringVar(&o.Where.SessionsDir, "sessions-dir", "", "`PATH` of the folder of logs at the far end")
	f.StringVar(&o.Where.Home, "remote-home", "", "`PATH` of the home folder at the far end whose logs are meant")
	f.StringVar(&o.Where.SnoopHome, "remote-mcpsnoop-home", "", "`PATH` that MCPSNOOP_HOME is at the far end")
	f.StringVar(&o.Where.XDGStateHome, "remote-xdg-state-home", "", "`PATH` that XDG_STATE_HOME is at the far end")
	f.StringVarP(&o.Config, "ssh-config", "F", "", "`FILE` in place of ~/.ssh/config")
	f.StringArrayVarP(&o.Keys, "identity", "i", nil, "offer the key in `FILE` first; may be repeated")
	f.Var(o.Theme, "theme", "colours: auto, light, dark, contrast or none")
	return cmd
}

func runRemote(ctx context.Context, app *App, o *remoteOptions) error {
	switch {
	case o.Print:
		return app.printRemote(o)
	case o.Once && o.Attach:
		return usagef("--once and --attach exclude each other")
	case o.Attach && len(o.Targets) > 1:
		return usagef("--attach shows one hub, and got %d", len(o.Targets))
	case o.Attach:
		return hintStep(app.attach(ctx, o))
	}
	return hintStep(app.mirror(ctx, o))
}

// hintStep turns what package remote says to do into a hint.
func hintStep(err error) error {
	var s *remote.StepError
	if errors.As(err, &s) && s.Hint != "" {
		return withHint(err, "%s", s.Hint)
	}
	return err
}

// printRemote prints the ssh command that leads to each target.
func (a *App) printRemote(o *remoteOptions) error {
	for _, t := range o.Targets {
		words := []string{"ssh"}
		if o.Config != "" {
			words = append(words, "-F", remote.ShellQuote(o.Config))
		}
		for _, k := range o.Keys {
			words = append(words, "-i", remote.ShellQuote(k))
		}
		var args []string
		for _, arg := range t.SSHArgs() {
			args = append(args, remote.ShellQuote(arg))
		}
		if cmd := o.Where.UICommand(); o.Where != (remote.Where{}) {
			args = append([]string{"-t"}, append(args, remote.ShellQuote(cmd))...)
		}
		if _, err := fmt.Fprintln(a.Out, strings.Join(append(words, args...), " ")); err != nil {
			return err
		}
	}
	return nil
}

// remoteSetup is this user's side of connections.
func (a *App) remoteSetup(o *remoteOptions) *remote.Setup {
	s := &remote.Setup{Home: a.home(), User: a.Process.User, Env: a.Getenv, Config: a.abs(o.Config)}
	for _, k := range o.Keys {
		s.Keys = append(s.Keys, a.abs(k))
	}
	if a.Ask != nil {
		s.Prompt = a.Ask
	}
	return s
}

// follower is one host of `mcpsnoop remote`.
type follower struct {
	remote.Follower
	dir    string
	unlock func() // nil where another process keeps the mirror
}

// mirror copies the logs of all targets, and follows and shows them.
func (a *App) mirror(ctx context.Context, o *remoteOptions) error {
	state, err := a.stateDir()
	if err != nil {
		return err
	}
	notes := &noteBox{app: a}
	var all []*follower
	defer func() {
		for _, f := range all {
			f.Dialer.Close()
			if f.unlock != nil {
				f.unlock()
			}
		}
	}()
	var failed []error
	for _, t := range o.Targets {
		f, err := a.connect(ctx, o, t, filepath.Join(state, remoteDir), notes)
		if err == nil {
			all = append(all, f)
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failed = append(failed, err); len(o.Targets) > 1 {
			notes.add(message(hintStep(err))) // the others go on
		}
	}
	switch {
	case len(o.Targets) == 1 && len(failed) == 1:
		return failed[0]
	case len(all) == 0:
		return fmt.Errorf("none of the %d hosts can be reached", len(o.Targets))
	case o.Once && len(failed) > 0:
		return errors.Join(a.copyOnce(ctx, all), fmt.Errorf("%d of the %d hosts cannot be reached", len(failed), len(o.Targets)))
	case o.Once:
		return a.copyOnce(ctx, all)
	}
	for _, f := range all {
		f.Dialer.Mute()
	}
	return a.watchMirrors(ctx, state, o, all, notes)
}

// connect makes the first connection to a target, while there is a terminal to
// ask questions on.
func (a *App) connect(ctx context.Context, o *remoteOptions, t remote.Target, dir string, notes *noteBox) (*follower, error) {
	m := &remote.Mirror{Dir: filepath.Join(dir, t.Dir()), Notes: notes.add}
	dialer, err := a.remoteSetup(o).NewDialer(ctx, t, notes.add)
	if err != nil {
		return nil, err
	}
	f := &follower{Follower: remote.Follower{Dialer: dialer, Mirror: m, Where: o.Where}, dir: t.Dir()}
	if err := f.Connect(ctx); err != nil {
		dialer.Close()
		return nil, err
	}
	f.unlock, err = m.Lock()
	if errors.Is(err, remote.ErrBusy) && !o.Once {
		f.Disconnect()
		notes.add(fmt.Sprintf("%s: %v; its copy is shown", t, err))
		return f, nil
	}
	if err != nil {
		f.Disconnect()
		dialer.Close()
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	return f, nil
}

// copyOnce copies what there is, from all hosts at once.
func (a *App) copyOnce(ctx context.Context, all []*follower) error {
	var wg sync.WaitGroup
	errs := make([]error, len(all))
	for i, f := range all {
		kind := f.Kind()
		wg.Go(func() {
			if errs[i] = f.Once(ctx); errs[i] == nil {
				bytes, files := f.Mirror.Copied()
				logs := "logs"
				if files == 1 {
					logs = "log"
				}
				a.note("%s: %d %s compared, %s bytes copied through %s, to %s", f.Dialer.Host().Alias, files, logs, sizeText(bytes), kind, f.Mirror.Dir)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// watchMirrors follows all hosts and shows what comes. Without a terminal it
// only follows, for a hub that shows it.
func (a *App) watchMirrors(ctx context.Context, state string, o *remoteOptions, all []*follower, notes *noteBox) error {
	var hosts []string
	for _, f := range all {
		hosts = append(hosts, f.dir)
	}
	src := &mirrorSource{notes: notes, hubSource: &hubSource{state: state, Hub: hub.New(hub.Options{FS: a.FS, Sources: []hub.Source{
		&mirrors{fs: a.FS, dir: filepath.Join(state, remoteDir), hosts: hosts},
	}})}}
	within, stop := context.WithCancel(ctx)
	defer stop()
	g, within := errgroup.WithContext(within)
	for _, f := range all {
		if f.unlock != nil {
			g.Go(func() error {
				err := f.Run(within)
				if err != nil && len(all) > 1 { // the others go on
					notes.add(message(hintStep(err)))
					return nil
				}
				return err
			})
		}
	}
	if a.OutTTY && !tui.Plain(a.Env) {
		notes.show(src.Changed)
		g.Go(func() error { return src.Run(within) })
		g.Go(func() error {
			defer notes.release()
			defer stop()
			opts := a.uiOptions(o.Theme.value)
			opts.Actions.Replay = a.newReplayer(src.Body, false)
			opts.Actions.Denied = "these are copies of logs of other machines, which would come again"
			return a.show(within, src, opts, false, func(context.Context) {})
		})
	} else {
		a.note("following; end with ctrl-c")
	}
	err := g.Wait()
	if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return err
	}
	return nil
}
