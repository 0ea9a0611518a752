package redact

import (
	"math"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Leak is a place that still looks like a secret. It never holds the secret.
type Leak struct {
	Offset, Length int
	// Kind is "known-value" for any form of a value found before, "value" for
	// --redact-value, "key" for what stands behind a secret-shaped name, the
	// name of a format ("github-token", "jwt", ...), or HighEntropy.
	Kind string
}

// HighEntropy is the kind of a string that may be random: perhaps a secret,
// perhaps an id. These are to be listed apart.
const HighEntropy = "high-entropy"

// Leaks returns what still looks like a secret in b, in order: a payload, a
// line of a session log, or any text. It looks for all that --redact-secrets
// means, whatever the engine was made for, and for what the engine remembers.
// It remembers what it finds, so two runs over a file also report forms of a
// secret that stand before the secret itself. Marks are no leaks, nor are
// names of a schema.
func (e *Engine) Leaks(b []byte) []Leak {
	if e == nil || len(e.salt) == 0 {
		e, _ = New(Config{Secrets: true})
	}
	var leaks []Leak
	w := e.begin(&e.strict)
	defer e.end(w)
	w.leaks = &leaks
	edits := w.run(func() []edit {
		if wire.Check(b) != nil {
			return w.text(b)
		}
		w.paths = e.rules.paths.selectIn(b)
		top := place{zone: zoneRoot, envelope: true}
		if isLogLine(b) {
			top.zone = zoneLogLine
		}
		return w.walk(b, top, 0)
	})
	for _, x := range edits {
		leaks = append(leaks, Leak{Offset: x.start, Length: x.end - x.start, Kind: x.kind})
	}
	return append2(leaks, randomWords(b, edits))
}

// append2 joins two lists in the order of their offsets.
func append2(a, b []Leak) []Leak {
	a = append(a, b...)
	slices.SortStableFunc(a, func(x, y Leak) int { return x.Offset - y.Offset })
	return a
}

// Lengths of words that may be random secrets: shorter ones are names, longer
// ones are content.
const (
	minRandom = 20
	maxRandom = 256
)

// randomWords finds words that look random outside of the edits.
func randomWords(b []byte, edits []edit) []Leak {
	var out []Leak
	for i := 0; i < len(b); {
		if !isRandomByte(b[i]) {
			i++
			continue
		}
		j := i
		for j < len(b) && isRandomByte(b[j]) {
			j++
		}
		for len(edits) > 0 && edits[0].end <= i {
			edits = edits[1:]
		}
		free := len(edits) == 0 || edits[0].start >= j
		if free && j-i >= minRandom && j-i <= maxRandom && looksRandom(b[i:j]) {
			out = append(out, Leak{Offset: i, Length: j - i, Kind: HighEntropy})
		}
		i = j
	}
	return out
}

func isRandomByte(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '=' }

// looksRandom judges by the spread of characters: bits a character close to
// what random text of that length has, letters and digits mixed, no UUID.
func looksRandom(w []byte) bool {
	var count [256]int
	letters, digits, breaks, hex := 0, 0, 0, true
	for _, c := range w {
		count[c]++
		switch {
		case c >= '0' && c <= '9':
			digits++
		case isAlnum(c):
			letters++
		default:
			breaks++
		}
		hex = hex && isHex(c)
	}
	if digits < 2 || letters < 4 || isUUID(w) || breaks > len(w)/8 {
		return false
	}
	n := float64(len(w))
	bits := 0.0
	for _, k := range count {
		if k > 0 {
			p := float64(k) / n
			bits -= p * math.Log2(p)
		}
	}
	if hex {
		return len(w) >= 32 && bits >= 3
	}
	return bits >= min(4.2, 0.85*math.Log2(n))
}

func isUUID(w []byte) bool {
	if len(w) != 36 {
		return false
	}
	for i, c := range w {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}
