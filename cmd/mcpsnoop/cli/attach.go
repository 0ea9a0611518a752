package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/mcpsnoop/mcpsnoop/remote"
)

// attach shows the UI of a far hub on this terminal.
func (a *App) attach(ctx context.Context, o *remoteOptions) error {
	in, isIn := a.In.(*os.File)
	out, isOut := a.Out.(*os.File)
	if !isIn || !isOut || !a.InTTY || !a.OutTTY {
		return withHint(fmt.Errorf("attaching needs a terminal"), "mcpsnoop remote --once copies without one")
	}
	dialer, err := a.remoteSetup(o).NewDialer(ctx, o.Targets[0], func(s string) { a.note("%s", s) })
	if err != nil {
		return err
	}
	defer dialer.Close()
	conn, err := dialer.Dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := remote.Terminal{In: in, Out: out, Err: a.Err, Term: cmp.Or(a.Getenv("TERM"), defaultTerm), Env: terminalEnv(a.Env), Width: 80, Height: 24}
	if w, h, err := term.GetSize(int(out.Fd())); err == nil {
		t.Width, t.Height = w, h
	}
	restore, err := screenModes(out)
	if err != nil {
		return fmt.Errorf("set up the terminal: %w", err)
	}
	defer restore()
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("set up the terminal: %w", err)
	}
	defer func() { _ = term.Restore(int(in.Fd()), before) }()
	var stop func()
	t.Resizes, stop = resizes(out) // of the screen: a console has no size on the side of the keys
	defer stop()
	code, err := remote.Attach(ctx, conn, o.Where, t)
	if err == nil && code != 0 {
		return childExit(code)
	}
	return err
}

// terminalEnv is what a far end may know of this terminal.
func terminalEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "COLORTERM", "NO_COLOR", "LANG", "TZ", "TERM_PROGRAM", "TMUX":
			out = append(out, kv)
		default:
			if strings.HasPrefix(name, "LC_") {
				out = append(out, kv)
			}
		}
	}
	return out
}
