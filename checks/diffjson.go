package checks

import (
	"bytes"
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Change is a place in which two JSON values differ. Of a value that is on one
// side alone the other is empty.
type Change struct {
	Path     string // JSON pointer
	Old, New string // JSON text, cut when it is long
}

// maxChanges bounds what is told of two values.
const maxChanges = 64

// diffJSON lists the places in which two values differ in meaning: the order
// of members, white space, escapes and the spelling of numbers count for
// nothing.
func diffJSON(a, b []byte) []Change {
	return diffAt("", wire.AppendCanonical(nil, a), wire.AppendCanonical(nil, b), 0, nil)
}

func diffAt(path string, a, b []byte, depth int, out []Change) []Change {
	if len(out) >= maxChanges || bytes.Equal(a, b) {
		return out
	}
	switch ta, tb := wire.TypeOf(a), wire.TypeOf(b); {
	case depth < maxSchemaDepth && ta == wire.Object && tb == wire.Object:
		return diffObjects(path, a, b, depth, out)
	case depth < maxSchemaDepth && ta == wire.Array && tb == wire.Array:
		return diffArrays(path, a, b, depth, out)
	}
	return append(out, Change{clip(path, maxSubjectLen), clip(string(a), 160), clip(string(b), 160)})
}

// diffObjects compares objects in canonical form: their members are sorted.
func diffObjects(path string, a, b []byte, depth int, out []Change) []Change {
	x, y := wire.MembersOf(a), wire.MembersOf(b)
	inX, inY := x.Next(), y.Next()
	for (inX || inY) && len(out) < maxChanges {
		var order int
		switch {
		case !inY:
			order = -1
		case !inX:
			order = 1
		default:
			order = bytes.Compare(x.Key, y.Key)
		}
		switch {
		case order < 0:
			out = diffAt(path+"/"+pointerToken(string(x.Key)), x.Value, nil, depth+1, out)
		case order > 0:
			out = diffAt(path+"/"+pointerToken(string(y.Key)), nil, y.Value, depth+1, out)
		default:
			out = diffAt(path+"/"+pointerToken(string(x.Key)), x.Value, y.Value, depth+1, out)
		}
		if order <= 0 {
			inX = x.Next()
		}
		if order >= 0 {
			inY = y.Next()
		}
	}
	return out
}

func diffArrays(path string, a, b []byte, depth int, out []Change) []Change {
	x, y := wire.ElementsOf(a), wire.ElementsOf(b)
	inX, inY := x.Next(), y.Next()
	for i := 0; (inX || inY) && len(out) < maxChanges; i++ {
		var v, w []byte
		if inX {
			v = x.Value
		}
		if inY {
			w = y.Value
		}
		out = diffAt(path+"/"+strconv.Itoa(i), v, w, depth+1, out)
		inX, inY = inX && x.Next(), inY && y.Next()
	}
	return out
}

// String tells a change in one line.
func (c Change) String() string {
	at := c.Path
	if at != "" {
		at += " "
	}
	switch {
	case c.Old == "":
		return at + "is new: " + c.New
	case c.New == "":
		return at + "is gone: " + c.Old
	}
	return at + "was " + c.Old + " and is " + c.New
}
