package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

var testNow = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestFilterSpelling(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"  ", ""},
		{"read", "read"},
		{"a b", "a b"},
		{"a AND b", "a b"},
		{"a OR b c", "a OR b c"},
		{"(a OR b) c", "(a OR b) c"},
		{"a (b c)", "a b c"},
		{"(a)", "a"},
		{"((a OR b) OR c)", "a OR b OR c"},
		{"NOT a b", "-a b"},
		{"NOT NOT a", "a"},
		{"--a", "a"},
		{"-(a b)", "-(a b)"},
		{"NOT (a OR b)", "-(a OR b)"},
		{"-NOT a", "a"},
		{`"OR"`, `"OR"`},
		{"or not and", "or not and"},
		{"ORANGE NOTE", "ORANGE NOTE"},
		{`"two words"`, `"two words"`},
		{`"a\"b\\c"`, `"a\"b\\c"`},
		{`/a\/b[ ()]/`, `/a\/b[ ()]/`},
		{"tool:read", "tool:read"},
		{"Tool:Read", "tool:Read"},
		{"tool:=read", "tool:=read"},
		{"tool=read", "tool:=read"},
		{`tool:"two words"`, `tool:"two words"`},
		{`tool:"=x"`, `tool:"=x"`},
		{"tool:a:b", "tool:a:b"},
		{"id:7", "id:7"},
		{"id:=7", "id:7"},
		{"dur>2s", "dur>2s"},
		{"dur:>=2s", "dur>=2s"},
		{"trips:1", "trips=1"},
		{"size>=1MB", "size>=1MB"},
		{"since:10m", "since:10m"},
		{"since:2026-11-30T10:00", "since:2026-11-30T10:00"},
		{`since:"2026-11-30 10:00"`, `since:"2026-11-30 10:00"`},
		{"status:401", "status:401"},
		{"https://example.com/x", `"https://example.com/x"`},
		{"12:30", `"12:30"`},
		{"a=b", `"a=b"`},
		{"tool:read status:err OR status:pending", "tool:read status:err OR status:pending"},
		{"-tool:read -kind:stderr", "-tool:read -kind:stderr"},
		{"naïve-读取", `"naïve-读取"`},
		{"foo(bar)", "foo bar"},
	} {
		q, err := Compile(tt.text, testNow)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := q.String(); got != tt.want {
			t.Errorf("%s: got %s; want %s", tt.text, got, tt.want)
		}
		again, err := Compile(q.String(), testNow)
		if err != nil || again.String() != q.String() {
			t.Errorf("%s: a second reading of %s gives %v, %v", tt.text, q, again, err)
		}
	}
}

func TestFilterMistakes(t *testing.T) {
	for _, tt := range []struct {
		text   string
		column int
		says   string
	}{
		{"a OR", 3, "behind OR"},
		{"OR a", 1, "before OR"},
		{"a OR OR b", 6, "before OR"},
		{"(a", 1, ") is missing"},
		{"a)", 2, "without a ("},
		{"()", 2, "nothing stands"},
		{"a (b OR )", 6, "behind OR"},
		{"NOT", 1, "behind NOT"},
		{"a NOT", 3, "behind NOT"},
		{"a - b", 3, "behind -"},
		{"a AND", 3, "AND stands between"},
		{"AND a", 1, "AND stands between"},
		{`a "b`, 3, `closing "`},
		{`""`, 1, "empty"},
		{`"a"b`, 4, "a space is missing"},
		{"/a", 1, "closing /"},
		{"/etc/passwd", 6, "quotation marks"},
		{"//", 1, "is empty"},
		{"x /a(/", 3, "regular expression"},
		{"tool:", 6, "what should tool be"},
		{"methd:x", 1, "did you mean method?"},
		{"foo:bar", 1, "quotation marks"},
		{"durr>2s", 1, "did you mean dur?"},
		{"tool>3", 5, "cannot be compared"},
		{"status:eror", 8, "did you mean error?"},
		{"status:600", 8, "one of"},
		{"status!=ok", 7, "put - before"},
		{"kind:request", 6, "one of req resp"},
		{"dir:up", 5, "one of c2s s2c"},
		{"signal:nope", 8, "one of error"},
		{"dur>soon", 5, "no duration"},
		{"dur>-2s", 5, "no duration"},
		{"size>big", 6, "no size"},
		{"seq<1.5", 5, "no whole number"},
		{"since:yesterday", 7, "neither a duration"},
		{"naïve status:x", 14, "one of"},
		{strings.Repeat("(", 200) + "a", 101, "nested"},
		{strings.Repeat("-", 200) + "a", 101, "nested"},
	} {
		_, err := Compile(tt.text, testNow)
		var qe *QueryError
		if !errors.As(err, &qe) {
			t.Errorf("%s: got error %v; want a QueryError", tt.text, err)
			continue
		}
		if qe.Column != tt.column || !strings.Contains(qe.Msg, tt.says) {
			t.Errorf("%s: got column %d, %q; want column %d, something with %q", tt.text, qe.Column, qe.Msg, tt.column, tt.says)
		}
	}
}

