package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

var searchScenes = []struct {
	name string
	keys []string
}{
	{"search", []string{"ctrl+s", "kind:stderr OR loading", "enter"}},
	{"search-many", []string{":", "search search_issues", "enter", "j"}},
	{"search-typed", []string{"ctrl+s", "sta"}},
	{"search-none", []string{"ctrl+s", "nowhere", "enter"}},
}

func TestSearchScreens(t *testing.T) {
	for _, sc := range searchScenes {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				s := boot(t, several(), size[0], size[1], Options{})
				s.keys(sc.keys...)
				golden(t, fmt.Sprintf("screens/%s-%dx%d.txt", sc.name, size[0], size[1]), s.text())
			})
		}
	}
}

// What is found in any session leads to its frame, and esc back to the rest.
func TestSearchAll(t *testing.T) {
	for _, size := range sizes {
		d := sitDown(t, several(), size[0], size[1], Options{})
		d.keys("ctrl+s", "kind:stderr", "enter").want("search", "filesystem 2b0a", "1 frame").wantSelected("stderr")
		d.keys("n").wantSelected("weather").keys("j").wantSelected("stderr")
		d.keys("enter").want("Traceback").keys("esc", "esc").want("search").wantSelected("stderr")
		d.keys("N").wantSelected("weather").keys("enter", "N").wantSelected("filesystem").keys("esc").want("sessions")
	}
	d := sitDown(t, several(), 120, 40, Options{})
	d.keys(":", "search tool:search_issues", "enter").want("60 frames in 1 session, 50 shown", "10 frames before these")
	if got := string(d.m.top().command()); got != "mcpsnoop export -T text --where tool:search_issues github-4821-7f3a1c9e2b0b" {
		t.Errorf("the command is %q", got)
	}
	d.keys("g", "j").wantSelected("10 frames before").keys("enter").want("60 of 62 frames", "tool:search_issues").keys("esc", "esc").want("search")
	d.keys("/").want("search all: tool:search_issues").keys("ctrl+u", "loading", "enter").want("1 frame in 1 session").wantSelected("not a message")
	d.keys("-").wantNot("not a message").keys("+").want("not a message")
	d.keys(":", "search status:zz", "enter").want("column 15").keys("esc", ":", "search", "enter").want("what is to be found?").keys("esc")
	if got := d.copied("y"); got == "" {
		t.Error("nothing is copied")
	}
	d.keys("s").want("tools")
}

// A session that begins later, and one that goes on, are searched too.
func TestSearchGoesOn(t *testing.T) {
	f := newFixture()
	a := filesystem(f)
	d := sitDown(t, f, 100, 24, Options{})
	d.keys("ctrl+s", "tool:late", "enter").want("nothing in any session", "all searched")
	b := f.session("other")
	b.c2s(0, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"late"}}`)
	d.arrives().want("1 frame in 1 session").wantSelected("late")
	a.c2s(0, `{"jsonrpc":"2.0","id":91,"method":"tools/call","params":{"name":"late"}}`)
	s := d.m.top().(*searchAll)
	s.rested = s.rested.Add(-time.Hour)
	d.arrives().want("2 frames in 2 sessions").wantSelected("late")
	if s.list.cur != 1 {
		t.Errorf("row %d is selected; what was selected has not moved", s.list.cur)
	}
}

// esc stops a search before it leaves it, and leaves nothing at work.
func TestSearchStops(t *testing.T) {
	f := twoLarge(60_000)
	d := sitDown(t, f, 100, 24, Options{})
	d.keys("ctrl+s", "tool:tool_3")
	_, cmd := d.m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	d.run(cmd)
	s := d.m.top().(*searchAll)
	if s.work == nil {
		t.Fatal("nothing is searched")
	}
	d.want("searching", "0 of 2 searched")
	d.keys("esc").want("stopped", "search").wantNot("sessions ›  ")
	if s.work != nil || s.busy || d.m.working > 0 {
		t.Errorf("work %v, busy %v, %d pieces are left", s.work != nil, s.busy, d.m.working)
	}
	d.arrives()
	if s.work != nil {
		t.Error("it goes on although it was stopped")
	}
	d.keys("/", "enter").want("all searched", "in 2 sessions")
	d.keys("esc").want("sessions")
}

// What is kept is bounded, whatever is found.
func TestSearchIsBounded(t *testing.T) {
	f := newFixture()
	for k := range maxFound/maxFoundInOne + 5 {
		t := f.session(fmt.Sprint("many", k))
		t.s.ID += fmt.Sprint(k)
		for i := range maxFoundInOne + 7 {
			t.c2s(0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
		}
	}
	d := sitDown(t, f, 120, 40, Options{})
	d.keys("ctrl+s", "method:ping", "enter")
	s := d.m.top().(*searchAll)
	frames, more := 0, 0
	for _, l := range s.lines {
		switch l.kind {
		case hitFrame:
			frames++
		case hitMore:
			more++
		}
	}
	if want := len(f.list) * (maxFoundInOne + 7); s.hits != want || frames != maxFound || more != len(f.list) {
		t.Errorf("%d hits, want %d; %d lines of frames, %d of more", s.hits, want, frames, more)
	}
	d.want(count2(maxFound) + " shown")
	d.keys("G", "enter")
}

func count2(n int) string { return string(count(n)) }

func TestSearchEverySize(t *testing.T) {
	d := sitDown(t, everyCase(t), 100, 30, Options{})
	for _, keys := range [][]string{{"ctrl+s", "e"}, {"enter", "jjj"}, {"-"}, {"+", "G"}, {"/", "kind:invalid"}, {"enter", "?"}} {
		d.at(100, 30)
		d.keys(keys...)
		for k, size := range sizesToTry() {
			if k%9 == 0 {
				d.at(size[0], size[1])
				d.check(fmt.Sprint("search after ", keys))
			}
		}
		if strings.ContainsAny(d.screen(), "\x1b\a\r\u202e\u009b") {
			t.Errorf("after %q a control reaches the screen", keys)
		}
		if t.Failed() {
			return
		}
	}
}

// A key is answered in time while half a million frames of two sessions are
// searched, and after (-timed).
func TestSearchKeysAreAnswered(t *testing.T) {
	n := 20_000
	if *timed {
		n = 500_000
	}
	d := sitDown(t, twoLarge(n), 160, 50, Options{})
	d.keys("ctrl+s", "tool:tool_3")
	_, cmd := d.m.Update(namedKey("enter"))
	d.run(cmd)
	for k := 0; d.m.working > 0; k++ {
		begin := time.Now()
		_, cmd := d.m.Update(namedKey("j"))
		d.m.View()
		if took := time.Since(begin); *timed && took > 50*time.Millisecond*slower {
			t.Errorf("a key while searching takes %v", took)
		}
		d.run(cmd)
		d.take(<-d.msgs)
	}
	d.timed("j", "G", "g", "-", "+", "n", "N", "left", "right")
}
