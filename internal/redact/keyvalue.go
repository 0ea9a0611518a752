package redact

import "bytes"

// key looks at the word t[i:j] as a name with a value behind it: name=value,
// "name": "value", Name: value, --name value, <name>value. It returns where to
// go on.
func (s *scan) key(i, j int) int {
	t := s.t
	k, quote := j, byte(0)
	if k+1 < len(t) && t[k] == '\\' && (t[k+1] == '"' || t[k+1] == '\'') {
		k++
	}
	if k < len(t) && (t[k] == '"' || t[k] == '\'' || t[k] == '`') {
		quote = t[k]
		k++
	}
	for n := 0; n < 8 && k < len(t) && (t[k] == ' ' || t[k] == '\t'); n++ {
		k++
	}
	if k >= len(t) {
		return j
	}
	sep := t[k]
	switch {
	case sep == ':' || sep == '=':
		k++
		if sep == ':' && k < len(t) && (t[k] == ':' || t[k] == '/' && k+1 < len(t) && t[k+1] == '/') {
			return j // a URL, or a name of some language
		}
		for n := 0; n < 2 && k < len(t) && (t[k] == '=' || t[k] == '>'); n++ { // == => :=
			k++
		}
	case sep == '>' && i > 0 && t[i-1] == '<' && k == j:
		k++
	case t[i] == '-' && k > j && quote == 0: // --name value
		sep = ' '
	default:
		return j
	}
	kind := s.kind(i, j)
	if kind == 0 {
		return j
	}
	start, end := s.value(k, sep, kind, s.before(i))
	if end <= start {
		return j
	}
	bare := t[start-1] != '"' && t[start-1] != '\'' && t[start-1] != '`'
	s.w.add(span{start: start, end: end, kind: "key", bare: bare})
	return end
}

// kind classifies the name t[i:j]. "API key" is one name.
func (s *scan) kind(i, j int) keyKind {
	if kind := s.w.kind(s.t[i:j]); kind != 0 {
		return kind
	}
	if j-i <= 5 && s.prevEnd > 0 && s.prevEnd == i-1 && s.t[s.prevEnd] == ' ' {
		return s.w.kind(s.t[s.prevStart:j])
	}
	return 0
}

// before is the quote in front of the name, if there is one.
func (s *scan) before(i int) byte {
	if i > 0 && (s.t[i-1] == '"' || s.t[i-1] == '\'' || s.t[i-1] == '`') {
		return s.t[i-1]
	}
	return 0
}

// value returns the extent of the value that begins at or behind t[k]; empty
// if nothing there is to be hidden.
func (s *scan) value(k int, sep byte, kind keyKind, nameQuote byte) (start, end int) {
	t := s.t
	for n := 0; n < 8 && k < len(t) && (t[k] == ' ' || t[k] == '\t'); n++ {
		k++
	}
	if k >= len(t) || t[k] == '\n' || t[k] == '\r' {
		return 0, 0
	}
	c := t[k]
	switch {
	case c == '\\' && k+1 < len(t) && (t[k+1] == '"' || t[k+1] == '\''):
		start = k + 2
		return s.trim(start, escapedQuoteEnd(t, start, t[k+1]), kind)
	case c == '"' || c == '\'' || c == '`':
		return s.trim(k+1, quoteEnd(t, k+1, c), kind)
	case (c == '{' || c == '[') && sep == ':' && nameQuote != 0:
		if s.lenient {
			return 0, 0
		}
		return k, bracketEnd(t, k)
	case kind&kindLine != 0 && sep == ':':
		end = lineEnd(t, k, nameQuote)
	case sep == '>':
		end = k + max(0, bytes.IndexByte(t[k:], '<'))
	default:
		end = bareEnd(t, k)
		if schemeWord(t[k:end]) && end < len(t) && t[end] == ' ' { // token=Bearer X
			end = bareEnd(t, end+1)
		}
	}
	if plainValue(t[k:end], sep, kind) {
		return 0, 0
	}
	return s.trim(k, end, kind)
}

// trim leaves the scheme before a credential, and what is covered already.
func (s *scan) trim(start, end int, kind keyKind) (int, int) {
	v := s.t[start:end]
	if kind&kindPwd != 0 && isPathLike(v) {
		return 0, 0
	}
	return start + schemeLen(v), end
}

