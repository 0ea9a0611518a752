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
	w := e.begin(&e.strict)
	defer e.end(w)
	w.lenient = true
	edits := tidy(w.run(func() []edit {
		if wire.Check(b) != nil {
			return w.text(b)
		}
		if isLogLine(b) {
			return append(w.walk(b, place{zone: zoneLogLine, envelope: true}, 0), w.argvLeaks(b)...)
		}
		w.paths = e.rules.paths.selectIn(b)
		return w.walk(b, place{zone: zoneRoot, envelope: true}, 0)
	}))
	var leaks []Leak
	for _, x := range edits {
		leaks = append(leaks, Leak{Offset: x.start, Length: x.end - x.start, Kind: x.kind})
	}
	leaks = append(leaks, randomWords(b, edits)...)
	slices.SortStableFunc(leaks, func(x, y Leak) int { return x.Offset - y.Offset })
	return leaks
}

// argvLeaks finds the values of secret flags in the command of a meta line: an
// array in which the flag is the element before.
func (w *walker) argvLeaks(b []byte) []edit {
	var out []edit
	for m := wire.MembersOf(b); m.Next(); {
		if string(m.Key) != "raw" {
			continue
		}
		for r := wire.MembersOf(m.Value); r.Next(); {
			if string(r.Key) != "command" {
				continue
			}
			hide := false
			for e := wire.ElementsOf(r.Value); e.Next(); {
				arg, _ := wire.Text(e.Value)
				if hide && !isFlag(arg) && arg != "" && !HasMark(arg) {
					at := m.Start + r.Start + e.Start
					out = append(out, edit{start: at, end: at + len(e.Value), kind: "key"})
					w.learnSpan([]byte(arg), "key", false)
				}
				hide = isFlag(arg) && w.kind([]byte(arg)) != 0
			}
		}
	}
	return out
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
