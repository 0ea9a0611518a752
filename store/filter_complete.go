package store

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// Completion is a way to go on typing a filter.
type Completion struct {
	From, To int    // the characters that Text takes the place of, from 0, To excluded
	Text     string // "status:" or "status:error"
	Help     string
}

// maxCompletions bounds how many names of one kind are offered.
const maxCompletions = 50

// Complete gives the ways to complete the word at column (in characters, from
// 1: 1 is before the first one). Names of tools, methods, rules and labels
// come from sessions.
func Complete(text string, column int, sessions ...*Session) []Completion {
	runes := []rune(text)
	to := min(max(0, column-1), len(runes))
	from, quoted := to, false
	for _, c := range runes[:to] {
		quoted = quoted != (c == '"')
	}
	if quoted {
		return nil
	}
	for from > 0 && !unicode.IsSpace(runes[from-1]) && runes[from-1] != '(' && runes[from-1] != ')' {
		from--
	}
	for from < to && runes[from] == '-' {
		from++
	}
	word := string(runes[from:to])
	if strings.HasPrefix(word, "/") || strings.HasPrefix(word, `"`) {
		return nil
	}
	if k := strings.IndexAny(word, ":=<>"); k >= 0 {
		return completeValue(word, k, from, to, sessions)
	}
	return completeName(word, from, to)
}

func completeName(word string, from, to int) []Completion {
	var out []Completion
	for _, t := range terms {
		if t.Name == "" || !strings.HasPrefix(t.Name, strings.ToLower(word)) {
			continue
		}
		sign := ":"
		if t.Kind == Number || t.Kind == Size || t.Kind == Span {
			sign = ">"
		}
		out = append(out, Completion{from, to, t.Name + sign, t.Help})
	}
	for _, op := range [...]struct{ word, help string }{
		{"OR", "one of the two sides; a space binds tighter"}, {"NOT", "what does not match; also a leading -"},
	} {
		if word != "" && strings.HasPrefix(op.word, word) {
			out = append(out, Completion{from, to, op.word, op.help})
		}
	}
	return out
}

func completeValue(word string, k, from, to int, sessions []*Session) []Completion {
	t := lookupTerm(word[:k])
	if t == nil || word[k] != ':' {
		return nil
	}
	sign, value := ":", word[k+1:]
	if t.Kind == Substring && strings.HasPrefix(value, "=") {
		sign, value = ":=", value[1:]
	}
	f := newFinder(value)
	var out []Completion
	for _, v := range t.Values {
		if strings.HasPrefix(v, value) {
			out = append(out, Completion{from, to, t.Name + sign + v, ""})
		}
	}
	for _, v := range knownValues(t.Name, sessions) {
		if len(out) < maxCompletions && f.inString(v) {
			out = append(out, Completion{from, to, t.Name + sign + writeValue(v), ""})
		}
	}
	return out
}

// knownValues lists what sessions hold for a term, sorted, each once.
func knownValues(term string, sessions []*Session) []string {
	var out []string
	for _, s := range sessions {
		switch term {
		case "tool":
			for _, t := range s.Tools() {
				out = append(out, t.Name)
			}
		case "method":
			out = append(out, s.knownMethods()...)
		case "rule":
			for i := range s.marks.rules.list.Len() {
				out = append(out, *s.marks.rules.list.read(i))
			}
		case "label":
			out = append(out, s.Summary().Label)
		case "rev":
			for _, c := range s.Summary().Clients {
				out = append(out, c.Revision)
			}
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(v string) bool { return v == "" })
}

// knownMethods lists the methods of the protocol that the session holds.
func (s *Session) knownMethods() []string {
	var out []string
	for i := range s.names.list.Len() {
		if name := *s.names.list.read(i); name != "" {
			if _, ok := mcp.LookupMethod(name); ok {
				out = append(out, name)
			}
		}
	}
	return out
}
