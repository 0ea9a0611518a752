package capture

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTapeOfOthers(t *testing.T) {
	const at = `"t":"2026-05-13T15:30:00.123Z"`
	tests := []struct {
		name string
		in   []string
		want []string
	}{
		{"whole", []string{
			`{"v":1,"type":"meta","startedAt":"2026-05-13T15:30:00.000Z","label":"fs","command":["node","fs.js"],"source":"x@1","new":1}`,
			`{` + at + `,"dir":"in","raw":{"jsonrpc":"2.0","id":1e2, "method":"a"} }`,
			`{` + at + `,"dir":"out","raw":[{"id":1}, {"id":2},3]}`,
			`{` + at + `,"dir":"in","raw":[]}`,
			`{` + at + `,"type":"stderr","text":"oh\n"}`,
			`{` + at + `,"dir":"event","kind":"stderr","raw":{"text":"no","id":7}}`,
			`{` + at + `,"dir":"event","kind":"x","raw":{"id":7}}`,
			`{` + at + `,"type":"turn","role":"user"}`,
			`{` + at + `,"type":"end","exitCode":3,"durationMs":5}`,
		}, []string{
			`tape 1 meta {"command":["node","fs.js"],"version":"x@1"}`,
			`tape 2 c2s {"jsonrpc":"2.0","id":1e2, "method":"a"} `,
			`tape 3 s2c batch.0 {"id":1}`, `tape 4 s2c batch.1 {"id":2}`, `tape 5 s2c batch.2 3`,
			`tape 6 c2s []`,
			"tape 7 stderr text oh\n", `tape 8 stderr text no`,
			`tape 9 end {"exit_code":3}`,
		}},
		{"rotated, and another session behind", []string{
			`{` + at + `,"dir":"in","raw":{"id":1}}`,
			`{` + at + `,"dir":"in","raw":{"id":`,
			`{"v":1,"type":"meta","startedAt":"2026-05-13T16:30:00.000Z","label":"b","command":[]}`,
			`{"t":1779000000123.5,"dir":"out","raw":{"id":2}}`,
			`{"v":1,"type":"meta","startedAt":"2026-05-13T17:30:00.000Z","label":"c","command":[]}`,
			`{` + at + `,"type":"end","reason":"imported","durationMs":5}`,
		}, []string{
			`tape 1 c2s {"id":1}`, `! line 2: not JSON: want a value at byte 55`,
			`tape~2 1 meta {"command":[]}`, `tape~2 2 s2c {"id":2}`,
			`tape~3 1 meta {"command":[]}`, `tape~3 2 end {"reason":"imported"}`,
		}},
		{"damaged", []string{
			`{` + at + `,"dir":"in"}`,
			`{` + at + `,"dir":"in","raw":{"id":1}}{` + at + `,"dir":"in","raw":{"id":2}}`,
			`{` + at + `,"dir":"in","raw":{"a":{` + at + `,"dir":"in","raw":{"id":2}}`,
			`{"t":"yesterday","dir":"in","raw":{"id":1}}`,
		}, []string{
			`! line 1: not a record: no log line: "direction" is missing`,
			`! line 2: no line end between records`, `tape 1 c2s {"id":1}`, `tape 2 c2s {"id":2}`,
			`! line 3: not JSON: want a comma or a closing bracket at byte 112`,
			`! line 4: not a record: member ts: want an RFC 3339 time, have "yesterday"`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(strings.Join(test.in, "\n")+"\n"), "tape")
			got, err := readAll(t, r)
			if err != nil || r.Format() != "mcp-tape" {
				t.Fatal(r.Format(), err)
			}
			if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
				t.Errorf("got:\n%s\nwant:\n%s", g, w)
			}
		})
	}
}

