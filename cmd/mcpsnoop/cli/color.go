package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/export"
)

// style says whether standard output is coloured: never when the user said so
// or cannot see it.
func (a *App) style(cmd *cobra.Command) export.Style {
	switch cmd.Flags().Lookup("color").Value.String() {
	case "always":
		return export.Style{On: true}
	case "never":
		return export.Style{}
	}
	return export.Style{On: a.OutTTY && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"}
}
