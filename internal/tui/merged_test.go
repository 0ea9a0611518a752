package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// mergedScenes are screens of several sessions as one stream.
var mergedScenes = []struct {
	name string
	keys []string
}{
	{"merged", []string{"m"}},
	{"merged-stray", []string{"m", "/", "loading", "enter"}},
	{"merged-inspector", []string{"space", "space", "m", "g", "jj", "enter"}},
	{"merged-sorted", []string{"m", "D"}},
}

func TestMergedScreens(t *testing.T) {
	for _, sc := range mergedScenes {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				s := boot(t, several(), size[0], size[1], Options{})
				s.keys(sc.keys...)
				golden(t, fmt.Sprintf("screens/%s-%dx%d.txt", sc.name, size[0], size[1]), s.text())
			})
		}
	}
}

// Which server sends this stray line? All sessions, the text, and the row says
// whose it is.
func TestWhoSendsTheStrayLine(t *testing.T) {
	for _, size := range sizes {
		d := sitDown(t, several(), size[0], size[1], Options{})
		d.keys("m", "/", "kind:invalid loading", "enter")
		d.wantSelected("A", "not a message")
		d.keys("enter").want("A filesystem", "loading model")
		if size[0] >= 80 {
			d.keys("w").want("A filesystem #10", "findings")
		}
	}
}

// Frames stand by time, whichever log they are from, and moving goes through
// all of them.
func TestMergedOrder(t *testing.T) {
	d := sitDown(t, several(), 200, 60, Options{})
	d.keys("m", "g")
	s := d.m.top().(*merged)
	var last time.Time
	seen := map[*store.Session]int{}
	for i := range s.list.n {
		if s.list.cur != i {
			t.Fatalf("row %d is selected after %d moves", s.list.cur, i)
		}
		at := s.sel.Session.Frame(s.sel.Frame).Time()
		if at.Before(last) {
			t.Fatalf("row %d is of %v, after %v", i, at, last)
		}
		last = at
		seen[s.sel.Session]++
		d.keys("j")
	}
	for _, x := range d.m.src.Sessions() {
		if seen[x] != int(x.Len()) {
			t.Errorf("%s: %d of %d frames were met", x.ID, seen[x], x.Len())
		}
	}
}

