package wire

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// whole cuts a stream that is there as a whole.
func whole(in []byte, bound int) []Line {
	var out []Line
	for len(in) > 0 {
		l := Line{EOL: NoneSeen}
		b, rest, found := bytes.Cut(in, []byte("\n"))
		if found {
			l.EOL = LF
			if c, ok := bytes.CutSuffix(b, []byte("\r")); ok {
				b, l.EOL = c, CRLF
			}
		}
		l.Bytes, l.Size, in = b, int64(len(b)), rest
		if bound > 0 && len(b) > bound {
			l.Bytes, l.Truncated = b[:bound], true
		}
		out = append(out, l)
	}
	return out
}

// Whatever chunks a stream comes in, the lines are the same, and put together
// again they are the stream.
func TestSplitterChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\r\n\x00\xC3\n")), 0, 200).Draw(t, "in")
		bound := rapid.SampledFrom([]int{0, 1, 2, 5, 1000}).Draw(t, "bound")
		s := Splitter{Max: bound}
		var got []Line
		var size int64
		emit := func(l Line) {
			if bound > 0 && len(l.Bytes) > bound {
				t.Fatalf("a line of %d bytes with a bound of %d", len(l.Bytes), bound)
			}
			l.Bytes = bytes.Clone(l.Bytes)
			got = append(got, l)
			size += l.Size + map[EOL]int64{LF: 1, CRLF: 2}[l.EOL]
		}
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			chunk := bytes.Clone(rest[:n])
			s.Feed(chunk, emit)
			clear(chunk) // the caller uses its buffer again
			rest = rest[n:]
			if bound > 0 && len(s.held) > bound {
				t.Fatalf("%d bytes are held with a bound of %d", len(s.held), bound)
			}
		}
		if s.Pending() != (len(in) > 0 && in[len(in)-1] != '\n') {
			t.Errorf("Pending is %v", s.Pending())
		}
		s.Close(emit)
		want := whole(in, bound)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if size != int64(len(in)) {
			t.Errorf("the lines are %d bytes of %d", size, len(in))
		}
		if bound > 0 {
			return
		}
		var out []byte
		for _, l := range got {
			out = append(append(out, l.Bytes...), map[EOL]string{LF: "\n", CRLF: "\r\n"}[l.EOL]...)
		}
		if !bytes.Equal(in, out) {
			t.Errorf("out %q; in %q", out, in)
		}
	})
}

func TestSplitterBounds(t *testing.T) {
	for _, test := range []struct {
		in   string
		want string
	}{
		{"1234\n", "1234 4 lf false"},
		{"12345\n", "1234 5 lf true"},
		{"1234\r\n", "1234 4 crlf false"},
		{"12345\r\n", "1234 5 crlf true"},
		{"1234\r", "1234 5 none true"},
		{"\r\n", " 0 crlf false"},
		{"\n", " 0 lf false"},
		{"\r\r\n", "\r 1 crlf false"},
	} {
		for n := 1; n <= len(test.in); n++ {
			s := Splitter{Max: 4}
			var got string
			emit := func(l Line) { got += fmt.Sprintf("%s %d %s %v", l.Bytes, l.Size, l.EOL, l.Truncated) }
			for rest := []byte(test.in); len(rest) > 0; rest = rest[min(n, len(rest)):] {
				s.Feed(rest[:min(n, len(rest))], emit)
			}
			s.Close(emit)
			if got != test.want {
				t.Errorf("%q by %d: %q; want %q", test.in, n, got, test.want)
			}
		}
	}
}

func TestSplitterDrop(t *testing.T) {
	var s Splitter
	var got []string
	emit := func(l Line) { got = append(got, string(l.Bytes)) }
	s.Feed([]byte("a\nhalf"), emit)
	s.Drop()
	s.Feed([]byte("b\n"), emit)
	s.Close(emit)
	if fmt.Sprint(got) != "[a b]" {
		t.Errorf("got %q", got)
	}
}

// What a long line needed is given back.
func TestSplitterMemory(t *testing.T) {
	s := Splitter{Max: 16 << 20}
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 50 {
		s.Feed(chunk, func(Line) {})
	}
	if cap(s.held) > 2*s.Max {
		t.Errorf("%d bytes are held", cap(s.held))
	}
	s.Feed([]byte("\n"), func(l Line) {
		if l.Size != 50<<20 || len(l.Bytes) != s.Max || !l.Truncated {
			t.Errorf("%d bytes of %d", len(l.Bytes), l.Size)
		}
	})
	if cap(s.held) > keepSpare {
		t.Errorf("%d bytes are kept", cap(s.held))
	}
}

func BenchmarkSplitter(b *testing.B) {
	chunk := bytes.Repeat([]byte(`{"jsonrpc":"2.0","id":12345,"result":{"content":[]}}`+"\n"), 1000)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	var s Splitter
	for b.Loop() {
		s.Feed(chunk, func(Line) {})
	}
}
