package filterfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read and kept.
const (
	MaxFile   = 256 << 10
	MaxSaved  = 500
	MaxRecent = 50
	MaxName   = 40
	MaxFilter = 4096
)

// Saved is a filter with a name.
type Saved struct{ Name, Filter string }

// header begins a file that is made anew.
const header = "# Filters of the mcpsnoop UI, a line NAME = FILTER each. In its filter prompt @NAME stands for one.\n"

// CheckName says what is wrong with a name.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a filter needs a name")
	case len(name) > MaxName:
		return fmt.Errorf("a name has at most %d characters", MaxName)
	}
	for i := range len(name) {
		if c := name[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return errors.New("names are made of letters, digits and - . _")
		}
	}
	return nil
}

// checkFilter says what is wrong with the text of a filter, whatever it means.
func checkFilter(filter string) error {
	switch {
	case filter == "":
		return errors.New("there is no filter")
	case len(filter) > MaxFilter:
		return fmt.Errorf("a filter has at most %d bytes", MaxFilter)
	case !utf8.ValidString(filter) || strings.IndexFunc(filter, unicode.IsControl) >= 0:
		return errors.New("a filter is one line of text")
	}
	return nil
}

// line is one line of the file.
type line struct {
	text string // without its end
	Saved
	err error // why it is skipped
}

// split reads a file. check says what is wrong with a filter; nil takes all.
func split(text []byte, check func(filter string) error) []line {
	var out []line
	if len(text) == 0 {
		return nil
	}
	n := 0
	for l := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		x := line{text: strings.TrimSuffix(l, "\r")}
		body := strings.TrimSpace(x.text)
		if body == "" || body[0] == '#' {
			out = append(out, x)
			continue
		}
		name, filter, ok := strings.Cut(body, "=")
		x.Saved = Saved{strings.TrimSpace(name), strings.TrimSpace(filter)}
		switch {
		case !ok:
			x.err = errors.New("want NAME = FILTER")
		case n >= MaxSaved:
			x.err = fmt.Errorf("there are more than %d filters", MaxSaved)
		default:
			x.err = problem(&x.Saved, out, check)
		}
		if x.err == nil {
			n++
		}
		out = append(out, x)
	}
	return out
}

func problem(s *Saved, before []line, check func(string) error) error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	if err := checkFilter(s.Filter); err != nil {
		return err
	}
	if slices.ContainsFunc(before, func(l line) bool { return l.err == nil && l.Name == s.Name }) {
		return fmt.Errorf("%s stands further up already", s.Name)
	}
	if check != nil {
		return check(s.Filter)
	}
	return nil
}

// Parse reads the filters of a file, in its order. Lines that cannot be used
// are skipped, and problems names them.
func Parse(text []byte, check func(filter string) error) (saved []Saved, problems []string) {
	for i, l := range split(text, check) {
		switch {
		case l.err != nil:
			problems = append(problems, fmt.Sprintf("line %d: %v", i+1, l.err))
		case l.Name != "":
			saved = append(saved, l.Saved)
		}
	}
	return saved, problems
}

// Set writes a filter into a file: in its line, or at the end. An empty filter
// takes the line out. All other lines stay as they are.
func Set(text []byte, name, filter string) ([]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if filter = strings.TrimSpace(filter); filter != "" {
		if err := checkFilter(filter); err != nil {
			return nil, err
		}
	}
	lines := split(text, nil)
	at := slices.IndexFunc(lines, func(l line) bool { return l.err == nil && l.Name == name })
	n := 0
	for _, l := range lines {
		if l.err == nil && l.Name != "" {
			n++
		}
	}
	switch {
	case filter == "" && at < 0:
		return nil, fmt.Errorf("there is no filter %s", name)
	case filter == "":
		lines = slices.Delete(lines, at, at+1)
	case at >= 0:
		lines[at].text = name + " = " + filter
	case n >= MaxSaved:
		return nil, fmt.Errorf("there are %d filters already; take one out first", MaxSaved)
	default:
		lines = append(lines, line{text: name + " = " + filter})
	}
	var b bytes.Buffer
	if len(text) == 0 {
		b.WriteString(header)
	}
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("the file would be longer than %d bytes", MaxFile)
	}
	return b.Bytes(), nil
}

// parseRecent reads the filters that were used last, the newest at the end.
func parseRecent(text []byte) []string {
	var out []string
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); checkFilter(l) == nil {
			out = push(out, l)
		}
	}
	return out
}

// push puts a filter at the end, where it may have stood before.
func push(list []string, filter string) []string {
	list = append(slices.DeleteFunc(list, func(s string) bool { return s == filter }), filter)
	return list[max(0, len(list)-MaxRecent):]
}
