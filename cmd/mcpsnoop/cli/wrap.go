package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/clientconf"
)

// wrapOptions are the flags of wrap and unwrap.
type wrapOptions struct {
	Server string
	All    bool
	Client string
	Config string
	Scope  *choice
	DryRun bool
	undo   bool
}

func newWrapCmd(app *App) *cobra.Command {
	o := &wrapOptions{}
	return o.command(app, &cobra.Command{
		Use:   "wrap SERVER|--all [flags]",
		Short: "Put mcpsnoop in front of a server in a client's configuration",
		Long: `Put mcpsnoop in front of a server in a client's configuration file. Only the
command and the arguments of that entry change, byte for byte; the file as it
was is kept beside it as FILE` + backupSuffix + `. Restart the client afterwards.`,
		Example: "  mcpsnoop wrap my-server --client claude-code",
	})
}

func newUnwrapCmd(app *App) *cobra.Command {
	o := &wrapOptions{undo: true}
	return o.command(app, &cobra.Command{
		Use:     "unwrap SERVER|--all [flags]",
		Short:   "Take mcpsnoop out of a client's configuration again",
		Example: "  mcpsnoop unwrap my-server --client claude-code",
	})
}

func (o *wrapOptions) command(app *App, cmd *cobra.Command) *cobra.Command {
	o.Scope = newChoice("", "user", "project")
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			o.Server = args[0]
		}
		if (o.Server == "") != o.All {
			return usagef("name one server, or give --all")
		}
		return runWrap(app, o)
	}
	f := cmd.Flags()
	f.BoolVar(&o.All, "all", false, "every server that has a command")
	f.StringVar(&o.Client, "client", "", "the client whose file is meant: "+strings.Join(clientconf.ClientNames(), ", "))
	f.StringVar(&o.Config, "config", "", "the configuration `FILE`")
	f.Var(o.Scope, "scope", "where a server that stands in two places is meant: user or project")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would change, and change nothing")
	return cmd
}

const backupSuffix = ".mcpsnoop.bak"

// runWrap edits the files that hold the server.
func runWrap(app *App, o *wrapOptions) error {
	if app.ReadOnly {
		return usagef("no configuration is changed here")
	}
	files, err := app.configFiles(o)
	if err != nil {
		return err
	}
	var missing error
	done := 0
	for _, path := range files {
		err := app.editConfig(path, o)
		if errors.Is(err, clientconf.ErrNoServer) && len(files) > 1 {
			missing = err
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		done++
	}
	if done == 0 && missing != nil {
		return withHint(missing, "looked in %s; name the file with --config", strings.Join(files, ", "))
	}
	return nil
}

// configFiles are the files that are there of those the options mean.
func (a *App) configFiles(o *wrapOptions) ([]string, error) {
	if o.Config != "" {
		return []string{a.abs(o.Config)}, nil
	}
	home, settings := a.homeFolders()
	var all []string
	names := clientconf.ClientNames()
	if o.Client != "" {
		if len(clientconf.Files(o.Client, home, settings)) == 0 {
			return nil, usagef("--client %q: want one of %s", o.Client, strings.Join(names, ", "))
		}
		names = []string{o.Client}
	}
	if o.Scope.value != "project" {
		for _, name := range names {
			all = append(all, clientconf.Files(name, home, settings)...)
		}
	}
	if o.Client == "" && o.Scope.value != "user" {
		all = append(all, clientconf.ProjectFiles(a.Dir)...)
	}
	var there []string
	for _, path := range all {
		if _, err := os.Stat(path); err == nil {
			there = append(there, path)
		}
	}
	if len(there) == 0 {
		return nil, withHint(fmt.Errorf("no configuration file of a client was found"), "looked for %s; name it with --config", strings.Join(all, ", "))
	}
	return there, nil
}

// homeFolders are the user's folder and the one for settings.
func (a *App) homeFolders() (home, settings string) {
	home = a.Getenv("HOME")
	switch a.OS {
	case "windows":
		return a.Getenv("USERPROFILE"), a.Getenv("APPDATA")
	case "darwin":
		return home, filepath.Join(home, "Library", "Application Support")
	}
	if settings = a.Getenv("XDG_CONFIG_HOME"); settings == "" {
		settings = filepath.Join(home, ".config")
	}
	return home, settings
}

// editConfig wraps or unwraps in one file: read, edit, keep a copy, and put
// the new file in its place if nobody else has changed it meanwhile.
func (a *App) editConfig(path string, o *wrapOptions) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return plain(err)
	}
	if bytes.HasPrefix(before, []byte("\xef\xbb\xbf")) {
		a.note("%s begins with a byte order mark (BOM); Claude Desktop drops every server of such a file. It is left as it is", path)
	}
	names := []string{o.Server}
	if o.All {
		if names, err = clientconf.Names(before, path); err != nil {
			return err
		}
	}
	after := before
	for _, name := range names {
		if after, err = a.editEntry(after, path, name, o); err != nil {
			return err
		}
	}
	if o.DryRun || bytes.Equal(before, after) {
		return nil
	}
	if err := a.replaceConfig(path, before, after, o.undo); err != nil {
		return err
	}
	a.note("%s: restart the client to use it", path)
	return nil
}

