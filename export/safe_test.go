package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSafe(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain text, {\"json\":1}", "plain text, {\"json\":1}"},
		{"naïve 读取 e\u0301 👨‍👩‍👧 ﷺ", "naïve 读取 e\u0301 👨‍👩‍👧 ﷺ"},
		{"\x1b[31m\x07\x00\x7f", `\u001b[31m\u0007\u0000\u007f`},
		{"a\nb\tc\r", `a\nb\tc\r`},
		{"\u0085\u009b", `\u0085\u009b`},
		{"\u202e\u2066\u200e\u200b\ufeff\u2028\u2029\u00ad", `\u202e\u2066\u200e\u200b\ufeff\u2028\u2029\u00ad`},
		{"\U000e0041", `\U000e0041`},
		{"\xff\xc3", `\xff\xc3`},
		{"\ufffd", "\ufffd"},
	} {
		if got := Safe(tt.in); got != tt.want {
			t.Errorf("Safe(%q) = %q; want %q", tt.in, got, tt.want)
		}
	}
}

// Whatever comes in, nothing that acts on a terminal comes out, and text
// without such characters is not changed.
func TestSafeAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "in")
		out := Safe(in)
		if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Fatalf("Safe(%q) = %q", in, out)
		}
		if again := Safe(out); again != out {
			t.Fatalf("Safe(%q) = %q; want it left alone", out, again)
		}
	})
}

// JSON for a terminal means the same, however it is cut up for writing.
func TestTerminalJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SliceOf(rapid.String()).Draw(t, "value")
		var in bytes.Buffer
		enc := json.NewEncoder(&in)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(value); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := TerminalJSON(&out)
		for rest := in.Bytes(); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if m, err := w.Write(rest[:n]); m != n || err != nil {
				t.Fatalf("Write = %d, %v; want %d", m, err, n)
			}
			rest = rest[n:]
		}
		if strings.ContainsFunc(strings.TrimSuffix(out.String(), "\n"), hidden) {
			t.Fatalf("%q acts on a terminal", &out)
		}
		var got []string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || strings.Join(got, "\x00") != strings.Join(value, "\x00") {
			t.Fatalf("got %q, %v; want %q", got, err, value)
		}
	})
}
