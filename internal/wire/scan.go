package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects that is read as JSON.
// A deeper text is reported as ErrDepth and recorded as plain text, so that no
// later reader of a log, whatever its language, meets a stack overflow.
const MaxDepth = 1000

// ErrDepth says that a text nests deeper than MaxDepth.
var ErrDepth = errors.New("JSON nested deeper than 1000 levels")

// ErrUTF8 says that a text is not valid UTF-8, which JSON requires (RFC 8259, section 8.1).
var ErrUTF8 = errors.New("not valid UTF-8")

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int    // byte offset, counted from 0
	Want   string // what was expected there
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON: want %s at byte %d", e.Want, e.Offset)
}

// Check reports whether b is exactly one JSON value with optional white space
// around it: nil, or ErrDepth, ErrUTF8 or a *SyntaxError. Duplicate member
// names and lone surrogate escapes are legal here; they are for rules to judge.
// It allocates only for its error and takes linear time.
func Check(b []byte) error {
	i := skipSpace(b, 0)
	end, err := skipValue(b, i)
	if err != nil {
		return err
	}
	if end = skipSpace(b, end); end != len(b) {
		return &SyntaxError{end, "the end of the text"}
	}
	if !ValidUTF8(b) {
		return ErrUTF8
	}
	return nil
}

// ValidUTF8 is utf8.Valid, faster on text that begins with much ASCII.
func ValidUTF8(b []byte) bool {
	for len(b) >= 32 && (word(b, 0)|word(b, 8)|word(b, 16)|word(b, 24))&highs == 0 {
		b = b[32:]
	}
	return utf8.Valid(b)
}

// TrimSpace returns b without JSON white space at both ends.
func TrimSpace(b []byte) []byte {
	i := skipSpace(b, 0)
	j := len(b)
	for j > i && isSpace(b[j-1]) {
		j--
	}
	return b[i:j]
}

// Prefix returns the JSON value at the start of b, white space before it
// skipped, and what follows it.
func Prefix(b []byte) (value, rest []byte, err error) {
	i := skipSpace(b, 0)
	end, err := skipValue(b, i)
	if err != nil {
		return nil, nil, err
	}
	return b[i:end], b[end:], nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// nest is a stack of MaxDepth bits: set for an object, clear for an array.
type nest struct {
	bits  [(MaxDepth + 63) / 64]uint64
	depth int
}

func (n *nest) push(object bool) bool {
	if n.depth == MaxDepth {
		return false
	}
	w, m := n.depth/64, uint64(1)<<(n.depth%64)
	if object {
		n.bits[w] |= m
	} else {
		n.bits[w] &^= m
	}
	n.depth++
	return true
}

func (n *nest) inObject() bool {
	d := n.depth - 1
	return n.bits[d/64]>>(d%64)&1 == 1
}

// skipValue returns the offset behind the JSON value that starts at b[i].
// It is iterative: hostile nesting costs a bit a level and no stack.
func skipValue(b []byte, i int) (int, error) {
	if i < len(b) && b[i] != '{' && b[i] != '[' {
		return skipScalar(b, i)
	}
	var n nest
	return skipNested(b, i, &n)
}

// skipNested walks a value that may hold others. Each turn of the loop reads
// one value; closing brackets are then taken while they come.
func skipNested(b []byte, i int, n *nest) (int, error) {
	var err error
	for {
		if i >= len(b) {
			return 0, &SyntaxError{i, "a value"}
		}
		if c := b[i]; c == '{' || c == '[' {
			if !n.push(c == '{') {
				return 0, ErrDepth
			}
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == c+2 { // '{'+2 == '}' and '['+2 == ']'
				i++
				n.depth--
			} else {
				if c == '{' {
					if i, err = skipKey(b, i); err != nil {
						return 0, err
					}
				}
				continue
			}
		} else if i, err = skipScalar(b, i); err != nil {
			return 0, err
		}
		var done bool
		if i, done, err = afterValue(b, i, n); err != nil || done {
			return i, err
		}
	}
}

// afterValue goes on behind a finished value: over closing brackets and up to
// the next value, or reports that the outermost one is done.
func afterValue(b []byte, i int, n *nest) (next int, done bool, err error) {
	for {
		if n.depth == 0 {
			return i, true, nil
		}
		i = skipSpace(b, i)
		object := n.inObject()
		switch {
		case i >= len(b):
			return 0, false, &SyntaxError{i, "a comma or a closing bracket"}
		case b[i] == ',':
			i = skipSpace(b, i+1)
			if object {
				i, err = skipKey(b, i)
			}
			return i, false, err
		case object && b[i] == '}', !object && b[i] == ']':
			i++
			n.depth--
		default:
			return 0, false, &SyntaxError{i, "a comma or a closing bracket"}
		}
	}
}

// skipKey returns the offset of the value behind a member name.
func skipKey(b []byte, i int) (int, error) {
	if i >= len(b) || b[i] != '"' {
		return 0, &SyntaxError{i, "a member name"}
	}
	i, err := skipString(b, i)
	if err != nil {
		return 0, err
	}
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return 0, &SyntaxError{i, "a colon"}
	}
	return skipSpace(b, i+1), nil
}

