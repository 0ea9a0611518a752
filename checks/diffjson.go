package checks

import (
	"bytes"
	"strconv"
	"unicode/utf8"

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
func diffJSON(a, b []byte) []Change { return DiffJSON(a, b, nil) }

// DiffJSON is the same with a function that may take a difference for none: it
// is given each place in which values differ, in canonical form. Of what is on
// one side alone the other is nil. It may be nil.
func DiffJSON(a, b []byte, same func(path string, a, b []byte) bool) []Change {
	d := differ{same: same}
	d.values("", wire.AppendCanonical(nil, a), wire.AppendCanonical(nil, b), 0)
	return d.out
}

// differ walks over two values at once.
type differ struct {
	same func(path string, a, b []byte) bool
	out  []Change
}

func (d *differ) values(path string, a, b []byte, depth int) {
	if len(d.out) >= maxChanges || bytes.Equal(a, b) || d.same != nil && d.same(path, a, b) {
		return
	}
	switch ta, tb := wire.TypeOf(a), wire.TypeOf(b); {
	case depth < maxSchemaDepth && ta == wire.Object && tb == wire.Object:
		d.objects(path, a, b, depth)
	case depth < maxSchemaDepth && ta == wire.Array && tb == wire.Array:
		d.arrays(path, a, b, depth)
	default:
		old, now := excerpts(string(a), string(b))
		d.out = append(d.out, Change{clip(path, maxSubjectLen), old, now})
	}
}

// maxExcerpt is how much is shown of a value.
const maxExcerpt = 160

// excerpts are the parts of two values to show: where they are long and begin
// alike, those from shortly before the place in which they part.
func excerpts(a, b string) (string, string) {
	const lead = 40
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if max(len(a), len(b)) <= maxExcerpt || same <= 2*lead || min(len(a), len(b)) == 0 {
		return clip(a, maxExcerpt), clip(b, maxExcerpt)
	}
	from := same - lead
	for from > 0 && (!utf8.RuneStart(a[from]) || a[from-1] == '\\') {
		from--
	}
	return "…" + clip(a[from:], maxExcerpt), "…" + clip(b[from:], maxExcerpt)
}

// objects compares objects in canonical form: their members are sorted.
func (d *differ) objects(path string, a, b []byte, depth int) {
	x, y := wire.MembersOf(a), wire.MembersOf(b)
	inX, inY := x.Next(), y.Next()
	for (inX || inY) && len(d.out) < maxChanges {
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
			d.values(path+"/"+pointerToken(string(x.Key)), x.Value, nil, depth+1)
		case order > 0:
			d.values(path+"/"+pointerToken(string(y.Key)), nil, y.Value, depth+1)
		default:
			d.values(path+"/"+pointerToken(string(x.Key)), x.Value, y.Value, depth+1)
		}
		if order <= 0 {
			inX = x.Next()
		}
		if order >= 0 {
			inY = y.Next()
		}
	}
}

func (d *differ) arrays(path string, a, b []byte, depth int) {
	x, y := wire.ElementsOf(a), wire.ElementsOf(b)
	inX, inY := x.Next(), y.Next()
	for i := 0; (inX || inY) && len(d.out) < maxChanges; i++ {
		var v, w []byte
		if inX {
			v = x.Value
		}
		if inY {
			w = y.Value
		}
		d.values(path+"/"+strconv.Itoa(i), v, w, depth+1)
		inX, inY = inX && x.Next(), inY && y.Next()
	}
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
