package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func newCompletionCmd(app *App) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print completions for a shell",
		Long: `Print completions for a shell.

  bash        mcpsnoop completion bash > ~/.local/share/bash-completion/completions/mcpsnoop
  zsh         mcpsnoop completion zsh > "${fpath[1]}/_mcpsnoop"
  fish        mcpsnoop completion fish > ~/.config/fish/completions/mcpsnoop.fish
  PowerShell  mcpsnoop completion powershell | Out-String | Invoke-Expression`,
		Example:   `  source <(mcpsnoop completion bash)`,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("completion needs the name of a shell: %s", orList(shells))
			}
			root := cmd.Root()
			switch strings.ToLower(args[0]) {
			case "bash":
				return root.GenBashCompletionV2(app.Out, true)
			case "zsh":
				return root.GenZshCompletion(app.Out)
			case "fish":
				return root.GenFishCompletion(app.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(app.Out)
			}
			return usagef("no completions for %q: want %s", args[0], orList(shells))
		},
	}
	return cmd
}

// completeSessions offers ids and labels for the argument of a command.
func (a *App) completeSessions(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	logs, err := a.savedLogs()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []string
	seen := map[string]bool{}
	for _, l := range logs {
		for _, name := range []string{l.Label, l.ID} {
			if strings.HasPrefix(name, begun) && !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out, cobra.ShellCompDirectiveDefault
}
