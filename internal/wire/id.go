package wire

import (
	"bytes"
	"math/big"
	"strings"
)

// ID is a JSON-RPC id in canonical JSON text: 1 and "1" differ, 1 and 1.0 do
// not, and numbers keep all their digits. "" means that there is no id, "null"
// that it is null.
type ID string

// maxIDExponent bounds the digits that a number like 1e999999999 could grow to.
const maxIDExponent = 64

// ParseID returns the canonical form of the JSON value v.
func ParseID(v []byte) ID {
	v = TrimSpace(v)
	switch TypeOf(v) {
	case None:
		return ""
	case String:
		s, ok := Text(v)
		if !ok || bytes.IndexByte(v, '\\') < 0 {
			return ID(v)
		}
		return ID(AppendString(nil, s))
	case Number:
		return ID(canonicalNumber(string(v)))
	}
	return ID(AppendCompact(nil, v))
}

// Type is the JSON type of the id.
func (id ID) Type() Type { return TypeOf([]byte(id)) }

// canonicalNumber writes whole numbers as plain digits; anything else stays as
// it was written.
func canonicalNumber(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		if s == "-0" {
			return "0"
		}
		return s
	}
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		digits := strings.TrimLeft(s[e+1:], "+-0")
		if len(digits) > 2 || len(digits) == 2 && digits > "64" {
			return s
		}
	}
	if len(s) > 4*maxIDExponent {
		return s
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return s
	}
	return r.Num().String()
}
