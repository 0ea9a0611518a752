package checks

import (
	"bytes"
	"iter"
	"slices"
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// tree is a JSON text parsed once: its values in the order in which they
// stand, as offsets into the text. Rules walk over it without reading the text
// again. One tree is reused for all messages of a session.
type tree struct {
	text  []byte
	nodes []node
	keys  []int32 // children of the object that is searched for names that stand twice

	twice     int32 // a member whose name stands twice in its object, or -1
	surrogate int32 // a value or member with half of a surrogate pair, or -1
	full      bool  // more values than maxNodes: the text was not read to its end
}

type node struct {
	start, end       int32 // of the value
	keyStart, keyEnd int32 // of the member's name between its quotes; 0 in arrays
	skip             int32 // index of the node behind this value
	typ              wire.Type
	escaped          bool // the name holds an escape
}

// parse reads text, which must be one legal JSON value, and reports whether it
// was read to its end.
func (t *tree) parse(text []byte) bool {
	t.text, t.nodes, t.twice, t.surrogate, t.full = text, t.nodes[:0], -1, -1, false
	i := t.space(0)
	i = t.value(i, node{}, 0)
	return i >= 0 && len(t.nodes) > 0
}

func (t *tree) space(i int) int {
	for i < len(t.text) {
		switch t.text[i] {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		}
		break
	}
	return i
}

// value reads the value at i into n and returns the offset behind it, -1 when
// the text is broken or too big.
func (t *tree) value(i int, n node, depth int) int {
	if i >= len(t.text) || len(t.nodes) >= maxNodes || depth > wire.MaxDepth {
		t.full = true
		return -1
	}
	n.start = int32(i)
	at := len(t.nodes)
	t.nodes = append(t.nodes, n)
	switch t.text[i] {
	case '{':
		t.nodes[at].typ = wire.Object
		i = t.object(i+1, at, depth)
	case '[':
		t.nodes[at].typ = wire.Array
		i = t.array(i+1, depth)
	case '"':
		t.nodes[at].typ = wire.String
		end, escaped := t.str(i + 1)
		if escaped && t.surrogate < 0 && loneSurrogate(t.text[i+1:end]) {
			t.surrogate = int32(at)
		}
		i = end + 1
	default:
		t.nodes[at].typ = wire.TypeOf(t.text[i : i+1])
		for i < len(t.text) && !endsScalar(t.text[i]) {
			i++
		}
	}
	if i < 0 {
		return -1
	}
	t.nodes[at].end, t.nodes[at].skip = int32(i), int32(len(t.nodes))
	return i
}

func endsScalar(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
}

// object reads members up to the closing brace.
func (t *tree) object(i, at, depth int) int {
	first := true
	for {
		i = t.space(i)
		if i >= len(t.text) {
			return -1
		}
		if t.text[i] == '}' {
			t.double(at)
			return i + 1
		}
		if !first {
			i = t.space(i + 1) // over the comma
		}
		first = false
		if i >= len(t.text) || t.text[i] != '"' {
			return -1
		}
		end, escaped := t.str(i + 1)
		n := node{keyStart: int32(i + 1), keyEnd: int32(end), escaped: escaped}
		if escaped && t.surrogate < 0 && loneSurrogate(t.text[i+1:end]) {
			t.surrogate = int32(len(t.nodes))
		}
		i = t.space(end + 1)
		i = t.space(i + 1) // over the colon
		if i = t.value(i, n, depth+1); i < 0 {
			return -1
		}
	}
}

// array reads elements up to the closing bracket.
func (t *tree) array(i, depth int) int {
	first := true
	for {
		i = t.space(i)
		if i >= len(t.text) {
			return -1
		}
		if t.text[i] == ']' {
			return i + 1
		}
		if !first {
			i = t.space(i + 1)
		}
		first = false
		if i = t.value(i, node{}, depth+1); i < 0 {
			return -1
		}
	}
}

// str returns the offset of the closing quote of the string that begins at i,
// and whether an escape stands in it.
func (t *tree) str(i int) (end int, escaped bool) {
	for {
		k := bytes.IndexByte(t.text[i:], '"')
		if k < 0 {
			return len(t.text), escaped
		}
		b := bytes.IndexByte(t.text[i:i+k], '\\')
		if b < 0 {
			return i + k, escaped
		}
		escaped = true
		i = min(i+b+2, len(t.text))
	}
}

// double looks for a name that stands twice among the members of at.
func (t *tree) double(at int) {
	if t.twice >= 0 {
		return
	}
	t.keys = t.keys[:0]
	for c := at + 1; c < len(t.nodes); c = int(t.nodes[c].skip) {
		t.keys = append(t.keys, int32(c))
	}
	if len(t.keys) <= 12 {
		for i, a := range t.keys {
			for _, b := range t.keys[:i] {
				if t.sameKey(a, b) {
					t.twice = a
					return
				}
			}
		}
		return
	}
	slices.SortFunc(t.keys, func(a, b int32) int { return bytes.Compare(t.key(a), t.key(b)) })
	for i := 1; i < len(t.keys); i++ {
		if t.sameKey(t.keys[i-1], t.keys[i]) {
			t.twice = max(t.keys[i-1], t.keys[i])
			return
		}
	}
}

func (t *tree) sameKey(a, b int32) bool {
	x, y := &t.nodes[a], &t.nodes[b]
	if !x.escaped && !y.escaped {
		return x.keyEnd-x.keyStart == y.keyEnd-y.keyStart && string(t.text[x.keyStart:x.keyEnd]) == string(t.text[y.keyStart:y.keyEnd])
	}
	return string(t.key(a)) == string(t.key(b))
}

// key is the name of a member, escapes resolved.
func (t *tree) key(i int32) []byte {
	n := &t.nodes[i]
	k := t.text[n.keyStart:n.keyEnd]
	if n.escaped {
		s, _ := wire.Text(t.text[n.keyStart-1 : n.keyEnd+1])
		return []byte(s)
	}
	return k
}

// root is the whole text.
func (t *tree) root() val {
	if len(t.nodes) == 0 {
		return val{}
	}
	return val{t, 0}
}

// val is a value in a tree; the zero val is one that is not there.
type val struct {
	t *tree
	i int32
}

func (v val) ok() bool { return v.t != nil }

// typ is wire.None for a value that is not there.
func (v val) typ() wire.Type {
	if v.t == nil {
		return wire.None
	}
	return v.t.nodes[v.i].typ
}

func (v val) isObject() bool { return v.typ() == wire.Object }
func (v val) isArray() bool  { return v.typ() == wire.Array }
func (v val) isString() bool { return v.typ() == wire.String }
func (v val) isNull() bool   { return v.typ() == wire.Null }
func (v val) isTrue() bool   { return v.typ() == wire.Bool && v.raw()[0] == 't' }

// raw is the text of the value.
func (v val) raw() []byte {
	if v.t == nil {
		return nil
	}
	n := &v.t.nodes[v.i]
	return v.t.text[n.start:n.end]
}

// str is the text of a string, "" for anything else.
func (v val) str() string {
	if !v.isString() {
		return ""
	}
	s, _ := wire.Text(v.raw())
	return s
}

// is reports whether the value is that string.
func (v val) is(s string) bool {
	if !v.isString() {
		return false
	}
	r := v.raw()
	if bytes.IndexByte(r, '\\') >= 0 {
		return v.str() == s
	}
	return string(r[1:len(r)-1]) == s
}

// isInt reports whether the value is a whole number, however it is written.
func (v val) isInt() bool {
	if v.typ() != wire.Number {
		return false
	}
	r := v.raw()
	if !bytes.ContainsAny(r, ".eE") {
		return true
	}
	return !bytes.ContainsAny([]byte(wire.ParseID(r)), ".eE")
}

// num is the value of a number.
func (v val) num() (float64, bool) {
	if v.typ() != wire.Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.raw()), 64)
	return f, err == nil
}

