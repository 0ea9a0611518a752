package checks

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// place says what a keyword of a JSON Schema holds, in all its drafts.
type place int

const (
	noSchema   place = iota
	oneSchema        // a schema
	someSchema       // a schema, or a list of them
	listSchema       // a list of schemas
	mapSchema        // schemas by name
)

func placeOf(keyword []byte) place {
	switch string(keyword) {
	case "items":
		return someSchema
	case "additionalItems", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return oneSchema
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return listSchema
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return mapSchema
	}
	return noSchema
}

// maxSchemaDepth bounds the walk over a schema.
const maxSchemaDepth = 64

// subschemas calls visit for a schema and all schemas in it. pure says that
// the way there goes through properties alone.
func subschemas(s val, pure bool, depth int, visit func(s val, pure bool)) {
	if !s.isObject() || depth > maxSchemaDepth {
		return
	}
	visit(s, pure)
	t := s.t
	for c := s.i + 1; c < t.nodes[s.i].skip; c = t.nodes[c].skip {
		m, typ := val{t, c}, t.nodes[c].typ
		if typ != wire.Object && typ != wire.Array {
			continue
		}
		switch p := placeOf(t.key(c)); {
		case typ == wire.Object && p == mapSchema:
			inner := pure && string(t.key(c)) == "properties"
			for k := c + 1; k < t.nodes[c].skip; k = t.nodes[k].skip {
				subschemas(val{t, k}, inner, depth+1, visit)
			}
		case typ == wire.Object && (p == oneSchema || p == someSchema):
			subschemas(m, false, depth+1, visit)
		case typ == wire.Array && (p == listSchema || p == someSchema):
			for k := c + 1; k < t.nodes[c].skip; k = t.nodes[k].skip {
				subschemas(val{t, k}, false, depth+1, visit)
			}
		}
	}
}

// anchors are the names that references in a schema may point to.
type anchors struct {
	ids    []string // $id, absolute or not
	names  []string // $anchor and $dynamicAnchor
	nested bool     // a schema below the root has an $id, which moves the base
}

// links are the references of a schema and what they may point to. One walk
// finds both for all rules on a definition.
type links struct {
	root    val
	anchors anchors
	refs    []val // the first maxRefs
}

// linksOf are the links of a schema of the tool at hand.
func (e *Engine) linksOf(root val) *links {
	for i := range e.links {
		if e.links[i].root == root {
			return &e.links[i]
		}
	}
	e.links = append(e.links, links{root: root})
	l := &e.links[len(e.links)-1]
	subschemas(root, true, 0, l.see)
	return l
}

// see takes what one schema holds.
func (l *links) see(s val, _ bool) {
	t, a := s.t, &l.anchors
	for c := s.i + 1; c < t.nodes[s.i].skip; c = t.nodes[c].skip {
		v := val{t, c}
		if t.nodes[c].typ != wire.String {
			continue
		}
		switch string(t.key(c)) {
		case "$ref", "$dynamicRef":
			if len(l.refs) < maxRefs {
				l.refs = append(l.refs, v)
			}
		case "$id", "id":
			if len(a.ids) < 256 {
				a.ids = append(a.ids, strings.TrimSuffix(v.str(), "#"))
				a.nested = a.nested || s.i != l.root.i
			}
		case "$anchor", "$dynamicAnchor":
			if len(a.names) < 256 {
				a.names = append(a.names, v.str())
			}
		}
	}
}

// resolves reports whether a local reference has its target in the schema.
func resolves(root val, a *anchors, ref string) bool {
	frag, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err == nil && frag != "" && !strings.HasPrefix(frag, "/") {
		return slices.Contains(a.names, frag) || slices.Contains(a.ids, ref)
	}
	return target(root, ref).ok()
}

