package checks

import "strings"

// references judges the references of the schema that was walked over.
func (s *survey) references() {
	if len(s.refs) == 0 {
		return
	}
	a := &s.links(s.root).anchors
	for _, r := range s.refs {
		ref := r.ref.str()
		switch {
		case !strings.HasPrefix(ref, "#"):
			if outside(a, ref) {
				s.both(lintRefExternal, r.ref, show(r.ref)+" would have to be fetched")
			}
		case !a.nested && !resolves(s.root, a, ref):
			s.both(lintRefDangling, r.ref, show(r.ref)+" has no target")
		case !r.dynamic && r.in.i != s.root.i: // at the root that is another lint
			s.hit(lintRefLocal, r.ref, "the reference "+show(r.ref))
		}
		if k, ok := sibling(r); ok {
			s.hit(lintRefSibling, r.ref, k+" stands beside "+show(r.ref))
		}
	}
	if r, ok := s.recursive(); ok {
		s.both(lintRefRecursive, r.ref, show(r.ref)+" leads back to itself")
	}
}

// besideRef are the keywords that may stand beside a reference everywhere, and
// those that say nothing of the value.
const besideRef = " $ref $dynamicRef description default title $defs definitions $schema $id $comment $anchor "

func sibling(r lintRef) (string, bool) {
	for _, m := range r.in.each() {
		if k := m.key(); !strings.Contains(besideRef, " "+k+" ") {
			return quote(k), true
		}
	}
	return "", false
}

// recursive finds a reference that leads back to itself. Only pointers are
// followed.
func (s *survey) recursive() (lintRef, bool) {
	n := len(s.refs)
	to := make([]val, n)
	for i, r := range s.refs {
		if ref := r.ref.str(); strings.HasPrefix(ref, "#") {
			to[i] = target(s.root, ref)
		}
	}
	for i := range s.refs {
		seen := make([]bool, n)
		if s.leads(i, i, to, seen) {
			return s.refs[i], true
		}
	}
	return lintRef{}, false
}

// leads reports whether the reference from leads to the reference goal.
func (s *survey) leads(from, goal int, to []val, seen []bool) bool {
	seen[from] = true
	t := to[from]
	if !t.ok() {
		return false
	}
	for k, r := range s.refs {
		if r.in.i < t.i || r.in.i >= t.t.nodes[t.i].skip {
			continue
		}
		if k == goal || !seen[k] && s.leads(k, goal, to, seen) {
			return true
		}
	}
	return false
}
