package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// maxSegments bounds the segments of all --redact-path together.
const maxSegments = 256

// states is a set of segments that the next member or element may match.
type states [maxSegments / 64]uint64

func (s *states) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *states) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }
func (s *states) empty() bool    { return *s == states{} }

// pathSet runs all queries over a payload at once, as one automaton whose
// states are the segments: one pass, and no copy of a node list that a hostile
// payload could blow up.
type pathSet struct {
	segs  []segment
	start states
}

// segment is one step of a query.
type segment struct {
	selectors []spec.Selector
	deep      bool // ..
	last      bool // what it matches is selected
}

func (p *pathSet) add(query string) error {
	path, err := jsonpath.Parse(query)
	if err != nil {
		return err
	}
	segs := path.Query().Segments()
	if len(segs) == 0 {
		return errors.New("it selects the whole message")
	}
	if len(p.segs)+len(segs) > maxSegments {
		return fmt.Errorf("more than %d segments in all paths", maxSegments)
	}
	p.start.add(len(p.segs))
	for i, s := range segs {
		p.segs = append(p.segs, segment{s.Selectors(), s.IsDescendant(), i == len(segs)-1})
	}
	return nil
}

// selectIn returns the places in the payload that a query selects, outermost
// first and in order. Each message of a batch is a root of its own.
func (p *pathSet) selectIn(raw []byte) []extent {
	if len(p.segs) == 0 {
		return nil
	}
	r := pathRun{set: p, budget: 8*len(raw) + 1<<20}
	if wire.TypeOf(raw) != wire.Array {
		r.message(raw, 0)
		return r.out
	}
	for e := wire.ElementsOf(raw); e.Next(); {
		r.message(e.Value, e.Start)
	}
	return r.out
}

// pathRun is one run over a payload. Indexes from the end and filters look at
// values ahead; budget bounds how many bytes. Where it is used up they count as
// matching, so that nothing is shown for its sake.
type pathRun struct {
	set    *pathSet
	out    []extent
	budget int

	b       []byte
	root    any
	decoded bool
}

// pathFrame is an open array or object.
type pathFrame struct {
	in     states
	object bool
	index  int // of the next element
	start  int // behind the opening bracket
	length int // of the array, -1 while not counted
}

// message collects what is selected in the message b, which stands at base.
func (r *pathRun) message(b []byte, base int) {
	r.b, r.root, r.decoded = b, nil, false
	c := cursor{b: b}
	var stack []pathFrame
	var key []byte
	for {
		ev, start, end := c.next()
		switch ev {
		case atEnd:
			return
		case atKey:
			key = decode(nil, b[start+1:end-1])
			continue
		case atClose:
			stack = stack[:len(stack)-1]
			continue
		}
		in, hit := r.set.start, false
		if n := len(stack); n > 0 {
			in, hit = r.child(&stack[n-1], key, start)
		}
		container := ev == atObject || ev == atArray
		if hit {
			if container {
				end = c.skip()
			}
			r.out = append(r.out, extent{base + start, base + end})
		} else if container && in.empty() {
			c.skip()
		} else if container {
			stack = append(stack, pathFrame{in: in, object: ev == atObject, start: c.i, length: -1})
		}
	}
}

// child returns the states for the value at start, the next one in f, and
// whether it is selected.
func (r *pathRun) child(f *pathFrame, key []byte, start int) (out states, hit bool) {
	for i := range r.set.segs {
		if !f.in.has(i) {
			continue
		}
		s := &r.set.segs[i]
		if s.deep {
			out.add(i)
		}
		for _, sel := range s.selectors {
			if !r.matches(f, sel, key, start) {
				continue
			}
			if s.last {
				hit = true
			} else {
				out.add(i + 1)
			}
			break
		}
	}
	f.index++
	return out, hit
}

// matches reports whether a selector takes the value at start.
func (r *pathRun) matches(f *pathFrame, sel spec.Selector, key []byte, start int) bool {
	switch s := sel.(type) {
	case spec.Name:
		return f.object && string(s) == string(key)
	case spec.WildcardSelector:
		return true
	case spec.Index:
		if f.object {
			return false
		}
		if s >= 0 {
			return f.index == int(s)
		}
		n, ok := r.length(f)
		return !ok || f.index == n+int(s)
	case spec.SliceSelector:
		return !f.object && r.inSlice(f, s)
	case *spec.FilterSelector:
		return r.filter(s, start)
	}
	return true // a selector that this version does not know: hide rather than show
}

func (r *pathRun) inSlice(f *pathFrame, s spec.SliceSelector) bool {
	step := s.Step()
	if step == 0 {
		return false
	}
	n, ok := r.length(f)
	if !ok {
		return true
	}
	lower, upper := s.Bounds(n)
	if step > 0 {
		return f.index >= lower && f.index < upper && (f.index-lower)%step == 0
	}
	return f.index > lower && f.index <= upper && (upper-f.index)%-step == 0
}

// length counts the elements of the array f.
func (r *pathRun) length(f *pathFrame) (n int, ok bool) {
	if f.length >= 0 {
		return f.length, true
	}
	if r.budget <= 0 {
		return 0, false
	}
	c := cursor{b: r.b, i: f.start}
	for {
		ev, _, _ := c.next()
		switch ev {
		case atObject, atArray:
			c.skip()
		case atClose, atEnd:
			r.budget -= c.i - f.start
			f.length = n
			return n, true
		}
		n++
	}
}

// filter evaluates a filter on the value at start.
func (r *pathRun) filter(s *spec.FilterSelector, start int) bool {
	if !r.decoded {
		r.decoded = true
		r.budget -= len(r.b)
		r.root = decodeJSON(r.b)
	}
	if r.budget <= 0 {
		return true
	}
	c := cursor{b: r.b, i: start}
	ev, _, end := c.next()
	if ev == atObject || ev == atArray {
		end = c.skip()
	}
	r.budget -= end - start
	return s.Eval(decodeJSON(r.b[start:end]), r.root)
}

// decodeJSON decodes for filters: numbers as float64, and where one does not
// fit in it, all as they are written.
func decodeJSON(b []byte) any {
	var v any
	if json.Unmarshal(b, &v) == nil {
		return v
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}
