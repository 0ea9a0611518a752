package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newHelpCmd(app *App) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command and list its flags",
		Example: `  mcpsnoop help check`,
		Args:    atMostOne("command"),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			if len(args) > 0 && args[0] == filterTopic {
				writeFilterHelp(app.Out)
				return nil
			}
			if len(args) > 0 {
				if about = find(cmd.Root(), args[0]); about == nil {
					return unknownCommand(cmd, args[0])
				}
			}
			about.InitDefaultHelpFlag()
			writeHelp(app, about)
			return nil
		},
	}
}

func find(root *cobra.Command, name string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}

// usage is what cobra prints beside an error; errors say it themselves.
func usage(*cobra.Command) error { return nil }

// writeHelp explains a command: on standard output when it was asked for.
func writeHelp(app *App, cmd *cobra.Command) {
	cmd.Flags().SortFlags, cmd.PersistentFlags().SortFlags = false, false
	w := app.Out
	if !cmd.HasParent() && len(app.Args) == 0 {
		w = app.Err // nobody asked
	}
	if cmd.Long != "" {
		fmt.Fprintf(w, "%s\n", cmd.Long)
	} else {
		fmt.Fprintf(w, "%s\n", cmd.Short)
	}
	if cmd.HasParent() {
		fmt.Fprintf(w, "\nUsage:\n  %s\n", "mcpsnoop "+cmd.Use)
	}
	if !cmd.HasParent() {
		writeCommands(w, cmd)
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExample:\n%s\n", cmd.Example)
	}
	writeFlags(w, "Flags", cmd.LocalNonPersistentFlags())
	if !cmd.HasParent() {
		writeFlags(w, "Flags of every command", cmd.PersistentFlags())
		fmt.Fprintf(w, "\n\"mcpsnoop help COMMAND\" explains a command, \"mcpsnoop help filter\" the words of --where.\n")
		return
	}
	writeFlags(w, "Flags of every command", cmd.InheritedFlags())
}

func writeCommands(w io.Writer, root *cobra.Command) {
	for _, g := range root.Groups() {
		fmt.Fprintf(w, "\n%s:\n", g.Title)
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && !c.Hidden {
				fmt.Fprintf(w, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
	}
}

// writeFlags lists flags in the order in which they were defined.
func writeFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	flags.SortFlags = false
	var lines [][2]string
	width := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		arg, text := pflag.UnquoteUsage(f)
		if arg != "" {
			name += " " + arg
		}
		lines = append(lines, [2]string{name, text + " (" + defaultOf(f) + ")"})
		width = max(width, len(name))
	})
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, l := range lines {
		fmt.Fprintf(w, "  %-*s  %s\n", width, l[0], strings.ReplaceAll(l[1], "\n", "\n"+strings.Repeat(" ", width+4)))
	}
}

// defaultOf says what a flag is when it is not given.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0s":
		return "default none"
	case "0":
		if !strings.Contains(f.Usage, "0 means") {
			return "default none"
		}
	case "false":
		return "default off"
	case "true":
		return "default on"
	}
	return "default " + f.DefValue
}