// get returns the member of that name, of equal names the last.
func (v val) get(name string) val {
	if !v.isObject() {
		return val{}
	}
	t, found := v.t, val{}
	for c, end := v.i+1, t.nodes[v.i].skip; c < end; {
		n := &t.nodes[c]
		if int(n.keyEnd-n.keyStart) == len(name) && string(t.text[n.keyStart:n.keyEnd]) == name || n.escaped && string(t.key(c)) == name {
			found = val{t, c}
			if t.twice < 0 {
				break // no name stands twice
			}
		}
		c = n.skip
	}
	return found
}

// at follows names down.
func (v val) at(names ...string) val {
	for _, n := range names {
		v = v.get(n)
	}
	return v
}

// len is the number of members or elements.
func (v val) len() int {
	n := 0
	if v.isObject() || v.isArray() {
		for c := v.i + 1; c < v.t.nodes[v.i].skip; c = v.t.nodes[c].skip {
			n++
		}
	}
	return n
}

// key is the name of the member that v is the value of.
func (v val) key() string { return string(v.t.key(v.i)) }

// each goes over the members of an object or the elements of an array.
func (v val) each() iter.Seq2[int, val] {
	return func(yield func(int, val) bool) {
		if !v.isObject() && !v.isArray() {
			return
		}
		n := 0
		for c := v.i + 1; c < v.t.nodes[v.i].skip; c = v.t.nodes[c].skip {
			if !yield(n, val{v.t, c}) {
				return
			}
			n++
		}
	}
}

// path is the JSON pointer (RFC 6901) of v below from.
func (v val) path(from val) string {
	if v.t == nil || v.i == from.i {
		return ""
	}
	out := ""
	at := from
	for at.i != v.i {
		next := val{}
		n := 0
		for c := at.i + 1; c < at.t.nodes[at.i].skip; c = at.t.nodes[c].skip {
			if c <= v.i && v.i < at.t.nodes[c].skip {
				next = val{at.t, c}
				break
			}
			n++
		}
		if !next.ok() {
			return out
		}
		if at.isObject() {
			out += "/" + pointerToken(next.key())
		} else {
			out += "/" + strconv.Itoa(n)
		}
		at = next
	}
	return out
}

// loneSurrogate reports whether half of a surrogate pair is escaped in s.
func loneSurrogate(s []byte) bool {
	for {
		k := bytes.IndexByte(s, '\\')
		if k < 0 || k+1 >= len(s) {
			return false
		}
		if s[k+1] != 'u' || k+6 > len(s) {
			s = s[k+2:]
			continue
		}
		r, _ := strconv.ParseUint(string(s[k+2:k+6]), 16, 32)
		s = s[k+6:]
		switch {
		case r >= 0xDC00 && r <= 0xDFFF:
			return true
		case r >= 0xD800 && r <= 0xDBFF:
			if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
				return true
			}
			low, _ := strconv.ParseUint(string(s[2:6]), 16, 32)
			if low < 0xDC00 || low > 0xDFFF {
				return true
			}
			s = s[6:]
		}
	}
}
