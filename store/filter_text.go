package store

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finder looks for a text whatever the case.
type finder struct {
	folded string
	ascii  bool
	exact  bool    // no case to be blind to
	part   *finder // of a text beyond ASCII: its longest stretch of ASCII; may be nil
	pivot  int     // place of the byte in folded that is expected to be rarest
	lower  byte    // that byte
	upper  byte
}

func newFinder(s string) *finder {
	f := &finder{folded: fold(s), ascii: true, exact: strings.IndexFunc(s, hasCase) < 0}
	for i := range len(f.folded) {
		f.ascii = f.ascii && f.folded[i] < utf8.RuneSelf
		if rarity(f.folded[i]) > rarity(f.folded[f.pivot]) {
			f.pivot = i
		}
	}
	if !f.ascii {
		if part := longestASCII(f.folded); part != "" {
			f.part = newFinder(part)
		}
		return f
	}
	if f.folded == "" {
		return f
	}
	f.lower = f.folded[f.pivot]
	f.upper = f.lower
	if 'a' <= f.lower && f.lower <= 'z' {
		f.upper -= 'a' - 'A'
	}
	return f
}

func hasCase(c rune) bool { return unicode.SimpleFold(c) != c }

func longestASCII(s string) string {
	best := ""
	for _, part := range strings.FieldsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// fold maps characters that differ in case only onto one: the lower case one
// in ASCII, the smallest of them beyond.
func fold(s string) string { return strings.Map(foldRune, s) }

func foldRune(c rune) rune {
	if c < utf8.RuneSelf {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	least := c
	for x := unicode.SimpleFold(c); x != c; x = unicode.SimpleFold(x) {
		if x >= utf8.RuneSelf {
			least = min(least, x)
		}
	}
	return least
}

// rarity guesses how rare a byte is in JSON; common ones come last in common.
func rarity(c byte) int {
	const common = `zjq~^|%;?@XK` + `vkwx` + `fgbymhpud` + `clnorsiat` + `e0123456789` + `{}[]:,_ "`
	if i := strings.IndexByte(common, c); i >= 0 {
		return len(common) - i
	}
	return len(common) + 1
}

func (f *finder) inString(s string) bool {
	if !f.ascii {
		return strings.Contains(fold(s), f.folded)
	}
	n := len(f.folded)
	for i := 0; i+n <= len(s); i++ {
		if equalFold(s[i:i+n], f.folded) {
			return true
		}
	}
	return false
}

func (f *finder) in(b []byte) bool {
	if !f.ascii {
		return f.inUnicode(b)
	}
	n := len(f.folded)
	last := len(b) - n // where it can start at the latest
	if last < 0 {
		return false
	}
	// The candidates of both cases, each found once.
	lower, upper := f.next(b, 0, f.lower), -1
	if f.upper != f.lower {
		upper = f.next(b, 0, f.upper)
	}
	for lower >= 0 || upper >= 0 {
		at := lower
		if at < 0 || upper >= 0 && upper < at {
			at = upper
			upper = f.next(b, at+1, f.upper)
		} else {
			lower = f.next(b, at+1, f.lower)
		}
		if start := at - f.pivot; start >= 0 && start <= last && equalFold(b[start:start+n], f.folded) {
			return true
		}
	}
	return false
}

func (f *finder) next(b []byte, from int, c byte) int {
	k := bytes.IndexByte(b[from:], c)
	if k < 0 {
		return -1
	}
	return from + k
}

// equalFold compares ASCII with what is folded already.
func equalFold[S ~string | ~[]byte](s S, folded string) bool {
	for i := range len(folded) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != folded[i] {
			return false
		}
	}
	return true
}

func (f *finder) inUnicode(b []byte) bool {
	switch {
	case f.exact:
		return bytes.Contains(b, []byte(f.folded))
	case f.part != nil && !f.part.in(b):
		return false
	}
	first, _ := utf8.DecodeRuneInString(f.folded)
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		if foldRune(c) == first && hasFoldedPrefix(b, f.folded) {
			return true
		}
		b = b[n:]
	}
	return false
}

func hasFoldedPrefix(b []byte, folded string) bool {
	for _, want := range folded {
		c, n := utf8.DecodeRune(b)
		if n == 0 || foldRune(c) != want {
			return false
		}
		b = b[n:]
	}
	return true
}

// literal reports whether the text, where it stands in a JSON string without
// escapes of the forms \u and \/, always stands there as it is.
func (f *finder) literal() bool {
	return strings.IndexFunc(f.folded, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c == utf8.RuneError }) < 0
}

// obscure reports whether b may hold a literal text in disguise.
func obscure(b []byte) bool {
	for {
		k := bytes.IndexByte(b, '\\')
		if k < 0 || k+1 >= len(b) {
			return false
		}
		if b[k+1] == 'u' || b[k+1] == '/' {
			return true
		}
		b = b[k+2:]
	}
}

// textLeaf makes the leaf of a bare word or of words in quotation marks.
func textLeaf(s string) *leaf {
	f := newFinder(s)
	memo := newMemo(f.inString)
	l := &leaf{text: s, cost: ofBody, field: "text", needle: f.folded, memo: memo}
	if !plainWord(s) {
		l.text = quote(s)
	}
	l.key = l.text
	literal := f.literal()
	l.test = func(m *matcher) bool {
		if memo.name(m, m.f.method) {
			return true
		}
		if m.f.op > 0 {
			o := m.own()
			if memo.name(m, o.name) || f.inString(string(o.ID)) {
				return true
			}
		}
		if literal && m.lacks(f) {
			return false
		}
		if f.in(m.body()) {
			return true
		}
		if literal && !obscure(m.body()) {
			return false
		}
		return m.escaped() && f.in(m.plain())
	}
	return l
}

// regexLeaf makes the leaf of a regular expression.
func regexLeaf(s string, re *regexp.Regexp) *leaf {
	memo := newMemo(re.MatchString)
	var needle *finder
	if tree, err := syntax.Parse("(?i)"+s, syntax.Perl); err == nil {
		if f := newFinder(required(tree)); len(f.folded) >= minNeedle && f.literal() {
			needle = f
		}
	}
	text := "/" + strings.ReplaceAll(s, "/", `\/`) + "/"
	return &leaf{text: text, key: text, cost: ofBody, memo: memo, test: func(m *matcher) bool {
		if m.f.method > 0 && memo.name(m, m.f.method) {
			return true
		}
		if m.f.op > 0 {
			o := m.own()
			if o.name > 0 && memo.name(m, o.name) || re.MatchString(string(o.ID)) {
				return true
			}
		}
		if needle != nil && m.lacks(needle) {
			return false
		}
		return m.hasBody() && (re.Match(m.body()) || m.escaped() && re.Match(m.plain()))
	}}
}

// minNeedle is how long a text has to be to be worth looking for first.
const minNeedle = 3

// required is the longest text that stands in everything that matches, whatever
// the case; "" when none is known.
func required(re *syntax.Regexp) string {
	best := ""
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
	default:
	}
	return best
}
