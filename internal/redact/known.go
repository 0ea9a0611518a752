package redact

import "slices"

// Known replaces values that are known to be secrets, credentials that were
// seen in a header for example, in all forms in which an Engine would find
// them again. It looks for nothing else and spares no place: not a member
// that the protocol owns, nor the middle of a word. Its methods may be called
// from any number of goroutines.
type Known struct{ e *Engine }

// NewKnown makes one that knows nothing.
func NewKnown() *Known {
	e, err := New(Config{})
	if err != nil {
		panic(err) // there is nothing to compile
	}
	e.mem.sure = true
	return &Known{e}
}

// MinKnown is the length in bytes from which a value is looked for. A shorter
// one would hide what is no secret, and is none.
const MinKnown = minKnown

// Learn adds a value; of more than MaxRemembered the oldest is forgotten.
func (k *Known) Learn(value string) {
	if len(value) < MinKnown || HasMark(value) {
		return
	}
	k.e.mem.mu.RLock()
	fresh := k.e.mem.fresh(value)
	k.e.mem.mu.RUnlock()
	if fresh {
		k.e.mem.add(value, k.e.Mark(value))
	}
}

// Replace returns b with marks in place of the values. b is not changed; when
// nothing was found it is returned as it is.
func (k *Known) Replace(b []byte) ([]byte, bool) {
	if k.e.mem.count.Load() == 0 {
		return b, false
	}
	var spans []span
	k.e.mem.mu.RLock()
	k.e.mem.search(b, func(s span) {
		if s.end > s.start {
			spans = append(spans, s)
		}
	})
	k.e.mem.mu.RUnlock()
	if len(spans) == 0 {
		return b, false
	}
	spans = union(spans)
	out := slices.Grow([]byte(nil), len(b))
	at := 0
	for _, s := range spans {
		out = append(out, b[at:s.start]...)
		if s.mark == "" {
			s.mark = k.e.Mark(string(b[s.start:s.end]))
		}
		out = append(out, s.mark...)
		at = s.end
	}
	return append(out, b[at:]...), true
}

// Text does the same for a string.
func (k *Known) Text(s string) (string, bool) {
	if k.e.mem.count.Load() == 0 {
		return s, false
	}
	out, changed := k.Replace([]byte(s))
	if !changed {
		return s, false
	}
	return string(out), true
}
