package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// want and wantNot look for texts on the screen.
func (d *desk) want(texts ...string) *desk {
	d.t.Helper()
	for _, t := range texts {
		if !strings.Contains(d.screen(), t) {
			d.t.Errorf("no %q on the screen:\n%s", t, d.screen())
		}
	}
	return d
}

func (d *desk) wantNot(texts ...string) *desk {
	d.t.Helper()
	for _, t := range texts {
		if strings.Contains(d.screen(), t) {
			d.t.Errorf("%q is on the screen:\n%s", t, d.screen())
		}
	}
	return d
}

// selected is the line of the selected row.
func (d *desk) selected() string {
	for l := range strings.Lines(d.screen()) {
		if strings.HasPrefix(l, "▌") {
			return l
		}
	}
	return ""
}

func (d *desk) wantSelected(texts ...string) *desk {
	d.t.Helper()
	for _, t := range texts {
		if !strings.Contains(d.selected(), t) {
			d.t.Errorf("%q is not in the selected row %q of\n%s", t, d.selected(), d.screen())
		}
	}
	return d
}

// arrives tells the model that the source has changed, as its subscription does.
func (d *desk) arrives() *desk {
	d.send(done(func(m *Model) tea.Cmd { m.working++; return m.top().refresh() }))
	return d
}

func openFilesystem(t *testing.T) (*desk, *tape) {
	f := newFixture()
	tp := filesystem(f)
	return sitDown(t, f, 80, 24, Options{Open: tp.s.ID}), tp
}

