package tui

// outline is JSON cut into the lines of its pretty form. A line is a few
// numbers that point into the text, which is never copied; the lines are found
// step by step, so that a text of any size can be looked at while that goes on.
type outline struct {
	text  []byte
	lines []jline
	open  []uint32 // lines of the containers that are not closed yet
	at    int      // how far the text was read
	need  jneed
	ended bool // nothing is left to find
	cut   bool // the outline ends before the text does
	bad   bool // the text stops being JSON at at

	key, keyEnd uint32 // of the member whose value comes next
}

// jline is one line: a scalar, or a bracket that opens or closes.
type jline struct {
	key, keyEnd uint32 // name of the member with its quotes; equal when there is none
	val, end    uint32 // what stands behind it
	mate        uint32 // the line of the other bracket, 0 while it is not known
	depth       uint16
	kind        jkind
	comma       bool
}

type jkind uint8

const (
	jString jkind = iota
	jNumber
	jConst
	jOpen  // { or [
	jClose // } or ]
	jEmpty // {} or []
	jBad   // what is no JSON: the rest of the text
)

// jneed is what may come next.
type jneed uint8

const (
	needValue jneed = iota
	needKey
	needComma
)

// Bounds of an outline. What is beyond can be seen as bytes.
const (
	maxOutline = 1 << 20 // lines
	maxIndent  = 1000    // levels
)

func newOutline(text []byte) *outline { return &outline{text: text} }

// grow reads on for about n bytes and reports whether there is more.
func (o *outline) grow(n int) bool {
	end := o.at + n
	for !o.ended && o.at < end {
		o.token()
	}
	return !o.ended
}

func (o *outline) stop(bad bool) {
	o.ended, o.bad = true, bad
	if bad && o.at < len(o.text) {
		o.lines = append(o.lines, jline{key: uint32(o.at), keyEnd: uint32(o.at), val: uint32(o.at), end: uint32(len(o.text)), depth: uint16(len(o.open)), kind: jBad})
	}
}

// token reads one token.
func (o *outline) token() {
	for o.at < len(o.text) && isBlank(o.text[o.at]) {
		o.at++
	}
	if o.at >= len(o.text) {
		o.stop(false)
		return
	}
	if len(o.lines) >= maxOutline || len(o.open) >= maxIndent {
		o.cut = true
		o.stop(false)
		return
	}
	c := o.text[o.at]
	switch {
	case c == '}' || c == ']':
		o.closing(c)
	case o.need == needComma:
		o.comma(c)
	case o.need == needKey:
		o.member(c)
	default:
		o.value(c)
	}
}

func (o *outline) comma(c byte) {
	if c != ',' || len(o.open) == 0 {
		o.stop(true)
		return
	}
	o.lines[len(o.lines)-1].comma = true
	o.at++
	o.need = needValue
	if o.inObject() {
		o.need = needKey
	}
}

func (o *outline) inObject() bool {
	return len(o.open) > 0 && o.text[o.lines[o.open[len(o.open)-1]].val] == '{'
}

func (o *outline) member(c byte) {
	end := stringEnd(o.text, o.at)
	if c != '"' || end < 0 {
		o.stop(true)
		return
	}
	start := o.at
	i := end
	for i < len(o.text) && isBlank(o.text[i]) {
		i++
	}
	if i >= len(o.text) || o.text[i] != ':' {
		o.stop(true)
		return
	}
	o.key, o.keyEnd = uint32(start), uint32(end)
	o.at, o.need = i+1, needValue
}

func (o *outline) value(c byte) {
	l := jline{key: o.key, keyEnd: o.keyEnd, val: uint32(o.at), depth: uint16(len(o.open))}
	switch c {
	case '"':
		end := stringEnd(o.text, o.at)
		if end < 0 {
			o.stop(true)
			return
		}
		l.kind, o.at = jString, end
	case '{', '[':
		o.opening(l, c)
		return
	default:
		end := o.at
		for end < len(o.text) && isWordByte(o.text[end]) {
			end++
		}
		if end == o.at {
			o.stop(true)
			return
		}
		l.kind, o.at = jConst, end
		if c == '-' || isDigit(c) {
			l.kind = jNumber
		}
	}
	l.end = uint32(o.at)
	o.add(l)
}

func (o *outline) add(l jline) {
	o.lines = append(o.lines, l)
	o.key, o.keyEnd = 0, 0
	o.need = needComma
}

func (o *outline) opening(l jline, c byte) {
	i := o.at + 1
	for i < len(o.text) && isBlank(o.text[i]) {
		i++
	}
	if i < len(o.text) && o.text[i] == c+2 { // } and ] stand two behind { and [
		l.kind, o.at = jEmpty, i+1
		l.end = uint32(o.at)
		o.add(l)
		return
	}
	l.kind = jOpen
	o.at++
	l.end = uint32(o.at)
	o.add(l)
	o.open = append(o.open, uint32(len(o.lines)-1))
	o.need = needValue
	if c == '{' {
		o.need = needKey
	}
}

func (o *outline) closing(c byte) {
	if len(o.open) == 0 || o.need != needComma {
		o.stop(true)
		return
	}
	opener := o.open[len(o.open)-1]
	if o.text[o.lines[opener].val]+2 != c {
		o.stop(true)
		return
	}
	o.open = o.open[:len(o.open)-1]
	at := uint32(o.at)
	o.at++
	o.lines[opener].mate = uint32(len(o.lines))
	o.add(jline{key: at, keyEnd: at, val: at, end: at + 1, mate: opener, depth: uint16(len(o.open)), kind: jClose})
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// stringEnd is the offset behind the string that begins at i, -1 when it does
// not end.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}
