package tui

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// shelf keeps filters in memory.
type shelf struct {
	mu   sync.Mutex
	book FilterBook
	fail error
}

func (s *shelf) Load() (FilterBook, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.book, nil }

func (s *shelf) Save(name, filter string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.Saved = slices.DeleteFunc(s.book.Saved, func(x SavedFilter) bool { return x.Name == name })
	if filter != "" {
		s.book.Saved = append(s.book.Saved, SavedFilter{name, filter})
	}
	return s.fail
}

func (s *shelf) Remember(filter string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.Recent = append(s.book.Recent, filter)
	return s.fail
}

// Filters with names are offered, stand for their words, and outlive the run.
func TestSavedFilters(t *testing.T) {
	f := newFixture()
	tp := filesystem(f)
	keep := &shelf{book: FilterBook{Saved: []SavedFilter{{"odd", "status:error OR status:pending"}}, Recent: []string{"kind:req"}}}
	d := sitDown(t, f, 100, 24, Options{Open: tp.s.ID, Filters: keep})
	d.keys("/", "@").want("@odd", "status:error OR status:pending").keys("tab", "enter")
	d.want("/ status:error OR status:pending", "$ mcpsnoop tail -f --where 'status:error OR status:pending'")
	d.keys("/", "ctrl+u", "kind:req @odd", "enter").want("/ kind:req (status:error OR status:pending)")
	d.keys("/", "ctrl+u", `"@odd" -@odd @modelcontextprotocol`, "enter").want(`/ "@odd" -(status:error OR status:pending) @modelcontextprotocol`)
	d.keys("/", "ctrl+u", "tool:raed", "enter", ":", "save raed", "enter").want("kept: @raed", "tool:raed")
	d.keys(":", "save bad/name", "enter").want("column 6").keys("esc")
	d.keys(":", "filters", "enter").want("@odd", "@raed").keys("esc")
	d.keys(":", "forget ", "tab", "enter").want("forgot @odd").keys("/", "ctrl+u", "@od").wantNot("status:error OR")
	d.keys("esc")
	keep.mu.Lock()
	if want := []SavedFilter{{"raed", "tool:raed"}}; !slices.Equal(keep.book.Saved, want) {
		t.Errorf("kept are %q; want %q", keep.book.Saved, want)
	}
	if n := len(keep.book.Recent); n != 5 || keep.book.Recent[4] != "tool:raed" {
		t.Errorf("remembered are %q", keep.book.Recent)
	}
	keep.mu.Unlock()
	e := sitDown(t, f, 100, 24, Options{Open: tp.s.ID, Filters: keep})
	e.keys("/", "up").want("/ tool:raed").keys("up", "up", "up", "up").want("/ kind:req").keys("esc")
}

// A disk that takes nothing and a line that cannot be used are said, and cost
// nothing else.
func TestFiltersThatAreNotKept(t *testing.T) {
	f := newFixture()
	tp := filesystem(f)
	keep := &shelf{book: FilterBook{Problems: []string{"/state/filters, line 3: want NAME = FILTER", "x"}}, fail: errors.New("no space left")}
	d := sitDown(t, f, 100, 24, Options{Open: tp.s.ID, Filters: keep})
	d.want("left out: /state/filters, line 3", "1 more line")
	d.keys(":", "save slow dur>2s", "enter").want("kept for this run only: no space left")
	d.keys("/", "@", "tab", "enter").want("/ dur>2s")
	e := sitDown(t, f, 100, 24, Options{Open: tp.s.ID})
	e.keys(":", "save slow dur>2s", "enter").want("while this UI runs").keys("/", "@slow", "enter").want("/ dur>2s")
	e.keys("esc", ":", "filters", "enter", "esc", ":", "forget slow", "enter", ":", "filters", "enter").want("no filter has a name yet")
	e.keys(":", "save other", "enter").want("there is no filter here").keys("esc")
}