// What a stream has: following, holding, pairs, the next odd frame, copies,
// sheets of the session of the frame.
func TestMergedStream(t *testing.T) {
	f := newFixture()
	a, b := filesystem(f), f.session("github")
	d := sitDown(t, f, 100, 24, Options{})
	d.keys("space", "space").want("2 marked")
	d.keys("m").want("merged 2", "⇣ follow", "A filesystem", "B github", "$ mcpsnoop export -T text "+a.s.ID+" "+b.s.ID)
	b.at = start.Add(time.Minute)
	b.c2s(0, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	d.arrives().wantSelected("B", "ping")
	d.keys("x").want("no answer")
	b.s2c(time.Second, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	d.arrives().wantSelected("result").keys("x").wantSelected("ping", "ok").keys("x").wantSelected("result")
	d.keys("p").want("paused")
	a.at = start.Add(2 * time.Minute)
	a.c2s(0, `{"jsonrpc":"2.0","id":77,"method":"prompts/list"}`)
	d.arrives().want("+1").wantNot("prompts/list")
	d.keys("p").want("prompts/list").keys("G").wantSelected("A", "prompts/list")
	d.keys("g", "n").wantSelected("not a message").keys("n").wantSelected("read_text_file", "failed").keys("N").wantSelected("not a message")
	d.keys("N").want("from the end again").wantSelected("prompts/list").keys("n").want("from the top again").wantSelected("not a message")
	if got := d.copied("y"); got != "loading model…" {
		t.Errorf("copied %q", got)
	}
	d.keys("enter", "]", "[").want("A filesystem #10").keys("esc")
	d.keys("s").want("filesystem", "tools").keys("esc").want("merged 2")
	d.keys("/", "label:github", "enter").want("2 of 18 frames").keys("esc").want("no filter any more")
	d.keys("D").want("sorted by DUR").keys("g").wantSelected("read_text_file", "open").keys("esc").want("by time again")
	d.keys("esc").want("sessions")
	b.end(0)
	a.end(0)
	d.keys("m", "f").want("nothing to follow")
}

// A session that begins later joins where all are merged, and a log that was
// replaced keeps its letter.
func TestMergedSessionsComeAndGo(t *testing.T) {
	f := newFixture()
	a := filesystem(f)
	d := sitDown(t, f, 100, 24, Options{})
	d.keys("m").want("merged 1")
	b := f.session("late")
	b.at = start.Add(time.Minute)
	b.c2s(0, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	d.arrives().want("merged 2", "B late").wantSelected("B", "ping")
	f.mu.Lock()
	f.list = f.list[1:]
	f.mu.Unlock()
	d.arrives().want("merged 1", "B late").wantNot("A filesystem")
	s, ap := store.NewSession(b.s.ID, "/state/sessions/new.jsonl", store.Limits{}, nil)
	f.mu.Lock()
	f.list = []*store.Session{s, a.s}
	f.mu.Unlock()
	ap.Publish()
	d.arrives().want("merged 2", "A filesystem").wantNot("ping")
	d.keys("esc").want("sessions")
}

// One session that is marked is a mistake that is named, and :merge takes names.
func TestMergeCommand(t *testing.T) {
	d := sitDown(t, several(), 100, 24, Options{})
	d.keys("space", "m").want("mark another one")
	d.keys("esc", ":", "merge github files", "enter").want("merged 2", "github", "filesystem")
	d.keys("esc", ":", "merge nothing", "enter").want("no other session is called nothing")
	d.keys("esc", "esc", "/", "git", "enter", "m").want("merged 1")
}

// The rows of merged sessions are drawn at any size, and nothing of the wire
// gets through.
func TestMergedEverySize(t *testing.T) {
	d := sitDown(t, everyCase(t), 100, 30, Options{})
	for _, keys := range [][]string{{"m"}, {"g", "jj"}, {"enter"}, {"esc", "D"}, {"esc", "/", "kind:re"}, {"enter", "?"}} {
		d.at(100, 30)
		d.keys(keys...)
		for k, size := range sizesToTry() {
			if k%9 == 0 {
				d.at(size[0], size[1])
				d.check(fmt.Sprint("merged after ", keys))
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

// BenchmarkMergedKey is a key over two sessions of half a million frames each.
func BenchmarkMergedKey(b *testing.B) {
	f := twoLarge(500_000)
	for _, key := range []string{"j", "G", "g", "ctrl+f"} {
		b.Run(key, func(b *testing.B) {
			d := sitDown(b, f, 160, 50, Options{})
			d.keys("m", "g")
			for b.Loop() {
				_, cmd := d.m.Update(namedKey(key))
				d.run(cmd)
				d.m.View()
			}
			d.settle()
		})
	}
}

// twoLarge are two sessions of n frames each, at the same time.
func twoLarge(n int) *fixture {
	f, _ := million(n)
	g, t := million(n)
	t.s.ID += "2"
	f.list = append(f.list, g.list...)
	f.alive[t.s.ID] = true
	return f
}

// A key is answered in time with two sessions of half a million frames (-timed).
func TestMergedKeysAreAnswered(t *testing.T) {
	f := twoLarge(500_000)
	d := sitDown(t, f, 160, 50, Options{})
	d.timed("m", "j", "k", "G", "g", "ctrl+f", "n", "D", "esc", "p", "p", "/", "t", "o", "o", "l", ":", "tool_3", "enter", "G", "g", "esc", "enter", "j", "]", "esc")
}

// namedKey is a key by its name, or the letter that it types.
func namedKey(k string) tea.KeyPressMsg {
	if msg, ok := namedKeys[k]; ok {
		return msg
	}
	return tea.KeyPressMsg{Code: rune(k[0]), Text: k}
}

// timed presses keys one by one, and holds them and what comes of them to
// their time.
func (d *desk) timed(keys ...string) {
	d.t.Helper()
	for _, k := range keys {
		begin := time.Now()
		_, cmd := d.m.Update(namedKey(k))
		d.m.View()
		if took := time.Since(begin); *timed && took > 50*time.Millisecond*slower {
			d.t.Errorf("%s takes %v", k, took)
		}
		d.run(cmd)
		d.settle()
		for _, slow := range d.slow {
			d.t.Errorf("after %s a step takes %v", k, slow)
		}
		d.slow = nil
	}
}

// The letter always stands; the name gives way before what tells it from
// others of that name.
func TestLaneCell(t *testing.T) {
	d := &dress{g: &unicodeGlyphs}
	for _, tt := range []struct {
		l     lane
		width int
		want  string
	}{
		{lane{letter: "A", name: "github"}, 1, "A"},
		{lane{letter: "A", name: "github"}, 8, "A github"},
		{lane{letter: "A", name: "big", tail: "0002"}, 10, "A big 0002"},
		{lane{letter: "A", name: "github", tail: "0002"}, 10, "A 0002"},
		{lane{letter: "A", name: "github", tail: "0002"}, 12, "A gith… 0002"},
	} {
		got := string((&theme{}).render(nil, d.w.fit(of(laneCell(d, &tt.l, tt.width)...), tt.width, d.g.dots)))
		if strings.TrimRight(got, " ") != tt.want {
			t.Errorf("%+v in %d cells: %q, want %q", tt.l, tt.width, got, tt.want)
		}
	}
}
