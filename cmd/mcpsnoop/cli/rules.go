package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/checks"
)

func newRulesCmd(app *App) *cobra.Command {
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:     "rules [ID]",
		Short:   "List the rules that check judges by, or explain one",
		Example: `  mcpsnoop rules stdio-stdout-not-json`,
		Args:    atMostOne("rule"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleIDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			list := checks.Rules()
			if len(args) == 1 {
				r, ok := checks.Find(args[0])
				if !ok {
					return &usageError{fmt.Errorf("there is no rule %q", args[0]), `"mcpsnoop rules" lists them` + meant(args[0])}
				}
				list = []checks.Rule{*r}
			}
			if format.value == "json" {
				return writeRulesJSON(app.Out, list)
			}
			if len(args) == 1 {
				return writeRule(app.Out, &list[0])
			}
			return writeRules(app.Out, list)
		},
	}
	cmd.Flags().Var(format, "format", "how to list them")
	return cmd
}

// ruleJSON is a rule in the list. Its members are a contract.
type ruleJSON struct {
	ID        string        `json:"id"`
	Signal    checks.Signal `json:"signal"`
	Level     checks.Level  `json:"level"`
	Revisions string        `json:"revisions"`
	Transport string        `json:"transport"`
	Title     string        `json:"title"`
	Help      string        `json:"help"`
	Fix       string        `json:"fix"`
	Spec      string        `json:"spec"`
}

func writeRulesJSON(w io.Writer, list []checks.Rule) error {
	out := struct {
		Version int        `json:"version"`
		Rules   []ruleJSON `json:"rules"`
	}{1, []ruleJSON{}}
	for i := range list {
		r := &list[i]
		out.Rules = append(out.Rules, ruleJSON{r.ID, r.Signal, r.Level, r.Revisions.String(), r.Transports.String(), r.Title, r.Help, r.Fix, r.Spec})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(out)
}

func writeRules(w io.Writer, list []checks.Rule) error {
	b := bufio.NewWriter(w)
	var table [][]string
	for i := range list {
		r := &list[i]
		table = append(table, []string{r.ID, string(r.Signal), string(r.Level), r.Title})
	}
	writeTable(b, table, 0, 0)
	return b.Flush()
}

func writeRule(w io.Writer, r *checks.Rule) error {
	b := bufio.NewWriter(w)
	for _, row := range [][2]string{
		{"id", r.ID}, {"signal", string(r.Signal)}, {"level", string(r.Level)}, {"revisions", r.Revisions.String()}, {"transport", r.Transports.String()},
		{"title", r.Title}, {"help", r.Help}, {"fix", r.Fix}, {"spec", r.Spec},
	} {
		if row[1] != "" {
			fmt.Fprintf(b, "%-10s %s\n", row[0], row[1])
		}
	}
	return b.Flush()
}

func ruleIDs() []string {
	var ids []string
	for _, r := range checks.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}
