package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/demo"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
)

// demoServerCmd is the hidden command that is the demo's server.
const demoServerCmd = "demo-server"

type demoOptions struct {
	Headless bool
}

func newDemoCmd(app *App) *cobra.Command {
	o := &demoOptions{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a real client talk to a real server through the real shim",
		Long: `Start a small MCP server behind the shim, and a client that talks to it: quick
calls, progress, an error, a slow call, a call that is never answered, stray
output. On a terminal it goes on in the user interface until q is pressed.
Prints the path of the recorded session and what is in it.`,
		Example: `  mcpsnoop demo --headless`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), app, o) },
	}
	cmd.Flags().BoolVar(&o.Headless, "headless", false, "no user interface: print the path of the session and a summary")
	return cmd
}

func newDemoServerCmd(app *App) *cobra.Command {
	return &cobra.Command{
		Use:    demoServerCmd,
		Short:  "The server of the demo",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cause(cmd.Context(), demo.RunServer(cmd.Context(), app.In, app.Out, app.Err))
		},
	}
}

func runDemo(ctx context.Context, app *App, o *demoOptions) error {
	if app.Self == "" {
		return errors.New("start the demo: the path of this program is not known")
	}
	if !o.Headless && app.OutTTY && app.InTTY && !tui.Plain(app.Env) {
		return runDemoUI(ctx, app)
	}
	story := io.Discard
	if app.ErrTTY {
		story = app.Err
	}
	err := demo.RunClient(ctx, demo.Options{
		Command: []string{app.Self, "--label", "demo", "--", app.Self, demoServerCmd},
		Env:     app.Env, Dir: app.Dir, Stderr: io.Discard, Log: story, Rounds: 1,
	})
	if err != nil {
		return cause(ctx, err)
	}
	s, err := app.demoSession()
	if err != nil {
		return err
	}
	return app.demoSummary(ctx, s)
}

// demoSession finds the session whose shim was started by this process.
func (a *App) demoSession() (source, error) {
	logs, err := a.savedLogs()
	if err != nil {
		return source{}, err
	}
	for _, l := range logs {
		if l.Label != "demo" || l.Origin != "" {
			continue
		}
		rec, err := capture.Head(a.FS, l.Log)
		if err != nil || rec.Direction != capture.Meta {
			continue
		}
		if capture.ParseMeta(rec.Raw).ClientPID == a.Process.PID {
			return savedSource(l), nil
		}
	}
	return source{}, withHint(errors.New("the demo ran, and its session is not in the state folder"), "%s in this folder may say why", configName)
}

func (a *App) demoSummary(ctx context.Context, s source) error {
	list, err := a.load(ctx, s, loadOptions{})
	if err != nil {
		return err
	}
	path := s.Log.Path
	if rel, err := filepath.Rel(a.Getenv("HOME"), path); err == nil && !strings.HasPrefix(rel, "..") && a.OutTTY {
		path = filepath.Join("~", rel)
	}
	fmt.Fprintln(a.Out, path)
	for _, one := range list {
		sum := one.Summary()
		c := sum.Calls
		fmt.Fprintf(a.Out, "%d frames, %d calls: %d ok, %d failed, %d cancelled, %d without an answer\n", sum.FrameTotal(), c.Total, c.OK, c.Failed, c.Cancelled, c.Pending)
		fmt.Fprintf(a.Out, "\nlook closer:\n  mcpsnoop tail %[1]s\n  mcpsnoop check %[1]s\n", one.ID)
	}
	return nil
}
