package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/stream"
)

// newStreamCmd is what `mcpsnoop remote` starts at a far end that is no hub.
// It ends when its standard input does: an sshd does not end it when the
// client goes away.
func newStreamCmd(app *App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "stream",
		Short:  "Give the session logs to the other end of a pipe (for mcpsnoop remote)",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runStream(cmd.Context(), app, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "sessions-dir", "", "the folder of logs in place of the usual one")
	return cmd
}

func runStream(ctx context.Context, app *App, dir string) error {
	if app.InTTY {
		return usagef("stream speaks to a program; watch another machine with: mcpsnoop remote HOST")
	}
	if dir == "" {
		state, err := app.stateDir()
		if err != nil {
			return err
		}
		dir = filepath.Join(state, sessionsDir)
	}
	err := stream.Serve(ctx, app.In, app.Out, stream.Options{
		Dir: app.abs(dir), FS: app.FS, Host: app.Process.Host, Version: version, Now: app.Clock.Now,
	})
	if errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}
