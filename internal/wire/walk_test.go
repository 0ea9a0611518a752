package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestMembers(t *testing.T) {
	tests := []struct {
		in, want string
		broken   bool
		rest     string
	}{
		{`{}`, "", false, ""},
		{` { } x`, "", false, " x"},
		{`{"a":1,"b" : [ 2 ] , "\u0063\n":{"d":3}} {"e":4}`, `a=1@"1" b=[ 2 ]@" [ 2 ] " c` + "\n" + `={"d":3}@"{\"d\":3}"`, false, ` {"e":4}`},
		{`{"a":1,"a":2}`, `a=1@"1" a=2@"2"`, false, ""},
		{`{"a":1 "b":2}`, `a=1@"1 "`, true, ""},
		{`{"a":1,"b":[2`, `a=1@"1"`, true, ""},
		{`{"a":1,}`, `a=1@"1"`, true, ""},
		{`{"a":1,"b"}`, `a=1@"1"`, true, ""},
		{`{"a":1,"b`, `a=1@"1"`, true, ""},
		{`{"a":1`, `a=1@"1"`, true, ""},
		{`{`, "", true, ""},
		{`[1]`, "", true, ""},
		{``, "", true, ""},
	}
	for _, test := range tests {
		var got []string
		m := MembersOf([]byte(test.in))
		for m.Next() {
			if string(m.Value) != test.in[m.Start:m.Start+len(m.Value)] {
				t.Errorf("%s: Start is %d", test.in, m.Start)
			}
			got = append(got, fmt.Sprintf("%s=%s@%q", m.Key, m.Value, test.in[m.Before():m.After()]))
		}
		if s := strings.Join(got, " "); s != test.want || (m.Err != nil) != test.broken {
			t.Errorf("%s: %s, %v; want %s", test.in, s, m.Err, test.want)
		}
		if m.Err == nil && string(m.Rest()) != test.rest {
			t.Errorf("%s: rest %q; want %q", test.in, m.Rest(), test.rest)
		}
		if m.Next() {
			t.Errorf("%s: goes on behind its end", test.in)
		}
	}
}

func TestElements(t *testing.T) {
	for in, want := range map[string]string{
		`[]`: "", ` [ ]`: "", `[1, {"a":[2]} ,"x"]`: `1 {"a":[2]} "x"`, `[1 2]`: "1 !", `[1,`: "1 !", `[1`: "1 !", `[`: "!", `{}`: "!", ``: "!",
	} {
		var got []string
		e := ElementsOf([]byte(in))
		for e.Next() {
			got = append(got, string(e.Value))
		}
		if e.Err != nil {
			got = append(got, "!")
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s; want %s", in, s, want)
		}
	}
}

// A walk sees what encoding/json sees, and no input makes it panic.
func FuzzWalk(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ParseMessage(b)
		AppendCompact(nil, b)
		Text(b)
		n := 0
		m := MembersOf(b)
		for m.Next() {
			n++
		}
		e := ElementsOf(b)
		for e.Next() {
			n++
		}
		if Check(b) != nil {
			return
		}
		switch TypeOf(b) {
		case Object:
			var o map[string]json.RawMessage
			if err := json.Unmarshal(b, &o); err != nil {
				t.Fatal(err)
			}
			for k, v := range o {
				if got := Get(b, k); utf8.ValidString(k) && !bytes.Contains(b, []byte(`\u`)) && string(got) != string(v) {
					t.Errorf("member %q of %q is %q; want %q", k, b, got, v)
				}
			}
		case Array:
			var a []json.RawMessage
			if err := json.Unmarshal(b, &a); err != nil || len(a) != n {
				t.Errorf("%q has %d elements; want %d, %v", b, n, len(a), err)
			}
		case String:
			var s string
			if got, ok := Text(b); json.Unmarshal(b, &s) != nil || !ok || got != s {
				t.Errorf("%q is %q; want %q", b, got, s)
			}
		}
		var c bytes.Buffer
		if json.Compact(&c, b) == nil && !bytes.Equal(AppendCompact(nil, b), c.Bytes()) {
			t.Errorf("%q compact is %q; want %q", b, AppendCompact(nil, b), c.Bytes())
		}
	})
}

func TestGet(t *testing.T) {
	v := []byte(`{"a":{"b":{"c":"x\u00e9"}},"a":{"b":{"c":"y\n"}},"n":1}`)
	if got := GetString(v, "a", "b", "c"); got != "y\n" {
		t.Errorf("got %q", got)
	}
	for _, path := range [][]string{{"x"}, {"a", "x"}, {"n", "x"}, {"a", "b", "c", "d"}} {
		if got := Get(v, path...); got != nil {
			t.Errorf("%v is %q", path, got)
		}
	}
	if got := string(Get(v)); got != string(v) {
		t.Errorf("no path: %q", got)
	}
}

// A string that is written is read again, byte for byte when it is UTF-8.
func TestAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		b := AppendString(nil, s)
		if err := Check(b); err != nil {
			t.Fatalf("%q gives %q: %v", s, b, err)
		}
		want := strings.ToValidUTF8(s, "\uFFFD")
		if got, ok := Text(b); !ok || utf8.ValidString(s) && got != s || !utf8.ValidString(s) && strings.ReplaceAll(got, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Errorf("%q gives %q, read as %q", s, b, got)
		}
	})
}

