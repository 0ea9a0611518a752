package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// sessionWord is a word of the filter of the list of sessions: the words of
// the filter language that a whole session has an answer to, and some that
// only a session has.
type sessionWord struct {
	name   string // with its operator
	help   string
	values []string
	// make reads what follows, and gives what a session has to be; ok is false
	// where that cannot be read.
	make func(op, value string, now time.Time) (fits func(*Model, *sessionRow) bool, ok bool)
}

// sessionWords are all words, in the order in which they are offered.
func sessionWords() []sessionWord {
	text := func(get func(*Model, *sessionRow) string) func(string, string, time.Time) (func(*Model, *sessionRow) bool, bool) {
		return func(op, value string, _ time.Time) (func(*Model, *sessionRow) bool, bool) {
			exact := strings.HasPrefix(value, "=")
			value = strings.ToLower(strings.TrimPrefix(value, "="))
			return func(m *Model, r *sessionRow) bool {
				has := strings.ToLower(get(m, r))
				return has == value || !exact && strings.Contains(has, value)
			}, value != "" && op == ":"
		}
	}
	number := func(get func(*Model, *sessionRow) int64, parse func(string) (int64, bool)) func(string, string, time.Time) (func(*Model, *sessionRow) bool, bool) {
		return func(op, value string, _ time.Time) (func(*Model, *sessionRow) bool, bool) {
			n, ok := parse(value)
			return func(m *Model, r *sessionRow) bool { return compares(get(m, r), op, n) }, ok && op != ":"
		}
	}
	return []sessionWord{
		{"label:", "the label; label:=x is exact", nil, text(func(_ *Model, r *sessionRow) string { return r.name })},
		{"client:", "name and version of the client", nil, text(func(_ *Model, r *sessionRow) string { return r.client })},
		{"server:", "name and version of the server", nil, text(func(_ *Model, r *sessionRow) string { return r.server })},
		{"rev:", "the revision that is spoken", nil, text(func(_ *Model, r *sessionRow) string { return r.revision })},
		{"origin:", "where the log is from", nil, text(func(m *Model, r *sessionRow) string { return string(origin(&m.d, r)) })},
		{"state:", "how it stands", []string{"live", "exit", "no end", "cut off"}, text(func(m *Model, r *sessionRow) string { return string(ending(&m.d, r).text) })},
		{"status:", "it has such calls", []string{"ok", "err", "error", "pending", "cancel", "warn"}, statusFits},
		{"calls>", "number of calls", nil, number(func(_ *Model, r *sessionRow) int64 { return int64(r.sum.Calls.Total) }, parseWhole)},
		{"errors>", "number of failed calls", nil, number(func(_ *Model, r *sessionRow) int64 { return int64(r.sum.Calls.Failed) }, parseWhole)},
		{"open>", "number of calls without an answer", nil, number(func(_ *Model, r *sessionRow) int64 { return int64(r.sum.Calls.Pending) }, parseWhole)},
		{"lost>", "number of lost frames", nil, number(func(_ *Model, r *sessionRow) int64 { return int64(r.sum.Missing) }, parseWhole)},
		{"size>", "size of the log: 500KB, 1MiB", nil, number(func(_ *Model, r *sessionRow) int64 { return r.sum.Size }, parseBytes)},
		{"since:", "its newest frame is not older: 30m, 2h, 3d, 2026-08-01", nil, momentFits(func(r *sessionRow, at time.Time) bool { return !r.sum.Newest.Before(at) })},
		{"until:", "it began no later", nil, momentFits(func(r *sessionRow, at time.Time) bool { return !r.sum.Started.After(at) })},
	}
}

func statusFits(op, value string, _ time.Time) (func(*Model, *sessionRow) bool, bool) {
	has := map[string]func(*Model, *sessionRow) bool{
		"ok":      func(_ *Model, r *sessionRow) bool { return r.sum.Calls.OK > 0 },
		"err":     func(_ *Model, r *sessionRow) bool { return r.sum.Calls.Failed > 0 },
		"error":   func(_ *Model, r *sessionRow) bool { return r.sum.Calls.Failed > 0 },
		"pending": func(_ *Model, r *sessionRow) bool { return r.sum.Calls.Pending > 0 },
		"cancel":  func(_ *Model, r *sessionRow) bool { return r.sum.Calls.Cancelled > 0 },
		"warn":    func(m *Model, r *sessionRow) bool { return r.s != nil && m.rules.Count(r.s, LevelShould) > 0 },
	}[value]
	return has, has != nil && op == ":"
}

func momentFits(fits func(*sessionRow, time.Time) bool) func(string, string, time.Time) (func(*Model, *sessionRow) bool, bool) {
	return func(op, value string, now time.Time) (func(*Model, *sessionRow) bool, bool) {
		at, ok := parseWhen(value, now)
		return func(_ *Model, r *sessionRow) bool { return fits(r, at) }, ok && op == ":"
	}
}

func compares(a int64, op string, b int64) bool {
	switch op {
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	}
	return a == b
}

func parseWhole(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

// parseBytes reads a size as the filter language does.
func parseBytes(s string) (int64, bool) {
	unit := strings.TrimLeft(s, "0123456789.")
	f, err := strconv.ParseFloat(s[:len(s)-len(unit)], 64)
	times, ok := map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}[strings.ToLower(unit)]
	return int64(f * times), ok && err == nil && f*times < 1<<62
}

