package export

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// writeLadders lists the attempts to get authorization, operation by
// operation: what was answered, what the server wanted, and why.
func writeLadders(w *bufio.Writer, s *Session, several bool) {
	begun := false
	sum := s.Summary()
	for _, l := range sum.Ladders {
		if !slices.ContainsFunc(l.Attempts, func(a store.Attempt) bool { return s.has(a.Answer) }) {
			continue
		}
		if !begun {
			title(w, "authorization", s, several)
			begun = true
		}
		end := "not let through"
		if l.Succeeded {
			end = "let through"
		}
		fmt.Fprintf(w, "  %s: %d attempts, %s\n", Safe(l.Operation), l.Count, end)
		for i := range l.Attempts {
			writeAttempt(w, &l.Attempts[i])
		}
		for _, r := range l.Reasons(sum.Meta.Target) {
			fmt.Fprintf(w, "         %s\n", Safe(r))
		}
	}
}

func writeAttempt(w *bufio.Writer, a *store.Attempt) {
	fmt.Fprintf(w, "    %-6s HTTP %d", fmt.Sprintf("#%d", a.Seq), a.Status)
	if a.Auth != nil {
		fmt.Fprintf(w, " to %s %s", Safe(a.Auth.Scheme), Safe(a.Auth.SHA256))
	}
	for _, d := range a.Demands {
		fmt.Fprintf(w, " WWW-Authenticate: %s", Safe(d.Raw))
	}
	fmt.Fprintln(w)
}
