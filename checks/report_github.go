package checks

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteGitHub writes the report as workflow commands, which show as
// annotations: findings that fail the check as errors, others as notices. dir
// is the working directory: logs below it are named, others are not.
func (r *Report) WriteGitHub(w io.Writer, dir string) error {
	b := bufio.NewWriter(w)
	for _, s := range r.Sessions {
		for _, f := range s.Findings {
			kind := "notice"
			if r.gate.trips(f.Signal) {
				kind = "error"
			}
			at := ""
			if rel, ok := relative(s.logOf(f), dir); ok {
				at = fmt.Sprintf("file=%s,line=%d,", property(rel), max(f.Line, 1))
			}
			fmt.Fprintf(b, "::%s %stitle=%s::%s\n", kind, at, property(s.name()+": "+f.Rule.ID), command(Plain(f.place()+" "+f.text()+f.times())))
		}
	}
	for _, a := range r.Assertions {
		if !a.OK {
			fmt.Fprintf(b, "::error title=%s::%s\n", property(Plain(a.Flag+" "+a.Value)), command(Plain(a.Message)))
		}
	}
	fmt.Fprintln(b, r.verdict())
	return b.Flush()
}

// command escapes the message of a workflow command.
func command(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(Plain(s))
}
