package checks

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"
)

// ruleJSON is a rule as `mcpsnoop rules --format json` has it.
type ruleJSON struct {
	ID        string `json:"id"`
	Signal    Signal `json:"signal"`
	Level     Level  `json:"level"`
	Revisions string `json:"revisions"`
	Transport string `json:"transport"`
	Title     string `json:"title"`
	Help      string `json:"help"`
	Fix       string `json:"fix"`
	Spec      string `json:"spec"`
}

// WriteRulesJSON writes rules for programs.
func WriteRulesJSON(w io.Writer, rules []Rule) error {
	out := make([]ruleJSON, len(rules))
	for i, r := range rules {
		out[i] = ruleJSON{r.ID, r.Signal, r.Level, r.Revisions.String(), r.Transports.String(), r.Title, r.Help, r.Fix, r.Spec}
	}
	return encode(w, out)
}

// WriteRulesText writes rules for people: one as a whole, several as a list.
func WriteRulesText(w io.Writer, rules []Rule) error {
	if len(rules) == 1 {
		b := bufio.NewWriter(w)
		r := &rules[0]
		fmt.Fprintf(b, "%s\n\n%s. %s\n\nfix:        %s\nsignal:     %s (%s)\nrevisions:  %s\ntransport:  %s\n", r.ID, r.Title, r.Help, r.Fix, r.Signal, r.Level, r.Revisions, r.Transports)
		if r.Spec != "" {
			fmt.Fprintf(b, "spec:       %s\n", r.Spec)
		}
		return b.Flush()
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rules {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Signal, r.Level, r.Transports, r.Title)
	}
	return t.Flush()
}
