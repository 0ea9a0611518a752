package wire

import (
	"bytes"
	"slices"
)

// AppendCanonical appends the JSON value v in a form in which equal values are
// equal texts: members sorted by name, of equal names the last, no white
// space, strings with the fewest escapes, whole numbers as plain digits. v is
// JSON that Check accepts.
func AppendCanonical(dst, v []byte) []byte {
	switch TypeOf(v) {
	case Object:
		return appendCanonicalObject(dst, v)
	case Array:
		dst = append(dst, '[')
		first := true
		for e := ElementsOf(v); e.Next(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, e.Value)
		}
		return append(dst, ']')
	case String:
		v = TrimSpace(v)
		if bytes.IndexByte(v, '\\') < 0 {
			return append(dst, v...)
		}
		return AppendString(dst, unescape(v[1:len(v)-1]))
	case Number:
		return append(dst, canonicalNumber(string(TrimSpace(v)))...)
	case None, Null, Bool:
	}
	return append(dst, TrimSpace(v)...)
}

func appendCanonicalObject(dst, v []byte) []byte {
	type member struct {
		name  string
		value []byte
	}
	var ms []member
	for m := MembersOf(v); m.Next(); {
		ms = append(ms, member{string(m.Key), m.Value})
	}
	slices.SortStableFunc(ms, func(a, b member) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	dst = append(dst, '{')
	first := true
	for i, m := range ms {
		if i+1 < len(ms) && ms[i+1].name == m.name {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(AppendString(dst, m.name), ':')
		dst = AppendCanonical(dst, m.value)
	}
	return append(dst, '}')
}

// CompactLen is the length of the JSON value v without white space between its
// tokens, in bytes.
func CompactLen(v []byte) int {
	n := 0
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case isSpace(c):
			i++
		case c == '"':
			end, err := skipString(v, i)
			if err != nil {
				return n + len(v) - i
			}
			n += end - i
			i = end
		default:
			n++
			i++
		}
	}
	return n
}
