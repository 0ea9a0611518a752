package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// bin is a Trash over a fixture.
type bin struct {
	f    *fixture
	gone map[string]*store.Session
	fail error
}

func newBin(f *fixture) *bin { return &bin{f: f, gone: map[string]*store.Session{}} }

func (b *bin) Delete(_ context.Context, s *store.Session) error {
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	b.gone[s.ID] = s
	b.f.list = slices.DeleteFunc(slices.Clone(b.f.list), func(x *store.Session) bool { return x == s })
	return nil
}

func (b *bin) Restore(_ context.Context, id string) error {
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	b.f.list = append(slices.Clone(b.f.list), b.gone[id])
	delete(b.gone, id)
	return nil
}

func (b *bin) Command(list []*store.Session) string {
	return fmt.Sprintf("mv %d logs trash/", len(list))
}

// press writes no file, and keeps what was asked for.
type press struct {
	asked []ExportRequest
	fail  error
}

func (p *press) Export(_ context.Context, e ExportRequest) (Exported, error) {
	p.asked = append(p.asked, e)
	return Exported{"/home/u/" + e.Path, 12345, []string{"there is what looks like a secret"}}, p.fail
}

func (p *press) Command(e ExportRequest) string { return "mcpsnoop export -o " + e.Path }

// able are options of a viewer who may do everything.
func able(f *fixture) Options {
	return Options{Actions: Actions{Trash: newBin(f), Export: &press{}}}
}

// Deleting asks, names what goes, refuses what runs, and can be undone in steps.
func TestDelete(t *testing.T) {
	f := several()
	opts := able(f)
	d := sitDown(t, f, 100, 24, opts)
	d.keys("ctrl+d").want("not deleted: filesystem (filesystem-", "still runs")
	d.keys("j").wantSelected("github").keys("ctrl+d").want("move github (github-", "to the trash? y/n", "u brings it back", "y yes")
	d.keys("n").want("left as it is", "github").keys("ctrl+d", "esc").want("github")
	d.keys("ctrl+d", "enter").want("left as it is")
	d.keys("ctrl+d", "y").want("moved to the trash; u brings back", "$ mv 1 logs trash/", "2 sessions").wantSelected("weather")
	d.keys("ctrl+d", "y").want("1 session")
	d.keys("u").want("came back from the trash", "u brings back github").want("2 sessions")
	d.keys("u").want("github", "3 sessions").wantNot("u brings back")
	d.keys("u").want("nothing was deleted")
	d.keys("g", "space", "space", "space", "ctrl+d").want("move 2 sessions", "still running: left alone")
	d.keys("y").want("2 sessions moved to the trash", "1 session").wantNot("2 marked")
	d.keys("u").want("2 sessions came back", "3 sessions")
	b := opts.Actions.Trash.(*bin)
	b.fail = errors.New("no space left")
	d.keys("esc", "/", "github", "enter", "ctrl+d", "y").want("no space left")
	b.fail = nil
	d.keys("ctrl+d", "y")
	b.fail = errors.New("a file of this name is there already")
	d.keys("u").want("is there already")
	b.fail = nil
	d.keys("u").want("came back")
}

// Sessions of one log go together, and that is said.
func TestDeleteOfSeveralInOneLog(t *testing.T) {
	f := several()
	for i, s := range f.list {
		if i > 0 {
			s.Path = "/state/sessions/one.jsonl"
		}
	}
	d := sitDown(t, f, 100, 24, able(f))
	d.keys("j", "ctrl+d").want("1 other session lies in the same log and goes with it")
}

