package checks

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

func TestTree(t *testing.T) {
	var tr tree
	if !tr.parse([]byte(` {"a" : [1, "x\"y", {"b/~": null}], "c": -1.5e3, "a": true} `)) {
		t.Fatal("it was not read")
	}
	root := tr.root()
	if root.len() != 3 || !root.get("a").isTrue() || tr.twice < 0 {
		t.Errorf("len %d, a %s, twice %d; of equal names the last counts", root.len(), root.get("a").raw(), tr.twice)
	}
	if !tr.parse([]byte(`{"a":[1,"x\"y",{"b/~":null}]}`)) {
		t.Fatal("it was not read")
	}
	v := tr.root().get("a").element(2).get("b/~")
	if !v.isNull() || v.path(tr.root()) != "/a/2/b~1~0" {
		t.Errorf("%s at %s", v.raw(), v.path(tr.root()))
	}
	if s := tr.root().get("a").element(1).str(); s != `x"y` {
		t.Errorf("got %q", s)
	}
	for _, tt := range []struct {
		in   string
		lone bool
	}{
		{`"\ud83d\ude00"`, false}, {`"\ud83d"`, true}, {`"\ude00"`, true}, {`"\ud83dx"`, true}, {`"\\ud83d"`, false}, {`{"\ud83d":1}`, true},
	} {
		tr.parse([]byte(tt.in))
		if (tr.surrogate >= 0) != tt.lone {
			t.Errorf("%s: half a pair %v; want %v", tt.in, tr.surrogate >= 0, tt.lone)
		}
	}
}

// The tree sees what the walk over JSON sees, whatever the text.
func FuzzTree(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\u0041\\"}],"a":null}`, `[]`, `[[[]]]`, `"x"`, ` 1 `, `{"a":1,"\u0061":2}`, `{"":{}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if wire.Check([]byte(s)) != nil {
			return
		}
		var tr tree
		if !tr.parse([]byte(s)) {
			if tr.full {
				return
			}
			t.Fatalf("not read: %q", s)
		}
		same(t, tr.root(), []byte(s))
	})
}

func same(t *testing.T, v val, text []byte) {
	t.Helper()
	if string(v.raw()) != string(wire.TrimSpace(text)) {
		t.Fatalf("have %q, want %q", v.raw(), text)
	}
	names, twice := map[string]bool{}, false
	i := 0
	kids := []val{}
	for _, k := range v.each() {
		kids = append(kids, k)
	}
	for m := wire.MembersOf(text); m.Next(); i++ {
		if kids[i].key() != string(m.Key) {
			t.Fatalf("have name %q, want %q", kids[i].key(), m.Key)
		}
		twice = twice || names[string(m.Key)]
		names[string(m.Key)] = true
		same(t, kids[i], m.Value)
	}
	for e := wire.ElementsOf(text); e.Next(); i++ {
		same(t, kids[i], e.Value)
	}
	if i != len(kids) {
		t.Fatalf("%d children, want %d", len(kids), i)
	}
	if twice && v.t.twice < 0 {
		t.Fatalf("a name stands twice in %q, and nobody saw it", text)
	}
	for n := range names {
		if string(v.get(n).raw()) != string(wire.Get(text, n)) {
			t.Fatalf("get %q: %q, want %q", n, v.get(n).raw(), wire.Get(text, n))
		}
	}
}

// No log makes the engine panic, whatever its lines say.
func FuzzEngine(f *testing.F) {
	names, err := filepath.Glob(filepath.Join(fixtures, "*.txt"))
	if err != nil {
		f.Fatal(err)
	}
	for i, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		if i%9 == 0 {
			f.Add(macros(string(b)))
		}
	}
	f.Fuzz(func(t *testing.T, script string) {
		e := NewEngine(Options{})
		s, a := store.NewSession("fuzz-1-00000000000a", "", store.Limits{}, e)
		for i, l := range strings.Split(script, "\n") {
			it := capture.Item{Line: i + 1, Ref: capture.Ref{Segment: 1, Offset: int64(i), Length: len(l)}}
			if !record(&it.Record, l) {
				continue
			}
			it.Record.SessionID, it.Record.Label, it.Record.Seq, it.Record.TS = s.ID, "fuzz", uint64(i+1), time.Unix(1000, int64(i)*1e6).UTC()
			a.Append(&it)
		}
		a.Publish()
		e.Finish(s)
		r := NewReport(Gate{FailOn: Signals()})
		r.Add(s, e, nil)
		r.Judge()
		for _, format := range Formats() {
			var b strings.Builder
			if err := r.Write(&b, format, "/srv", "1"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// record makes a record out of a line of a script: an arrow and a message, a
// line of a log, or the words of an HTTP line.
func record(r *capture.Record, l string) bool {
	if strings.HasPrefix(l, "{") {
		return capture.ParseRecord([]byte(l), r) == nil && r.Direction != capture.DirUnknown
	}
	word, rest, _ := strings.Cut(l, " ")
	r.Direction, r.Transport = capture.S2C, capture.Stdio
	switch word {
	case ">", ">!", "POST", "GET", "DELETE", "PUT":
		r.Direction = capture.C2S
	}
	head, body, ok := strings.Cut(rest, ":: ")
	if !ok {
		head, body = "", rest
	}
	if head != "" || len(word) > 2 {
		r.Transport, r.Exchange = capture.HTTP, 1
		r.HTTP = &capture.HTTPFacts{Method: word, ContentType: "text/event-stream", SSE: &capture.SSEFacts{ID: head, HasID: true}}
		if r.Direction == capture.S2C {
			r.HTTP.Method, r.Status = "", 200
		}
		r.MCPName, r.MCPProtocolVersion = head, "2026-07-28"
	}
	if wire.Check([]byte(body)) == nil {
		r.Raw = []byte(body)
	} else {
		r.Text, r.HasText = body, true
	}
	return true
}

// Schemas that double at each level are not judged by: that would never end.
func TestCostlySchemas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","$defs":{"d0":{"type":"string"}`)
	for i := 1; i < 40; i++ {
		ref := `{"$ref":"#/$defs/d` + strconv.Itoa(i-1) + `"}`
		b.WriteString(`,"d` + strconv.Itoa(i) + `":{"allOf":[` + ref + `,` + ref + `]}`)
	}
	b.WriteString(`},"properties":{"a":{"$ref":"#/$defs/d39"}}}`)
	for schema, want := range map[string]bool{
		b.String(): false,
		`{"type":"object","properties":{"next":{"$ref":"#"},"all":{"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}}`: true,
		`{"$ref":"#"}`: false,
	} {
		var tr tree
		tr.parse([]byte(schema))
		if _, got := bounded(tr.root()); got != want {
			t.Errorf("bounded %v; want %v: %.80s", got, want, schema)
		}
	}
}

// Many faults in one frame cost no more than it is long.
func TestManyFaultsInOneFrame(t *testing.T) {
	script := "@init 2025-11-25\n" + `> {$J,"id":1,"method":"tools/call","params":{"name":"a"}}` + "\n" +
		`< {$J,"id":1,"result":{"content":[` + strings.Repeat(`{"type":"text"},`, 50_000) + `{"type":"text"}]}}`
	p := play(t, Options{}, script)
	if n := p.hits("block-text"); n != 50_001 {
		t.Errorf("counted %d; want 50001", n)
	}
	if n := len(p.e.Findings()); n > 2*maxHits {
		t.Errorf("%d findings", n)
	}
}
