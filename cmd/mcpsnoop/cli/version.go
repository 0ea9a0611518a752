package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCmd(app *App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit and Go version",
		Example: `  mcpsnoop version`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(app.Out, versionText())
			return err
		},
	}
}

// versionText is what `version` prints. A binary that `go install` built has
// its version in its build information.
func versionText() string {
	v, c := version, commit
	if info, ok := debug.ReadBuildInfo(); ok && c == "" {
		if v == "devel" && info.Main.Version != "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				c = s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	if c == "" {
		c = "unknown"
	}
	return fmt.Sprintf("mcpsnoop %s (commit %s, %s, %s/%s)", v, c, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