// Who may not delete is told so, and nothing is asked.
func TestDenied(t *testing.T) {
	f := several()
	d := sitDown(t, f, 100, 24, Options{Command: "ssh -p 2222 hub", Actions: Actions{Denied: "operators only"}})
	d.keys("j", "ctrl+d").want("deleting: operators only").keys("u").want("bringing back: operators only")
	if got := d.copied("e"); got != "ssh -p 2222 hub export -T html github-4821-7f3a1c9e2b0b > github-4821-7f3a1c9e2b0b.html" {
		t.Errorf("e copies %s", got)
	}
	d.want("copied the export command", "$ ssh -p 2222 hub export -T html")
	d.keys("enter", "/", "status:ok kind:req", "enter")
	if got := d.copied("e"); !strings.Contains(got, ` --where ''\''status:ok kind:req'\''' `) {
		t.Errorf("e copies %s; want the filter quoted for both shells", got)
	}
	d.keys(":", "export har x.har", "enter").want("export -T har")
}

// e asks for format and file, honours filter and marks, and says what was written.
func TestExport(t *testing.T) {
	f := several()
	opts := able(f)
	p := opts.Actions.Export.(*press)
	d := sitDown(t, f, 100, 24, opts)
	asked := func(sessions int, format, where, path string) {
		t.Helper()
		if len(p.asked) == 0 {
			t.Fatalf("nothing was exported:\n%s", d.screen())
		}
		e := p.asked[len(p.asked)-1]
		if len(e.Sessions) != sessions || e.Format != format || e.Where != where || e.Path != path {
			t.Errorf("asked for %d sessions as %s where %q to %s", len(e.Sessions), e.Format, e.Where, e.Path)
		}
		p.asked = nil
	}
	const id = "filesystem-4821-7f3a1c9e2b0a"
	d.keys("e").want("export html "+id+".html", "a page that needs nothing else", "OpenTelemetry", "filesystem")
	d.keys("enter").want("wrote /home/u/"+id+".html, 12.1 KiB", "$ mcpsnoop export -o "+id+".html", "looks like a secret")
	asked(1, "html", "", id+".html")
	d.keys("e", "tab", "tab").want("export json " + id + ".json").keys("enter")
	asked(1, "json", "", id+".json")
	d.keys("e", "ctrl+u", "har my file.har", "tab").want("export html my file.har").keys("enter")
	asked(1, "html", "", "my file.har")
	d.keys("e", "ctrl+u", "pdf x", "enter").want("column 1: formats are json, ").keys("esc")
	d.keys("space", "space", "e").want("2 sessions").keys("enter")
	asked(2, "html", "", id+"+1.html")
	d.keys("esc", "g", "enter", "/", "status:err", "enter", "e").want("only the calls of status:err").keys("enter")
	asked(1, "html", "status:err", id+".html")
	d.keys(":", "export text", "enter")
	asked(1, "text", "status:err", id+".txt")
	d.keys(":", "export har /tmp/a b.har", "enter")
	asked(1, "har", "status:err", "/tmp/a b.har")
	d.keys(":", "export pdf", "enter").want("column 8: formats are").keys("esc")
	p.fail = errors.New("there is a file of this name already")
	d.keys("e", "enter").want("not exported: there is a file of this name already")
	d.keys("esc", "w", "e").want("export html").keys("esc")
}

// An id from the wire makes no path.
func TestExportFileNames(t *testing.T) {
	f := newFixture()
	s, a := store.NewSession("../../etc/\x1b[2J évil", "/state/x.jsonl", store.Limits{}, nil)
	f.begin("l", s, a)
	d := sitDown(t, f, 100, 24, able(f))
	d.keys("e").want("export html .._.._etc__[2J__vil.html")
}

