package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// fakeReplayer answers each call as it is told to.
type fakeReplayer struct {
	f      *fixture
	answer string // "" for none
	err    error
	http   bool
	hold   chan struct{} // when not nil, answers wait for it
	sent   []string      // requests
}

func (r *fakeReplayer) body(s *store.Session, frame uint32) []byte {
	rec, err := r.f.Body(s, frame)
	if err != nil {
		panic(err)
	}
	return rec.Raw
}

func (r *fakeReplayer) Params(s *store.Session, op uint32) ([]byte, error) {
	m := wire.ParseMessage(r.body(s, s.Op(store.OpIndex(op)).Request))
	if m.Params == nil {
		return []byte("{}"), nil
	}
	return m.Params, nil
}

func (r *fakeReplayer) Plan(s *store.Session, op uint32, params []byte) (ReplayPlan, error) {
	o := s.Op(store.OpIndex(op))
	if s.OpMethod(o) == "initialize" {
		return ReplayPlan{}, errors.New("initialize cannot be sent again: a replay makes its own handshake")
	}
	p := ReplayPlan{
		Session: s, Op: op, Target: "node server.js --root /srv/data", Starts: true, Dir: "/srv", Method: s.OpMethod(o), Name: s.OpName(o),
		Command: "mcpsnoop replay --where seq:12 files -- node server.js --root /srv/data", Edited: params != nil,
	}
	if r.http {
		p.Target, p.Starts, p.Dir = "https://api.example.com/mcp", false, ""
	}
	if params != nil {
		if err := wire.Check(params); err != nil {
			return p, fmt.Errorf("the params are no JSON: %w", err)
		}
		p.Command = ""
	} else {
		params, _ = r.Params(s, op)
	}
	p.Request = []byte(`{"jsonrpc":"2.0","id":2,"method":"` + p.Method + `","params":` + string(wire.AppendCompact(nil, params)) + `}`)
	p.Recorded.State = o.State
	if at, ok := o.Answer(); ok {
		p.Recorded.Message, p.Recorded.Took = r.body(s, at), time.Duration(s.Frame(at).TS-o.Start)
	}
	return p, nil
}

func (r *fakeReplayer) Send(ctx context.Context, p ReplayPlan) (ReplayAnswer, error) {
	r.sent = append(r.sent, string(p.Request))
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-ctx.Done():
			return ReplayAnswer{}, context.Cause(ctx)
		}
	}
	a := ReplayAnswer{Notes: []string{"stderr: listening \x1b[31mred"}}
	a.Took = 230 * time.Millisecond
	if r.answer != "" {
		a.Message, a.State = []byte(r.answer), store.OK
		if strings.Contains(r.answer, `"error"`) {
			a.State = store.Failed
		}
	}
	return a, r.err
}

const otherAnswer = `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"one\ntwo\nthree and a half\n"},{"type":"text","text":"` + "\u202e" + `new"}],"isError":false,"structuredContent":{"count":2}}}`

// replaying is a session with one call that was answered, and the answer that
// comes now.
func replaying(answer string, err error) (*fixture, *fakeReplayer) {
	f := newFixture()
	t := f.session("files")
	t.c2s(0, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"editor","version":"9"}}}`)
	t.s2c(80*time.Millisecond, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}}`)
	t.c2s(time.Second, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"/srv/data/notes.txt","lines":[1,2,3],"tag":"a`+"\u202e"+`b"}}}`)
	t.s2c(1200*time.Millisecond, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"one\ntwo\nthree\n"}],"structuredContent":{"count":1,"secret":"[REDACTED:12ab]"}}}`)
	t.stray(time.Second, "no call at all")
	return f, &fakeReplayer{f: f, answer: answer, err: err}
}

