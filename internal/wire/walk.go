package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Type is the type of a JSON value.
type Type uint8

// The types of JSON values. None is the type of an empty or broken text.
const (
	None Type = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String names the type as JSON Schema does.
func (t Type) String() string {
	return [...]string{"none", "null", "boolean", "number", "string", "array", "object"}[t]
}

// TypeOf tells the type of a JSON value from its first byte.
func TypeOf(v []byte) Type {
	i := skipSpace(v, 0)
	if i == len(v) {
		return None
	}
	switch c := v[i]; {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	case c == '-' || c >= '0' && c <= '9':
		return Number
	}
	return None
}

// Members walks over the members of a JSON object in the order in which they
// stand. Zero allocations unless a member name holds an escape.
//
//	m := wire.MembersOf(v)
//	for m.Next() { use(m.Key, m.Value) }
//	if m.Err != nil { the text broke off there }
type Members struct {
	Key   []byte // the name, escapes resolved; valid until Next
	Value []byte // the value as it stands, white space around it left out; aliases the text
	Start int    // offset of Value in the text
	Err   error  // why the walk ended early, or nil

	b     []byte
	i     int // offset of the next member name, or -1 at the end
	colon int // offset behind the colon of the current member
	after int // offset of the comma or bracket behind the current value

	openKey, openValue []byte // the member whose value broke off
}

// MembersOf starts a walk over the object v. A v that is no object has no
// members and gives Err.
func MembersOf(v []byte) Members {
	i := skipSpace(v, 0)
	if i >= len(v) || v[i] != '{' {
		return Members{i: -1, Err: &SyntaxError{i, "an object"}}
	}
	i = skipSpace(v, i+1)
	if i < len(v) && v[i] == '}' {
		return Members{b: v, i: -1, after: i}
	}
	return Members{b: v, i: i}
}

// MembersFrom goes on with a walk over the object v, at the name of the member
// that stands at offset i.
func MembersFrom(v []byte, i int) Members { return Members{b: v, i: skipSpace(v, i)} }

// Next goes to the next member and reports whether there is one.
func (m *Members) Next() bool {
	if m.i < 0 {
		return false
	}
	start, err := m.key()
	if err != nil {
		return m.stop(err)
	}
	end, err := skipValue(m.b, start)
	if err != nil {
		m.openKey, m.openValue = m.Key, m.b[start:]
		return m.stop(err)
	}
	m.Value, m.Start = m.b[start:end], start
	end = skipSpace(m.b, end)
	m.after = end
	switch {
	case end < len(m.b) && m.b[end] == ',':
		m.i = skipSpace(m.b, end+1)
	case end < len(m.b) && m.b[end] == '}':
		m.i = -1
	default:
		// The member itself is whole: it is given, and the walk ends behind it.
		m.i, m.Err = -1, &SyntaxError{end, "a comma or a closing bracket"}
	}
	return true
}

// key reads the name of the next member and returns the offset of its value.
func (m *Members) key() (int, error) {
	b, i := m.b, m.i
	if i >= len(b) || b[i] != '"' {
		return 0, &SyntaxError{i, "a member name"}
	}
	end, err := skipString(b, i)
	if err != nil {
		return 0, err
	}
	m.Key = unescape(b[i+1 : end-1])
	if end = skipSpace(b, end); end >= len(b) || b[end] != ':' {
		return 0, &SyntaxError{end, "a colon"}
	}
	m.colon = end + 1
	return skipSpace(b, m.colon), nil
}

// Before and After bound the current value together with the white space
// around it, as offsets in the text.
func (m *Members) Before() int { return m.colon }

// After is the offset behind the white space that follows the current value.
func (m *Members) After() int { return m.after }

// Rest is what follows the object, once the walk has ended without Err.
func (m *Members) Rest() []byte { return m.b[m.after+1:] }

func (m *Members) stop(err error) bool {
	m.i, m.Err, m.Key, m.Value = -1, err, nil, nil
	return false
}

// Elements walks over the elements of a JSON array, as Members does over an object.
type Elements struct {
	Value []byte // aliases the text
	Start int    // offset of Value in the text
	Err   error

	b []byte
	i int
}

// ElementsOf starts a walk over the array v.
func ElementsOf(v []byte) Elements {
	i := skipSpace(v, 0)
	if i >= len(v) || v[i] != '[' {
		return Elements{i: -1, Err: &SyntaxError{i, "an array"}}
	}
	i = skipSpace(v, i+1)
	if i < len(v) && v[i] == ']' {
		return Elements{i: -1}
	}
	return Elements{b: v, i: i}
}

// Next goes to the next element and reports whether there is one.
func (e *Elements) Next() bool {
	if e.i < 0 {
		return false
	}
	end, err := skipValue(e.b, e.i)
	if err != nil {
		e.i, e.Err, e.Value = -1, err, nil
		return false
	}
	e.Value, e.Start = e.b[e.i:end], e.i
	switch end = skipSpace(e.b, end); {
	case end < len(e.b) && e.b[end] == ',':
		e.i = skipSpace(e.b, end+1)
	case end < len(e.b) && e.b[end] == ']':
		e.i = -1
	default:
		e.i, e.Err = -1, &SyntaxError{end, "a comma or a closing bracket"}
	}
	return true
}

// Get follows member names down from the object v and returns the value found
// there, nil if there is none. Of equal names the last one counts, as in
// JavaScript, Python and Go.
func Get(v []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		for m := MembersOf(v); m.Next(); {
			if string(m.Key) == name {
				found = m.Value
			}
		}
		if found == nil {
			return nil
		}
		v = found
	}
	return v
}

// GetString is Get for a string: its text, or "" if there is none.
func GetString(v []byte, path ...string) string {
	s, _ := Text(Get(v, path...))
	return s
}

// Text returns the text of the JSON string v, escapes resolved, and whether v
// is a string. Escapes of lone surrogates become U+FFFD.
func Text(v []byte) (string, bool) {
	v = TrimSpace(v)
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' {
		return "", false
	}
	return string(unescape(v[1 : len(v)-1])), true
}

// unescape resolves the escapes of the inside of a JSON string. Without any it
// returns s itself.
func unescape(s []byte) []byte {
	k := bytes.IndexByte(s, '\\')
	if k < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:k]...)
	for i := k; i < len(s); {
		if s[i] != '\\' {
			out = append(out, s[i])
			i++
			continue
		}
		n := escapeLen(s[i:])
		if n == 0 { // cannot stand in a text that Check accepts
			return append(out, s[i:]...)
		}
		if n == 2 {
			out = append(out, escaped[s[i+1]])
			i += 2
			continue
		}
		r := hex4(s[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			low := utf8.RuneError
			if escapeLen(s[i:]) == 6 {
				low = hex4(s[i+2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 6
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func hex4(s []byte) rune {
	var r rune
	for _, c := range s[:4] {
		r = r<<4 | rune(hexValue(c))
	}
	return r
}

// AppendString appends s as a JSON string: only what must be escaped is, so a
// text keeps its bytes. Invalid UTF-8 becomes U+FFFD; callers that must not
// lose bytes test for it first.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			dst = append(append(dst, s[from:i]...), "\uFFFD"...)
			i++
			from = i
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// AppendCompact appends the JSON value v without white space between its tokens.
func AppendCompact(dst, v []byte) []byte {
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case isSpace(c):
			i++
		case c == '"':
			end, err := skipString(v, i)
			if err != nil {
				return append(dst, v[i:]...)
			}
			dst = append(dst, v[i:end]...)
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}
