package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot makes the command line: the shim, which is the program without a
// command, and the commands below it.
func newRoot(app *App) *cobra.Command {
	o := &shimOptions{}
	daemon := &hubOptions{Theme: newThemeFlag(), Limit: 100}
	root := &cobra.Command{
		Use:   "mcpsnoop [flags] -- CMD [ARG...]",
		Short: "See what an MCP client and an MCP server say to each other",
		Long: `mcpsnoop stands between an MCP client and an MCP server, passes every byte on
untouched, and records each frame. In a client's configuration, put it in front
of the server's command:

  mcpsnoop [flags] -- CMD [ARG...]`,
		Example: `  mcpsnoop -- npx -y @modelcontextprotocol/server-everything
  mcpsnoop --label files --redact-secrets -- node build/index.js
  mcpsnoop check        # judge the newest session`,
		Args:              func(cmd *cobra.Command, args []string) error { return rootArgs(cmd, args) },
		Version:           versionText(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return app.before(cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(app.Args) == 0 && app.OutTTY {
				return runWatch(cmd.Context(), app)
			}
			if daemon.Metrics.Listen != "" {
				daemon.OTLP = o.OTLP
				return runDaemon(cmd, app, daemon)
			}
			if cmd.ArgsLenAtDash() < 0 {
				_ = cmd.Help()
				return usagef("nothing to do: name a command, or a server behind --")
			}
			o.Command = args
			return runShim(cmd.Context(), app, o, cmd.Flags())
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().Var(newChoice("auto", "auto", "always", "never"), "color", "colour the output: auto, always or never")
	o.addFlags(root.Flags())
	daemon.Metrics.addFlags(root.Flags())
	for _, g := range []cobra.Group{{ID: "judge", Title: "Watch and judge"}, {ID: "take", Title: "Take along"}, {ID: "more", Title: "More"}} {
		root.AddGroup(&g)
	}
	addCommands(root, "judge", newHubCmd(app), newRemoteCmd(app), newHTTPCmd(app), newDemoCmd(app), newSessionsCmd(app), newOpenCmd(app), newTailCmd(app), newCheckCmd(app), newRulesCmd(app), newBaselineCmd(app), newDiffCmd(app), newReplayCmd(app), newStatsCmd(app))
	addCommands(root, "take", newExportCmd(app), newVerifyCmd(app), newImportCmd(app), newPruneCmd(app))
	addCommands(root, "more", newWrapCmd(app), newUnwrapCmd(app), newVersionCmd(app), newCompletionCmd(app))
	root.AddCommand(newDemoServerCmd(app), newStreamCmd(app))
	help := newHelpCmd(app)
	help.GroupID = "more"
	root.SetHelpCommand(help)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(app, cmd, err) })
	root.SetUsageFunc(usage)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(app, cmd) })
	return root
}

func addCommands(root *cobra.Command, group string, cmds ...*cobra.Command) {
	for _, cmd := range cmds {
		cmd.GroupID = group
		root.AddCommand(cmd)
	}
}

// before does what all commands but the shim begin with.
func (a *App) before(cmd *cobra.Command) error {
	var hangup func()
	if _, ok := cmd.Annotations[reloads]; ok {
		a.reload = make(chan struct{}, 1)
		hangup = func() {
			select {
			case a.reload <- struct{}{}:
			default: // told already
			}
		}
	}
	if (cmd.HasParent() || len(a.Args) == 0) && a.Interrupt != nil {
		cmd.SetContext(a.Interrupt(cmd.Context(), hangup))
	}
	return nil
}

// rootArgs lets the shim run what stands behind --, and nothing else: a
// mistyped command must never start a program of that name.
func rootArgs(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash < 0 && len(args) == 0:
		return nil
	case dash == 0 && len(args) == 0:
		return &usageError{errors.New("no server behind --"), "give its command line: mcpsnoop -- CMD [ARG...]"}
	case dash == 0:
		return nil
	}
	return unknownCommand(cmd, args[0])
}

func unknownCommand(cmd *cobra.Command, word string) error {
	return &usageError{fmt.Errorf("unknown command %q", word), commandMeant(cmd, word, `"mcpsnoop help" lists the commands`) + "; a server's command stands behind --"}
}

// commandMeant asks whether another command was meant, and gives otherwise where
// there is none near.
func commandMeant(cmd *cobra.Command, word, otherwise string) string {
	var names []string
	for _, c := range cmd.Root().Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if name := nearest(word, names); name != "" {
		return fmt.Sprintf("did you mean %q", name)
	}
	return otherwise
}

// flagError says what is wrong with a flag, and which one was meant.
func flagError(app *App, cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if !cmd.HasParent() && len(app.Args) > 0 && !strings.HasPrefix(app.Args[0], "-") {
		return unknownCommand(cmd, app.Args[0]) // whose flags are not the shim's
	}
	hint := fmt.Sprintf("%q lists the flags", cmd.CommandPath()+" --help")
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name := nearest(unknown.GetSpecifiedName(), names); name != "" {
			hint = fmt.Sprintf("did you mean --%s?", name)
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), valueError(invalid.GetFlag(), invalid.Unwrap()))
	}
	return &usageError{err, hint}
}

// valueError says what a value should look like, where the reason that pflag
// gives speaks of parsing.
func valueError(f *pflag.Flag, err error) error {
	switch f.Value.Type() {
	case "duration":
		return errors.New("want a time like 500ms, 5s or 2m")
	case "int":
		return errors.New("want a whole number")
	case "bool":
		return errors.New("want true or false")
	}
	return err
}

// noArgs and the like: cobra's own speak of nothing but numbers.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, and got %q", cmd.Name(), args[0])
	}
	return nil
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s takes one %s, and got %d", cmd.Name(), what, len(args))
		}
		return nil
	}
}