func TestFollow(t *testing.T) {
	d, tp := openFilesystem(t)
	d.want("⇣ follow").wantSelected("progress")
	tp.c2s(time.Second, `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	d.arrives().wantSelected("ping")
	d.keys("k").wantNot("⇣ follow").wantSelected("progress")
	tp.c2s(time.Second, `{"jsonrpc":"2.0","id":9,"method":"prompts/list"}`)
	d.arrives().wantSelected("progress").want("prompts/list")
	d.keys("f").want("⇣ follow", "$ mcpsnoop tail -f").wantSelected("prompts/list")
	d.keys("k", "G").want("⇣ follow")
	tp.end(0)
	d.arrives().wantNot("⇣ follow").want("exit 0")
	d.keys("f").want("the session is over (exit 0)")
}

func TestPause(t *testing.T) {
	d, tp := openFilesystem(t)
	d.keys("p").want("‖ paused")
	tp.c2s(time.Second, `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	d.arrives().wantNot("ping").want("‖ paused +1")
	d.keys("p").want("ping").wantNot("paused")
	d.keys("p", "f").wantNot("paused").want("following")
}

func TestPairJump(t *testing.T) {
	d, _ := openFilesystem(t)
	d.keys("g", "x").wantSelected("result initialize")
	d.keys("x").wantSelected("→ initialize")
	d.keys("jj", "x").want("belongs to no call").wantSelected("initialized")
	d.keys("G", "x").wantSelected("→ tools/call read_text_file", "7")
	d.keys("x").want("no answer: ").wantSelected("→ tools/call read_text_file")
	d.keys("/", "kind:req", "enter", "g", "x").want("the filter hid it").wantSelected("result initialize")
}

func TestNextOdd(t *testing.T) {
	d, _ := openFilesystem(t)
	d.keys("g", "n").wantSelected("not a message")
	d.keys("n").wantSelected("✗ failed", "5")
	d.keys("N").wantSelected("not a message")
	d.keys("N").want("none before: from the end again").wantSelected("read_text_file", "◔")
	d.keys("n").want("from the top again").wantSelected("not a message")
	d.keys("G", "n").want("the call that waits longest").wantSelected("read_text_file", "◔")
	d.keys("/", "kind:notify", "enter", "n").want("no other failed, open or odd frame")
}

func TestFilter(t *testing.T) {
	d, tp := openFilesystem(t)
	d.keys("/", "kind:req").want("6 of 15 frames").wantNot("↳ result")
	d.keys("enter").want("$ mcpsnoop tail -f --where kind:req")
	tp.c2s(time.Second, `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	d.arrives().want("7 of 16 frames", "ping")
	d.keys("/", "esc").want("7 of 16 frames")
	d.keys("esc").want("16 frames ·").wantNot("kind:req")
	d.keys("/", "status:zz", "enter").want("column 8")
	d.keys("esc").want("16 frames ·")
	d.keys("/", "up").want("/ kind:req", "7 of 16 frames")
	d.keys("ctrl+u", "tool:raed", "enter").want("2 of 16 frames")
}

// A filter that looks at operations sees those that go on without new rows of
// their own among what it shows.
func TestFilterFollowsCalls(t *testing.T) {
	d, tp := openFilesystem(t)
	d.keys("/", "status:pending kind:req", "enter").want("1 of 15 frames")
	tp.s2c(time.Second, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
	d.arrives().want("0 of 16 frames", "no frame fits the filter")
}

func TestCompletion(t *testing.T) {
	d, _ := openFilesystem(t)
	d.keys("/", "stat", "tab").want("/ status:")
	d.keys("tool:ra", "ctrl+u", "tool:ra").want("raed_file")
	d.keys("tab").want("/ tool:raed_file", "2 of 15 frames")
	d.keys("esc", ":", "the", "tab", "n", "tab").want(": theme none")
	d.keys("enter")
	if d.m.d.theme.name != "none" {
		t.Errorf("the theme is %s; want none", d.m.d.theme.name)
	}
	d.keys(":", "nonsense", "enter").want("no command nonsense")
	d.keys("esc", ":", "13", "enter").wantSelected("raed_file")
	d.keys(":", "999", "enter").want("no frame has the number 999")
}

func TestCopy(t *testing.T) {
	f := newFixture()
	tp := filesystem(f)
	tp.s2c(time.Second, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"größe 🎉\u0007"}]}}`)
	d := sitDown(t, f, 120, 30, Options{Open: tp.s.ID})
	if got := d.copied("y"); got != `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"größe 🎉\u0007"}]}}` {
		t.Errorf("y copies %q; want the frame as it stood on the wire", got)
	}
	d.want("copied frame #17, ", "tail --format jsonl --where seq=17")
	d.keys("enter", "jj")
	if got := d.copied("Y"); got != "7" {
		t.Errorf("Y copies %q; want the id", got)
	}
	d.keys("j")
	if got := d.copied("Y"); !strings.HasPrefix(got, `{"content":`) || !strings.HasSuffix(got, "}]}") {
		t.Errorf("Y copies %q; want the result", got)
	}
	d.copied("e")
	d.want("copied the export command", "$ mcpsnoop export -T html -o "+tp.s.ID+".html")
}

func TestCopyOfALargeFrame(t *testing.T) {
	f := newFixture()
	tp := f.session("big")
	tp.s2c(0, `{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("x", 8<<20)+`"}`)
	d := sitDown(t, f, 120, 30, Options{Open: tp.s.ID})
	if got := d.copied("y"); got != "" {
		t.Errorf("%d bytes are sent to the clipboard", len(got))
	}
	d.want("too long for a terminal's clipboard", "$ mcpsnoop tail --format jsonl")
}

// copied presses a key and gives what it sends to the clipboard.
func (d *desk) copied(key string) string {
	d.t.Helper()
	before := len(d.clipboard)
	d.keys(key)
	for range 200 {
		select {
		case msg := <-d.msgs:
			d.take(msg)
		case <-time.After(time.Millisecond):
		}
		if len(d.clipboard) > before {
			return d.clipboard[before]
		}
	}
	return ""
}

func TestSort(t *testing.T) {
	d, _ := openFilesystem(t)
	d.keys("D").want("DUR▾", "sorted by DUR")
	d.keys("g").wantSelected("◕ 42s")
	d.keys("D").want("DUR▴")
	d.keys("esc").wantNot("DUR▴").want("in the order of the log")
	d.keys("G", "E").wantSelected("progress") // never a column
}

func TestMarks(t *testing.T) {
	d, _ := openFilesystem(t)
	d.keys("g", "space")
	if n := strings.Count(d.screen(), "◆"); n != 1 {
		t.Errorf("%d rows are marked; want 1", n)
	}
	d.keys("k", "space").wantNot("◆")
}

func TestSessions(t *testing.T) {
	d := sitDown(t, several(), 120, 24, Options{})
	d.want("3 sessions", "● 1 live").wantSelected("filesystem")
	d.keys("/", "vscode").want("1 of 3 sessions").wantSelected("weather")
	d.keys("enter", "esc").want("3 sessions")
	d.keys("L", "g").wantSelected("github")
	d.keys("enter").want("mcpsnoop › sessions › github", "62 frames", "■ exit 0")
	d.keys("esc").want("3 sessions").wantSelected("github")
	d.keys(":", "open weath", "enter").want("› weather-server-with-a-long-name", "✗ exit 1")
	d.keys(":", "sessions", "enter").want("3 sessions")
	d.keys("esc").want("this is the first screen")
	d.keys("r").want("sending the calls again: $ mcpsnoop replay github-")
	d.keys("w").want("› findings", "github")
}

func TestMouse(t *testing.T) {
	d, tp := openFilesystem(t)
	click := func(x, y int) { d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(20, 5)
	d.wantSelected("notifications/initialized")
	click(20, 5)
	d.want("#4", `"method": "notifications/initialized"`)
	d.keys("esc")
	click(5, 2)
	d.want("TIME▴")
	click(0, 0)
	for range 40 {
		tp.c2s(time.Second, `{"jsonrpc":"2.0","method":"notifications/x"}`)
	}
	d.keys("esc").arrives()
	d.keys("g")
	d.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	d.wantNot("→ initialize ").wantSelected("stderr")
	d.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	d.want("→ initialize ")
}

func TestPanes(t *testing.T) {
	f := newFixture()
	tp := filesystem(f)
	d := sitDown(t, f, 140, 30, Options{Open: tp.s.ID})
	d.want("─ #16 ─")
	d.keys("k").want("─ #15 ─", `"path": "/mnt/slow/report.csv"`)
	d.keys("tab").want("━ #15 ━").keys("j", "]").want("━ #16 ━").keys("[").want("━ #15 ━")
	d.keys("x").want("no answer").keys("tab").want("─ #15 ─")
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.wantNot("#15").keys("tab").want("one pane")
	d.keys("enter").want("━ #15 ━").keys("esc").wantNot("#15")
}

// What waits gets older once a second, and nothing else makes the screen tick.
func TestAging(t *testing.T) {
	d, tp := openFilesystem(t)
	d.want("◕ 42s")
	if !d.m.top().ages(d.m.now()) {
		t.Error("a call waits, and nothing ticks")
	}
	d.now = d.now.Add(70 * time.Second)
	d.arrives().want("● 1m52s")
	d.keys("g", "/", "kind:notify", "enter")
	if d.m.top().ages(d.m.now()) {
		t.Error("nothing that waits is on the screen, and it ticks")
	}
	d.keys("esc", "G")
	tp.end(137)
	d.arrives().want("⊘ no answer", "✗ exit 137").wantNot("1m52s")
	if d.m.top().ages(d.m.now()) {
		t.Error("the session has ended, and it ticks")
	}
	d.keys("k", "enter").want("no answer")
}

// A log that was truncated and written anew comes back as another session of
// the same id.
func TestReplacedLog(t *testing.T) {
	d, tp := openFilesystem(t)
	f := tp.f
	d.keys("g", "enter").want("━ #2 ━")
	s, a := store.NewSession(tp.s.ID, "/state/sessions/new.jsonl", store.Limits{}, nil)
	f.mu.Lock()
	f.list = []*store.Session{s}
	f.mu.Unlock()
	d.arrives().want("the log was replaced").wantNot("#2")
	a.Append(&capture.Item{Line: 1, Record: capture.Record{SessionID: s.ID, Seq: 1, TS: start, Direction: capture.C2S, Transport: capture.Stdio, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)}})
	a.Publish()
	d.arrives().want("1 frame")
}

// The inspector says what it cannot show.
func TestUnreadableBody(t *testing.T) {
	d, tp := openFilesystem(t)
	tp.f.mu.Lock()
	tp.f.logs[tp.s.Path] = nil
	tp.f.mu.Unlock()
	d.keys("g", "enter").want("could not be read again").keys("y").want("not copied")
}

// Nothing of the wire reaches the terminal as it is, in whatever place.
func TestHostileText(t *testing.T) {
	f := newFixture()
	f.exchange(t, cases+"/87-terminal-escape-injection/exchange.jsonl")
	for _, size := range [][2]int{{80, 24}, {160, 45}} {
		d := sitDown(t, f, size[0], size[1], Options{Open: f.list[0].ID})
		for _, keys := range [][]string{{"g"}, {"jj"}, {"enter"}, {"G"}, {"b"}, {"b", "esc"}, {"jj", "enter"}, {"esc", "/", "evil"}, {"enter", "?"}, {"esc", ":", "open "}} {
			d.keys(keys...)
			raw := d.m.View().Content
			for _, bad := range []string{"\x1b]52", "\x1b]8", "\x1b]0", "\x1bc", "\x1b[2J", "\u009b", "\u202e", "\x00", "\a", "\r"} {
				if strings.Contains(raw, bad) {
					t.Errorf("after %q the screen sends %q", keys, bad)
				}
			}
		}
		d.keys("esc", "esc").want(`\x1b[2J`)
	}
}
