package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// release is a session of a server in one of two versions.
func release(f *fixture, later bool) *tape {
	pick := func(before, after string) string {
		if later {
			return after
		}
		return before
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	t := f.session("tickets")
	if later {
		t.at = start.Add(10 * time.Second)
	}
	t.c2s(0, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1"}}}`)
	t.s2c(ms(20), `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"tickets","version":"`+pick("1.0", "1.1")+`"}}}`)
	t.c2s(ms(5), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	t.s2c(ms(5), `{"jsonrpc":"2.0","id":1,"result":{"tools":[`+
		`{"name":"search","description":"`+pick("Find tickets.", "Find tickets and people.")+`","inputSchema":{"type":"object","properties":{"q":{"type":"string"`+pick("", `,"maxLength":80`)+`}}}},`+
		pick(`{"name":"close","inputSchema":{"type":"object"}},`, `{"name":"reopen","inputSchema":{"type":"object"}},`)+
		`{"name":"assign","annotations":{"readOnlyHint":`+pick("true", "false")+`},"inputSchema":{"type":"object"}}]}}`)
	t.c2s(ms(5), `{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)
	t.s2c(ms(5), `{"jsonrpc":"2.0","id":2,"result":{"prompts":[{"name":"triage","description":"`+pick("Sort new tickets", "Sort all tickets")+`"}]}}`)
	call := func(id int, name, args string, took int, result string) {
		t.c2s(ms(100), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, args))
		t.s2c(ms(took), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result))
	}
	call(10, "search", `{"q":"login"}`, 40, `{"content":[],"structuredContent":{"hits":`+pick("3", "4")+`,"first":"T-`+pick("1", "9")+`"}}`)
	call(11, "search", `{"q":"slow"}`, map[bool]int{false: 60, true: 900}[later], `{"content":[{"type":"text","text":"none"}]}`)
	call(12, "assign", `{"id":7,"to":"ann"}`, 30, pick(`{"content":[]}`, `{"content":[{"type":"text","text":"not allowed"}],"isError":true}`))
	call(13, "search", `{"q":"same"}`, 10, `{"content":[{"type":"text","text":"T-5"}]}`)
	if later {
		call(14, "reopen", `{"id":7}`, 10, `{"content":[]}`)
	} else {
		call(14, "close", `{"id":7}`, 10, `{"content":[]}`)
		call(15, "close", `{"id":8}`, 10, `{"content":[]}`)
	}
	return t.end(0)
}

func releases() *fixture {
	f := newFixture()
	release(f, false)
	release(f, true)
	slices.Reverse(f.list) // the newest first
	return f
}

var compareScenes = []struct {
	name string
	keys []string
}{
	{"compare", []string{"space", "space", "d"}},
	{"compare-call", []string{"space", "space", "d", "n", "n", "n", "n", "n"}},
	{"compare-folded", []string{"space", "space", "d", "-", "j"}},
}

func TestCompareScreens(t *testing.T) {
	for _, sc := range compareScenes {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				s := boot(t, releases(), size[0], size[1], Options{})
				s.keys(sc.keys...)
				golden(t, fmt.Sprintf("screens/%s-%dx%d.txt", sc.name, size[0], size[1]), s.text())
			})
		}
	}
}

// What is compared is what the command compares, whichever was marked first:
// the earlier session is the one before.
func TestCompare(t *testing.T) {
	f := releases()
	before, after := f.list[1], f.list[0]
	d := sitDown(t, f, 120, 40, Options{})
	d.keys("j", "d").want("mark two sessions")
	d.keys("k", "space", "k", "d").want("one session is marked")
	d.keys("j", "d").want("compare", "Tools", "search", "description", "Prompts", "triage", "Answers that differ", "Calls in one of them alone", "How long the tools take")
	d.want("regressions", "4 calls in both")
	if got := d.copied("y"); got != "mcpsnoop diff "+before.ID+" "+after.ID {
		t.Errorf("copied %q", got)
	}
	if got := d.copied("y"); !strings.HasPrefix(got, "assign: annotations") {
		t.Errorf("y again copied %q", got)
	}
	d.wantSelected("assign", "readOnlyHint", "true", "false")
	d.keys("enter").want("#5", "tools/list").keys("esc", "esc").want("› compare").wantSelected("assign")
	d.keys("g", "-").wantNot("triage").wantSelected("Tools").keys("enter").want("reopen").wantNot("triage").keys("+").want("triage")
	d.keys("g", "n", "n", "n").wantSelected("search", "description")
	for range 20 {
		d.keys("n")
		if strings.Contains(d.selected(), "slower") {
			break
		}
	}
	d.wantSelected("search", "slower", "60ms", "900ms")
	d.keys("enter").want(`"q": "slow"`, "900ms").keys("esc", "esc", "x").want(`"q": "slow"`, "60ms").keys("esc", "esc")
	d.keys("G", "left").wantSelected("How long the tools take")
	d.keys("k").wantSelected("reopen", "only after").keys("enter").want(`tool:="reopen"`, "2 of").keys("esc", "esc").want("› compare")
	d.keys("k").wantSelected("close", "only before", "2 calls").keys("enter").want(`tool:="close"`, "4 of")
}

// :compare takes names, and says what is missing.
func TestCompareCommand(t *testing.T) {
	f := releases()
	d := sitDown(t, f, 100, 30, Options{})
	d.keys(":", "compare tickets", "enter").want("which two sessions?")
	d.keys("esc", ":", "compare tickets tickets", "enter").want("› compare", "tickets 2b0a → tickets 2b0b")
	d.keys("esc", ":", "compare tickets nothing", "enter").want("no other session is called nothing")
}

// A session that goes on is compared again, and what was selected and folded
// stays so.
func TestCompareGoesOn(t *testing.T) {
	f := newFixture()
	a, b := filesystem(f), filesystem(f)
	d := sitDown(t, f, 100, 30, Options{})
	d.keys("space", "space", "d").want("no difference")
	b.c2s(time.Second, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"list_directory","arguments":{}}}`)
	s := d.m.top().(*compare)
	d.arrives()
	s.ended = s.ended.Add(-time.Hour)
	d.arrives().want("1 difference", "list_directory", "only")
	_ = a
}

// esc ends a comparison, and nothing is left at work.
func TestCompareStops(t *testing.T) {
	f := twoLarge(4000)
	d := sitDown(t, f, 100, 30, Options{})
	d.keys("space", "space")
	_, cmd := d.m.Update(namedKey("d"))
	d.run(cmd)
	s := d.m.top().(*compare)
	if !s.busy {
		t.Fatal("nothing is compared")
	}
	d.want("comparing", "esc stops")
	d.keys("esc").want("sessions")
	if s.busy || d.m.working > 0 {
		t.Errorf("busy %v, %d pieces of work are left", s.busy, d.m.working)
	}
}

func TestCompareEverySize(t *testing.T) {
	f := everyCase(t)
	d := sitDown(t, f, 100, 30, Options{})
	d.keys("space")
	for k := range 12 {
		d.at(100, 30)
		d.keys("d")
		for n, size := range sizesToTry() {
			if n%23 == k {
				d.at(size[0], size[1])
				d.check(fmt.Sprint("compare ", k))
			}
		}
		if strings.ContainsAny(d.screen(), "\x1b\a\r\u202e\u009b") {
			t.Errorf("a control reaches the screen")
		}
		if t.Failed() {
			return
		}
		d.at(100, 30)
		d.keys("esc", "jjj")
	}
}

// A key is answered in time while two sessions of half a million frames are
// compared, and after (-timed).
func TestCompareKeysAreAnswered(t *testing.T) {
	n := 20_000
	if *timed {
		n = 500_000
	}
	d := sitDown(t, twoLarge(n), 160, 50, Options{})
	d.keys("space", "space")
	_, cmd := d.m.Update(namedKey("d"))
	d.run(cmd)
	d.m.View()
	for k := 0; d.m.working > 0; k++ {
		if k%7 == 0 {
			begin := time.Now()
			_, cmd := d.m.Update(namedKey("j"))
			d.m.View()
			if took := time.Since(begin); *timed && took > 50*time.Millisecond*slower {
				t.Errorf("a key while comparing takes %v", took)
			}
			d.run(cmd)
		}
		d.take(<-d.msgs)
	}
	d.timed("j", "G", "g", "-", "+", "n", "N", "left", "right")
}
