package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// judged begins a session whose frames the rules look at as they come.
func (f *fixture) judged(label string) *tape {
	id := label + "-4821-7f3a1c9e2b0" + string(rune('a'+len(f.list)))
	s, a := store.New(store.Limits{}).Open(id, "/state/sessions/"+id+".jsonl", func(_ *store.Session, a *store.Appender) store.Observer {
		return checks.NewEngine(checks.Options{Mark: a.Mark, Found: func(x *checks.Finding) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.words[fmt.Sprint(id, x.Rule.ID, x.Frame)] = strings.TrimPrefix(x.Tool+": "+x.Message, ": ")
		}})
	})
	return f.begin(label, s, a)
}

// Message is that of Messages.
func (f *fixture) Message(s *store.Session, rule string, frame uint32) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.words[fmt.Sprint(s.ID, rule, frame)]
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.4"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{}}}`

// airline is the session that the sheets are drawn of: tools that are called,
// that fail and that nobody calls, a call that asks the user twice, one that
// hangs, and rules that are broken.
func airline(f *fixture) *tape {
	t := f.judged("airline")
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	call := func(after, id int, name, more string) {
		t.c2s(ms(after), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,%s%s}}`, id, name, more, modernMeta))
	}
	answer := func(after, id int, result string) {
		t.s2c(ms(after), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete",%s}}`, id, result))
	}
	asks := func(after, id int, what string) {
		t.s2c(ms(after), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required",%s}}`, id, what))
	}
	t.c2s(0, `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{`+modernMeta+`}}`)
	t.s2c(ms(40), `{"jsonrpc":"2.0","id":"d","result":{"resultType":"complete","ttlMs":60000,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{},"extensions":{"io.modelcontextprotocol/tasks":{},"com.example/seats":{"map":true}}},"serverInfo":{"name":"airline-desk","version":"3.1"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"airline-desk","version":"3.1"}}}}`)
	t.c2s(ms(5), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`)
	answer(9, 1, `"ttlMs":60000,"cacheScope":"private","tools":[`+
		`{"name":"search_flights","description":"Find flights between two airports on a day.","inputSchema":{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"day":{"type":"string","format":"date"}},"required":["from","to"]}},`+
		`{"name":"book_flight","description":"Book a seat.","inputSchema":{"type":"object","properties":{"flight":{"type":"string"}}}},`+
		`{"name":"cancel_booking","description":"Give a seat back.","inputSchema":{"properties":{"booking":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string"}}}},`+
		`{"name":"seat map","inputSchema":{"type":"object"}}]`)
	t.stderr(ms(20), "airline desk is open")
	t.stray(ms(200), "loading model…")
	for i := range 6 {
		call(300, 10+i, "search_flights", `"arguments":{"from":"VIE","to":"LIS"},`)
		answer(40+60*i*i, 10+i, `"content":[{"type":"text","text":"OS353 07:10, TP1273 11:45"}]`)
	}
	call(500, 20, "search_flights", `"arguments":{"from":"VIE"},`)
	answer(15, 20, `"content":[{"type":"text","text":"to is missing"}],"isError":true`)
	call(1500, 30, "book_flight", `"arguments":{"flight":"OS353"},`)
	asks(600, 30, `"inputRequests":{"seat":{"method":"elicitation/create","params":{"mode":"form","message":"Which seat would you like?","requestedSchema":{"type":"object","properties":{"row":{"type":"integer","title":"Row"},"side":{"type":"string","enum":["window","aisle"]}}}}}},"requestState":"s1"`)
	call(12000, 31, "book_flight", `"arguments":{"flight":"OS353"},"inputResponses":{"seat":{"action":"accept","content":{"row":12,"side":"window"}}},"requestState":"s1",`)
	asks(300, 31, `"inputRequests":{"pay":{"method":"elicitation/create","params":{"mode":"url","message":"Pay for the seat","url":"https://pay.example/checkout?id=77"}}},"requestState":"s2"`)
	call(9000, 32, "book_flight", `"arguments":{"flight":"OS353"},"inputResponses":{"pay":{"action":"decline"}},"requestState":"s2",`)
	answer(200, 32, `"content":[{"type":"text","text":"not booked"}]`)
	call(400, 33, "book_flight", `"arguments":{"flight":"TP1273"},`)
	t.s2c(ms(500), `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}`)
	return t
}

// sheetScenes are the sheets that are kept as golden files.
var sheetScenes = []struct {
	name string
	keys []string
}{
	{"findings", []string{"w", "j"}},
	{"tools", []string{"s", "jj"}},
	{"tools-lost", []string{"s", "/", "never", "enter"}},
	{"findings-filter", []string{"w", "/", "tool -note"}},
	{"findings-pane", []string{"w", "j", "tab"}},
	{"calls-filter", []string{"i", "/", "book", "enter", "y"}},
	{"calls", []string{"i"}},
	{"calls-sorted", []string{"i", "L"}},
	{"capabilities", []string{"c", "j"}},
	{"elicitations", []string{"l", "j"}},
	{"interactions", []string{"i", "i", "g"}},
}

func TestSheetScreens(t *testing.T) {
	for _, sc := range sheetScenes {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				f := newFixture()
				airline(f)
				s := boot(t, f, size[0], size[1], Options{Open: f.list[0].ID, Messages: f})
				s.keys(sc.keys...)
				golden(t, fmt.Sprintf("screens/%s-%dx%d.txt", sc.name, size[0], size[1]), s.text())
			})
		}
	}
}

