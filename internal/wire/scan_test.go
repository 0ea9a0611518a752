package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkAgainstStandard holds Check against encoding/json. They differ in two
// things only: nesting (1,000 against 10,000 levels), and invalid UTF-8, which
// the standard library lets pass.
func checkAgainstStandard(t interface {
	Errorf(string, ...any)
}, b []byte) {
	err := Check(b)
	var syntax *SyntaxError
	switch valid := json.Valid(b); {
	case errors.Is(err, ErrDepth):
		if bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) <= MaxDepth {
			t.Errorf("%.200q is not nested that deep", b)
		}
	case errors.Is(err, ErrUTF8):
		if !valid || utf8.Valid(b) {
			t.Errorf("%.200q: %v, valid %v", b, err, valid)
		}
	case valid != (err == nil):
		t.Errorf("%.200q: %v, valid %v", b, err, valid)
	case errors.As(err, &syntax) && (syntax.Offset < 0 || syntax.Offset > len(b)):
		t.Errorf("%.200q: offset %d of %d", b, syntax.Offset, len(b))
	}
}

var jsonSeeds = []string{
	``, ` `, `null`, `true`, `nul`, `tru e`, `-`, `-0`, `01`, `1.`, `1.5e+3`, `1e`, `.5`, `"`, `"a`, `"\u12"`, `"\ud800"`, `"\x"`, "\"\x01\"", "\"\x7f\"",
	`[]`, `[1,]`, `[1 2]`, `[`, `]`, `{}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1,"a":2}`, `{a:1}`, `[}`, `{]`, `[[1,{"b":[]}],"x"] `, "\t[\r\n1 ]", `1 1`, `"a" x`,
	"\"\xff\"", "\xef\xbb\xbf1", "\"\u2028\u0085\"", `{"method":"tools/call","id":9007199254740993,"params":{"x":"` + "Aᾈᾈ\\\\" + `"}}`,
	`"` + strings.Repeat("x", 70) + `\"` + strings.Repeat("é", 40) + `"`, strings.Repeat("[", 1001), strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20),
}

func FuzzCheck(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkAgainstStandard(t, b) })
}

func TestCheckDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if err := Check(nested(MaxDepth)); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	for _, b := range [][]byte{nested(MaxDepth + 1), bytes.Repeat([]byte("["), 8<<20), bytes.Repeat([]byte(`{"a":`), 1<<20)} {
		if err := Check(b); !errors.Is(err, ErrDepth) {
			t.Errorf("%d bytes: %v; want ErrDepth", len(b), err)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, test := range []struct{ in, value, rest string }{
		{` {"a":1} {"b":2}`, `{"a":1}`, ` {"b":2}`}, {"12x", "12", "x"}, {`"a"`, `"a"`, ""}, {"true]", "true", "]"},
	} {
		v, rest, err := Prefix([]byte(test.in))
		if string(v) != test.value || string(rest) != test.rest || err != nil {
			t.Errorf("Prefix(%q) = %q, %q, %v", test.in, v, rest, err)
		}
	}
	if _, _, err := Prefix([]byte("{")); err == nil {
		t.Error("half an object is no prefix")
	}
}

func BenchmarkCheck(b *testing.B) {
	rows := strings.Repeat(`{"id":12,"name":"tool number 12","ok":true,"score":-0.25,"tags":["a","b"],"none":null},`, 1000)
	for name, in := range map[string]string{
		"text":    `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("some words and 0123456789 ", 40000) + `"}]}}`,
		"escapes": `"` + strings.Repeat(`a line of code\n\t\"quoted\"`, 40000) + `"`,
		"unicode": `"` + strings.Repeat("读取文件", 40000) + `"`,
		"rows":    "[" + strings.TrimSuffix(rows, ",") + "]",
		"call":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"/srv/app/main.go"}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if err := Check([]byte(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