var replayScenes = []struct {
	name, answer string
	err          error
	http         bool
	keys         []string
}{
	{"replay-ask", otherAnswer, nil, false, []string{"g", "jjj", "r"}},
	{"replay-ask-http", otherAnswer, nil, true, []string{"g", "jjj", "r"}},
	{"replay", otherAnswer, nil, false, []string{"g", "jjj", "r", "y"}},
	{"replay-failed", "", errors.New("the server ended (exit status 3) before it answered"), false, []string{"g", "jjj", "r", "y"}},
	{"replay-error", `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown tool"}}`, nil, false, []string{"g", "jjj", "r", "y"}},
	{"edit", otherAnswer, nil, false, []string{"g", "jj", "E"}},
	{"edit-wrong", otherAnswer, nil, false, []string{"g", "jj", "E", "down", "down", "x", "ctrl+s"}},
}

func TestReplayScreens(t *testing.T) {
	for _, sc := range replayScenes {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				f, r := replaying(sc.answer, sc.err)
				r.http = sc.http
				d := sitDown(t, f, size[0], size[1], Options{Open: f.list[0].ID, Actions: Actions{Replay: r}})
				d.keys(sc.keys...)
				d.check(sc.name)
				golden(t, fmt.Sprintf("screens/%s-%dx%d.txt", sc.name, size[0], size[1]), d.screen())
			})
		}
	}
}

