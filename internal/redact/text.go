package redact

import (
	"bytes"
	"slices"
)

// rule is the set of rules that a place is open to.
type rule uint8

const (
	byFormat rule = 1 << iota
	byKey
	byValue
	byMemory

	byAll  = byFormat | byKey | byValue | byMemory
	byName = byFormat | byValue | byMemory // member names: what stands behind them is not theirs
)

// span is a place in a text that is to be replaced.
type span struct {
	start, end int
	kind       string
	mark       string // set when the value is known under another form
	bare       bool   // no quotes say where the value ends
	open       bool   // it was widened to the end of a word
}

// find returns what the rules want replaced in the text t, in order and
// without overlap. The text is searched again with the places covered until
// nothing new comes, so a second run over the result finds nothing either.
// The spans are valid until the next call.
func (w *walker) find(t []byte, open rule) []span {
	has := classesOf(t)
	if has == 0 && len(t) < shortestFormat && len(w.rules.values) == 0 && (len(t) < keyLen || len(w.e.mem.slots) == 0) {
		return nil
	}
	w.spans, w.plain, w.seen = w.spans[:0], t, t
	if has&hasBracket != 0 && bytes.Contains(t, []byte(markOpen)) {
		w.masked = append(w.masked[:0], t...)
		w.seen = w.masked
		cover(w.seen)
	}
	for range 8 {
		from := len(w.spans)
		w.search(open, has)
		fresh := w.spans[from:]
		if len(fresh) == 0 {
			break
		}
		if &w.seen[0] == &t[0] {
			w.masked = append(w.masked[:0], t...)
			w.seen = w.masked
		}
		for _, s := range fresh {
			clear(w.seen[s.start:s.end])
		}
	}
	w.plain, w.seen = nil, nil
	w.spans = union(w.spans)
	return w.spans
}

// add notes a span, unless there is nothing in it or it is covered already. A
// value found by a rule is remembered.
func (w *walker) add(s span) {
	if s.start >= s.end || covered(w.seen[s.start:s.end]) {
		return
	}
	w.spans = append(w.spans, s)
	if s.kind != knownValue {
		w.learnSpan(w.plain[s.start:s.end], s.kind, s.bare)
	}
}

// search makes one run of all rules over the text.
func (w *walker) search(open rule, has class) {
	if open&byMemory != 0 && len(w.e.mem.slots) > 0 {
		w.e.mem.search(w.seen, w.add)
	}
	if open&byValue != 0 {
		for i := range w.rules.values {
			for _, m := range w.rules.values[i].find(w.seen) {
				w.add(span{start: m[0], end: m[1], kind: "value"})
			}
		}
	}
	s := scan{
		w: w, t: w.seen, lenient: w.lenient,
		formats: open&byFormat != 0 && w.rules.formats,
		byKeys:  open&byKey != 0 && w.rules.keys.active(),
	}
	if s.formats && has&hasHyphen != 0 && len(s.t) > len(pemBegin) {
		pemBlocks(s.t, w.add)
	}
	if (s.formats || s.byKeys) && (has != 0 || len(s.t) >= shortestFormat) {
		s.run()
	}
}

// class says which of the characters that rules need stand in a text.
type class uint8

const (
	hasBracket class = 1 << iota
	hasHyphen
	hasSeparator
)

// shortestFormat is the length from which a text without separators and
// hyphens may hold a credential.
const shortestFormat = 12

var classOf = [256]class{'[': hasBracket, '-': hasHyphen, ':': hasSeparator, '=': hasSeparator, '>': hasSeparator}

func classesOf(t []byte) (has class) {
	for _, c := range t {
		has |= classOf[c]
	}
	return has
}

// union sorts spans and joins those that overlap. Of joined ones the widest
// says the kind; a mark of its own survives only if nothing was joined to it.
func union(s []span) []span {
	if len(s) < 2 {
		return s
	}
	slices.SortFunc(s, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	out := s[:1]
	for _, x := range s[1:] {
		last := &out[len(out)-1]
		switch {
		case x.start >= last.end:
			out = append(out, x)
		case x.start == last.start && x.end == last.end:
			if last.mark == "" {
				last.mark = x.mark
			}
			if last.kind == knownValue {
				last.kind = x.kind
			}
		case x.end > last.end:
			last.end, last.mark = x.end, ""
		}
	}
	return out
}

// scan is one pass over a text from word to word.
type scan struct {
	t       []byte
	w       *walker // for its names
	formats bool
	byKeys  bool
	lenient bool // for Leaks: an object behind a key is looked into and not reported

	prevStart, prevEnd int // the word before, for names written with a space
}

// run goes from word to word. A word is looked at as the start of a known
// format, as a scheme and as a key, in this order; what is found is skipped.
func (s *scan) run() {
	t := s.t
	for i := 0; i < len(t); {
		if !wordByte[t[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(t) && wordByte[t[j]] {
			j++
		}
		if next := s.word(i, j); next > j {
			i, s.prevEnd = next, -1
			continue
		}
		s.prevStart, s.prevEnd = i, j
		i = j
	}
}

var wordByte = func() (m [256]bool) {
	for c := range 256 {
		m[c] = isWord(byte(c))
	}
	return m
}()

// word looks at the word t[i:j] and returns where to go on, j if it is none.
func (s *scan) word(i, j int) int {
	t := s.t
	if s.formats {
		if j-i >= 8 || j < len(t) && t[j] == '.' {
			if kind, start, end := matchFormat(t, i); end > 0 {
				s.w.add(span{start: start, end: end, kind: kind})
				return end
			}
		}
		if j-i <= 6 && j < len(t) && t[j] == ' ' && t[i]|0x20 == 'b' {
			if start, end := schemeCredential(t, t[i:j], j); end > 0 {
				s.w.add(span{start: start, end: end, kind: "authorization"})
				return end
			}
		}
		if j+2 < len(t) && t[j] == ':' && t[j+1] == '/' && t[j+2] == '/' {
			if start, end := urlPassword(t, j+3); end > 0 {
				s.w.add(span{start: start, end: end, kind: "url-password"})
				return end
			}
		}
	}
	if !s.byKeys || j+1 < len(t) && t[j] == ' ' && wordByte[t[j+1]] && t[i] != '-' { // a sentence goes on
		return j
	}
	return s.key(i, j)
}

// urlPassword finds the password, or a long user name alone, in the
// authority that begins at t[i].
func urlPassword(t []byte, i int) (start, end int) {
	colon, at := -1, -1
	for j := i; j < len(t); j++ {
		c := t[j]
		if c == '@' {
			at = j
		} else if c == ':' && colon < 0 {
			colon = j
		} else if c <= ' ' || c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '\\' {
			break
		}
	}
	switch {
	case at < 0:
		return 0, 0
	case colon >= 0 && colon < at:
		return colon + 1, at
	case at-i >= 16:
		return i, at
	}
	return 0, 0
}
