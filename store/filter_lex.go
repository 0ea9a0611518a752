package store

import (
	"strings"
	"unicode"
)

// Bounds of a filter's text.
const (
	maxQuery = 16 << 10 // characters
	maxDepth = 100      // of parentheses and negations
)

// lexer walks over the text of a filter. Columns are counted in characters.
type lexer struct {
	text []rune
	at   int
}

func (l *lexer) fail(at int, msg string) error { return &QueryError{Column: at + 1, Msg: msg} }

func (l *lexer) skipSpace() {
	for l.at < len(l.text) && unicode.IsSpace(l.text[l.at]) {
		l.at++
	}
}

// peek is the character k places on, 0 behind the end.
func (l *lexer) peek(k int) rune {
	if l.at+k >= len(l.text) {
		return 0
	}
	return l.text[l.at+k]
}

func (l *lexer) end() bool { return l.at >= len(l.text) }

// delimits reports whether a word ends before the current character.
func (l *lexer) delimits() bool {
	return l.end() || unicode.IsSpace(l.peek(0)) || l.peek(0) == '(' || l.peek(0) == ')'
}

// keyword takes word when it stands here by itself.
func (l *lexer) keyword(word string) bool {
	if !l.has(word) {
		return false
	}
	was := l.at
	l.at += len(word)
	if !l.delimits() {
		l.at = was
		return false
	}
	return true
}

func (l *lexer) has(s string) bool {
	for i, c := range []rune(s) {
		if l.peek(i) != c {
			return false
		}
	}
	return true
}

// quoted takes a text in quotation marks, in which \" and \\ stand for
// themselves.
func (l *lexer) quoted() (string, error) {
	start := l.at
	l.at++
	var b strings.Builder
	for !l.end() {
		c := l.peek(0)
		switch {
		case c == '"':
			l.at++
			if !l.delimits() {
				return "", l.fail(l.at, `a space is missing behind the closing "`)
			}
			return b.String(), nil
		case c == '\\' && (l.peek(1) == '"' || l.peek(1) == '\\'):
			l.at++
			c = l.peek(0)
		}
		b.WriteRune(c)
		l.at++
	}
	return "", l.fail(start, `the closing " is missing`)
}

// regex takes /expression/, in which \/ stands for a slash.
func (l *lexer) regex() (string, error) {
	start := l.at
	l.at++
	var b strings.Builder
	for !l.end() {
		c := l.peek(0)
		switch {
		case c == '/' && l.at == start+1:
			return "", l.fail(start, `the regular expression is empty; to search for a slash write "/"`)
		case c == '/':
			l.at++
			if !l.delimits() {
				return "", l.fail(l.at, `text behind the closing / of a regular expression; to search for a path put it in quotation marks`)
			}
			return b.String(), nil
		case c == '\\' && l.peek(1) == '/':
			l.at++
			c = '/'
		case c == '\\' && l.peek(1) != 0:
			b.WriteRune(c)
			l.at++
			c = l.peek(0)
		}
		b.WriteRune(c)
		l.at++
	}
	return "", l.fail(start, `the closing / of the regular expression is missing; to search for a path put it in quotation marks`)
}

// raw takes everything up to a space or a parenthesis.
func (l *lexer) raw() string {
	start := l.at
	for !l.delimits() {
		l.at++
	}
	return string(l.text[start:l.at])
}

// name is the run of letters that stands here; it is not taken.
func (l *lexer) name() string {
	n := 0
	for c := l.peek(n); c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'; c = l.peek(n) {
		n++
	}
	return string(l.text[l.at : l.at+n])
}

// quote puts s in quotation marks.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// plainWord reports whether s means itself where a bare word may stand.
func plainWord(s string) bool {
	if s == "" || s == "OR" || s == "NOT" || s == "AND" {
		return false
	}
	return strings.IndexFunc(s, func(c rune) bool {
		return !(unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '.')
	}) < 0
}

// plainValue reports whether s means itself behind the colon of a term.
func plainValue(s string) bool {
	return s != "" && s[0] != '=' && s[0] != '"' && strings.IndexFunc(s, func(c rune) bool {
		return unicode.IsSpace(c) || c == '(' || c == ')'
	}) < 0
}