func TestUnescapeSurrogates(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83c\udf89"`: "🎉", `"\ud83c"`: "\uFFFD", `"\udf89\ud83c"`: "\uFFFD\uFFFD", `"\ud83cx"`: "\uFFFDx", `"\ud83c\u0041"`: "\uFFFDA",
		`"\u0000\/\b"`: "\x00/\b", ` "x" `: "x",
	} {
		if got, ok := Text([]byte(in)); got != want || !ok {
			t.Errorf("%s is %q; want %q", in, got, want)
		}
	}
	for _, in := range []string{``, `1`, `"`, `x"`} {
		if got, ok := Text([]byte(in)); ok || got != "" {
			t.Errorf("%s is text %q", in, got)
		}
	}
}

func TestParseMessage(t *testing.T) {
	tests := []struct {
		in   string
		kind Kind
		id   ID
		more string // method params result error
		two  bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"a\u0062","params":{"x":1}}`, Request, "1", `ab {"x":1}  `, false},
		{`{"jsonrpc":"2.0","method":"m"}`, Notification, "", `m   `, false},
		{`{"id":"1","result":{}}`, Result, `"1"`, `  {} `, false},
		{`{"id":null,"error":{"code":1}}`, Error, "null", `   {"code":1}`, false},
		{`{"id":1,"result":1,"error":null}`, Result, "1", `  1 null`, false},
		{`{"id":1,"error":null}`, Error, "1", `   null`, false},
		{`{"id":1,"id":2,"method":"m"}`, Request, "2", `m   `, true},
		{`{"id":1,"method":2}`, Other, "1", `   `, false},
		{`{}`, Other, "", `   `, false},
		{`[]`, Other, "", `   `, false},
		{`{"id":3,"method":"m","params":{"cut":"of`, Request, "3", `m {"cut":"of  `, false},
		{`{"id":3,"result":[1,2`, Result, "3", `  [1,2 `, false},
		{`{"ID":3,"Method":"m"}`, Other, "", `   `, false},
	}
	for _, test := range tests {
		m := ParseMessage([]byte(test.in))
		more := fmt.Sprintf("%s %s %s %s", m.Method, m.Params, m.Result, m.Error)
		if m.Kind != test.kind || m.ID != test.id || more != test.more || m.Twice != test.two {
			t.Errorf("%s: %v %s %q twice %v; want %v %s %q twice %v", test.in, m.Kind, m.ID, more, m.Twice, test.kind, test.id, test.more, test.two)
		}
	}
}

func TestParseID(t *testing.T) {
	for in, want := range map[string]ID{
		``: "", `null`: "null", `1`: "1", ` 1 `: "1", `1.0`: "1", `1e2`: "100", `-0`: "0", `-0.0`: "0", `1.5`: "1.5", `"1"`: `"1"`, `"\u0031"`: `"1"`, `"a\/b"`: `"a/b"`,
		`9007199254740993`: "9007199254740993", `9007199254740993.0`: "9007199254740993", `1e64`: ID("1" + strings.Repeat("0", 64)), `1e65`: "1e65", `1e999999999`: "1e999999999",
		`1e-999999999`: "1e-999999999", `{"a" : [1, 2]}`: `{"a":[1,2]}`, `true`: "true", `123456789012345678901234567890`: "123456789012345678901234567890",
	} {
		if got := ParseID([]byte(in)); got != want {
			t.Errorf("%s is %s; want %s", in, got, want)
		}
	}
}

// An id is JSON, stays the same when it is read again, and keeps its value.
func FuzzParseID(f *testing.F) {
	for _, s := range append(jsonSeeds, `1e64`, `-12.50e1`, `"\u0031"`, `0.1e1`, `1E+02`) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		id := ParseID(b)
		if Check(b) != nil {
			return
		}
		if id.Type() != TypeOf(b) {
			t.Errorf("%q of type %v becomes %q", b, TypeOf(b), id)
		}
		if err := Check([]byte(id)); err != nil {
			t.Errorf("%q becomes %q: %v", b, id, err)
		}
		if again := ParseID([]byte(id)); again != id {
			t.Errorf("%q becomes %q, then %q", b, id, again)
		}
		if len(b) > 1000 || bytes.Contains(b, []byte(`\u`)) {
			return
		}
		var x, y any
		if TypeOf(b) != Number && json.Unmarshal(b, &x) == nil {
			if err := json.Unmarshal([]byte(id), &y); err != nil || !reflect.DeepEqual(x, y) {
				t.Errorf("%q becomes %q, another value", b, id)
			}
		}
	})
}

func BenchmarkMembers(b *testing.B) {
	in := []byte(`{"session_id":"server.py-48213-7f3a1c9e2b04","server_label":"server.py","seq":2,"ts":"2026-08-01T16:32:23.004120990Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}}`)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		for m := MembersOf(in); m.Next(); {
		}
	}
}

func BenchmarkParseMessage(b *testing.B) {
	in := []byte(`{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"x","arguments":{"path":"/srv/app/main.go","limit":200}}}`)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		ParseMessage(in)
	}
}
