package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// pretty writes an outline as text: what the inspector shows, unfolded.
func pretty(o *outline) string {
	var b strings.Builder
	for _, l := range o.lines {
		b.WriteString(strings.Repeat("  ", int(l.depth)))
		if l.key != l.keyEnd {
			b.Write(o.text[l.key:l.keyEnd])
			b.WriteString(": ")
		}
		v := o.text[l.val:l.end]
		if l.kind == jEmpty {
			v = []byte{v[0], v[len(v)-1]}
		}
		b.Write(v)
		if l.comma {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestOutline(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"a":1}`, "{\n  \"a\": 1\n}\n"},
		{`{"a":{},"b":[ ],"c":[1,"x",null]}`, "{\n  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    1,\n    \"x\",\n    null\n  ]\n}\n"},
		{`"text"`, "\"text\"\n"},
		{``, ""},
		{`  `, ""},
		{`{"a":"cut of`, "{\n  cut\n"},
		{`{"a" 1}`, "{\n  cut\n"},
		{`[1,]`, "[\n  1,\n  cut\n"},
		{`{} {}`, "{}\ncut\n"},
		{`[1}`, "[\n  1\n  cut\n"},
		{`]`, "cut\n"},
	} {
		o := newOutline([]byte(tt.in))
		for o.grow(3) {
		}
		got := pretty(o)
		if o.bad {
			rest := strings.LastIndexByte(strings.TrimSuffix(got, "\n"), '\n') + 1
			last := got[rest:]
			got = got[:rest] + last[:len(last)-len(strings.TrimLeft(last, " "))] + "cut\n"
		}
		if got != tt.want {
			t.Errorf("%s:\n%swant\n%s", tt.in, got, tt.want)
		}
	}
}

// Of legal JSON the outline is what encoding/json indents, whatever the steps;
// of anything else it ends and holds on to its bounds.
func FuzzOutline(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c\"d"}],"e":{}}`, `[]`, `[[[[]]]]`, `{"a":`, `nul`, "\"\\", `{"a":1,"a":2}`} {
		f.Add(s, 4)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		o := newFolded([]byte(s))
		for o.grow(max(1, n&1023)) {
		}
		for i, l := range o.lines {
			if l.val > l.end || int(l.end) > len(s) || l.key > l.keyEnd || l.kind == jClose && o.lines[l.mate].kind != jOpen {
				t.Fatalf("%q: line %d is %+v", s, i, l)
			}
		}
		if json.Valid([]byte(s)) && !o.cut {
			var want bytes.Buffer
			if json.Indent(&want, bytes.TrimSpace([]byte(s)), "", "  ") == nil && pretty(o.outline) != want.String()+"\n" {
				t.Fatalf("%q:\n%swant\n%s", s, pretty(o.outline), want.String())
			}
			if o.bad {
				t.Fatalf("%q is JSON, and called bad", s)
			}
		}
		walk(t, o)
	})
}

// walk goes down and up again, with everything unfolded and with every second
// container folded: both ways meet the same spots.
func walk(t *testing.T, o *folded) {
	t.Helper()
	for range 2 {
		var down []spot
		for at := (spot{}); len(o.lines) > 0 && len(down) <= len(o.lines); {
			down = append(down, at)
			next := o.next(at)
			if next == at {
				break
			}
			at = next
		}
		if len(down) == 0 {
			return
		}
		if last := o.last(); last != down[len(down)-1] {
			t.Fatalf("the last spot is %v; going down ends at %v", last, down[len(down)-1])
		}
		at := down[len(down)-1]
		for i := len(down) - 1; i >= 0; i-- {
			if at != down[i] {
				t.Fatalf("going up meets %v; going down met %v", at, down[i])
			}
			if v := o.visible(at.line); v.line != at.line {
				t.Fatalf("line %d was walked over and is said to be hidden in %d", at.line, v.line)
			}
			at = o.prev(at)
		}
		for i, l := range o.lines {
			if l.kind == jOpen && i%2 == 0 {
				o.toggle(spot{i, 0}, 80, func(rune) int { return 1 })
			}
		}
	}
}

func TestFolding(t *testing.T) {
	o := newFolded([]byte(`{"a":{"b":[1,2,3]},"c":"x\ny"}`))
	for o.grow(100) {
	}
	cells := func(rune) int { return 1 }
	at := o.toggle(spot{1, 0}, 20, cells) // "a"
	if got := o.next(at); got != (spot{8, 0}) {
		t.Errorf("below a folded object stands %v; want line 8", got)
	}
	at = o.toggle(spot{8, 0}, 20, cells) // "c"
	if got := fmt.Sprint(o.texts[8]); got != "[x y]" {
		t.Errorf("the text of c is %s; want its two lines", got)
	}
	if got := o.next(o.next(at)); got != (spot{8, 2}) {
		t.Errorf("the second line of a text is %v; want 8.2", got)
	}
	o.reveal(4)
	if o.closed[1] {
		t.Error("a is still folded after what is in it was asked for")
	}
	if got := o.toggle(spot{9, 0}, 20, cells); got != (spot{0, 0}) {
		t.Errorf("folding at the closing bracket leads to %v; want the opening one", got)
	}
}

func TestLongTextsAreBounded(t *testing.T) {
	big := `"` + strings.Repeat(`\n`, maxText) + `"`
	got := textLines([]byte(big), 80, func(rune) int { return 1 })
	if len(got) > maxText/2+2 || got[len(got)-1] != moreText {
		t.Errorf("%d lines of %d bytes, the last is %q", len(got), len(big), got[len(got)-1])
	}
}
