package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnescaped appends text with the escapes of JSON strings resolved
// wherever they stand, for searching in the text that a reader of the JSON
// sees. Escapes of lone surrogates become U+FFFD; what is no escape stays.
func AppendUnescaped(dst, text []byte) []byte {
	for {
		k := bytes.IndexByte(text, '\\')
		if k < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:k]...)
		text = text[k:]
		switch n := escapeLen(text); n {
		case 0:
			dst = append(dst, text[0])
			text = text[1:]
		case 2:
			dst = append(dst, escaped[text[1]])
			text = text[2:]
		default:
			r := hex4(text[2:])
			text = text[n:]
			if utf16.IsSurrogate(r) {
				low := utf8.RuneError
				if escapeLen(text) == 6 {
					low = hex4(text[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					text = text[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
		}
	}
}
