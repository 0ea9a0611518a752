package checks

import (
	_ "embed" // the table of shapes
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// shapesText is the shapes of all messages, made from the published schemas of
// the revisions by shapes_test.go. A line is a revision, a name and members:
//
//	2025-11-25 tools/call.params name!s arguments?o task?o:TaskMetadata
//
// ! marks a member that has to be there. Behind ! or ? stand the types that it
// may have (o object, a array, s string, n number, b boolean, z null, * any),
// then, in an object, the name of its shape behind a colon, or what each member
// is behind {; in an array what each element is behind [.
//
//go:embed shapes.txt
var shapesText string

// shape is what an object of a message holds.
type shape struct{ members []shapeMember }

type shapeMember struct {
	name     string
	required bool
	is       shapeValue
}

// shapeValue is what a value may be.
type shapeValue struct {
	types string
	shape *shape      // of an object
	each  *shapeValue // of the members of an object, or the elements of an array
}

// messageShapes are the shapes of params and results by the number of the
// method.
type messageShapes [][2]*shape

// theShapes are made when they are needed first and never change.
var theShapes = sync.OnceValue(func() map[Revisions]messageShapes {
	all, out := parseShapes(shapesText), map[Revisions]messageShapes{}
	for _, v := range mcp.Revisions() {
		list := make(messageShapes, len(mcp.Methods())+1)
		for i, m := range mcp.Methods() {
			list[i+1] = [2]*shape{all[string(v)+" "+m.Name+".params"], all[string(v)+" "+m.Name+".result"]}
		}
		out[revisionsOf(v)] = list
	}
	return out
})

func parseShapes(text string) map[string]*shape {
	all := map[string]*shape{}
	named := func(rev, name string) *shape {
		k := rev + " " + name
		if all[k] == nil {
			all[k] = &shape{}
		}
		return all[k]
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		s := named(f[0], f[1])
		for _, m := range f[2:] {
			i := strings.IndexAny(m, "!?")
			if i < 0 {
				continue
			}
			s.members = append(s.members, shapeMember{m[:i], m[i] == '!', parseShapeValue(m[i+1:], func(n string) *shape { return named(f[0], n) })})
		}
	}
	return all
}

func parseShapeValue(text string, named func(string) *shape) shapeValue {
	i := strings.IndexAny(text, ":[{")
	if i < 0 {
		return shapeValue{types: text}
	}
	v := shapeValue{types: text[:i]}
	if text[i] == ':' {
		v.shape = named(text[i+1:])
	} else {
		each := parseShapeValue(text[i+1:], named)
		v.each = &each
	}
	return v
}

// typeLetter is the letter of a type in shapesText.
func typeLetter(t wire.Type) byte {
	switch t {
	case wire.Object:
		return 'o'
	case wire.Array:
		return 'a'
	case wire.String:
		return 's'
	case wire.Number:
		return 'n'
	case wire.Bool:
		return 'b'
	case wire.Null:
		return 'z'
	case wire.None:
	}
	return '-'
}

var typeWords = map[byte]string{'o': "an object", 'a': "an array", 's': "a string", 'n': "a number", 'b': "true or false", 'z': "null"}

// wants says what types stand for.
func (s *shapeValue) wants() string {
	out := ""
	for i := range len(s.types) {
		if out != "" {
			out += " or "
		}
		out += typeWords[s.types[i]]
	}
	return out
}

// maxShapeDepth bounds how deep a message is looked at.
const maxShapeDepth = 8

// shapeFault is where a message is not of its shape: the value, and what is
// wrong with it.
type shapeFault struct {
	at   val
	text string
}

// fault finds the first fault of an object, nil when it has its shape. What a
// mark of redaction stands for is not judged.
func (s *shape) fault(v val, depth int) *shapeFault {
	if depth > maxShapeDepth {
		return nil
	}
	for i := range s.members {
		m := &s.members[i]
		got := v.get(m.name)
		if !got.ok() {
			if m.required {
				return &shapeFault{v, m.name + " is missing"}
			}
			continue
		}
		if f := m.is.fault(got, m.name, depth); f != nil {
			return f
		}
	}
	return nil
}

func (s *shapeValue) fault(v val, name string, depth int) *shapeFault {
	t := v.typ()
	if s.types != "*" && strings.IndexByte(s.types, typeLetter(t)) < 0 {
		if t == wire.String && marked(v) {
			return nil
		}
		return &shapeFault{v, name + " is " + show(v) + "; want " + s.wants()}
	}
	switch {
	case s.shape != nil && t == wire.Object:
		return s.shape.fault(v, depth+1)
	case s.each != nil && (t == wire.Object || t == wire.Array):
		for _, e := range v.each() {
			if f := s.each.fault(e, "an entry of "+name, depth+1); f != nil {
				return f
			}
		}
	}
	return nil
}

// shapeRule is the id of the rule below.
const shapeRule = "message-shape"

// messageShape tells of a message that has not the shape of its method, where
// no rule that is about more has said so of the same message.
func messageShape(c *ctx) {
	if !oneRevision(c.rev) || !c.sure || c.mi == 0 || c.accused() {
		return
	}
	part, v, n := "params", c.params, 0
	switch c.ev.Msg.Kind {
	case wire.Request, wire.Notification:
	case wire.Result:
		part, v, n = "result", c.result, 1
		if c.req == nil || c.req.task || c.rev == R5 && !v.get("resultType").is(mcp.ResultComplete) {
			return
		}
	case wire.Error, wire.Other:
		return
	}
	s := theShapes()[c.rev][c.mi][n]
	if s == nil || v.ok() && !v.isObject() {
		return
	}
	if !v.ok() {
		for i := range s.members {
			if s.members[i].required {
				c.hitAt("/"+part, "%s has no %s", c.method, part)
				return
			}
		}
		return
	}
	if f := s.fault(v, 0); f != nil {
		c.hit(f.at, "%s", f.text)
	}
}

// accused reports whether a rule was broken on the frame that says more than
// that its shape is wrong.
func (c *ctx) accused() bool {
	for r, n := range c.e.hits {
		if n > 0 && r != c.rule && r.accuses() {
			return true
		}
	}
	return false
}

// accuses reports whether a message that breaks the rule is a wrong one.
func (r *Rule) accuses() bool {
	return r.Signal == Invalid || r.Signal == Warn || r.Signal == Mismatch
}
