package checks

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
)

// WriteText writes the difference for people: + is new, - is gone, ~ is
// changed, ! is a regression.
func (d *Diff) WriteText(w io.Writer, a, b string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s against %s: %d calls in both\n", Plain(b), Plain(a), d.Matched)
	for _, k := range d.Uncompared {
		fmt.Fprintf(out, "  ? %s: not listed to the end in both, so not compared\n", k)
	}
	for i := range d.Definitions {
		c := &d.Definitions[i]
		sign := "~"
		switch {
		case c.Regression:
			sign = "!"
		case c.What == "added":
			sign = "+"
		case c.What == "removed":
			sign = "-"
		}
		fmt.Fprintf(out, "  %s %s %s: %s%s\n", sign, c.Kind, Plain(c.Name), c.What, told1(c.Changes, 0))
	}
	for _, side := range []struct {
		sign string
		name string
		n    map[string]int
	}{{"-", a, d.OnlyA}, {"+", b, d.OnlyB}} {
		for _, t := range slices.Sorted(maps.Keys(side.n)) {
			fmt.Fprintf(out, "  %s call %s: %d only in %s\n", side.sign, Plain(t), side.n[t], Plain(side.name))
		}
	}
	for i := range d.Calls {
		c := &d.Calls[i]
		sign := "~"
		if c.Regression {
			sign = "!"
		}
		what := c.What + ": " + c.A + ", then " + c.B
		if c.What == "answer" {
			what = "answer" + told1(c.Changes, c.More)
		}
		fmt.Fprintf(out, "  %s call %s %s #%d #%d %s\n", sign, Plain(c.Tool), Plain(c.Arguments), c.SeqA, c.SeqB, what)
	}
	if d.Skipped > 0 {
		fmt.Fprintf(out, "  ? calls: %d more were not compared, so many differ\n", d.Skipped)
	}
	fmt.Fprintln(out, d.verdict())
	return out.Flush()
}

// told1 tells the first of the changes, and how many there are.
func told1(list []Change, more int) string {
	switch more += len(list) - 1; {
	case len(list) == 0:
		return ""
	case more == 0:
		return ", " + Plain(list[0].String())
	}
	return fmt.Sprintf(", %s (and %d more)", Plain(list[0].String()), more)
}

// The difference for programs. Members are added, never renamed or removed.
type (
	diffJSONReport struct {
		Version     int              `json:"version"`
		A           string           `json:"a"`
		B           string           `json:"b"`
		Definitions []definitionJSON `json:"definitions"`
		Uncompared  []string         `json:"uncompared"`
		Matched     int              `json:"matched"`
		OnlyA       map[string]int   `json:"only_a"`
		OnlyB       map[string]int   `json:"only_b"`
		Calls       []callJSON       `json:"calls"`
		Skipped     int              `json:"skipped,omitempty"`
		Regressions int              `json:"regressions"`
	}
	definitionJSON struct {
		Kind       string       `json:"kind"`
		Name       string       `json:"name"`
		What       string       `json:"what"`
		Changes    []changeJSON `json:"changes"`
		Regression bool         `json:"regression"`
	}
	callJSON struct {
		Tool       string       `json:"tool"`
		Arguments  string       `json:"arguments"`
		SeqA       uint64       `json:"seq_a"`
		SeqB       uint64       `json:"seq_b"`
		What       string       `json:"what"`
		A          string       `json:"a,omitempty"`
		B          string       `json:"b,omitempty"`
		Changes    []changeJSON `json:"changes"`
		More       int          `json:"more_changes,omitempty"`
		Regression bool         `json:"regression"`
	}
	changeJSON struct {
		Path string `json:"path"`
		Old  string `json:"old,omitempty"`
		New  string `json:"new,omitempty"`
	}
)

// WriteJSON writes the difference for programs.
func (d *Diff) WriteJSON(w io.Writer, a, b string) error {
	out := diffJSONReport{
		Version: 1, A: a, B: b, Definitions: []definitionJSON{}, Uncompared: append([]string{}, d.Uncompared...),
		Matched: d.Matched, OnlyA: d.OnlyA, OnlyB: d.OnlyB, Calls: []callJSON{}, Skipped: d.Skipped, Regressions: d.Regressions,
	}
	for _, c := range d.Definitions {
		out.Definitions = append(out.Definitions, definitionJSON{c.Kind, c.Name, c.What, changesJSON(c.Changes), c.Regression})
	}
	for _, c := range d.Calls {
		out.Calls = append(out.Calls, callJSON{c.Tool, c.Arguments, c.SeqA, c.SeqB, c.What, c.A, c.B, changesJSON(c.Changes), c.More, c.Regression})
	}
	return encode(w, out)
}

func changesJSON(list []Change) []changeJSON {
	out := []changeJSON{}
	for _, c := range list {
		out = append(out, changeJSON(c))
	}
	return out
}
