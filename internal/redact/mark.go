package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

const (
	markOpen = "[REDACTED"
	// PlainMark stands where no engine is active: URLs of a meta line are
	// always stripped. Files of other tools have it too.
	PlainMark = markOpen + "]"
	// maxTag is the longest text between the colon and the bracket that is
	// still taken as a mark.
	maxTag = 16
)

// Mark returns the mark of a value: equal values of one engine have equal
// marks. Four hexadecimal digits of a keyed hash tell secrets apart and tell
// nothing about them; among hundreds of secrets two may share a mark.
func (e *Engine) Mark(value string) string {
	if e == nil || len(e.salt) == 0 {
		return PlainMark
	}
	var tag [2]byte
	binary.BigEndian.PutUint16(tag[:], uint16(e.sum(value)>>48))
	return markOpen + ":" + hex.EncodeToString(tag[:]) + "]"
}

// sum is the keyed hash of a value.
func (e *Engine) sum(value string) uint64 {
	h := sha256.Sum256(append(append(make([]byte, 0, 64), e.salt...), value...))
	return binary.BigEndian.Uint64(h[:])
}

// IsMark reports whether s is a mark and nothing else, of this or another engine.
func IsMark(s string) bool {
	n := markLen([]byte(s))
	return n > 0 && n == len(s)
}

// HasMark reports whether a mark stands somewhere in s: what no rule judges.
func HasMark(s string) bool {
	for {
		k := strings.Index(s, markOpen)
		if k < 0 {
			return false
		}
		s = s[k:]
		if markLen([]byte(s[:min(len(s), len(markOpen)+maxTag+2)])) > 0 {
			return true
		}
		s = s[len(markOpen):]
	}
}

// markLen returns the length of the mark at the start of b, or 0.
func markLen(b []byte) int {
	if !bytes.HasPrefix(b, []byte(markOpen)) || len(b) == len(markOpen) {
		return 0
	}
	i := len(markOpen)
	if b[i] == ']' {
		return i + 1
	}
	if b[i] != ':' {
		return 0
	}
	for j := i + 1; j < len(b) && j <= i+1+maxTag; j++ {
		switch c := b[j]; {
		case c == ']' && j > i+1:
			return j + 1
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z':
		default:
			return 0
		}
	}
	return 0
}

// hidden is the byte that covers what is already replaced while the rest of a
// text is searched.
const hidden = 0

// cover overwrites the marks in t by hidden bytes.
func cover(t []byte) {
	for {
		k := bytes.Index(t, []byte(markOpen))
		if k < 0 {
			return
		}
		n := markLen(t[k:])
		clear(t[k : k+n])
		t = t[k+max(n, 1):]
	}
}

// covered reports whether t is nothing but hidden bytes.
func covered(t []byte) bool {
	for _, c := range t {
		if c != hidden {
			return false
		}
	}
	return true
}