// y goes through the forms in which a thing can be copied.
func TestCopyCycle(t *testing.T) {
	f := several()
	d := sitDown(t, f, 120, 24, Options{})
	id := f.list[0].ID
	for _, want := range []string{f.list[0].Path, id, "mcpsnoop open " + id, f.list[0].Path} {
		if got := d.copied("y"); got != want {
			t.Errorf("y copies %s; want %s", got, want)
		}
	}
	d.want("copied the path of the log", "y again: the session's id")
	d.keys("j", "k")
	if got := d.copied("y"); got != f.list[0].Path {
		t.Errorf("after another key y copies %s; want the path", got)
	}
	d.keys("space", "space")
	if got := d.copied("y"); got != f.list[0].Path+"\n"+f.list[1].Path {
		t.Errorf("of marked sessions y copies %s", got)
	}
	d.keys("esc", "g", "enter", "g")
	for _, want := range []string{`"method":"initialize"`, "mcpsnoop tail --where id:0 " + id, f.list[0].Path, id} {
		if got := d.copied("y"); !strings.Contains(got, want) {
			t.Errorf("y copies %s; want %s", got, want)
		}
	}
	d.keys("enter", "jj")
	for _, want := range []string{`{"jsonrpc"`, "0", "mcpsnoop tail"} {
		if got := d.copied("y"); !strings.HasPrefix(got, want) {
			t.Errorf("in the inspector y copies %s; want %s", got, want)
		}
	}
}

// A call over HTTP as curl: what was recorded, and variables for what never is.
func TestCopyCurl(t *testing.T) {
	f := newFixture()
	s, a := store.NewSession("web-4821-7f3a1c9e2b0a", "/state/sessions/web.jsonl", store.Limits{}, nil)
	f.list = append(f.list, s)
	tp := &tape{f: f, s: s, a: a, at: start, tr: capture.HTTP}
	tp.add(capture.Record{Direction: capture.Meta, Raw: []byte(`{"target":"https://api.example.com/mcp"}`)}, 0)
	tp.add(capture.Record{
		Direction: capture.C2S, Exchange: 1, MCPSession: "00112233aabbccdd", MCPProtocolVersion: "2025-11-25",
		HTTP: &capture.HTTPFacts{Method: "POST", Path: "/mcp", Accept: "application/json, text/event-stream", ContentType: "application/json"},
		Auth: &capture.AuthFacts{Present: true, Scheme: "Bearer", SHA256: "0123456789abcdef"},
		Raw:  []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"it's $HOME"}}`),
	}, time.Second)
	d := sitDown(t, f, 100, 24, Options{Open: s.ID})
	d.keys("G")
	_ = d.copied("y")
	want := `curl -sS https://api.example.com/mcp \
  -H 'Content-Type: application/json' \
  -H 'Accept: application/json, text/event-stream' \
  -H 'MCP-Protocol-Version: 2025-11-25' \
  -H "Mcp-Session-Id: $MCP_SESSION_ID" \
  -H "Authorization: Bearer $TOKEN" \
  --data-raw '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"it'\''s $HOME"}}'`
	if got := d.copied("y"); got != want {
		t.Errorf("y copies\n%s\nwant\n%s", got, want)
	}
	if got := curl(&capture.Record{HTTP: &capture.HTTPFacts{Method: "GET"}, Auth: &capture.AuthFacts{Present: true, Scheme: "$(x)"}}, "", nil); !strings.HasPrefix(got, `curl -sS -X GET "$URL"`) || strings.Contains(got, "$(x)") {
		t.Errorf("without a target: %s", got)
	}
}

