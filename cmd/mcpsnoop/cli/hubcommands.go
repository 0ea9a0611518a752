package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/sshui"
)

// sshCommands are the commands that viewers of a hub may run: they only read,
// and only the sessions of the hub.
var sshCommands = [...]string{"sessions", "check", "export", "diff", "tail", "stats", "rules", "help", "version"}

// overSSH is the App of a command that a viewer runs: its streams and its
// terminal, the hub's sessions, and nothing else of the hub's machine.
func (a *App) overSSH(state string, v sshui.Visitor, args []string, s sshui.Streams) *App {
	return &App{
		Args:    args,
		Env:     append(slices.Clone(v.Env), "MCPSNOOP_HOME="+state),
		Streams: Streams{In: s.In, Out: s.Out, Err: s.Err, InTTY: v.PTY, OutTTY: v.PTY, ErrTTY: v.PTY},
		Clock:   a.Clock, OS: a.OS, TempDir: a.TempDir, ReadOnly: true,
		FS: confined{a.FS, []string{filepath.Join(state, sessionsDir), filepath.Join(state, remoteDir)}},
	}
}

// runOverSSH is Run with the commands that viewers may use.
func (a *App) runOverSSH(ctx context.Context) int {
	return a.execute(ctx, newSSHRoot(a))
}

// newSSHRoot is the command line of a hub's viewers.
func newSSHRoot(app *App) *cobra.Command {
	root := newRoot(app)
	for _, c := range root.Commands() {
		if !slices.Contains(sshCommands[:], c.Name()) {
			root.RemoveCommand(c)
		}
	}
	color := root.PersistentFlags().Lookup("color")
	root.ResetFlags()
	root.PersistentFlags().AddFlag(color)
	root.Use = "mcpsnoop"
	root.Long = `This is a hub of mcpsnoop. With a terminal (ssh -t), it shows the user
interface; without one, it runs these commands, which only read:`
	root.Example = `  ssh HOST sessions
  ssh HOST check --fail-on error
  ssh HOST export -T html > session.html`
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return errNoSuchCommand{&usageError{fmt.Errorf("unknown command %q", args[0]), commandMeant(cmd, args[0], `"help" lists the commands that are served here`)}}
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		writeHelp(app, cmd)
		return usagef("no command and no terminal; ssh -t asks for one")
	}
	return root
}

// errNoSuchCommand is what a shell says with exit code 127.
type errNoSuchCommand struct{ err error }

func (e errNoSuchCommand) Error() string { return e.err.Error() }
func (e errNoSuchCommand) Unwrap() error { return e.err }

// confined is a file system of which only some folders can be read.
type confined struct {
	capture.FS
	dirs []string
}

var errConfined = fmt.Errorf("%w: over SSH only the sessions of the hub can be read, by their ids and labels", fs.ErrPermission)

func (c confined) check(op, name string) error {
	clean := filepath.Clean(name)
	for _, dir := range c.dirs {
		if clean == dir || strings.HasPrefix(clean, dir+string(filepath.Separator)) {
			return nil
		}
	}
	return &fs.PathError{Op: op, Path: name, Err: errConfined}
}

// Open opens a file in one of the folders.
func (c confined) Open(name string) (capture.File, error) {
	if err := c.check("open", name); err != nil {
		return nil, err
	}
	return c.FS.Open(name)
}

// Stat looks at a file in one of the folders.
func (c confined) Stat(name string) (fs.FileInfo, error) {
	if err := c.check("stat", name); err != nil {
		return nil, err
	}
	return c.FS.Stat(name)
}

// ReadDir lists one of the folders.
func (c confined) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := c.check("list", name); err != nil {
		return nil, err
	}
	return c.FS.ReadDir(name)
}

var errReadOnly = errors.New("a log on standard input cannot be read here: nothing is kept on the hub")
