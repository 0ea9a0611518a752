package export

import (
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Safe makes text from outside fit to be printed on one line of a terminal:
// control characters, line ends, characters that turn the direction of text or
// have no width, and bytes that are no UTF-8 are shown as the escapes that Go
// and JSON have for them. Everything else, in whatever script, stays.
func Safe(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return string(AppendSafe(make([]byte, 0, len(s)+16), s))
		}
	}
	return s
}

// AppendSafe appends what Safe makes of s.
func AppendSafe[S ~string | ~[]byte](dst []byte, s S) []byte {
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		}
		if bad := r == utf8.RuneError && n == 1; bad || hidden(r) {
			dst = append(dst, s[from:i]...)
			dst = appendEscape(dst, r, s[i:i+n], bad)
			from = i + n
		}
		i += n
	}
	return append(dst, s[from:]...)
}

// hidden reports whether a character would act on the terminal or on the text
// around it in place of being seen.
func hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0:
		return false
	case r == '\u200d', r == '\u200c': // join and part letters and emoji
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

func appendEscape[S ~string | ~[]byte](dst []byte, r rune, raw S, bad bool) []byte {
	switch {
	case bad:
		return appendHex(append(dst, `\x`...), uint64(raw[0]), 2)
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r < 0x10000:
		return appendHex(append(dst, `\u`...), uint64(r), 4)
	}
	return appendHex(append(dst, `\U`...), uint64(r), 8)
}

func appendHex(dst []byte, v uint64, digits int) []byte {
	s := strconv.FormatUint(v, 16)
	for range digits - len(s) {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}

// TerminalJSON returns a writer for JSON that is shown on a terminal: what
// could act on the terminal is written as an escape within its string. In JSON
// such characters stand inside strings only, so the values stay the same.
func TerminalJSON(w io.Writer) io.Writer { return &terminalJSON{w: w} }

type terminalJSON struct {
	w    io.Writer
	rest []byte // the beginning of a character
	out  []byte
}

func (t *terminalJSON) Write(p []byte) (int, error) {
	s := p
	if len(t.rest) > 0 {
		s = append(t.rest, p...)
	}
	t.out = t.out[:0]
	from, i := 0, 0
	for i < len(s) {
		if s[i] < 0x7f {
			i++
			continue
		}
		if !utf8.FullRune(s[i:]) {
			break
		}
		r, n := utf8.DecodeRune(s[i:])
		if hidden(r) {
			t.out = appendJSONEscape(append(t.out, s[from:i]...), r)
			from = i + n
		}
		i += n
	}
	t.out = append(t.out, s[from:i]...)
	t.rest = append([]byte(nil), s[i:]...)
	if _, err := t.w.Write(t.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func appendJSONEscape(dst []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		dst = appendHex(append(dst, `\u`...), uint64(0xd800+r>>10), 4)
		r = 0xdc00 + r&0x3ff
	}
	return appendHex(append(dst, `\u`...), uint64(r), 4)
}
