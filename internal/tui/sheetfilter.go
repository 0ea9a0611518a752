package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// rowFilter is which rows of a sheet are shown: those that hold all words of a
// text, whatever the case; a word with a leading - must not be there.
type rowFilter struct {
	text  string
	words []rowWord

	rows  []int // that fit, as they are shown
	next  []int // as they are being looked for anew
	seen  int   // rows that were looked at
	whole bool  // rows are of all rows
	busy  bool
	again bool // the rows have changed meanwhile
}

type rowWord struct {
	text string // lower case
	not  bool
}

func (f *rowFilter) on() bool { return len(f.words) > 0 }

// set takes a text; the rows are found by grow.
func (f *rowFilter) set(text string) {
	if text == f.text {
		return
	}
	*f = rowFilter{text: text, busy: f.busy, again: f.busy}
	for _, w := range splitWords(text) {
		word := rowWord{text: strings.ToLower(w.text)}
		if rest, ok := strings.CutPrefix(word.text, "-"); ok && rest != "" && !w.quoted {
			word = rowWord{rest, true}
		}
		if word.text != "" {
			f.words = append(f.words, word)
		}
	}
}

func (f *rowFilter) fits(hay string) bool {
	for _, w := range f.words {
		if strings.Contains(hay, w.text) == w.not {
			return false
		}
	}
	return true
}

// count is the number of rows on the sheet, of those that the filter shows.
func (s *sheet) count() int {
	if s.filter.on() {
		return len(s.filter.rows)
	}
	return s.page.len()
}

// row is the row of the page that stands at i.
func (s *sheet) row(i int) int {
	if s.filter.on() {
		return s.filter.rows[i]
	}
	return i
}

// filterStep is how long rows are looked at between two keys.
const filterStep = 4 * time.Millisecond

// look begins to look for the rows that fit, because filter or rows are new.
func (s *sheet) look() tea.Cmd {
	f := &s.filter
	if !f.on() {
		return nil
	}
	if f.busy {
		f.again = true
		return nil
	}
	f.busy, f.seen, f.next = true, 0, nil
	return s.lookOn()
}

// lookOn looks at rows in steps short enough to wait for. They belong to
// Update, which makes and draws them.
func (s *sheet) lookOn() tea.Cmd {
	return s.m.work(later(func(*Model) tea.Cmd {
		f := &s.filter
		if f.again {
			f.again, f.seen, f.next = false, 0, nil
		}
		n := s.page.len()
		for begin := time.Now(); f.seen < n && time.Since(begin) < filterStep; f.seen++ {
			if f.fits(s.hay(f.seen)) {
				f.next = append(f.next, f.seen)
			}
		}
		if !f.whole || f.seen >= n { // the first rows are shown as they come
			f.rows = slices.Clip(f.next)
		}
		if f.seen >= n {
			f.busy, f.whole = false, true
			s.settle()
			return nil
		}
		s.settle()
		return s.lookOn()
	}))
}

// hay is what the words of a filter are looked for in.
func (s *sheet) hay(i int) string {
	var b strings.Builder
	b.WriteString(s.page.key(i))
	for _, f := range s.page.fields(i) {
		b.WriteByte(' ')
		b.WriteString(string(f.value))
	}
	if p, ok := s.page.(interface{ more(i int) string }); ok {
		b.WriteByte(' ')
		b.WriteString(p.more(i))
	}
	return strings.ToLower(b.String())
}

// where is the filter, for :save.
func (s *sheet) where() string { return s.filter.text }

// filterPrompt asks for words, and shows the rows that hold them.
func (s *sheet) filterPrompt() *prompt {
	before := s.filter.text
	p := &prompt{kind: promptFilter, sign: "/ ", chosen: -1, history: s.m.recent}
	p.input.set(before)
	set := func(text string) (tea.Cmd, *store.QueryError) {
		s.filter.set(s.m.expand(strings.TrimSpace(text)))
		return s.look(), nil
	}
	p.change = set
	p.accept = func(text string) (tea.Cmd, *store.QueryError) {
		cmd, _ := set(text)
		return tea.Batch(cmd, s.m.remember(s.filter.text)), nil
	}
	p.cancel = func() tea.Cmd {
		s.filter.set(before)
		return s.look()
	}
	p.offer = func(text string, column int) []store.Completion { return s.m.savedOffers(text, column-1) }
	return p
}
