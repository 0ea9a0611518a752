package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Filters keeps the filters of a viewer between runs. Its methods may wait for
// a disk and are called outside of the program's loop; they are safe for
// concurrent use. A viewer without one keeps them as long as the UI runs.
type Filters interface {
	Load() (FilterBook, error)
	// Save keeps a filter under a name; an empty one forgets the name.
	Save(name, filter string) error
	// Remember puts a filter last among those that were used.
	Remember(filter string) error
}

// FilterBook are filters with names, and those that were used, the newest last.
type FilterBook struct {
	Saved    []SavedFilter
	Recent   []string
	Problems []string // lines that cannot be used
}

// SavedFilter is a filter with a name.
type SavedFilter struct{ Name, Filter string }

// maxSaved bounds the filters that a viewer keeps without a file.
const maxSaved = 500

// loadFilters reads what was kept by an earlier run.
func (m *Model) loadFilters() tea.Cmd {
	keep := m.opts.Filters
	if keep == nil {
		return nil
	}
	return m.work(func(context.Context) done {
		book, err := keep.Load()
		return func(m *Model) tea.Cmd {
			m.saved = book.Saved
			m.recent = append(slices.Clone(book.Recent), m.recent...)
			switch {
			case err != nil:
				m.say(inkWarn, m.d.safe(err.Error()))
			case len(book.Problems) > 0:
				m.say(inkWarn, "left out: "+m.d.safe(book.Problems[0]))
				if n := len(book.Problems) - 1; n > 0 {
					m.notice.put(inkWarn, ", and "+plural(n, "more line", "more lines"))
				}
			}
			return nil
		}
	})
}

// keepFilter writes something down beside Update, and says only when that fails.
func (m *Model) keepFilter(f func(Filters) error) tea.Cmd {
	keep := m.opts.Filters
	if keep == nil {
		return nil
	}
	return m.work(func(context.Context) done {
		err := f(keep)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.say(inkWarn, "kept for this run only: "+m.d.safe(err.Error()))
			}
			return nil
		}
	})
}

// remember keeps a filter for the arrow keys.
func (m *Model) remember(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	m.recent = slices.DeleteFunc(m.recent, func(s string) bool { return s == text })
	m.recent = append(m.recent, text)
	if len(m.recent) > 50 {
		m.recent = m.recent[1:]
	}
	return m.keepFilter(func(k Filters) error { return k.Remember(text) })
}

// current is the filter of the screen, or of the list it was opened from.
func (m *Model) current() string {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if f, ok := m.stack[i].(interface{ where() string }); ok {
			return f.where()
		}
	}
	return ""
}

func (s *stream) where() string { return s.view.text }

func (s *sessions) where() string { return s.filter }

// runSave is :save NAME [FILTER].
func runSave(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	name, filter, _ := strings.Cut(arg, " ")
	name, filter = strings.TrimPrefix(name, "@"), strings.TrimSpace(filter)
	if filter == "" {
		filter = m.current()
	}
	column := len("save ") + 1
	switch {
	case badName(name):
		return nil, &store.QueryError{Column: column, Msg: "a name is made of letters, digits and - . _, at most 40"}
	case filter == "":
		return nil, &store.QueryError{Column: column + len(name), Msg: "there is no filter here; type it behind the name"}
	case m.savedAt(name) < 0 && len(m.saved) >= maxSaved:
		return nil, &store.QueryError{Column: column, Msg: "there are too many already; :forget one"}
	}
	if at := m.savedAt(name); at >= 0 {
		m.saved[at].Filter = filter
	} else {
		m.saved = append(m.saved, SavedFilter{name, filter})
	}
	t := "kept: @" + Text(name) + " in a filter is now " + m.d.safe(filter)
	if m.opts.Filters == nil {
		t += " (while this UI runs)"
	}
	m.say(inkOK, t)
	return m.keepFilter(func(k Filters) error { return k.Save(name, filter) }), nil
}

// runForget is :forget NAME.
func runForget(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	name := strings.TrimPrefix(arg, "@")
	at := m.savedAt(name)
	if at < 0 {
		return nil, &store.QueryError{Column: len("forget ") + 1, Msg: "no filter has this name; tab lists them"}
	}
	was := m.saved[at].Filter
	m.saved = slices.Delete(m.saved, at, at+1)
	m.sayDone("forgot @"+Text(name)+", which was", ":save "+Text(name)+" "+m.d.safe(was))
	return m.keepFilter(func(k Filters) error { return k.Save(name, "") }), nil
}

// runFilters offers the filters with names, in the prompt of the list.
func runFilters(m *Model, _ string) (tea.Cmd, *store.QueryError) {
	f, ok := m.top().(interface{ filterPrompt() *prompt })
	if !ok {
		return nil, &store.QueryError{Column: 1, Msg: "there is no list here"}
	}
	if len(m.saved) == 0 {
		m.say(inkNote, "no filter has a name yet; :save NAME gives one to the filter of this list")
		return nil, nil
	}
	m.prompt = f.filterPrompt()
	m.prompt.input.set("@")
	m.prompt.offers = m.savedOffers("@", 1)
	return nil, nil
}

func badName(name string) bool {
	return name == "" || len(name) > 40 || strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }) >= 0
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

func (m *Model) savedAt(name string) int {
	return slices.IndexFunc(m.saved, func(s SavedFilter) bool { return s.Name == name })
}

func savedNames(m *Model) []string {
	var out []string
	for _, s := range m.saved {
		out = append(out, s.Name)
	}
	return out
}

// savedOffers complete the word before the cursor when it begins with @.
func (m *Model) savedOffers(text string, column int) []store.Completion {
	runes := []rune(text)
	to := max(0, min(column, len(runes)))
	from := to
	for from > 0 && nameRune(runes[from-1]) {
		from--
	}
	if from == 0 || runes[from-1] != '@' || from > 1 && !strings.ContainsRune(" (-", runes[from-2]) {
		return nil
	}
	var out []store.Completion
	for _, s := range m.saved {
		if strings.HasPrefix(s.Name, string(runes[from:to])) {
			out = append(out, store.Completion{From: from - 1, To: to, Text: "@" + s.Name, Help: s.Filter})
		}
	}
	return out
}

// expand puts the filters with names into a text. What begins with @ and is
// no name stays what it is: packages are called like that.
func (m *Model) expand(text string) string {
	if !strings.Contains(text, "@") || len(m.saved) == 0 {
		return text
	}
	var b strings.Builder
	quoted := rune(0)
	before := ' '
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quoted != 0:
			if r == quoted && before != '\\' {
				quoted = 0
			}
		case r == '"' || r == '/' && strings.ContainsRune(" (-", before):
			quoted = r
		case r == '@' && strings.ContainsRune(" (-", before):
			end := i + 1
			for end < len(runes) && nameRune(runes[end]) {
				end++
			}
			if at := m.savedAt(string(runes[i+1 : end])); at >= 0 && (end == len(runes) || strings.ContainsRune(" )", runes[end])) {
				b.WriteString(inParts(m.saved[at].Filter, len(runes) == end-i))
				before, i = 'x', end-1
				continue
			}
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// inParts is a filter as a part of another.
func inParts(filter string, alone bool) string {
	if alone || !strings.Contains(filter, " ") {
		return filter
	}
	return "(" + filter + ")"
}

// CheckFilter says what is wrong with a filter that fits neither frames nor
// sessions.
func CheckFilter(text string, now time.Time) error {
	_, err := store.Compile(text, now)
	if err == nil {
		return nil
	}
	if _, wrong := compileSessions(text, now); wrong != nil {
		return err
	}
	return nil
}