// parseWhen reads a time, or how long ago it is.
func parseWhen(s string, now time.Time) (time.Time, bool) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n < 1e5 {
			return now.Add(-time.Duration(n * 24 * float64(time.Hour))), true
		}
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// sessionTest is what one word of a filter asks of a session.
type sessionTest struct {
	not  bool
	text string // lower case, looked for in what the list shows
	fits func(*Model, *sessionRow) bool
}

// sessionFilter is a filter of the list: of its parts one has to fit, with all
// its words.
type sessionFilter [][]sessionTest

// compileSessions reads a filter.
func compileSessions(text string, now time.Time) (sessionFilter, *store.QueryError) {
	words := sessionWords()
	f := sessionFilter{nil}
	not := false
	for _, w := range splitWords(text) {
		switch {
		case w.text == "OR" && !w.quoted:
			f, not = append(f, nil), false
			continue
		case w.text == "NOT" && !w.quoted:
			not = !not
			continue
		case w.text == "AND" && !w.quoted:
			continue
		}
		t, wrong := readWord(words, w, now)
		if wrong != nil {
			return nil, wrong
		}
		t.not = t.not != not
		not = false
		f[len(f)-1] = append(f[len(f)-1], t)
	}
	return f, nil
}

// typedWord is a word, and the column it begins in.
type typedWord struct {
	text   string
	quoted bool
	column int
}

// splitWords parts a text at spaces that are not between quotes.
func splitWords(text string) []typedWord {
	var out []typedWord
	var b strings.Builder
	in, began, quoted, column := false, false, false, 0
	end := func() {
		if began {
			out = append(out, typedWord{b.String(), quoted, column})
		}
		b.Reset()
		began, quoted = false, false
	}
	for i, r := range []rune(text) {
		if !began && r != ' ' {
			began, column = true, i+1
		}
		switch {
		case r == '"':
			in, quoted = !in, true
		case r == ' ' && !in:
			end()
		default:
			b.WriteRune(r)
		}
	}
	end()
	return out
}

func readWord(words []sessionWord, w typedWord, now time.Time) (sessionTest, *store.QueryError) {
	t := sessionTest{}
	text := w.text
	if rest, ok := strings.CutPrefix(text, "-"); ok && rest != "" && !w.quoted {
		t.not, text = true, rest
	}
	if !w.quoted && strings.ContainsAny(text, "()") {
		return t, &store.QueryError{Column: w.column, Msg: "the list of sessions takes words, - and OR, but no parentheses"}
	}
	at := strings.IndexAny(text, ":<>")
	if at > 0 {
		op := text[at : at+1]
		if strings.HasPrefix(text[at+1:], "=") && op != ":" {
			op += "="
		}
		name, value := text[:at], text[at+len(op):]
		for i := range words {
			if strings.TrimRight(words[i].name, ":>") != name {
				continue
			}
			fits, ok := words[i].make(op, value, now)
			if !ok {
				return t, &store.QueryError{Column: w.column, Msg: name + ": " + words[i].help + valuesOf(&words[i])}
			}
			t.fits = fits
			return t, nil
		}
		if slices.ContainsFunc(store.Terms(), func(x store.Term) bool { return strings.TrimRight(x.Name, ":<>=") == name }) {
			return t, &store.QueryError{Column: w.column, Msg: name + " is asked of frames, and this is the list of sessions: open one first"}
		}
	}
	t.text = strings.ToLower(text)
	return t, nil
}

func valuesOf(w *sessionWord) string {
	if len(w.values) == 0 {
		return ""
	}
	return ": " + strings.Join(w.values, ", ")
}

// fits reports whether a session fits.
func (f sessionFilter) fits(m *Model, r *sessionRow) bool {
	hay := ""
	for _, all := range f {
		ok := len(all) > 0 || len(f) == 1
		for i := range all {
			t := &all[i]
			var has bool
			if t.fits != nil {
				has = t.fits(m, r)
			} else {
				if hay == "" {
					hay = strings.ToLower(strings.Join([]string{r.id, r.name, r.client, r.server, r.revision, r.origin, string(ending(&m.d, r).text)}, " "))
				}
				has = strings.Contains(hay, t.text)
			}
			if has == t.not {
				ok = false
				break
			}
		}
		if ok {
			return true
		}
	}
	return false
}

func (s *sessions) filterPrompt() *prompt {
	return filtered{
		m: s.m, text: func() string { return s.filter }, set: s.setFilter, refresh: s.refresh,
		restore: func(text string) { _ = s.setFilter(text) }, // it held before
		offers:  func(text string, column int) []store.Completion { return s.offers(text, column-1) },
	}.prompt()
}

func (s *sessions) setFilter(text string) *store.QueryError {
	f, wrong := compileSessions(text, s.m.now())
	if wrong == nil {
		s.filter, s.fits = text, f
	}
	return wrong
}

// offers complete the word before the cursor.
func (s *sessions) offers(text string, to int) []store.Completion {
	runes := []rune(text)
	to = max(0, min(to, len(runes)))
	from := to
	for from > 0 && runes[from-1] != ' ' {
		from--
	}
	if from < to && runes[from] == '-' {
		from++
	}
	word := string(runes[from:to])
	var out []store.Completion
	for _, w := range sessionWords() {
		switch rest, ok := strings.CutPrefix(word, w.name); {
		case !ok && strings.HasPrefix(w.name, word):
			out = append(out, store.Completion{From: from, To: to, Text: w.name, Help: w.help})
		case ok:
			for _, v := range w.values {
				if strings.HasPrefix(v, rest) && !strings.Contains(v, " ") {
					out = append(out, store.Completion{From: from, To: to, Text: w.name + v})
				}
			}
		}
	}
	return out
}
