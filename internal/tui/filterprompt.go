package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// filtered is a list that a filter is typed for.
type filtered struct {
	m       *Model
	text    func() string                  // the filter that holds
	set     func(string) *store.QueryError // tries one; a mistake may leave the list as it likes
	restore func(string)                   // goes back to one that held
	refresh func() tea.Cmd
	offers  func(text string, column int) []store.Completion // column from 1
	done    func()                                           // once a filter was taken; nil for nothing
}

// prompt asks for a filter and shows what it lets through while it is typed. A
// word of the filter language that is still being typed, and one that is
// wrong, leave the list as it was before.
func (l filtered) prompt() *prompt {
	before := l.text()
	p := &prompt{kind: promptFilter, sign: "/ ", chosen: -1, history: l.m.recent}
	p.input.set(before)
	set := func(text string) (tea.Cmd, *store.QueryError) {
		wrong := l.set(l.m.expand(strings.TrimSpace(text)))
		if wrong != nil {
			l.restore(before)
		}
		return l.refresh(), wrong
	}
	p.change = func(text string) (tea.Cmd, *store.QueryError) {
		if half(text, p.offers) {
			text = before
		}
		return set(text)
	}
	p.accept = func(text string) (tea.Cmd, *store.QueryError) {
		cmd, wrong := set(text)
		if wrong == nil {
			cmd = tea.Batch(cmd, l.m.remember(l.text()))
			if l.done != nil {
				l.done()
			}
		}
		return cmd, wrong
	}
	p.cancel = func() tea.Cmd {
		l.restore(before)
		return l.refresh()
	}
	p.offer = func(text string, column int) []store.Completion {
		if saved := l.m.savedOffers(text, column-1); saved != nil {
			return saved
		}
		return l.offers(text, column)
	}
	return p
}

// half reports whether a filter ends in the beginning of a word of the filter
// language.
func half(text string, offers []store.Completion) bool {
	word := text[strings.LastIndexAny(text, " (")+1:]
	if word == "" || strings.ContainsAny(word, ":<>=\"/") {
		return false
	}
	for _, o := range offers {
		if strings.HasPrefix(o.Text, strings.TrimLeft(word, "-")) && strings.ContainsAny(o.Text, ":<>=") {
			return true
		}
	}
	return false
}