// editEntry wraps or unwraps one entry, and says what that means. What the
// entry holds beside its command is never printed.
func (a *App) editEntry(file []byte, path, name string, o *wrapOptions) ([]byte, error) {
	e, err := clientconf.Find(file, path, clientconf.Query{Name: name, Scope: o.Scope.value, Dir: a.Dir})
	if err != nil {
		return nil, err
	}
	would := ""
	if o.DryRun {
		would = "would be "
	}
	wrapped := e.Wrapped(a.Self)
	switch {
	case wrapped && !o.undo:
		a.note("%s: starts through mcpsnoop already", name)
		return file, nil
	case !wrapped && o.undo:
		if o.All {
			return file, nil
		}
		return nil, fmt.Errorf("%q: %w", name, clientconf.ErrNotWrapped)
	case o.undo:
		a.note("%s (line %d, scope %s): %staken back", name, e.Line, e.Scope, would)
		return e.Unwrap()
	}
	if command := e.Command(); len(command) == 1 && strings.ContainsAny(command[0], " \t") {
		a.note("%s: the command is one word with blanks; it is passed on as one, and may not be what a shell would make of it", name)
	}
	a.note("%s (line %d, scope %s): %sstarted through %s", name, e.Line, e.Scope, would, a.Self)
	return e.Wrap(a.Self), nil
}

// replaceConfig writes the file in one step, with its mode kept, and a copy of
// it before the first change. Once the copy and the file are equal again, the
// copy goes.
func (a *App) replaceConfig(path string, before, after []byte, undo bool) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return plain(err)
	}
	backup := path + backupSuffix
	if _, err := os.Stat(backup); errors.Is(err, fs.ErrNotExist) && !undo {
		if err := a.writeWhole(backup, before, modeOf(real)); err != nil {
			return fmt.Errorf("keep a copy: %w", err)
		}
	}
	now, err := os.ReadFile(real)
	if err != nil {
		return plain(err)
	}
	if !bytes.Equal(now, before) {
		return withHint(errors.New("the file was changed by another program meanwhile"), "nothing was written; run the command again")
	}
	if err := a.writeWhole(real, after, modeOf(real)); err != nil {
		return err
	}
	if kept, err := os.ReadFile(backup); err == nil && undo && bytes.Equal(kept, after) {
		return os.Remove(backup)
	}
	return nil
}

func modeOf(path string) fs.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return newFileMode
	}
	return info.Mode().Perm()
}

func (a *App) writeWhole(path string, content []byte, mode fs.FileMode) error {
	out, err := newPending(path)
	if err != nil {
		return plain(err)
	}
	defer out.discard()
	if _, err := out.Write(content); err != nil {
		return plain(err)
	}
	if err := out.commit(); err != nil {
		return plain(err)
	}
	return os.Chmod(path, mode)
}
