package redact

import (
	"bytes"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// maxInner bounds how deep JSON is looked for inside strings of JSON inside
// strings. Each level doubles the backslashes, so real texts stay far below.
const maxInner = 8

// maxLearned bounds how many values one payload may add to what is remembered.
const maxLearned = 64

// walker holds what one run over a payload or a text needs. Walkers are kept
// in a pool; the read lock of the memory is held while one runs.
type walker struct {
	e     *Engine
	rules *rules
	hits  *Hits
	// lenient: an object behind a key is looked into, as Leaks wants it
	lenient bool

	names   names
	spans   []span
	plain   []byte // the text that find searches,
	seen    []byte // and the same with what is replaced covered
	masked  []byte // room for seen
	learned []string
	paths   []extent // what --redact-path selected, in order
	levels  [maxInner + 1]level
}

// level is what a walk at one depth of JSON inside strings reuses.
type level struct {
	stack []frame
	buf   []byte // decoded text of a string
	edits []edit
}

type extent struct{ start, end int }

// frame is an open array or object.
type frame struct {
	zone    zone
	inherit keyKind
	object  bool
	elem    place // of its elements, if it is an array

	pair  keyKind // what the member "name" says of the member "value"
	value extent  // a "value" that came before its "name"
}

// walk collects what is to be replaced in the JSON text b, which wire.Check
// has accepted. The edits are valid until the next walk at this depth.
func (w *walker) walk(b []byte, top place, depth int) []edit {
	l := &w.levels[depth]
	l.stack, l.edits = l.stack[:0], l.edits[:0]
	c := cursor{b: b}
	cur := top
	for {
		ev, start, end := c.next()
		switch ev {
		case atEnd:
			return tidy(l.edits)
		case atKey:
			cur = w.memberName(b, start, end, depth)
			continue
		case atClose:
			l.stack = l.stack[:len(l.stack)-1]
		case atObject, atArray:
			if w.open(&c, start, ev == atObject, cur, depth) {
				if ev == atArray {
					cur = l.stack[len(l.stack)-1].elem
				}
				continue
			}
		default:
			w.scalar(ev, b, extent{start, end}, cur, depth)
		}
		if n := len(l.stack); n > 0 {
			cur = l.stack[n-1].elem
		}
	}
}

// open begins an array or object, or replaces it as a whole and reports false.
func (w *walker) open(c *cursor, start int, object bool, p place, depth int) bool {
	l := &w.levels[depth]
	forced := depth == 0 && w.selected(start)
	if !p.spare && (forced || p.key != 0 && (!w.lenient || !object)) && !emptyAt(c.b, c.i) {
		end := c.skip()
		w.whole(l, c.b, extent{start, end})
		return false
	}
	f := frame{zone: p.inside(), inherit: p.inherit, object: object}
	if !object {
		f.elem = p.element()
	}
	l.stack = append(l.stack, f)
	return true
}

// emptyAt reports whether the array or object whose bracket stands before
// b[i] is empty.
func emptyAt(b []byte, i int) bool {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return b[i] == '}' || b[i] == ']'
}

// selected reports whether --redact-path selects the value at start.
func (w *walker) selected(start int) bool {
	for len(w.paths) > 0 && w.paths[0].start < start {
		w.paths = w.paths[1:]
	}
	return len(w.paths) > 0 && w.paths[0].start == start
}

// memberName reads a member name: what its value is, and whether it is a secret.
func (w *walker) memberName(b []byte, start, end, depth int) place {
	l := &w.levels[depth]
	f := &l.stack[len(l.stack)-1]
	s := b[start+1 : end-1]
	text := decode(l.buf, s)
	if len(s) > len(text) {
		l.buf = text
	}
	e := w.name(text)
	p := member(f.zone, f.inherit, text, e)
	if p.pair == pairValue && f.pair != 0 {
		p.key |= f.pair
	}
	if f.zone == zoneSchema || f.zone == zoneNames || len(text) == 0 || e.clean && e.gen == w.e.mem.gen {
		return p
	}
	open := byName
	if f.zone != zoneData {
		open = byFormat
	}
	if spans := w.find(text, open); len(spans) > 0 {
		w.replace(l, s, start+1, text, spans)
	} else if open == byName {
		e = w.name(text) // the search may have asked for other names
		e.clean, e.gen = true, w.e.mem.gen
	}
	return p
}

// scalar reads a string, a number or a literal.
func (w *walker) scalar(ev event, b []byte, at extent, p place, depth int) {
	l := &w.levels[depth]
	forced := depth == 0 && w.selected(at.start)
	if p.spare {
		return
	}
	if p.key == 0 {
		p.key = p.items
	}
	switch {
	case ev == atString:
		w.str(b, at, p, forced, depth)
	case b[at.start] == 'n': // null
	case forced, p.key&kindUser != 0:
		w.whole(l, b, at)
	case ev == atNumber && p.key&kindNumber != 0:
		w.whole(l, b, at)
	case ev == atNumber && depth > 0:
		w.number(l, b, at)
	}
	if p.pair == pairValue && p.key == 0 && len(l.stack) > 0 && (ev == atString || ev == atNumber) {
		l.stack[len(l.stack)-1].value = at
	}
}

// number applies --redact-value to a number inside a string: there it is text.
func (w *walker) number(l *level, b []byte, at extent) {
	for i := range w.rules.values {
		if len(w.rules.values[i].find(b[at.start:at.end])) > 0 {
			w.whole(l, b, at)
			return
		}
	}
}

// str reads a string.
func (w *walker) str(b []byte, at extent, p place, forced bool, depth int) {
	l := &w.levels[depth]
	s := b[at.start+1 : at.end-1]
	if len(s) == 0 {
		return
	}
	text := decode(l.buf, s)
	if len(s) > len(text) {
		l.buf = text
	}
	if p.pair == pairName && len(l.stack) > 0 {
		w.pair(l, b, w.rules.pairKind(text))
	}
	if forced || p.key != 0 {
		w.keyed(l, s, at.start+1, text, p.key)
		return
	}
	if depth < maxInner && !p.quiet && looksLikeJSON(text) && wire.Check(text) == nil {
		edits := w.walk(text, place{}, depth+1)
		l.edits = append(l.edits, lift(s, at.start+1, edits)...)
		return
	}
	open := byAll
	if p.quiet {
		open = byValue | byMemory
	}
	if spans := w.find(text, open); len(spans) > 0 {
		w.replace(l, s, at.start+1, text, spans)
	}
}

// pair notes that the object's "name" is a key: its "value" is hidden, also
// one that stood before.
func (w *walker) pair(l *level, b []byte, kind keyKind) {
	f := &l.stack[len(l.stack)-1]
	if f.pair = kind; kind == 0 || f.value.end == 0 {
		return
	}
	switch v := b[f.value.start:f.value.end]; {
	case v[0] == '"':
		s := v[1 : len(v)-1]
		w.keyed(l, s, f.value.start+1, decode(nil, s), kind)
	case kind&(kindNumber|kindUser) != 0:
		w.whole(l, b, f.value)
	}
}

// keyed replaces a string that stands behind a key: all of it, or what
// follows the scheme.
func (w *walker) keyed(l *level, s []byte, base int, text []byte, kind keyKind) {
	if len(text) == 0 || kind&kindPwd != 0 && kind&kindUser == 0 && isPathLike(text) {
		return
	}
	k := schemeLen(text)
	if markLen(text[k:]) == len(text)-k {
		return
	}
	w.learnSpan(text[k:], "key", false)
	w.hit(text)
	w.replace(l, s, base, text, []span{{start: k, end: len(text), kind: "key"}})
}

// whole replaces a value that is no string, or one with its quotes.
func (w *walker) whole(l *level, b []byte, at extent) {
	v := b[at.start:at.end]
	w.learnInside(v)
	w.hit(v)
	mark := w.e.Mark(string(wire.AppendCompact(nil, v)))
	l.edits = append(l.edits, edit{start: at.start, end: at.end, repl: `"` + mark + `"`, kind: "key"})
}

// replace turns spans of a decoded text into edits of the string s at base.
func (w *walker) replace(l *level, s []byte, base int, text []byte, spans []span) {
	from := len(l.edits)
	for _, x := range spans {
		mark := x.mark
		if mark == "" {
			mark = w.e.Mark(string(text[x.start:x.end]))
		}
		l.edits = append(l.edits, edit{start: x.start, end: x.end, repl: mark, kind: x.kind})
		if x.start == 0 && x.end == len(text) {
			w.hit(text)
		}
	}
	lift(s, base, l.edits[from:])
}

// looksLikeJSON reports whether a text may be an array or object.
func looksLikeJSON(t []byte) bool {
	t = wire.TrimSpace(t)
	if len(t) < 4 {
		return false
	}
	return t[0] == '{' && t[len(t)-1] == '}' || t[0] == '[' && t[len(t)-1] == ']'
}

// hit notes a value that was replaced as a whole.
func (w *walker) hit(v []byte) {
	if w.hits != nil {
		w.hits.add(w.e.sum(string(v)))
	}
}

// learn notes a value to be remembered once the walk is done.
func (w *walker) learn(v []byte) {
	if len(w.learned) >= maxLearned || len(v) < minKnown {
		return
	}
	if s := string(bytes.TrimSpace(v)); worthy(s) && w.e.mem.fresh(s) {
		w.learned = append(w.learned, s)
	}
}

// learnSpan is learn for a value in a text, with what it holds.
func (w *walker) learnSpan(v []byte, kind string, bare bool) {
	w.learn(v)
	switch kind {
	case "authorization":
		w.learn(basicPassword(v))
	case "key", "url-password":
		for _, d := range derived(string(v), bare) {
			w.learn([]byte(d))
		}
		if len(v) < 256 {
			w.learn(basicPassword(v))
		}
	}
}

// learnInside notes the strings in a value that is replaced as a whole.
func (w *walker) learnInside(v []byte) {
	c := cursor{b: v}
	for len(w.learned) < maxLearned {
		ev, start, end := c.next()
		if ev == atEnd {
			return
		}
		if ev == atString {
			w.learn(decode(nil, v[start+1:end-1]))
		}
	}
}