func skipScalar(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, &SyntaxError{i, "a value"}
	}
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '-' || c >= '0' && c <= '9':
		return skipNumber(b, i)
	case c == 't':
		return skipWord(b, i, "true")
	case c == 'f':
		return skipWord(b, i, "false")
	case c == 'n':
		return skipWord(b, i, "null")
	}
	return 0, &SyntaxError{i, "a value"}
}

func skipWord(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return 0, &SyntaxError{i, word}
	}
	return i + len(word), nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func skipNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = skipDigits(b, i)
	default:
		return 0, &SyntaxError{i, "a digit"}
	}
	if i < len(b) && b[i] == '.' {
		j := skipDigits(b, i+1)
		if j == i+1 {
			return 0, &SyntaxError{j, "a digit"}
		}
		i = j
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		j := skipDigits(b, i)
		if j == i {
			return 0, &SyntaxError{j, "a digit"}
		}
		i = j
	}
	return i, nil
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has a high bit set when w holds a quote, a backslash or a control
// character, and none when it does not. Bytes of UTF-8 sequences have their own
// high bit set, which ^w takes out again.
func special(w uint64) uint64 {
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((quote - ones) | (slash - ones) | (w - ones*0x20)) & ^w & highs
}

// word reads eight bytes.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// plain returns the offset of the first byte from b[i] on that is a quote, a
// backslash or a control character. Short strings end in the first words; long
// payloads are mostly other bytes and go by 32, very long ones by blocks.
func plain(b []byte, i int) int {
	for n := 0; n < 4 && i+8 <= len(b); n++ {
		if special(word(b, i)) != 0 {
			return plainByte(b, i)
		}
		i += 8
	}
	i, found := plainWords(b, i, min(len(b), i+2*block))
	if !found {
		for i+block <= len(b) && plainBlock(b[i:i+block:i+block]) {
			i += block
		}
		i, _ = plainWords(b, i, len(b))
	}
	for i+8 <= len(b) && special(word(b, i)) == 0 {
		i += 8
	}
	return plainByte(b, i)
}

// plainWords goes on by 32 bytes up to end, or to the 32 that hold such a byte.
func plainWords(b []byte, i, end int) (at int, found bool) {
	for ; i+32 <= end; i += 32 {
		p := b[i : i+32 : i+32]
		if special(word(p, 0))|special(word(p, 8))|special(word(p, 16))|special(word(p, 24)) != 0 {
			return i, true
		}
	}
	return i, false
}

// block is small enough that looking at one in vain costs little.
const block = 512

// plainBlock reports whether p, of block bytes, holds none of those bytes: the
// two that the library finds faster than we do, then those below 0x20.
func plainBlock(p []byte) bool {
	if bytes.IndexByte(p, '"') >= 0 || bytes.IndexByte(p, '\\') >= 0 {
		return false
	}
	var hit uint64
	for ; len(p) >= 32; p = p[32:] {
		a, b, c, d := word(p, 0), word(p, 8), word(p, 16), word(p, 24)
		hit |= (a-ones*0x20)&^a | (b-ones*0x20)&^b | (c-ones*0x20)&^c | (d-ones*0x20)&^d
	}
	return hit&highs == 0
}

func plainByte(b []byte, i int) int {
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
		i++
	}
	return i
}

// skipString returns the offset behind the string whose opening quote is b[i].
func skipString(b []byte, i int) (int, error) {
	i++
	for {
		i = plain(b, i)
		if i >= len(b) {
			return 0, &SyntaxError{i, "a closing quote"}
		}
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return 0, &SyntaxError{i, "a legal escape"}
			}
			i += n
		default:
			return 0, &SyntaxError{i, "an escaped control character"}
		}
	}
}

// escapeLen returns the length of the escape at the start of b, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if hexValue(c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
