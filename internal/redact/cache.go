package redact

import "encoding/binary"

// names remembers what was found out about names: a payload repeats few of
// them many times. It belongs to one walker.
type names struct {
	rules   *rules
	entries [256]nameEntry
	long    nameEntry // for a name that is too long to be kept
}

type nameEntry struct {
	text  [31]byte
	n     uint8
	kind  keyKind
	pair  pairRole
	clean bool   // as a name it holds no secret,
	gen   uint64 // as far as the memory went then
}

// name returns what is known of a name. It is valid until the next call.
func (w *walker) name(name []byte) *nameEntry {
	n := len(name)
	var h uint64
	switch {
	case n > len(nameEntry{}.text):
		w.names.long = nameEntry{kind: w.rules.keys.kind(name)}
		return &w.names.long
	case n >= 8:
		h = binary.LittleEndian.Uint64(name) ^ binary.LittleEndian.Uint64(name[n-8:])*31
	default:
		for _, b := range name {
			h = h<<8 | uint64(b)
		}
	}
	e := &w.names.entries[(h+uint64(n))*0x9E3779B97F4A7C15>>56]
	if string(e.text[:e.n]) != string(name) {
		*e = nameEntry{n: uint8(n), kind: w.rules.keys.kind(name), pair: pairOf(name)}
		copy(e.text[:], name)
	}
	return e
}

// kind classifies a name as keySet.kind does.
func (w *walker) kind(name []byte) keyKind { return w.name(name).kind }