// schemeLen is the length of the scheme and the spaces before a credential.
func schemeLen(v []byte) int {
	k := bytes.IndexByte(v, ' ')
	if k < 0 || !schemeWord(v[:k]) {
		return 0
	}
	for k < len(v) && v[k] == ' ' {
		k++
	}
	if k == len(v) {
		return 0
	}
	return k
}

func isPathLike(v []byte) bool {
	return len(v) > 0 && (v[0] == '/' || v[0] == '~') || len(v) > 2 && v[1] == ':' && (v[2] == '\\' || v[2] == '/')
}

// plainValue reports whether an unquoted value hides nothing: a literal of
// some language, a number where numbers are kept, or in prose a plain word.
func plainValue(v []byte, sep byte, kind keyKind) bool {
	if kind&kindUser != 0 {
		return len(v) == 0
	}
	switch string(bytes.ToLower(v[:min(len(v), 10)])) {
	case "", "true", "false", "null", "none", "nil", "undefined":
		return true
	}
	if sep == ' ' && v[0] == '-' {
		return true
	}
	digits, lower := true, true
	for _, c := range v {
		digits = digits && c >= '0' && c <= '9'
		lower = lower && c >= 'a' && c <= 'z'
	}
	if digits && sep == ':' {
		return kind&kindNumber == 0
	}
	return lower && len(v) < 12 && (sep == ':' && kind&kindWord != 0 || sep == ' ')
}

// quoteEnd returns the offset of the quote that closes at or behind t[i], or
// the end of the line.
func quoteEnd(t []byte, i int, quote byte) int {
	for ; i < len(t) && t[i] != quote && t[i] != '\n'; i++ {
		if t[i] == '\\' && i+1 < len(t) && t[i+1] != '\n' {
			i++
		}
	}
	return i
}

// escapedQuoteEnd is quoteEnd for text that was escaped once more: \" closes.
func escapedQuoteEnd(t []byte, i int, quote byte) int {
	for ; i < len(t) && t[i] != '\n'; i++ {
		if t[i] != '\\' || i+1 == len(t) {
			continue
		}
		if t[i+1] == quote {
			return i
		}
		i++
		if t[i] == '\\' && i+2 < len(t) && t[i+1] == '\\' { // \\\" is an escaped quote inside
			i += 2
		}
	}
	return min(i, len(t))
}

// bracketEnd returns the end of the object or array that begins at t[i], or
// the end of t.
func bracketEnd(t []byte, i int) int {
	for depth := 0; i < len(t); i++ {
		switch t[i] {
		case '"':
			if i = quoteEnd(t, i+1, '"'); i >= len(t) {
				return len(t)
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(t)
}

// lineEnd returns where a header line ends: at the quote that stood before its
// name, or with the line.
func lineEnd(t []byte, i int, quote byte) int {
	for ; i < len(t) && t[i] != '\n' && t[i] != '\r'; i++ {
		if quote != 0 && t[i] == quote {
			break
		}
	}
	for i > 0 && (t[i-1] == ' ' || t[i-1] == '\t') {
		i--
	}
	return i
}

// bareEnd returns the end of an unquoted value. Separators end it only where
// something else begins behind them, so a password may hold them.
func bareEnd(t []byte, i int) int {
	for ; i < len(t); i++ {
		switch c := t[i]; {
		case c <= ' ' && c != hidden, c == '"', c == '\'', c == '`', c == '<', c == '>':
			return i
		case c == '\\' && i+1 < len(t) && (t[i+1] == '"' || t[i+1] == '\''):
			return i
		case softEnd(c) && endsAt(t, i+1):
			return i
		}
	}
	return i
}

func softEnd(c byte) bool {
	return c == ',' || c == ';' || c == '&' || c == '|' || c == ')' || c == ']' || c == '}'
}

// endsAt reports whether a value that a soft separator before t[i] may end
// does end there: at the end, before a space or another separator, or before
// name= or name:.
func endsAt(t []byte, i int) bool {
	if i >= len(t) {
		return true
	}
	if c := t[i]; c <= ' ' && c != hidden || softEnd(c) || c == '"' || c == '\'' || c == '\\' || c == '.' || c == ':' {
		return true
	}
	for j := i; j < len(t) && j < i+64; j++ {
		switch c := t[j]; {
		case j > i && (c == '=' || c == ':'):
			return true
		case !isDotted(c):
			return false
		}
	}
	return false
}
