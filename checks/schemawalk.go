package checks

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Where subschemas stand in a JSON Schema, in all its drafts.
var (
	schemaOne  = []string{"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
	schemaList = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaMap  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// maxSchemaDepth bounds the walk over a schema.
const maxSchemaDepth = 64

// subschemas calls visit for a schema and all schemas in it. pure says that
// the way there goes through properties alone.
func subschemas(s val, pure bool, depth int, visit func(s val, pure bool)) {
	if !s.isObject() || depth > maxSchemaDepth {
		return
	}
	visit(s, pure)
	for _, m := range s.each() {
		k := m.key()
		switch {
		case m.isObject() && slices.Contains(schemaMap, k):
			for _, sub := range m.each() {
				subschemas(sub, pure && k == "properties", depth+1, visit)
			}
		case m.isObject() && slices.Contains(schemaOne, k):
			subschemas(m, false, depth+1, visit)
		case m.isArray() && slices.Contains(schemaList, k):
			for _, sub := range m.each() {
				subschemas(sub, false, depth+1, visit)
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

func anchorsOf(root val) anchors {
	var a anchors
	subschemas(root, true, 0, func(s val, _ bool) {
		for _, k := range [...]string{"$id", "id"} {
			if v := s.get(k); v.isString() && len(a.ids) < 256 {
				a.ids = append(a.ids, strings.TrimSuffix(v.str(), "#"))
				a.nested = a.nested || s.i != root.i
			}
		}
		for _, k := range [...]string{"$anchor", "$dynamicAnchor"} {
			if v := s.get(k); v.isString() && len(a.names) < 256 {
				a.names = append(a.names, v.str())
			}
		}
	})
	return a
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
		t = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
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
// references and compositions that double at each level never end.
func bounded(root val) bool {
	steps := maxSteps
	subschemas(root, true, 0, func(s val, _ bool) {
		if steps >= 0 {
			steps = spend(root, s, steps, 0)
		}
	})
	return steps >= 0
}

// spend counts the schemas that apply to the same place as s does.
func spend(root, s val, steps, depth int) int {
	steps--
	if steps < 0 || depth > maxSchemaDepth {
		return -1
	}
	for _, m := range s.each() {
		switch m.key() {
		case "allOf", "anyOf", "oneOf":
			for _, sub := range m.each() {
				if steps = spend(root, sub, steps, depth+1); steps < 0 {
					return steps
				}
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
		if steps < 0 {
			return steps
		}
	}
	return steps
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
