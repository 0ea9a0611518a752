package checks

import (
	"slices"
	"strings"
)

// capset is what one side declared in a capabilities object: dotted paths,
// three levels deep, such as elicitation.url. What is false or null is not
// declared.
type capset struct{ paths []string }

// has reports whether the capability was declared; a nil capset declares none.
func (s *capset) has(path string) bool { return s != nil && slices.Contains(s.paths, path) }

// extension reports whether an extension was declared.
func (s *capset) extension(name string) bool { return s.has("extensions." + name) }

// anyExtension reports whether an extension was declared that is not known.
func (s *capset) otherExtensions(known ...string) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.paths, func(p string) bool {
		name, ok := strings.CutPrefix(p, "extensions.")
		return ok && !slices.ContainsFunc(known, func(k string) bool { return name == k || strings.HasPrefix(name, k+".") })
	})
}

// elicits reports whether a mode of elicitation was declared: an empty object
// stands for form.
func (s *capset) elicits(mode string) bool {
	if !s.has("elicitation") {
		return false
	}
	if mode == "url" {
		return s.has("elicitation.url")
	}
	return s.has("elicitation.form") || !s.has("elicitation.url")
}

// maxCapPaths bounds a capset.
const maxCapPaths = 256

// capsOf reads a capabilities object. Equal objects share one capset: since
// 2026-07-28 each request brings the same again.
func (e *Engine) capsOf(v val) *capset {
	if !v.isObject() {
		return nil
	}
	h := hashText(v.raw())
	if s := e.caps[h]; s != nil {
		return s
	}
	s := &capset{}
	s.add(v, "", 0)
	if len(e.caps) < maxCapPaths {
		e.caps[h] = s
	}
	return s
}

func (s *capset) add(v val, prefix string, depth int) {
	for _, m := range v.each() {
		if m.isNull() || string(m.raw()) == "false" || len(s.paths) >= maxCapPaths {
			continue
		}
		p := prefix + clip(m.key(), maxSubjectLen)
		s.paths = append(s.paths, p)
		if m.isObject() && depth < 3 {
			s.add(m, p+".", depth+1)
		}
	}
}
