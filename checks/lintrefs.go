package checks

import (
	"slices"
	"strings"
)

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
// followed, each once.
func (s *survey) recursive() (lintRef, bool) {
	n := len(s.refs)
	d := detour{refs: s.refs, to: make([]val, n), state: make([]uint8, n)}
	for i, r := range s.refs {
		if ref := r.ref.str(); strings.HasPrefix(ref, "#") {
			d.to[i] = target(s.root, ref)
		}
	}
	for i := range s.refs {
		if d.state[i] == fresh && d.circle(i) {
			return s.refs[d.found], true
		}
	}
	return lintRef{}, false
}

// detour is a walk along references: each leads to those that stand in its
// target.
type detour struct {
	refs  []lintRef
	to    []val
	state []uint8
	path  []int
	found int // the first reference of the circle
}

// Where a walk stands with a reference.
const (
	fresh uint8 = iota
	onPath
	finished
)

// circle reports whether a circle can be reached from a reference.
func (d *detour) circle(from int) bool {
	d.state[from] = onPath
	d.path = append(d.path, from)
	t := d.to[from]
	for k, r := range d.refs {
		if !t.ok() || r.in.i < t.i || r.in.i >= t.t.nodes[t.i].skip {
			continue
		}
		switch {
		case d.state[k] == onPath:
			d.found = slices.Min(d.path[slices.Index(d.path, k):])
			return true
		case d.state[k] == fresh && d.circle(k):
			return true
		}
	}
	d.state[from] = finished
	d.path = d.path[:len(d.path)-1]
	return false
}