// bodies gives the frames that play made a session of.
func bodies(lines []string) BodyFunc {
	return func(_ *Session, i uint32) ([]byte, error) { return []byte(lines[i][2:]), nil }
}

func TestFilterMatches(t *testing.T) {
	lines := []string{
		0:  `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		1:  `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`,
		2:  `> {"jsonrpc":"2.0","method":"notifications/initialized"}`,
		3:  `> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/Tmp/naïve \u8bfb.txt"}}}`,
		4:  `> {"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"Search","arguments":{"q":"two words"},"_meta":{"progressToken":9}}}`,
		5:  `< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1}}`,
		6:  `< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}`,
		7:  `< {"jsonrpc":"2.0","id":"7","error":{"code":-32603,"message":"boom\n\"now\""}}`,
		8:  `> {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"read","arguments":{}}}`,
		9:  `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`,
		10: `< {"jsonrpc":"2.0","id":8,"result":{}}`,
		11: `< {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`,
		12: `< {"jsonrpc":"2.0","id":99,"result":{"x":"orphan"}}`,
		13: `< {"no":"message"}`,
	}
	s := play(t, lines...)
	for _, tt := range []struct{ text, want string }{
		{"", "0 1 2 3 4 5 6 7 8 9 10 11 12 13"},
		{"tool:read", "3 6 8 9 10"},
		{"tool:READ", "3 6 8 9 10"},
		{"tool:=read", "8 9 10"},
		{"tool:=Read", ""},
		{"-tool:read", "0 1 2 4 5 7 11 12 13"},
		{"method:tools/call", "3 4 5 6 7 8 9 10"},
		{"method:progress", "5"},
		{"id:7", "3 4 5 6 7"},
		{"id:99", "12"},
		{"id:0", "0 1"},
		{"label:PLAY", "0 1 2 3 4 5 6 7 8 9 10 11 12 13"},
		{"label:other", ""},
		{"status:ok", "0 1 3 6"},
		{"status:error", "4 5 7"},
		{"status:err", "4 5 7"},
		{"status:pending", "11"},
		{"status:cancel", "8 9 10"},
		{"status:late", "8 9 10"},
		{"status:cancelled", ""},
		{"kind:req", "0 3 4 8 11"},
		{"kind:resp", "1 6 7 10 12"},
		{"kind:notify", "2 5 9"},
		{"kind:invalid", "13"},
		{"kind:req dir:s2c", "11"},
		{"seq<=2", "0 1"},
		{"seq:4", "3"},
		{"size<55", "2 6 10 12 13"},
		{"rev:2025-06", "0 1 2 3 4 5 6 7 8 9 10 11 12 13"}, {"rev:2024", ""},
		{"trips=1 tool:search", "4 5 7"},
		{"trips>1", ""},
		{"dur>=3ms tool:read", "3 6"},
		{"dur<3ms method:tools/call", "8 9 10"},
		{"dur>1ms status:pending", "11"},
		{"dur>2ms status:pending", ""},
		{"orphan", "12"},
		{"ORPHAN", "12"},
		{"read_file", "3 6"},
		{`"two words"`, "4"},
		{`two words`, "4"},
		{"naïve", "3"},
		{"NAÏVE", "3"},
		{"读", "3"},
		{`"boom\n"`, "7"},
		{"\"boom\n\\\"now\\\"\"", "7"},
		{"/b.om/", "7"},
		{"/^tools\\/call$/ kind:req", "3 4 8"},
		{"/NOW\"/", "7"},
		{`"/tmp/"`, "3"},
		{"boom OR orphan", "7 12"},
		{"tool:search boom OR orphan", "7 12"},
		{"tool:search (boom OR words)", "4 7"},
		{"tool:search -boom", "4 5"},
		{"NOT (kind:req OR kind:resp)", "2 5 9 13"},
		{"since:1970-01-01T00:16:40.005Z until:1970-01-01T00:16:40.007Z", "5 6"},
		{"since:1h", ""},
		{"until:1h", "0 1 2 3 4 5 6 7 8 9 10 11 12 13"},
		{"conn:x", ""},
		{"rule:x", ""},
		{"status:bad", ""},
		{"status:401", ""},
	} {
		q, err := Compile(tt.text, testNow)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		got := []string{}
		for i := range s.Len() {
			if q.MatchFrame(s, i, bodies(lines)) {
				got = append(got, fmt.Sprint(i))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %s; want %s", tt.text, strings.Join(got, " "), tt.want)
		}
	}
}

func TestMarks(t *testing.T) {
	lines := []string{
		`> {"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`< {"no":"message"}`,
		`< {"jsonrpc":"2.0","id":1,"result":{}}`,
	}
	s, a := NewSession("play-1-00000000000a", "", Limits{}, nil)
	for i, l := range lines {
		a.Append(item(s, i, l))
	}
	a.Publish()
	before := s.Version()
	a.Mark(1, "not-jsonrpc", SignalInvalid)
	a.Mark(1, "second", SignalInfo)
	a.Mark(2, "late-answer", SignalWarn)
	a.Mark(7, "nowhere", SignalWarn)
	if s.MarkLen() != 0 {
		t.Error("marks are seen before they are published")
	}
	a.Publish()
	if s.Version() == before {
		t.Error("the version stays the same")
	}
	for text, want := range map[string]string{
		"rule:not-json": "1", "rule:=not-json": "", "rule:late": "0 2", "signal:warn": "0 2", "status:bad": "1", "signal:info": "1", "status:warn": "0 2", "signal:error": "",
	} {
		q, err := Compile(text, testNow)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range s.Len() {
			if q.MatchFrame(s, i, nil) {
				got += fmt.Sprintf(" %d", i)
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: got %s; want %s", text, got, want)
		}
	}
	got := ""
	s.Marks(1, func(rule string, g Signal) bool { got += rule + " " + g.String() + ";"; return true })
	if want := "second info;not-jsonrpc invalid;"; got != want {
		t.Errorf("got marks %s; want %s", got, want)
	}
}

func item(s *Session, i int, l string) *capture.Item {
	it := &capture.Item{Line: i + 1, Ref: capture.Ref{Segment: 1, Offset: int64(i), Length: len(l)}, Record: capture.Record{
		SessionID: s.ID, Label: "play", Seq: uint64(i + 1), TS: time.Unix(1000, int64(i)*1e6).UTC(),
		Direction: capture.S2C, Transport: capture.Stdio, Raw: []byte(l[2:]),
	}}
	if l[0] == '>' {
		it.Record.Direction = capture.C2S
	}
	return it
}

func TestTerms(t *testing.T) {
	for _, term := range Terms() {
		if _, err := Compile(term.Example, testNow); err != nil || term.Help == "" {
			t.Errorf("%s: example %s: %v, help %q", term.Name, term.Example, err, term.Help)
		}
		for _, v := range term.Values {
			if _, err := Compile(term.Name+":"+v, testNow); err != nil {
				t.Errorf("%s:%s: %v", term.Name, v, err)
			}
		}
	}
}

func TestComplete(t *testing.T) {
	s := play(t, `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file"}}`, `> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"my tool"}}`)
	for _, tt := range []struct {
		text   string
		column int
		want   string
	}{
		{"st", 3, "0-2 status:"},
		{"a -s", 5, "3-4 signal: 3-4 status: 3-4 size> 3-4 seq> 3-4 since:"},
		{"status:ca", 10, "0-9 status:cancel 0-9 status:cancelled"},
		{"x (tool:f", 10, "3-9 tool:read_file"},
		{"tool:y", 7, `0-6 tool:"my tool"`},
		{"method:", 8, "0-7 method:tools/call"},
		{"tool:=r", 8, "0-7 tool:=read_file"},
		{"a O", 4, "2-3 OR"},
		{`"st`, 4, ""},
		{"/st", 4, ""},
		{"st", 99, "0-2 status:"},
	} {
		got := []string{}
		for _, c := range Complete(tt.text, tt.column, s) {
			got = append(got, fmt.Sprintf("%d-%d %s", c.From, c.To, c.Text))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q at %d: got %s; want %s", tt.text, tt.column, strings.Join(got, " "), tt.want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"tool:read status:err OR status:pending", `-"a\"b" /x\/y/`, "NOT (dur>2s trips>1) since:10m", "size:>=1MB id:7", "((", "a AND -b"} {
		f.Add(s)
	}
	s := play(f, `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, `< {"jsonrpc":"2.0","id":1,"result":{"x":"\u00e9\n"}}`)
	lines := []string{"> x", `< {"jsonrpc":"2.0","id":1,"result":{"x":"\u00e9\n"}}`}
	f.Fuzz(func(t *testing.T, text string) {
		for c := range len(text) + 2 {
			if len(text) > 64 {
				break
			}
			Complete(text, c, s)
		}
		q, err := Compile(text, testNow)
		if err != nil {
			var qe *QueryError
			if !errors.As(err, &qe) || qe.Column < 1 || qe.Column > len([]rune(text))+1 {
				t.Fatalf("%q: error %v", text, err)
			}
			return
		}
		again, err := Compile(q.String(), testNow)
		if err != nil {
			t.Fatalf("%q is written as %q, which is refused: %v", text, q, err)
		}
		if again.String() != q.String() {
			t.Fatalf("%q is written as %q, then as %q", text, q, again)
		}
		for i := range s.Len() {
			if q.MatchFrame(s, i, bodies(lines)) != again.MatchFrame(s, i, bodies(lines)) {
				t.Fatalf("%q and %q differ on frame %d", text, again, i)
			}
		}
	})
}