// Words on a sheet, its rows as text and JSON, and the pane beside it.
func TestSheetFilterCopyAndPane(t *testing.T) {
	f := newFixture()
	tp := airline(f)
	d := sitDown(t, f, 140, 40, Options{Open: tp.s.ID, Messages: f})
	d.keys("s", "/", "never").want("2 of 4 rows").keys("enter").want("$ mcpsnoop stats --tools --label airline")
	d.keys("/", "ctrl+u", "never -ROOT", "enter").want("1 of 4 rows").wantSelected("seat map")
	for _, want := range []string{"seat map  never  ·", `{"tool":"seat map","calls":"never","err":"·",`, "mcpsnoop stats --tools --label airline"} {
		if got := d.copied("y"); !strings.HasPrefix(got, want) {
			t.Errorf("y copies %q; want %q", got, want)
		}
	}
	d.keys("/", "ctrl+u", "nothing at all", "enter").want("0 of 4 rows", "no row holds these words").keys("enter", "y").want("nothing to copy")
	d.keys("esc").want("4 tools").keys("esc").want("28 frames")
	d.keys("w", "g").want("said     ", "tab pane").keys("tab").want("━ #5 ━")
	d.keys("]").want("━ #7 ━", "loading model…").keys("[", "tab").want("─ #5 ─").keys("j").want("─ #7 ─")
	d.keys("tab", "/", "model", "enter").want("1 of 1").keys("esc", "esc").wantNot("#7 ─")
	d.keys("tab").want("━ #7 ━").at(80, 24)
	d.wantNot("━ #7 ━").keys("tab").want("one pane below 120")
	d.at(140, 40)
	d.keys("i", "/", "book -open", "enter").want("1 of 11 rows").wantSelected("book_flight")
	tp.c2s(time.Second, `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"book_more",`+modernMeta+`}}`)
	tp.s2c(time.Second, `{"jsonrpc":"2.0","id":99,"result":{"resultType":"complete","content":[]}}`)
	d.arrives().want("2 of 12 rows", "book_more")
	d.keys("G", "enter").want("tools/call book_more")
}

// A tool that the client of the session drops says so; what others drop is listed.
func TestToolsThatClientsDrop(t *testing.T) {
	f := newFixture()
	airline(f)
	d := sitDown(t, f, 100, 34, Options{Open: f.list[0].ID})
	d.keys("s", "/", "cancel_booking", "enter").want("none: claude-code does not offer it to its model", "lost by", "js-root-not-object")
	d.keys("/", "ctrl+u", "search_flights", "enter").wantNot("claude-code (")
}

// Where frames are missing, the next row and its frame say so: also where the
// numbers alone tell.
func TestLostFrames(t *testing.T) {
	f := newFixture()
	tp := f.session("gaps")
	tp.c2s(time.Second, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)
	tp.seq += 6
	tp.s2c(time.Second, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	tp.c2s(time.Second, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	tp.seq += 2
	tp.add(capture.Record{Direction: capture.S2C, Dropped: 2, Raw: []byte(`{"jsonrpc":"2.0","id":3,"result":{}}`)}, time.Second)
	for _, w := range []int{80, 160} {
		d := sitDown(t, f, w, 24, Options{Open: tp.s.ID})
		d.want("8 frames lost", "! 6 lost ↳ result", "! 2 lost ↳ result ping", "→ ping")
		d.keys("g", "j", "enter").want("! 6 lost just before this frame: the log goes from #2 to #9").keys("esc")
		d.keys("G", "enter").want("! 2 lost just before this frame", "the recorder could not keep up, and lost 2 frames here")
	}
}

// Capabilities and elicitations have an order, too.
func TestSheetsSort(t *testing.T) {
	f := newFixture()
	airline(f)
	d := sitDown(t, f, 120, 40, Options{Open: f.list[0].ID})
	for _, tt := range []struct {
		sheet, letter string
		cell          int
	}{{"c", "C", 1}, {"c", "S", 0}, {"l", "M", 3}, {"l", "W", 5}} {
		d.keys(tt.sheet, tt.letter).want("sorted by")
		s := d.m.top().(*sheet)
		for _, down := range []bool{false, true} {
			var got []string
			for i := range s.page.len() {
				got = append(got, strings.ToLower(string(s.page.fields(i)[tt.cell].value)))
			}
			if down {
				slices.Reverse(got)
			}
			if len(got) < 2 || !slices.IsSorted(got) {
				t.Errorf("%s sorted by %s, downwards %v: %q", tt.sheet, tt.letter, down, got)
			}
			d.keys(tt.letter)
		}
	}
	d.keys("l", "F", "g", "F").want("AFTER")
}
