package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/demo"
)

// runDemoUI shows the demo in the user interface while it goes on and on, and
// says what was recorded when its user has seen enough.
func runDemoUI(ctx context.Context, app *App) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- demo.RunClient(within, demo.Options{
			Command: []string{app.Self, "--label", "demo", "--", app.Self, demoServerCmd},
			Env:     app.Env, Dir: app.Dir, Stderr: io.Discard,
		})
	}()
	s, err := app.awaitDemo(within, ended)
	if err != nil {
		return cause(ctx, err)
	}
	shown := app.showLog(ctx, newLogSource(app, s, nil), "auto", false)
	stop()
	if err := errors.Join(shown, <-ended); err != nil {
		return err
	}
	return app.demoSummary(ctx, s)
}

// awaitDemo waits until the shim of the demo has begun to record.
func (a *App) awaitDemo(ctx context.Context, ended <-chan error) (source, error) {
	for {
		if s, err := a.demoSession(); err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return source{}, ctx.Err()
		case err := <-ended:
			if err == nil {
				_, err = a.demoSession()
			}
			return source{}, err
		case <-a.Clock.After(10 * time.Millisecond):
		}
	}
}
