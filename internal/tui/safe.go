package tui

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Text is what may be sent to a terminal: no control, no invisible character,
// nothing on whose width terminals disagree. Constants of the program are Text
// by themselves; what came over the wire becomes Text through Safe only.
type Text string

// Safe makes screen text of wire text. Controls, escapes, overrides of the
// writing direction, zero-width characters and bytes that are not UTF-8 are
// written as visible escapes (\n, \x1b, \u202e, \u{e0041}). So are the
// modifiers of emoji, since terminals disagree about how wide a joined emoji
// is. With ascii, everything beyond ASCII is escaped.
func Safe[S ~string | ~[]byte](s S, ascii bool) Text {
	t, _ := safeUpTo(s, ascii, len(s))
	return t
}

// safeUpTo is Safe of at most the first n bytes of s; it ends on a whole
// character and reports how many bytes it used.
func safeUpTo[S ~string | ~[]byte](s S, ascii bool, n int) (Text, int) {
	n = min(n, len(s))
	plain := 0
	for plain < n && s[plain] >= 0x20 && s[plain] < 0x7f {
		plain++
	}
	if plain == n {
		return Text(s[:n]), n
	}
	out := make([]byte, 0, n+16)
	out = append(out, s[:plain]...)
	e := escaper{ascii: ascii, based: plain > 0 && s[plain-1] != ' '}
	i := plain
	for i < n {
		r, size := decodeRune(s[i:min(len(s), i+utf8.UTFMax)])
		next, _ := decodeRune(s[min(len(s), i+size):min(len(s), i+size+utf8.UTFMax)])
		if r == utf8.RuneError && size == 1 {
			out = appendByte(out, s[i])
			e.based, e.flag = false, false
		} else {
			out = e.add(out, r, next)
		}
		i += size
	}
	return Text(out), i
}

func decodeRune[S ~string | ~[]byte](s S) (rune, int) { return utf8.DecodeRuneInString(string(s)) }

// escaper decides rune by rune what is shown as it is.
type escaper struct {
	ascii bool
	based bool // a character stands before, which a mark can belong to
	flag  bool // the rune before was the first half of a flag
	marks int  // marks on the character before
}

const maxMarks = 4 // marks shown on one character; more is decoration that spills into other lines

func (e *escaper) add(out []byte, r, next rune) []byte {
	if r >= 0x20 && r < 0x7f {
		e.based, e.flag, e.marks = r != ' ', false, 0
		return append(out, byte(r))
	}
	if e.ascii || !e.shown(r, next) {
		e.based, e.flag = false, false
		return appendEscape(out, r)
	}
	return utf8.AppendRune(out, r)
}

// shown reports whether r may be sent as it is, and remembers it.
func (e *escaper) shown(r, next rune) bool {
	switch {
	case isRegional(r):
		if e.flag {
			e.flag, e.based = false, false
			return true
		}
		e.flag = isRegional(next)
		return e.flag
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc):
		e.flag = false
		e.marks++
		return e.based && e.marks <= maxMarks && !isModifier(r)
	case isModifier(r) || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r):
		return false
	}
	e.based, e.flag, e.marks = true, false, 0
	return true
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// isModifier reports characters that change how wide the one before is drawn,
// on some terminals and not on others, and letters that cannot be seen.
func isModifier(r rune) bool {
	switch {
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
		return true
	case r == 0x20e3, r == 0x034f: // keycap, grapheme joiner
		return true
	case r >= 0x115f && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff, r == 0x3164, r == 0xffa0: // parts and fillers of Hangul
		return true
	}
	return r == 0x17b4 || r == 0x17b5 // Khmer vowels without a form
}

const hexDigits = "0123456789abcdef"

func appendByte(out []byte, b byte) []byte {
	return append(out, '\\', 'x', hexDigits[b>>4], hexDigits[b&15])
}

func appendEscape(out []byte, r rune) []byte {
	switch {
	case r == '\n':
		return append(out, `\n`...)
	case r == '\r':
		return append(out, `\r`...)
	case r == '\t':
		return append(out, `\t`...)
	case r < 0x80:
		return appendByte(out, byte(r))
	case r < 0x10000:
		return append(out, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	out = append(out, `\u{`...)
	for shift := 20; shift >= 0; shift -= 4 {
		if shift < 20 || r>>20 > 0 {
			out = append(out, hexDigits[r>>shift&15])
		}
	}
	return append(out, '}')
}

// widths measures Text in cells, the way the terminal of this viewer does.
type widths struct{ method ansi.Method }

// of is the width of t in cells.
func (w widths) of(t Text) int {
	if isASCII(t) {
		return len(t)
	}
	return w.method.StringWidth(string(t))
}

func isASCII(t Text) bool {
	for i := range len(t) {
		if t[i] >= 0x80 {
			return false
		}
	}
	return true
}

// head is the longest beginning of t that is at most n cells wide and ends
// between two characters, and its width.
func (w widths) head(t Text, n int) (Text, int) {
	if n <= 0 {
		return "", 0
	}
	if len(t) <= n && isASCII(t) {
		return t, len(t)
	}
	at, cells := 0, 0
	for at < len(t) {
		if c := t[at]; c < 0x80 && (at+1 == len(t) || t[at+1] < 0x80) {
			if cells == n {
				break
			}
			at, cells = at+1, cells+1
			continue
		}
		cluster, cw := ansi.FirstGraphemeCluster(string(t[at:]), w.method)
		if cells+cw > n || cluster == "" {
			break
		}
		at, cells = at+len(cluster), cells+cw
	}
	return t[:at], cells
}

// cut shortens t to n cells, with dots where something is missing. It never
// cuts inside a character or a number: a number that does not fit is left out.
func (w widths) cut(t Text, n int, dots Text) (Text, int) {
	if cells := w.of(t); cells <= n {
		return t, cells
	}
	room := n - w.of(dots)
	if room < 0 {
		return "", 0
	}
	h, cells := w.head(t, room)
	if len(h) < len(t) && inNumber(t, len(h)) {
		at := len(h)
		for at > 0 && isNumeric(t[at-1]) {
			at--
		}
		h = h[:at]
		cells = w.of(h)
	}
	return h + dots, cells + w.of(dots)
}

// inNumber reports whether a cut before t[at] would part the digits of a number.
func inNumber(t Text, at int) bool {
	if at == 0 || !isNumeric(t[at-1]) {
		return false
	}
	return isDigit(t[at]) || isNumeric(t[at]) && at+1 < len(t) && isDigit(t[at+1])
}

func isDigit(c byte) bool   { return c >= '0' && c <= '9' }
func isNumeric(c byte) bool { return isDigit(c) || c == '.' || c == ',' }
