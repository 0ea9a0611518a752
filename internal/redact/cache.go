package redact

import "encoding/binary"

// names remembers what was found out about member names: a payload repeats few
// of them many times. It belongs to one walker.
type names struct {
	rules   *rules
	entries [256]nameEntry
}

type nameEntry struct {
	text  [31]byte
	n     uint8
	kind  keyKind
	clean bool   // as a name it holds no secret,
	gen   uint64 // as far as the memory went then
}

// entry returns the place for a name, which may hold another one; nil for a
// name that is too long.
func (c *names) entry(name []byte) *nameEntry {
	n := len(name)
	var h uint64
	switch {
	case n > len(nameEntry{}.text) || n == 0:
		return nil
	case n >= 8:
		h = binary.LittleEndian.Uint64(name) ^ binary.LittleEndian.Uint64(name[n-8:])*31
	default:
		for _, b := range name {
			h = h<<8 | uint64(b)
		}
	}
	return &c.entries[(h+uint64(n))*0x9E3779B97F4A7C15>>56]
}

func (e *nameEntry) is(name []byte) bool { return string(e.text[:e.n]) == string(name) }

// kind classifies a name as keySet.kind does.
func (w *walker) kind(name []byte) keyKind {
	e := w.names.entry(name)
	if e == nil {
		return w.rules.keys.kind(name)
	}
	if !e.is(name) {
		*e = nameEntry{n: uint8(len(name)), kind: w.rules.keys.kind(name)}
		copy(e.text[:], name)
	}
	return e.kind
}

// clean reports whether a name was searched before, by the same rules and with
// the same memory, and nothing was found.
func (w *walker) clean(name []byte) bool {
	e := w.names.entry(name)
	return e != nil && e.clean && e.gen == w.e.mem.gen && e.is(name)
}

// setClean notes that a name holds no secret.
func (w *walker) setClean(name []byte) {
	w.kind(name)
	if e := w.names.entry(name); e != nil {
		e.clean, e.gen = true, w.e.mem.gen
	}
}
