package store

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Query is a compiled filter. It never changes and may be used from any
// goroutine. The zero value matches everything, as nil does.
type Query struct {
	root  *node // as it was written; nil matches everything
	plan  *node // in the order of testing
	key   string
	state bool            // what it says of a frame may change later
	spans []time.Duration // durations that calls without an end may pass
	memos int
}

// QueryError says what is wrong with a filter and where.
type QueryError struct {
	Column int // of the mistake in characters, from 1
	Msg    string
}

// Error gives the column and what is wrong there.
func (e *QueryError) Error() string { return fmt.Sprintf("filter, column %d: %s", e.Column, e.Msg) }

func newQuery(root *node) *Query {
	q := &Query{root: root, plan: root.planned()}
	var key strings.Builder
	root.write(&key, true)
	q.key = key.String()
	root.leaves(func(l *leaf) {
		if l.memo != nil {
			l.memo.n = q.memos
			q.memos++
		}
		q.state = q.state || l.state
		q.spans = append(q.spans, l.spans...)
	})
	return q
}

// String is the filter in its canonical spelling: Compile of it gives the same.
func (q *Query) String() string {
	if q.All() {
		return ""
	}
	var b strings.Builder
	q.root.write(&b, false)
	return b.String()
}

// All reports whether the query matches every frame.
func (q *Query) All() bool { return q == nil || q.root == nil }

// BodyFunc returns the bytes of a frame, as capture.Record.Body has them. They
// are valid until the next call.
type BodyFunc func(s *Session, i uint32) ([]byte, error)

// MatchFrame reports whether the frame i of s, or its operation, fits. body is
// asked only when the answer hangs on it; when it is nil or fails, the frame's
// bytes match nothing.
func (q *Query) MatchFrame(s *Session, i uint32, body BodyFunc) bool {
	if q.All() {
		return true
	}
	m := matcher{s: s, now: s.now()}
	if body != nil {
		m.read = func(i uint32) ([]byte, error) { return body(s, i) }
	}
	return m.match(q, i)
}

// implies reports whether every frame that q matches is matched by old too,
// as far as their spelling tells.
func (q *Query) implies(old *Query) bool {
	if old.All() {
		return true
	}
	if q.All() {
		return false
	}
	have := q.root.conjuncts()
	for _, want := range old.root.conjuncts() {
		found := false
		for _, n := range have {
			found = found || n.implies(want)
		}
		if !found {
			return false
		}
	}
	return true
}

func (n *node) conjuncts() []*node {
	if n.kind == andNode {
		return n.kids
	}
	return []*node{n}
}

func (n *node) implies(want *node) bool {
	if n.kind == leafNode && want.kind == leafNode && want.leaf.needle != "" && n.leaf.field == want.leaf.field {
		return strings.Contains(n.leaf.needle, want.leaf.needle)
	}
	var a, b strings.Builder
	n.write(&a, true)
	want.write(&b, true)
	return a.String() == b.String()
}

// matcher tests the frames of one session, one after the other. One goroutine
// uses it.
type matcher struct {
	s    *Session
	now  int64 // end of calls that have none
	read func(i uint32) ([]byte, error)
	line func(i uint32) []byte // the log line of a frame, where that is at hand; may be nil

	i     uint32
	f     *Frame
	chain []*Operation
	sum   *Summary

	loaded, unescaped bool
	bytes, text       []byte
	memo              [][]uint8 // what is known of the names, for each memo of the query; nil remembers nothing
}

func (m *matcher) match(q *Query, i uint32) bool {
	m.i, m.f = i, m.s.Frame(i)
	m.chain, m.sum = m.chain[:0], nil
	m.loaded, m.unescaped, m.bytes = false, false, nil
	return m.eval(q.plan)
}

func (m *matcher) eval(n *node) bool {
	switch n.kind {
	case notNode:
		return !m.eval(n.kids[0])
	case andNode:
		for _, k := range n.kids {
			if !m.eval(k) {
				return false
			}
		}
		return true
	case orNode:
		for _, k := range n.kids {
			if m.eval(k) {
				return true
			}
		}
		return false
	}
	return n.leaf.test(m)
}

// own is the operation of the frame, which has one.
func (m *matcher) own() *Operation { return m.s.Op(OpIndex(m.f.op - 1)) }

// ops are the operation of the frame and its retries, the oldest first; none
// for a frame without an operation.
func (m *matcher) ops() []*Operation {
	if m.f.op == 0 || len(m.chain) > 0 {
		return m.chain
	}
	m.s.related(OpIndex(m.f.op-1), func(_ OpIndex, o *Operation) { m.chain = append(m.chain, o) })
	return m.chain
}

func (m *matcher) any(test func(*Operation) bool) bool {
	for _, o := range m.ops() {
		if test(o) {
			return true
		}
	}
	return false
}

func (m *matcher) state(want State) bool {
	ops := m.ops()
	return len(ops) > 0 && ops[len(ops)-1].State == want
}

func (m *matcher) summary() *Summary {
	if m.sum == nil {
		m.sum = m.s.Summary()
	}
	return m.sum
}

// body is the frame's bytes, nil when they cannot be read.
func (m *matcher) body() []byte {
	if !m.loaded {
		m.loaded = true
		if m.read != nil && m.hasBody() {
			m.bytes, _ = m.read(m.i)
		}
	}
	return m.bytes
}

func (m *matcher) hasBody() bool { return m.f.Kind != KindNone }

// lacks reports whether the log line of the frame tells that the frame does
// not hold the text, without taking the line apart.
func (m *matcher) lacks(f *finder) bool {
	if !m.hasBody() {
		return true
	}
	if m.line == nil || m.loaded {
		return false
	}
	line := m.line(m.i)
	return line != nil && !f.in(line) && !obscure(line) && !bytes.Contains(line, []byte(`"bytes":`))
}

// escaped reports whether the frame holds escapes of JSON strings.
func (m *matcher) escaped() bool {
	return m.f.Kind != KindStderr && m.f.Kind != KindBody && bytes.IndexByte(m.body(), '\\') >= 0
}

// plain is the frame with the escapes of JSON strings resolved.
func (m *matcher) plain() []byte {
	if !m.unescaped {
		m.unescaped = true
		m.text = wire.AppendUnescaped(m.text[:0], m.body())
	}
	return m.text
}

// memo is a test of names whose outcome a matcher may remember.
type memo struct {
	test func(string) bool
	n    int // its number in the query
}

func newMemo(test func(string) bool) *memo { return &memo{test: test} }

const (
	memoUnknown uint8 = iota
	memoNo
	memoYes
)

func (t *memo) name(m *matcher, i uint32) bool {
	if m.memo == nil {
		return t.test(*m.s.names.list.read(i))
	}
	known := m.memo[t.n]
	for uint32(len(known)) <= i {
		known = append(known, memoUnknown)
	}
	if known[i] == memoUnknown {
		known[i] = memoNo
		if t.test(*m.s.names.list.read(i)) {
			known[i] = memoYes
		}
	}
	m.memo[t.n] = known
	return known[i] == memoYes
}

// now is the time up to which the session is known to have gone on, in
// nanoseconds since 1970.
func (s *Session) now() int64 {
	sum := s.Summary()
	newest := int64(0)
	if !sum.Newest.IsZero() {
		newest = nanos(sum.Newest)
	}
	if sum.Ended {
		return newest
	}
	return max(newest, s.pulse.Load())
}

// Pulse says that the session was still going on at t, so that calls without
// an answer have been waiting until then. Any goroutine may call it.
func (s *Session) Pulse(t time.Time) { s.pulse.Store(nanos(t)) }
