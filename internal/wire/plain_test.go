package wire

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// plain must find exactly the byte that a plain loop finds, wherever it stands
// in a word and whatever stands around it.
func TestPlainFindsTheFirstSpecialByte(t *testing.T) {
	slow := func(b []byte, i int) int {
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
			i++
		}
		return i
	}
	rapid.Check(t, func(t *rapid.T) {
		calm := rapid.SampledFrom([]byte{' ', '!', '#', '[', ']', 'x', 0x7f, 0x80, 0xa2, 0xdc, 0xff})
		b := rapid.SliceOfN(calm, 0, 120).Draw(t, "calm")
		b = bytes.Repeat(b, rapid.IntRange(1, 40).Draw(t, "times"))
		for range rapid.IntRange(0, 3).Draw(t, "specials") {
			if len(b) > 0 {
				at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
				b[at] = rapid.SampledFrom([]byte{'"', '\\', 0, 1, '\n', 0x1f}).Draw(t, "special")
			}
		}
		from := rapid.IntRange(0, len(b)).Draw(t, "from")
		if got, want := plain(b, from), slow(b, from); got != want {
			t.Fatalf("plain(%q, %d) = %d; want %d", b, from, got, want)
		}
	})
}

func TestPlainFindsEachByteAtEachPlace(t *testing.T) {
	b := make([]byte, 4*block+50)
	for at := range b {
		for c := range 256 {
			if at > 80 && c >= 0x20 && c != '"' && c != '\\' && c%16 != 0 {
				continue // enough of those
			}
			for i := range b {
				b[i] = 0x80 | byte(i) // high bits all around
			}
			b[at] = byte(c)
			want := len(b)
			if c == '"' || c == '\\' || c < 0x20 {
				want = at
			}
			if got := plain(b, 0); got != want {
				t.Fatalf("byte %#x at %d: plain says %d; want %d", c, at, got, want)
			}
		}
	}
}

func TestValidUTF8(t *testing.T) {
	for n := range 100 {
		for _, tail := range []string{"", "ü", "\xc3", "\xff", "寸", "\xed\xa0\x80"} {
			b := append(bytes.Repeat([]byte("x"), n), tail...)
			if got, want := ValidUTF8(b), utf8.Valid(b); got != want {
				t.Errorf("ValidUTF8(%q) = %v; want %v", b, got, want)
			}
		}
	}
}

func BenchmarkCheckMiB(b *testing.B) {
	l := append([]byte(`{"a":"`), make([]byte, 1<<20)...)
	for i := 6; i < len(l); i++ {
		l[i] = 'x'
	}
	l = append(l, `"}`...)
	b.SetBytes(int64(len(l)))
	for b.Loop() {
		if err := Check(l); err != nil {
			b.Fatal(err)
		}
	}
}