// The words of the list of sessions.
func TestSessionFilter(t *testing.T) {
	f := several()
	d := sitDown(t, f, 120, 24, Options{})
	for _, tt := range []struct{ filter, want string }{
		{"", "filesystem github weather"}, {"cursor", "github"}, {"CLAUDE", "filesystem"},
		{"label:git", "github"}, {"label:=git", ""}, {"client:vscode", "weather"}, {"server:secure", "filesystem"},
		{"-client:cursor", "filesystem weather"}, {"NOT client:cursor -vscode", "filesystem"},
		{"rev:2025-06", "github"}, {"state:live", "filesystem"}, {"state:exit", "github weather"}, {`state:"exit 1"`, "weather"},
		{"status:err", "filesystem"}, {"status:pending", "filesystem weather"}, {"status:ok", "filesystem github"}, {"-status:ok", "weather"},
		{"calls>10", "github"}, {"errors>=2", "filesystem"}, {"open<1", "github"}, {"size>2KB", "filesystem github"},
		{"cursor OR vscode", "github weather"}, {"git cursor OR nothing", "github"}, {"origin:local", "filesystem github weather"},
		{"since:1m", "filesystem github weather"}, {"since:2h", "filesystem github weather"}, {"until:2026-03-01", ""}, {`"exit 0"`, "github"},
		{"OR", ""},
	} {
		d.keys("/", "ctrl+u")
		if tt.filter != "" {
			d.keys(tt.filter)
		}
		d.keys("enter")
		var got []string
		for _, s := range d.m.top().(*sessions).shown {
			name, _, _ := strings.Cut(s.Summary().Label, "-")
			got = append(got, name)
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%q shows %q; want %q", tt.filter, g, tt.want)
		}
	}
	for _, tt := range []struct{ filter, want string }{
		{"git status:zz", "column 5: status: it has such calls: ok, err"}, {"(git)", "no parentheses"}, {"tool:x", "tool is asked of frames"},
		{"calls>many", "column 1: calls"}, {"size>1XB", "column 1"}, {"since:never", "column 1"},
	} {
		d.keys("/", "ctrl+u", tt.filter, "enter").want(tt.want).keys("esc")
	}
	d.keys("/", "ctrl+u", "sta").want("state:", "status:").keys("tab", "tab").want("/ status:").keys("esc")
	d.keys("/", "ctrl+u", "client:cursor", "enter", "/", "ctrl+u", "up").want("/ client:cursor").keys("esc")
}

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		text string
		want time.Time
	}{
		{"2h", now.Add(-2 * time.Hour)}, {"1.5d", now.Add(-36 * time.Hour)}, {"2026-03-01", now.Add(-39 * time.Hour)},
		{"2026-03-02T14:30", now.Add(-30 * time.Minute)}, {"", time.Time{}}, {"d", time.Time{}}, {"soon", time.Time{}},
	} {
		if got, ok := parseWhen(tt.text, now); ok == tt.want.IsZero() || ok && !got.Equal(tt.want) {
			t.Errorf("%q: %v %v; want %v", tt.text, got, ok, tt.want)
		}
	}
}

func TestCheckFilter(t *testing.T) {
	for text, ok := range map[string]bool{"status:err": true, "client:cursor": true, "dur>2s OR x": true, "status:zz": false, "(": false} {
		if err := CheckFilter(text, start); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever is typed: no crash, and a mistake has a column in the text.
func FuzzSessionFilter(f *testing.F) {
	for _, s := range []string{`-client:"a b" OR size>=1MB`, "NOT NOT x", "since:2h (", "status:", "@a"} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		_, wrong := compileSessions(text, now)
		if wrong != nil && (wrong.Column < 1 || wrong.Column > len([]rune(text))+1) {
			t.Errorf("%q: column %d", text, wrong.Column)
		}
		for _, w := range splitWords(text) {
			if w.column < 1 || w.column > len([]rune(text)) {
				t.Errorf("%q: a word in column %d", text, w.column)
			}
		}
	})
}