// target is what a local pointer leads to; the zero val when it leads nowhere
// or is no pointer.
func target(root val, ref string) val {
	frag, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil || frag != "" && frag[0] != '/' {
		return val{}
	}
	if frag == "" {
		return root
	}
	at := root
	for t := range strings.SplitSeq(frag[1:], "/") {
		if strings.Contains(t, "~") {
			t = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
		}
		next := at.get(t)
		if at.isArray() {
			if n, err := strconv.Atoi(t); err == nil {
				next = at.element(n)
			}
		}
		if !next.ok() {
			return val{}
		}
		at = next
	}
	return at
}

// element is the nth element of an array.
func (v val) element(n int) val {
	for i, e := range v.each() {
		if i == n {
			return e
		}
	}
	return val{}
}

// maxSteps is the most that judging one place of a value may take.
const maxSteps = 20_000

// bounded reports whether values can be judged by a schema in reasonable time:
// references and compositions that double at each level never end. cost is the
// most schemas that apply to one place.
func bounded(root val) (cost int, ok bool) {
	steps := maxSteps
	subschemas(root, true, 0, func(s val, _ bool) {
		if steps >= 0 {
			before := steps
			steps = spend(root, s, steps, 0)
			cost = max(cost, before-steps)
		}
	})
	return cost, steps >= 0
}

// spend counts the schemas that apply to the same place as s does.
func spend(root, s val, steps, depth int) int {
	steps--
	if steps < 0 || depth > maxSchemaDepth {
		return -1
	}
	if !s.isObject() {
		return steps
	}
	t := s.t
	for c := s.i + 1; c < t.nodes[s.i].skip && steps >= 0; c = t.nodes[c].skip {
		m := val{t, c}
		switch string(t.key(c)) {
		case "allOf", "anyOf", "oneOf":
			for k := c + 1; k < t.nodes[c].skip && steps >= 0 && m.isArray(); k = t.nodes[k].skip {
				steps = spend(root, val{t, k}, steps, depth+1)
			}
		case "dependentSchemas", "dependencies", "patternProperties":
			for k := c + 1; k < t.nodes[c].skip && steps >= 0 && m.isObject(); k = t.nodes[k].skip {
				steps = spend(root, val{t, k}, steps, depth+1)
			}
		case "not", "if", "then", "else":
			steps = spend(root, m, steps, depth+1)
		case "$ref", "$dynamicRef":
			if ref := m.str(); strings.HasPrefix(ref, "#") {
				if to := target(root, ref); to.ok() {
					steps = spend(root, to, steps, depth+1)
				}
			}
		}
	}
	return steps
}

// places is the number of values in a value, with itself.
func (v val) places() int {
	if !v.ok() {
		return 0
	}
	return int(v.t.nodes[v.i].skip - v.i)
}

// maxExponent is the most digits of an exponent that are computed with.
const maxExponent = 3

// hugeNumber reports whether a number in v would take very long to compute
// with.
func hugeNumber(v val) bool {
	for i := v.i; v.ok() && i < v.t.nodes[v.i].skip; i++ {
		n := &v.t.nodes[i]
		if n.typ != wire.Number {
			continue
		}
		raw := v.t.text[n.start:n.end]
		if e := bytes.IndexAny(raw, "eE"); e >= 0 && len(raw)-e > maxExponent+2 || len(raw) > 1000 {
			return true
		}
	}
	return false
}

// outside reports whether a reference leaves the document for a place that a
// client would have to fetch.
func outside(a *anchors, ref string) bool {
	u, err := url.Parse(ref)
	if err != nil || !u.IsAbs() {
		return false
	}
	base, _, _ := strings.Cut(ref, "#")
	if slices.Contains(a.ids, base) || slices.Contains(a.ids, ref) {
		return false
	}
	for _, id := range a.ids {
		if b, err := url.Parse(a.ids[0]); err == nil && b.IsAbs() {
			if r, err := b.Parse(id); err == nil && r.String() == base {
				return false
			}
		}
	}
	switch u.Scheme {
	case "http", "https", "ftp", "file":
		return !strings.Contains(base, "json-schema.org/")
	}
	return false
}