// A sheet leads to the frames it is about, and back.
func TestSheetLeadsToFrames(t *testing.T) {
	f := newFixture()
	airline(f)
	for _, size := range sizes {
		d := sitDown(t, f, size[0], size[1], Options{})
		d.keys("w").want("findings", "RULE")
		d.keys("esc").want("sessions")
		d.keys("enter", "w").want("findings")
		for range d.m.top().(*sheet).page.len() {
			d.keys("j")
		}
		d.keys("enter").want("#")
		if _, ok := d.m.top().(*stream); !ok {
			t.Fatalf("enter leads to %T", d.m.top())
		}
		d.keys("w")
		if n := len(d.m.stack); n != 3 {
			t.Errorf("a sheet that lies below is opened again: %d screens", n)
		}
		d.keys("R", "R", "?").want("help")
		d.keys("esc", "esc")
		if _, ok := d.m.top().(*stream); !ok {
			t.Errorf("esc leads to %T", d.m.top())
		}
	}
}

// enter on a tool shows its calls, and what nobody called is still there.
func TestTools(t *testing.T) {
	f := newFixture()
	airline(f)
	d := sitDown(t, f, 100, 30, Options{Open: f.list[0].ID})
	d.keys("s").want("definitions", "574 B of 4 tools", "heaviest result", "348 B by book_flight", "2 never called", "no root +")
	d.keys("C").wantSelected("search_flights").keys("g").wantSelected("search_flights")
	d.keys("C").want("sorted by CALLS").keys("g").wantSelected("never")
	d.keys("G", "enter").want("tool:=\"search_flights\"", "14 of 28 frames", "tools › search_flights")
	d.keys("esc", "esc").want("› tools").wantSelected("search_flights")
	d.keys("g", "enter").want("request").keys("esc", "esc").want("› tools")
}

// Bars and the axis over them.
func TestBars(t *testing.T) {
	s := time.Second
	hop := func(wait, server time.Duration) store.Hop { return store.Hop{Wait: wait, Server: server} }
	d := &dress{g: &unicodeGlyphs}
	for _, tt := range []struct {
		name   string
		at     time.Duration
		client bool
		open   bool
		live   bool
		hops   []store.Hop
		want   string
	}{
		{"short", 0, true, false, true, []store.Hop{hop(0, s/10)}, "▏         "},
		{"long", 2 * s, true, false, true, []store.Hop{hop(0, 3*s)}, "  ███     "},
		{"asks", s, true, false, true, []store.Hop{hop(0, s), hop(4*s, s)}, " █░░░░█   "},
		{"open", 6 * s, true, true, true, []store.Hop{hop(0, 4*s)}, "      ███◔"},
		{"dead", 6 * s, true, true, false, []store.Hop{hop(0, 4*s)}, "      ███⊘"},
		{"just asked", 10 * s, true, true, true, []store.Hop{hop(0, 0)}, "         ◔"},
		{"of the server", 3 * s, false, false, true, []store.Hop{hop(0, 2*s)}, "   ░░     "},
	} {
		r := callRow{op: &store.Operation{}, root: &store.Operation{Client: tt.client, Start: int64(tt.at)}, live: tt.live, axis: &axis{span: 10 * s}}
		r.chain = store.Chain{Hops: tt.hops, Open: tt.open}
		if got := (&theme{}).render(nil, of(r.bar(d, 10)...)); string(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		span time.Duration
		want Text
	}{
		{10 * s, "0s          5s"}, {90 * s, "0s              1m"}, {7 * time.Millisecond, "0s               5ms"}, {3 * time.Hour, "0s              2h"},
	} {
		a := axis{span: tt.span}
		if got := a.ticks(24); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.span, got, tt.want)
		}
	}
}
