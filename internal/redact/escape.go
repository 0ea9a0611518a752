package redact

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// edit is a place in a JSON text and what is written there instead.
type edit struct {
	start, end int
	repl       string
	kind       string
}

// tidy sorts edits and drops those that stand inside another.
func tidy(e []edit) []edit {
	if len(e) < 2 {
		return e
	}
	slices.SortStableFunc(e, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	out := e[:1]
	for _, x := range e[1:] {
		if x.start >= out[len(out)-1].end {
			out = append(out, x)
		}
	}
	return out
}

// apply appends b with its edits made.
func apply(dst, b []byte, edits []edit) []byte {
	at := 0
	for _, e := range edits {
		dst = append(append(dst, b[at:e.start]...), e.repl...)
		at = e.end
	}
	return append(dst, b[at:]...)
}

// decode resolves the escapes of the inside of a JSON string; without any it
// returns s itself, else it writes to buf.
func decode(buf, s []byte) []byte {
	k := bytes.IndexByte(s, '\\')
	if k < 0 {
		return s
	}
	if cap(buf) < len(s) {
		buf = make([]byte, 0, len(s))
	}
	out := append(buf[:0], s[:k]...)
	for i := k; i < len(s); {
		if s[i] != '\\' {
			k = bytes.IndexByte(s[i:], '\\')
			if k < 0 {
				return append(out, s[i:]...)
			}
			out = append(out, s[i:i+k]...)
			i += k
			continue
		}
		if s[i+1] != 'u' {
			out = append(out, unescaped[s[i+1]])
			i += 2
			continue
		}
		r, n := unicodeEscape(s[i:])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicodeEscape reads the \uXXXX, or the pair of them, at the start of s.
func unicodeEscape(s []byte) (r rune, n int) {
	r, n = hex4(s[2:6]), 6
	if !utf16.IsSurrogate(r) {
		return r, n
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(s[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, n
}

func hex4(s []byte) rune {
	var r rune
	for _, c := range s {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c&^0x20 - 'A' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// lift moves edits of the decoded text of a string to the text s as it stands,
// which begins at base, and escapes what they write. A place that begins or
// ends inside an escape takes all of it.
func lift(s []byte, base int, edits []edit) []edit {
	if bytes.IndexByte(s, '\\') < 0 {
		for k := range edits {
			edits[k].start += base
			edits[k].end += base
			edits[k].repl = escaped(edits[k].repl)
		}
		return edits
	}
	i, at := 0, 0 // offsets in s and in the decoded text
	seek := func(to int) (before, after int) {
		for at < to {
			n, d := step(s, i)
			if n == 1 { // a run of plain bytes
				k := bytes.IndexByte(s[i:], '\\')
				if k < 0 {
					k = len(s) - i
				}
				n = min(k, to-at)
				d = n
			}
			if at+d > to {
				return i, i + n
			}
			i, at = i+n, at+d
		}
		return i, i
	}
	for k := range edits {
		e := &edits[k]
		start, _ := seek(e.start)
		_, end := seek(e.end)
		e.start, e.end, e.repl = base+start, base+end, escaped(e.repl)
	}
	return edits
}

// step returns the length of the character at s[i] and of its decoded form.
func step(s []byte, i int) (n, decoded int) {
	switch {
	case s[i] != '\\':
		return 1, 1
	case s[i+1] != 'u':
		return 2, 1
	}
	r, n := unicodeEscape(s[i:])
	return n, utf8.RuneLen(r)
}

// escaped writes s as it stands inside a JSON string.
func escaped(s string) string {
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b := wire.AppendString(nil, s)
			return string(b[1 : len(b)-1])
		}
	}
	return s
}