// drawRecord makes a record with any members.
func drawRecord(t *rapid.T) Record {
	str := func(name string) string { return rapid.String().Draw(t, name) }
	num := func(name string) uint64 { return rapid.Uint64Range(0, 1<<40).Draw(t, name) }
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	r := Record{
		SessionID: rapid.StringMatching(`[a-z]{1,5}-[0-9]+-[0-9a-f]{12}`).Draw(t, "session"), Label: str("label"), Seq: num("seq") + 1,
		TS:        time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC(),
		Direction: rapid.SampledFrom([]Direction{C2S, S2C, Stderr}).Draw(t, "dir"), Transport: rapid.SampledFrom([]Transport{Stdio, HTTP}).Draw(t, "transport"),
		Size: int64(num("size")), EOL: rapid.SampledFrom([]string{"", "crlf", "none"}).Draw(t, "eol"),
		Truncated: yes("truncated"), Redacted: yes("redacted"), Reflowed: yes("reflowed"),
		Dropped: num("dropped"), OrigSeq: num("orig"), ConnID: str("conn"), Exchange: num("exchange"), MCPSession: str("mcp"),
		MCPMethod: str("method"), MCPName: str("name"), MCPProtocolVersion: str("version"), Status: rapid.IntRange(0, 599).Draw(t, "status"),
	}
	switch rapid.IntRange(0, 4).Draw(t, "body") {
	case 0:
		r.Text, r.HasText = str("text"), true
	case 1:
		r.Bytes = append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...)
	case 2:
	default:
		r.Raw = []byte(rapid.SampledFrom([]string{`{"id":1}`, ` {"a" : [1,"\u00e9"]} `, `[]`, `[{"x":1},{"y":2}]`, `1e400`, `"s"`}).Draw(t, "raw"))
		r.Batch = r.Direction != Stderr && yes("batch")
		if r.Batch {
			r.Raw = bytes.TrimSpace(r.Raw)
		}
	}
	if yes("http") {
		n := int64(num("content_length"))
		r.HTTP = &HTTPFacts{
			Method: str("m"), Path: str("p"), End: str("end"), Doc: str("doc"), ContentLength: &n, QueryToken: yes("q"),
			Session: &SessionHeader{int(num("len")), yes("ascii")}, SSE: &SSEFacts{str("event"), str("id"), true, int64(num("retry")), true},
			Repeated: []string{str("rep"), "b"}, Mapped: []Mapping{{str("what"), "f", "t"}},
		}
		r.Auth = &AuthFacts{Present: yes("present"), Scheme: str("scheme"), SHA256: "0123456789abcdef", InBody: yes("in"),
			JWT: &JWTFacts{Aud: []string{str("aud")}, Iss: str("iss"), Scope: "s", Sub: "u", Exp: int64(num("exp"))}}
		r.AuthChallenge = []string{str("challenge"), "Basic"}[:rapid.IntRange(1, 2).Draw(t, "challenges")]
		r.MCPParamHeaders = []ParamHeader{{str("header"), str("value"), yes("r")}}
	}
	return r
}

// What AppendRecord writes, ParseRecord reads.
func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecord(t)
		line := AppendRecord(nil, &want)
		var got Record
		if err := ParseRecord(bytes.TrimSuffix(line, []byte("\n")), &got); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v\nline %s", got, want, line)
		}
	})
}

// A tape that this program wrote gives back every record, whatever was in it.
func TestTapeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 12).Draw(t, "records")
		for i := range records { // batches of several elements
			if i > 0 && records[i].Batch && rapid.Bool().Draw(t, "join") {
				p := records[i-1]
				records[i].SessionID, records[i].TS, records[i].Direction, records[i].Exchange, records[i].ConnID = p.SessionID, p.TS, p.Direction, p.Exchange, p.ConnID
			}
		}
		first, last := drawRecord(t), drawRecord(t)
		first.Direction, first.Raw, first.HasText, first.Bytes, first.Text, first.Batch = Meta, []byte(`{"command":["a"],"x":1}`), false, nil, "", false
		last.Direction, last.Raw, last.HasText, last.Bytes, last.Text, last.Batch = End, []byte(`{"reason":"x","frames":3}`), false, nil, "", false
		records = append(append([]Record{first}, records...), last)
		var w TapeWriter
		var tape []byte
		for i := range records {
			tape = w.Append(tape, &records[i])
		}
		tape = w.Flush(tape)
		r := NewReader(bytes.NewReader(tape), "x")
		var it Item
		for i := range records {
			if err := r.Next(&it); err != nil || it.Problem != nil {
				t.Fatalf("record %d: %v %v\n%s", i, err, it.Problem, tape)
			}
			if got, want := it.Record, records[i]; !reflect.DeepEqual(got, want) {
				t.Fatalf("record %d:\ngot  %+v\nwant %+v\n%s", i, got, want, tape)
			}
		}
		if err := r.Next(&it); err == nil || r.Format() != "mcp-tape" {
			t.Errorf("more than was written: %v", it)
		}
	})
}

func TestTapeGolden(t *testing.T) {
	at := time.Date(2026, 8, 1, 16, 32, 23, 4567890, time.UTC)
	base := Record{SessionID: testSession, Label: "s", TS: at, Transport: Stdio}
	with := func(seq uint64, dir Direction, f func(*Record)) *Record {
		r := base
		r.Seq, r.Direction = seq, dir
		f(&r)
		return &r
	}
	var w TapeWriter
	var got []byte
	for _, r := range []*Record{
		with(1, Meta, func(r *Record) { r.Raw = []byte(`{"command":["python","server.py"],"cwd":"/srv"}`) }),
		with(2, C2S, func(r *Record) { r.Raw = []byte(`{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}`) }),
		with(3, S2C, func(r *Record) { r.Raw, r.Batch = []byte(`{"id":1}`), true }),
		with(4, S2C, func(r *Record) { r.Raw, r.Batch, r.EOL = []byte(`{"id":2}`), true, "crlf" }),
		with(5, Stderr, func(r *Record) { r.Text, r.HasText = "starting", true }),
		with(6, S2C, func(r *Record) { r.Text, r.HasText = "[debug] listening", true }),
		with(7, S2C, func(r *Record) { r.Bytes = []byte{0xFF, 0} }),
		with(8, S2C, func(r *Record) { r.Status, r.Exchange = 202, 4 }),
		with(9, End, func(r *Record) {
			r.TS = at.Add(1500 * time.Millisecond)
			r.Raw = []byte(`{"exit_code":0,"frames":7,"dropped":0}`)
		}),
	} {
		got = w.Append(got, r)
	}
	got = w.Flush(got)
	golden := filepath.Join("testdata", "tape.golden")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, want)
	}
}