// Signs and words say what colours say, with and without them.
func TestReplayThemes(t *testing.T) {
	for name, env := range map[string][]string{
		"dark": utf8Env,
		"none": {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=1"},
	} {
		for _, size := range sizes[:3] {
			f, r := replaying(otherAnswer, nil)
			s := boot(t, f, size[0], size[1], Options{Open: f.list[0].ID, Theme: "dark", Env: env, Actions: Actions{Replay: r}})
			s.keys("g", "jjj", "r", "y")
			golden(t, fmt.Sprintf("themes/replay-%s-%dx%d.txt", name, size[0], size[1]), s.colours())
		}
	}
}

// Asked once a session, sent as often as one likes, and from each screen that
// shows calls.
func TestReplayKeys(t *testing.T) {
	f, r := replaying(otherAnswer, nil)
	d := sitDown(t, f, 120, 40, Options{Open: f.list[0].ID, Actions: Actions{Replay: r}})
	d.keys("g", "jjj", "r")
	if len(r.sent) != 0 || !strings.Contains(d.screen(), "run node server.js") {
		t.Fatalf("sent %q without having asked:\n%s", r.sent, d.screen())
	}
	d.keys("n")
	if len(r.sent) != 0 || !strings.Contains(d.screen(), "left as it is") {
		t.Errorf("sent %q after a no", r.sent)
	}
	d.keys("r", "y", "r", "esc", "i", "r")
	if len(r.sent) != 3 {
		t.Errorf("sent %d times; want 3, with one question", len(r.sent))
	}
	d.keys("esc", "esc", "g", "jjjjj", "r")
	if !strings.Contains(d.screen(), "belongs to no call") {
		t.Errorf("a frame of no call:\n%s", d.screen())
	}
	d.keys("g", "j", "r")
	if !strings.Contains(d.screen(), "a replay makes its own handshake") || len(r.sent) != 3 {
		t.Errorf("the handshake:\n%s", d.screen())
	}
}

// Copying gives the answer as it came, then the request, then the command.
func TestReplayCopies(t *testing.T) {
	f, r := replaying(otherAnswer, nil)
	d := sitDown(t, f, 120, 40, Options{Open: f.list[0].ID, Actions: Actions{Replay: r}})
	d.keys("g", "jjj", "r", "y")
	for _, want := range []string{otherAnswer, r.sent[0], "mcpsnoop replay --where seq:12 files -- node server.js --root /srv/data"} {
		d.keys("y")
		if !eventually(func() bool { return len(d.clipboard) > 0 && d.clipboard[len(d.clipboard)-1] == want }, d) {
			t.Errorf("copied %q; want %q", d.clipboard, want)
		}
	}
}

// eventually waits for what a command brings that is no work of the Model's.
func eventually(ok func() bool, d *desk) bool {
	for range 100 {
		if ok() {
			return true
		}
		select {
		case msg := <-d.msgs:
			d.take(msg)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return ok()
}

// A call under way says how long, and esc ends it.
func TestReplayGivenUp(t *testing.T) {
	f, r := replaying(otherAnswer, nil)
	r.hold = make(chan struct{})
	d := sitDown(t, f, 80, 24, Options{Open: f.list[0].ID, Actions: Actions{Replay: r}})
	d.keys("g", "jjj", "r")
	_, cmd := d.m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
	d.run(cmd)
	d.take(<-d.msgs) // the lines of the recorded answer
	d.now = d.now.Add(7 * time.Second)
	_, cmd = d.m.Update(tickMsg{})
	d.run(cmd)
	golden(t, "screens/replay-sending-80x24.txt", d.screen())
	d.keys("esc")
	if !strings.Contains(d.screen(), "given up") || !strings.Contains(d.screen(), "no answer: context canceled") {
		t.Errorf("after esc:\n%s", d.screen())
	}
	d.keys("esc")
	if d.m.top().place() == inReplay {
		t.Error("a second esc does not go back")
	}
}

// What was edited is sent, what is no JSON is not, and both say where.
func TestReplayEdit(t *testing.T) {
	f, r := replaying(otherAnswer, nil)
	d := sitDown(t, f, 80, 24, Options{Open: f.list[0].ID, Actions: Actions{Replay: r}})
	d.keys("g", "jjj", "E")
	if s := d.screen(); !strings.Contains(s, `"tag": "a\u202eb"`) {
		t.Errorf("the text that is edited:\n%s", s)
	}
	d.keys("down", "right", "right", `"more":[],`, "ctrl+s")
	if !strings.Contains(d.screen(), "run node server.js") {
		t.Fatalf("it does not ask:\n%s", d.screen())
	}
	d.keys("y")
	if len(r.sent) != 1 || !strings.Contains(r.sent[0], `"params":{"more":[],"name":"read","arguments":{"path":"/srv/data/notes.txt","lines":[1,2,3],"tag":"a\u202eb"}}`) {
		t.Errorf("sent %q", r.sent)
	}
	if !strings.Contains(d.screen(), "edited") {
		t.Errorf("the screen does not say that it was edited:\n%s", d.screen())
	}
	d.keys("E", "x", "ctrl+s")
	if !strings.Contains(d.screen(), "line 1 column 1: want") || len(r.sent) != 1 {
		t.Errorf("what is wrong:\n%s", d.screen())
	}
	d.keys("esc")
	if d.m.top().place() != inEdit {
		t.Error("one esc drops what was typed")
	}
	d.keys("esc")
	if d.m.top().place() == inEdit {
		t.Error("a second esc does not go back")
	}
}

// A viewer who may not is told why, and what to type elsewhere.
func TestReplayDenied(t *testing.T) {
	f, _ := replaying("", nil)
	d := sitDown(t, f, 120, 40, Options{Open: f.list[0].ID, Actions: Actions{Denied: "operators only"}})
	d.keys("g", "jjj", "r")
	if s := d.screen(); !strings.Contains(s, "sending calls again: operators only") || !strings.Contains(s, "mcpsnoop replay --where seq:4 "+f.list[0].ID) {
		t.Errorf("it says:\n%s", s)
	}
}

func TestCompareAnswers(t *testing.T) {
	show := func(rows []answerRow) string {
		var b strings.Builder
		side := func(j *jsonRow) string {
			if j == nil {
				return "-"
			}
			return j.name + j.value
		}
		for _, r := range rows {
			if r.sign != rowSame {
				fmt.Fprintf(&b, "%s %s | %s\n", rowSigns[r.sign].text, side(r.left), side(r.right))
			}
		}
		return b.String()
	}
	result := func(s string) []byte { return []byte(`{"jsonrpc":"2.0","id":1,"result":` + s + `}`) }
	for _, tt := range []struct{ name, was, is, want string }{
		{"the same, written otherwise", `{"a":1.0,"b":"\u0041"}`, `{ "b":"A", "a":1 }`, ""},
		{"metadata and state", `{"_meta":{"t":1},"requestState":"x"}`, `{"_meta":{"t":2},"requestState":"y"}`, ""},
		{"a value", `{"a":1,"b":2}`, `{"a":1,"b":3}`, "~ \"b\": 2 | \"b\": 3\n"},
		{"members", `{"a":1,"c":2}`, `{"b":1,"c":2}`, "- \"a\": 1 | -\n+ - | \"b\": 1\n"},
		{"an element in between", `[1,2,4]`, `[1,2,3,4]`, "+ - | 3\n"},
		{"a line of a text", `{"t":"x\ny\nz"}`, `{"t":"x\nY\nz"}`, "~ y | Y\n"},
		{"what is hidden", `{"a":"[REDACTED:12ab]","b":1}`, `{"a":"s3cret","b":2}`, "~ \"b\": 1 | \"b\": 2\n"},
		{"another type", `{"a":{"x":1}}`, `{"a":[]}`, "~ \"a\": { | \"a\": []\n- \"x\": 1 | -\n- } | -\n"},
	} {
		if got := show(compareAnswers(result(tt.was), result(tt.is))); got != tt.want {
			t.Errorf("%s:\n%swant\n%s", tt.name, got, tt.want)
		}
	}
	long := "[" + strings.Repeat("1,", maxJSONRows) + "1]"
	rows := compareAnswers(result(long), result("[2,"+long[1:]))
	if len(rows) > 2*maxJSONRows+4 {
		t.Errorf("%d rows of a long answer", len(rows))
	}
}

func TestTextEdit(t *testing.T) {
	e := newTextEdit("{\n  \"a\": 1\n}")
	press := func(keys ...string) {
		for _, k := range keys {
			if msg, ok := namedKeys[k]; ok {
				e.key(msg)
				continue
			}
			for _, r := range k {
				e.key(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
	}
	press("down", "right", "right", "x", "backspace", "enter", "y")
	if got, want := e.text(), "{\n  \n  y\"a\": 1\n}"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	press("backspace", "backspace", "backspace", "backspace")
	if got, want := e.text(), "{\n  \"a\": 1\n}"; got != want {
		t.Errorf("joined again: %q; want %q", got, want)
	}
	e.at(len("{\n  \"a\""))
	if e.row != 1 || e.col != 5 {
		t.Errorf("at %d:%d; want 1:5", e.row, e.col)
	}
	e.insert("\x1b[31m\x00\tz\r\n")
	if got, want := e.text(), "{\n  \"a\"[31m  z\n: 1\n}"; got != want {
		t.Errorf("pasted: %q; want %q", got, want)
	}
	e.insert(strings.Repeat("é", 2*maxEdit))
	if n := len([]rune(e.text())); n > maxEdit || n != e.size {
		t.Errorf("%d characters, counted as %d; want at most %d", n, e.size, maxEdit)
	}
}

// Editing keeps the value: what a terminal should not get becomes an escape of
// JSON.
func FuzzIndentJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,2.50,{"b":null}],"":""}`, "{\"a\":\"\u202e\U0001F468\u200d\"}", `"\ud800"`, `[[[[]]]]`, "\t0 ", "\"\x7f\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		if wire.Check(v) != nil {
			return
		}
		got := indentJSON(nil, v, 0, false)
		if string(wire.AppendCanonical(nil, got)) != string(wire.AppendCanonical(nil, v)) {
			t.Fatalf("%q became %q", v, got)
		}
		if e := newTextEdit(string(got)); len(got) < maxEdit && e.text() != string(got) {
			t.Fatalf("%q is typed as %q", got, e.text())
		}
	})
}

// At every size each line is as wide as the screen, and the cursor of the
// editor is on it.
func TestReplayEverySize(t *testing.T) {
	f, r := replaying(otherAnswer, nil)
	for _, keys := range [][]string{{"g", "jjj", "r", "y"}, {"g", "jjj", "E", "down", "down", "down", "down"}} {
		d := sitDown(t, f, 80, 24, Options{Open: f.list[0].ID, Actions: Actions{Replay: r}})
		d.keys(keys...)
		for w := 40; w <= 200; w += 7 {
			for _, h := range []int{10, 11, 24, 60} {
				d.send(tea.WindowSizeMsg{Width: w, Height: h})
				d.check(keys[2])
				if _, c := d.m.lines(); c != nil && (c.X >= w || c.Y >= h) {
					t.Fatalf("the cursor stands at %d,%d of %dx%d", c.X, c.Y, w, h)
				}
			}
		}
	}
}

// The longest answers that are compared are drawn as quickly as a key is to be
// answered, and aligned while nobody waits for it.
func BenchmarkReplayDraw(b *testing.B) {
	long := func(odd string) []byte {
		var s strings.Builder
		s.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"list":["x"`)
		for i := range maxJSONRows {
			fmt.Fprintf(&s, `,"line %d %s %s"`, i, odd, strings.Repeat("word ", 40))
		}
		s.WriteString("]}}")
		return []byte(s.String())
	}
	f, _ := replaying("", nil)
	d := sitDown(b, f, 200, 60, Options{Open: f.list[0].ID})
	was, is := long("a"), long("b")
	r := newReplayScreen(d.m, ReplayPlan{Session: f.list[0], Op: 1, Recorded: ReplayEnd{Message: was}})
	r.answer = &ReplayAnswer{ReplayEnd: ReplayEnd{Message: is}}
	b.Run("compare", func(b *testing.B) {
		for b.Loop() {
			r.rows = compareAnswers(was, is)
		}
	})
	b.Run("lines", func(b *testing.B) {
		pen := replayPen{d: d.m.d, both: true}
		for b.Loop() {
			r.body = pen.body(r.rows, nil, "", 200)
		}
	})
	b.Run("draw", func(b *testing.B) {
		for b.Loop() {
			r.draw(200, 57)
		}
	})
}

// What the cases hold, however odd, is compared with each other and drawn
// within the screen.
func TestReplayEveryCase(t *testing.T) {
	f := everyCase(t)
	var before []byte
	n := 0
	for _, s := range f.list {
		d := sitDown(t, f, 80, 24, Options{Open: s.ID})
		for op := range min(s.OpLen(), 12) {
			at, ok := s.Op(op).Answer()
			if !ok {
				continue
			}
			rec, err := f.Body(s, at)
			if err != nil {
				t.Fatal(err)
			}
			r := newReplayScreen(d.m, ReplayPlan{
				Session: s, Op: uint32(op), Target: "node", Method: s.OpMethod(s.Op(op)), Name: s.OpName(s.Op(op)), Request: rec.Raw,
				Recorded: ReplayEnd{Message: before, State: store.OK},
			})
			r.answer, r.rows = &ReplayAnswer{ReplayEnd: ReplayEnd{Message: rec.Raw, State: store.OK}}, compareAnswers(before, rec.Raw)
			r.diffs, before = differences(r.rows), rec.Raw
			d.run(d.m.push(r))
			for _, size := range [][2]int{{40, 10}, {79, 24}, {120, 40}, {200, 60}} {
				d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				d.check(s.ID)
				d.keys("G")
				d.check(s.ID)
			}
			d.keys("esc")
			n++
		}
	}
	if n < 30 {
		t.Errorf("%d answers drawn; want those of all cases", n)
	}
}
