package redact

import (
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
)

// Bounds of what an engine remembers. A value that was pushed out is still
// found where its key, format, expression or path finds it.
const (
	MaxRemembered = 256 // values, the oldest is forgotten first
	maxValue      = 512 // bytes of a value; of a longer one its beginning is looked for
	maxBucket     = 8   // forms that share the six bytes they are looked up by
)

const (
	keyLen     = 6 // bytes that a form is looked up by
	keyMask    = 1<<(8*keyLen) - 1
	filterBits = 18
)

// knownValue is the kind of a span that the memory found.
const knownValue = "known-value"

// memory holds found values and all the forms in which they are looked for.
type memory struct {
	count atomic.Int32 // of values
	sure  bool         // all values are secrets: short ones are found within words, too

	mu      sync.RWMutex
	slots   []known
	next    int    // the slot that is written next
	gen     uint64 // goes up with each value
	byText  map[string]int
	buckets map[uint64][]needle
	filter  []uint64 // a bit for each hash of a key in buckets, stale ones included
	stale   int
}

// known is one remembered value.
type known struct {
	text, mark string
	forms      []form
}

// needle is one form as it is looked for.
type needle struct {
	form
	anchor int // offset of the key in the form: the middle differs most among secrets
	mark   string
}

// fresh reports whether text is not remembered yet. The caller holds the read lock.
func (m *memory) fresh(text string) bool {
	_, ok := m.byText[head(text)]
	return !ok
}

func head(text string) string { return text[:min(len(text), maxValue)] }

// add remembers a value.
func (m *memory) add(text, mark string) {
	long := len(text) > maxValue
	text = strings.Clone(head(text))
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.byText[text]; ok {
		return
	}
	if m.byText == nil {
		m.byText, m.buckets = map[string]int{}, map[uint64][]needle{}
		m.filter = make([]uint64, 1<<filterBits/64)
	}
	m.gen++
	if len(m.slots) < MaxRemembered {
		m.slots = append(m.slots, known{})
	} else {
		m.forget(m.next)
	}
	k := known{text: text, mark: mark, forms: formsOf(text, long)}
	for i := range k.forms {
		k.forms[i].bound = k.forms[i].bound && !m.sure
	}
	m.slots[m.next] = k
	m.byText[text] = m.next
	m.next = (m.next + 1) % MaxRemembered
	for _, f := range k.forms {
		n := needle{form: f, anchor: (len(f.text) - keyLen) / 2, mark: mark}
		key := load(f.text[n.anchor:])
		b := m.buckets[key]
		if len(b) >= maxBucket {
			b = b[1:]
		}
		m.buckets[key] = append(b, n)
		m.setFilter(key)
	}
	m.count.Store(int32(len(m.slots)))
}

// forget drops the forms of a slot. Their bits in the filter stay until there
// are so many of them that it is made anew.
func (m *memory) forget(slot int) {
	k := m.slots[slot]
	delete(m.byText, k.text)
	for _, f := range k.forms {
		key := load(f.text[(len(f.text)-keyLen)/2:])
		left := m.buckets[key][:0]
		for _, n := range m.buckets[key] {
			if n.text != f.text {
				left = append(left, n)
			}
		}
		if len(left) > 0 {
			m.buckets[key] = left
		} else {
			delete(m.buckets, key)
		}
	}
	if m.stale++; m.stale < MaxRemembered {
		return
	}
	m.stale = 0
	clear(m.filter)
	for key := range m.buckets {
		m.setFilter(key)
	}
}

func (m *memory) setFilter(key uint64) {
	h := hash(key)
	m.filter[h/64] |= 1 << (h % 64)
}

func hash(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> (64 - filterBits) }

// load reads the key at the start of b.
func load[T ~string | ~[]byte](b T) uint64 {
	_ = b[keyLen-1]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40
}

// search gives each place in t where a form of a remembered value stands. The
// caller holds the read lock.
func (m *memory) search(t []byte, found func(span)) {
	if len(m.slots) == 0 || len(t) < keyLen {
		return
	}
	filter := m.filter
	var last span
	for i := 0; i <= len(t)-keyLen; i++ {
		var key uint64
		if i+8 <= len(t) {
			key = binary.LittleEndian.Uint64(t[i:]) & keyMask
		} else {
			key = load(t[i:])
		}
		h := hash(key)
		if filter[h/64]>>(h%64)&1 == 0 {
			continue
		}
		s, ok := m.match(t, i, key)
		if ok && s.open {
			i = max(i, s.end-1) // it reaches to the end of the word: once is enough
		}
		switch {
		case !ok:
		case s.start >= last.end:
			found(last)
			last = s
		case s.start <= last.start && s.end >= last.end: // one value holds another
			last = s
		case s.end > last.end:
			last.end, last.mark = s.end, ""
		}
	}
	found(last)
}

// match compares the forms whose key stands at t[i] and gives the longest.
func (m *memory) match(t []byte, i int, key uint64) (best span, ok bool) {
	for _, n := range m.buckets[key] {
		start := i - n.anchor
		end := start + len(n.text)
		if start < 0 || end > len(t) || end-start <= best.end-best.start || string(t[start:end]) != n.text {
			continue
		}
		if n.bound && (start > 0 && isAlnum(t[start-1]) || end < len(t) && isAlnum(t[end])) {
			continue
		}
		best, ok = n.widen(t, start, end), true
	}
	return best, ok
}

// widen takes what belongs to the value around a match: the rest of a long
// one, the base64 digits that hold some of its bits.
func (n *needle) widen(t []byte, start, end int) span {
	if n.open {
		for end < len(t) && t[end] > ' ' && t[end] != '"' && t[end] != '\'' && t[end] != '\\' && t[end] != '<' {
			end++
		}
	}
	if n.left && start > 0 && isBase64(t[start-1]) {
		start--
	}
	if n.right && end < len(t) && isBase64(t[end]) {
		end++
	}
	return span{start: start, end: end, kind: knownValue, mark: n.mark, open: n.open}
}
