package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// form is one way in which a value may be written.
type form struct {
	text        string
	bound       bool // short: counts only where no letter or digit touches it
	open        bool // the beginning of a longer one
	left, right bool // base64 whose neighbouring digit holds some bits of it too
}

// Lengths from which a value is searched for. A short one needs letters and
// digits and stands alone; a long one may be of any kind.
const (
	minKnown   = 6
	freeKnown  = 12
	plainKnown = 16
)

// worthy reports whether a value found once is looked for elsewhere: one that
// is short, or a plain word, would hide what is no secret.
func worthy(v string) bool {
	if len(v) < minKnown || HasMark(v) || placeholder(v) {
		return false
	}
	var letter, digit, upper, lower, other bool
	distinct := uint64(0)
	for i := range len(v) {
		c := v[i]
		distinct |= 1 << (c % 64)
		switch {
		case c >= 'a' && c <= 'z':
			lower, letter = true, true
		case c >= 'A' && c <= 'Z':
			upper, letter = true, true
		case c >= '0' && c <= '9':
			digit = true
		default:
			other = true
		}
	}
	if distinct&(distinct-1) == 0 { // one character over and over
		return false
	}
	classes := 0
	for _, b := range []bool{upper, lower, digit, other} {
		if b {
			classes++
		}
	}
	switch {
	case len(v) < freeKnown:
		return letter && digit || classes >= 3
	case len(v) < plainKnown:
		return classes >= 2
	}
	return true
}

// placeholder reports whether v names a secret and is none: ${TOKEN}, <key>.
func placeholder(v string) bool {
	return strings.HasPrefix(v, "process.env") || strings.HasPrefix(v, "os.environ") ||
		strings.HasPrefix(v, "${") && strings.HasSuffix(v, "}") ||
		strings.HasPrefix(v, "{{") && strings.HasSuffix(v, "}}") ||
		strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") ||
		strings.HasPrefix(v, "$") && !strings.ContainsFunc(v[1:], func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') })
}

// formsOf returns how v may be written, each once.
func formsOf(v string, open bool) []form {
	f := formList{list: make([]form, 0, 12), open: open}
	f.add(form{text: v, bound: len(v) < freeKnown})
	if !unreserved(v) {
		for _, s := range escapes(v) {
			f.add(form{text: s, bound: len(v) < freeKnown})
		}
	}
	h := hex.EncodeToString([]byte(v))
	f.add(form{text: h})
	f.add(form{text: strings.ToUpper(h)})
	for shift := range 3 {
		b := base64Form(v, shift, open)
		f.add(b)
		if strings.ContainsAny(b.text, "+/") {
			b.text = toURLAlphabet.Replace(b.text)
			f.add(b)
		}
	}
	return f.list
}

// unreserved reports whether v is written the same in URLs and JSON strings.
func unreserved(v string) bool {
	for i := range len(v) {
		if c := v[i]; !isDotted(c) && c != '~' {
			return false
		}
	}
	return true
}

type formList struct {
	list []form
	open bool
}

func (l *formList) add(f form) {
	if len(f.text) < keyLen {
		return
	}
	for i := range l.list {
		if l.list[i].text == f.text {
			return
		}
	}
	f.open = l.open
	l.list = append(l.list, f)
}

// The replacers are read only.
var (
	toURLAlphabet = strings.NewReplacer("+", "-", "/", "_")
	toComponent   = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	toHTML        = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)
)

// base64Form is what is sure to stand in the base64 of a text in which v
// begins shift bytes behind a multiple of three.
func base64Form(v string, shift int, open bool) form {
	s := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift, shift+len(v)), v...))
	bits := 8 * (shift + len(v))
	from, to := (8*shift+5)/6, bits/6
	return form{text: s[from:to], left: 8*shift%6 != 0, right: bits%6 != 0 && !open}
}

func isBase64(c byte) bool {
	return isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_'
}

// escapes returns v as it stands in URLs and in JSON strings.
func escapes(v string) []string {
	q := url.QueryEscape(v)
	p := strings.ReplaceAll(q, "+", "%20")
	component := toComponent.Replace(p)
	out := []string{q, p, component, url.PathEscape(v), lowerEscapes(q), lowerEscapes(p), lowerEscapes(component)}
	j := string(wire.AppendString(nil, v))
	j = j[1 : len(j)-1]
	html := toHTML.Replace(j)
	again := string(wire.AppendString(nil, j))
	return append(out, j, html, strings.ReplaceAll(j, "/", `\/`), asciiJSON(j), again[1:len(again)-1])
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}

// asciiJSON writes what is not ASCII as \uXXXX, as many encoders do.
func asciiJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			writeHex(&b, hi)
			writeHex(&b, lo)
		default:
			writeHex(&b, r)
		}
	}
	return b.String()
}

func writeHex(b *strings.Builder, r rune) {
	const digits = "0123456789abcdef"
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(digits[r>>shift&15])
	}
}

// derived returns values that a found one holds: without percent escapes, the
// values of cookies, and of one that no quotes bound, what stands before a
// separator.
func derived(v string, bare bool) []string {
	var out []string
	if strings.IndexByte(v, '%') >= 0 {
		if u, err := url.QueryUnescape(v); err == nil && u != v {
			out = append(out, u)
		}
	}
	if k := strings.IndexAny(v, `\,;&|)]}`); bare && k > 0 && strings.IndexByte(v, ' ') < 0 {
		return append(out, v[:k])
	}
	if strings.Contains(v, "; ") {
		for pair := range strings.SplitSeq(v, "; ") {
			if _, value, ok := strings.Cut(pair, "="); ok && strings.IndexByte(value, ' ') < 0 {
				out = append(out, value)
			}
		}
	}
	return out
}
