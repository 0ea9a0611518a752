package tui

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A wrapped line says the same words, in lines that fit.
func TestWrap(t *testing.T) {
	plain := &theme{}
	say := func(lines []line) []string {
		var out []string
		for _, l := range lines {
			out = append(out, string(plain.render(nil, l)))
		}
		return out
	}
	w := widths{}
	l := of(span{"copied the path of the log", inkNote}, span{"   $ ", inkDim}, span{"mcpsnoop open /a/very/long/path", inkText})
	want := []string{"copied the path of", "the log   $ ", "mcpsnoop open", "/a/very/long/path"}
	if got := say(w.wrap(l, 18)); !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
	if got := say(w.wrap(l, 1000)); len(got) != 1 {
		t.Errorf("one line becomes %q", got)
	}
	r := rand.New(rand.NewPCG(3, 4))
	words := []Text{"a", "größe", "日本語", "wide日wide", " ", "   ", "loooooooooooooooooong", "\U0001F389", "x,1"}
	for range 2000 {
		l := line{}
		for range r.IntN(12) {
			l.put(ink(r.IntN(3)), words[r.IntN(len(words))])
		}
		n := 2 + r.IntN(30)
		got := say(w.wrap(l, n))
		for _, g := range got {
			if w.of(Text(g)) > n {
				t.Fatalf("%q is wider than %d cells", g, n)
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if a, b := squeeze(strings.Join(got, "")), squeeze(string(plain.render(nil, l))); a != b {
			t.Fatalf("%q becomes %q", b, a)
		}
	}
}
