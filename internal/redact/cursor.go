package redact

import (
	"bytes"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// event is what a cursor came upon.
type event uint8

const (
	atEnd event = iota
	atObject
	atArray
	atClose
	atKey
	atString
	atNumber
	atWord // true, false, null
)

// cursor reads a text that wire.Check has accepted from token to token, in one
// pass and without recursion.
type cursor struct {
	b     []byte
	i     int
	nest  [wire.MaxDepth/64 + 1]uint64 // set for an object
	depth int
	name  bool // a member name comes next
}

// next gives the next token and its extent. A string has its quotes.
func (c *cursor) next() (ev event, start, end int) {
	b := c.b
	for c.i < len(b) {
		start = c.i
		switch b[start] {
		case ' ', '\t', '\n', '\r':
			c.i++
		case ':':
			c.i++
			c.name = false
		case ',':
			c.i++
			c.name = c.inObject()
		case '{':
			c.push(true)
			return atObject, start, c.i
		case '[':
			c.push(false)
			return atArray, start, c.i
		case '}', ']':
			c.i++
			c.depth--
			c.name = false
			return atClose, start, c.i
		case '"':
			c.i = stringEnd(b, start)
			if c.name {
				return atKey, start, c.i
			}
			return atString, start, c.i
		case 't', 'n':
			c.i += 4
			return atWord, start, c.i
		case 'f':
			c.i += 5
			return atWord, start, c.i
		default:
			c.i++
			for c.i < len(b) && (isAlnum(b[c.i]) || b[c.i] == '.' || b[c.i] == '+' || b[c.i] == '-') {
				c.i++
			}
			return atNumber, start, c.i
		}
	}
	return atEnd, len(b), len(b)
}

func (c *cursor) push(object bool) {
	w, m := c.depth/64, uint64(1)<<(c.depth%64)
	if object {
		c.nest[w] |= m
	} else {
		c.nest[w] &^= m
	}
	c.depth++
	c.i++
	c.name = object
}

func (c *cursor) inObject() bool {
	if c.depth == 0 {
		return false
	}
	d := c.depth - 1
	return c.nest[d/64]>>(d%64)&1 == 1
}

// skip goes behind the array or object that next has just opened and returns
// its end.
func (c *cursor) skip() int {
	c.i = skipOpen(c.b, c.i)
	c.depth--
	c.name = false
	return c.i
}

// skipOpen returns the end of the array or object whose opening bracket stands
// before b[i].
func skipOpen(b []byte, i int) int {
	for depth := 1; depth > 0; i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return i
}

// stringEnd returns the offset behind the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		k := i
		for b[k-1] == '\\' {
			k--
		}
		if (i-k)%2 == 0 {
			return i + 1
		}
	}
}
