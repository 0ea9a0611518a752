package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// filterTopic is the word of help that stands for no command.
const filterTopic = "filter"

// writeFilterHelp explains the filter language out of the table that it is
// parsed by.
func writeFilterHelp(w io.Writer) {
	fmt.Fprint(w, `The words of --where, and of the filters in the user interface.

A space means AND and binds tighter than OR; NOT, or a leading "-", and
parentheses work as usual. OR and NOT in capitals only; in quotes they are text.
A bare word is looked for in method, tool, id and payload, upper or lower case;
"two words" and /expression/ too. Quote the whole filter for the shell.
`)
	const width = 27
	for _, scope := range []struct {
		of    store.TermScope
		title string
	}{{store.OfOperation, "Of a call (all its frames match)"}, {store.OfFrame, "Of a frame"}} {
		fmt.Fprintf(w, "\n%s:\n", scope.title)
		for _, t := range store.Terms() {
			if t.Of == scope.of {
				example := t.Example
				if len(example) > width {
					fmt.Fprintf(w, "  %s\n", example)
					example = ""
				}
				fmt.Fprintf(w, "  %-*s %s\n", width, example, t.Help)
				if len(t.Values) > 0 {
					fmt.Fprintf(w, "  %*s %s\n", width, "", strings.Join(t.Values, ", "))
				}
			}
		}
	}
	fmt.Fprint(w, `
Example:
  mcpsnoop tail --where 'tool:read status:err OR dur>2s' files
`)
}
