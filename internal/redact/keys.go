package redact

import (
	"errors"
	"strings"
)

// keyKind says what a name hides. Zero: nothing.
type keyKind uint8

const (
	kindSecret keyKind = 1 << iota // strings, arrays and objects
	kindNumber                     // numbers too: passwords, pins, codes
	kindLine                       // a header: in a text its value runs to the end of the line
	kindWord                       // "token": in prose a plain word behind it is no secret
	kindPwd                        // a path is no secret: PWD is also the working directory
	kindUser                       // named by the user: all but null
)

// keySet decides which names hide their values.
type keySet struct {
	shapes bool               // --redact-secrets
	exact  map[string]bool    // squashed names of --redact-key
	tails  map[string]keyKind // those of them that are secret-shaped: they match by their last words too
}

func (k *keySet) active() bool { return k.shapes || len(k.exact) > 0 }

func (k *keySet) add(name string) error {
	var w words
	w.split([]byte(name))
	if w.n == 0 {
		return errors.New("a name needs a letter or a digit")
	}
	if k.exact == nil {
		k.exact, k.tails = map[string]bool{}, map[string]keyKind{}
	}
	k.exact[string(w.squashed())] = true
	if kind := w.shape(); kind != 0 {
		k.tails[string(w.squashed())] = kind
	}
	return nil
}

// kind classifies a name. A name of --redact-key matches whatever its case
// and separators; one that is itself secret-shaped (token, password) matches
// longer secret-shaped names that end in it (sessionToken, db.password) too.
func (k *keySet) kind(name []byte) keyKind {
	if !k.active() || len(name) < 2 {
		return 0
	}
	var w words
	w.split(name)
	if w.n == 0 {
		return 0
	}
	var kind keyKind
	if k.shapes || len(k.tails) > 0 {
		kind = w.shape()
	}
	if len(k.exact) > 0 {
		if k.exact[string(w.squashed())] {
			return kind | kindSecret | kindNumber | kindUser
		}
		if kind != 0 && !k.shapes && !k.hasTail(&w) {
			return 0
		}
	}
	return kind
}

func (k *keySet) hasTail(w *words) bool {
	for end := w.n; end > 0; end-- {
		for i := 0; i < end; i++ {
			if _, ok := k.tails[string(w.buf[w.off[i]:w.off[end]])]; ok {
				return true
			}
		}
		if !decoration[string(w.word(end-1))] {
			return false
		}
	}
	return false
}

// Bounds of a name that is looked at; of a longer one, its end.
const (
	maxName  = 96
	maxWords = 16
)

// words is a name cut into lower-case words at separators and changes of case.
type words struct {
	buf [maxName]byte
	off [maxWords + 1]uint8
	n   int
}

func (w *words) word(i int) []byte { return w.buf[w.off[i]:w.off[i+1]] }

// squashed is the name without separators and case.
func (w *words) squashed() []byte { return w.buf[:w.off[w.n]] }

// split cuts name: x_api-key, xApiKey, X-API-Key and XAPIKey differ in the
// first word only.
func (w *words) split(name []byte) {
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	w.n = 0
	n, open := 0, false
	for i, c := range name {
		upper := c >= 'A' && c <= 'Z'
		if !upper && !isAlnum(c) && c < 0x80 {
			open = false
			continue
		}
		if upper && open {
			prev := name[i-1]
			next := i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'
			open = prev >= 'A' && prev <= 'Z' && !next
		}
		if !open && w.n < maxWords {
			w.off[w.n] = uint8(n)
			w.n++
		}
		open = true
		if upper {
			c |= 0x20
		}
		w.buf[n] = c
		n++
	}
	w.off[w.n] = uint8(n)
}

// shape classifies the name by its last words: the noun says what a name
// holds, so token_type and secretName hide nothing.
func (w *words) shape() keyKind {
	n := w.n
	for n > 1 && decoration[string(w.word(n-1))] {
		n--
	}
	last := w.word(n - 1)
	for len(last) > 1 && last[len(last)-1] >= '0' && last[len(last)-1] <= '9' {
		last = last[:len(last)-1]
	}
	var before []byte
	if n > 1 {
		before = w.word(n - 2)
	}
	if kind, ok := nouns[string(last)]; ok {
		return kind
	}
	if in, ok := pairs[string(last)]; ok {
		if in.with[string(before)] {
			return in.kind
		}
		return 0
	}
	switch string(last) {
	case "token":
		if spareTokens[string(before)] {
			return 0
		}
		return kindSecret | kindWord
	case "pin":
		if n == 1 || pinOwners[string(before)] {
			return kindSecret | kindNumber
		}
		return 0
	}
	return compound(last)
}

// compound finds nouns at the end of a word that no separator cuts: dbpassword.
func compound(word []byte) keyKind {
	if len(word) < 6 {
		return 0
	}
	s := string(word)
	for _, c := range compounds {
		if strings.HasSuffix(s, c.end) {
			return c.kind
		}
	}
	return 0
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
