package store

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// node is a part of a query: a leaf, or an operator over other nodes.
type node struct {
	kind nodeKind
	kids []*node
	leaf *leaf
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	andNode
	orNode
	notNode
)

// leaf is one word of a filter.
type leaf struct {
	text string // in canonical spelling
	key  string // text, with moments resolved: equal keys match equal frames
	test func(*matcher) bool
	cost cost

	field  string // of a substring: where it is looked for
	needle string // of a substring, folded; "" for others
	spans  []time.Duration
	memo   *memo
	state  bool // what it says of a frame may change later
}

// cost orders tests: the dear ones come last.
type cost uint8

const (
	ofFrame cost = iota
	ofOperation
	ofBody
)

// parser reads a filter by recursive descent.
type parser struct {
	lexer
	now   time.Time
	depth int
	n     int // leaves so far
}

// Compile reads a filter. An empty text matches everything. Durations in
// since: and until: count back from now, and times without a zone are in now's.
// The error is a *QueryError; there is no Query then.
func Compile(text string, now time.Time) (*Query, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	p := parser{lexer: lexer{text: []rune(text)}, now: now}
	if len(p.text) > maxQuery {
		return nil, p.fail(maxQuery, fmt.Sprintf("the filter is longer than %d characters", maxQuery))
	}
	p.skipSpace()
	if p.end() {
		return &Query{}, nil
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if !p.end() {
		return nil, p.fail(p.at, "a ) without a ( before it")
	}
	return newQuery(root), nil
}

// or reads alternatives.
func (p *parser) or() (*node, error) {
	n, err := p.and()
	if err != nil {
		return nil, err
	}
	kids := []*node{n}
	for {
		at := p.at
		if !p.keyword("OR") {
			return join(orNode, kids), nil
		}
		p.skipSpace()
		if p.end() || p.peek(0) == ')' {
			return nil, p.fail(at, `something is missing behind OR; to search for the word write "OR"`)
		}
		if n, err = p.and(); err != nil {
			return nil, err
		}
		kids = append(kids, n)
	}
}

// and reads words that stand side by side.
func (p *parser) and() (*node, error) {
	var kids []*node
	for {
		p.skipSpace()
		at := p.at
		switch {
		case p.end(), p.peek(0) == ')', p.at < len(p.text) && p.ahead("OR"):
			if len(kids) == 0 {
				return nil, p.missing(at)
			}
			return join(andNode, kids), nil
		case p.keyword("AND"):
			p.skipSpace()
			if len(kids) == 0 || p.end() || p.peek(0) == ')' || p.ahead("OR") || p.ahead("AND") {
				return nil, p.fail(at, `AND stands between two words; to search for the word write "AND"`)
			}
			continue
		}
		n, err := p.not()
		if err != nil {
			return nil, err
		}
		kids = append(kids, n)
	}
}

func (p *parser) ahead(word string) bool {
	was := p.at
	ok := p.keyword(word)
	p.at = was
	return ok
}

func (p *parser) missing(at int) error {
	switch {
	case p.end():
		return p.fail(at, "the filter ends where a word should stand")
	case p.peek(0) == ')' && p.depth == 0:
		return p.fail(at, "a ) without a ( before it")
	case p.peek(0) == ')':
		return p.fail(at, "nothing stands in the parentheses")
	}
	return p.fail(at, `something is missing before OR; to search for the word write "OR"`)
}

// not reads a word with its negations.
func (p *parser) not() (*node, error) {
	at := p.at
	minus := p.peek(0) == '-'
	if minus {
		p.at++
	}
	if !minus && !p.keyword("NOT") {
		return p.atom()
	}
	if !minus {
		p.skipSpace()
	}
	switch {
	case minus && (p.end() || p.delimits() && p.peek(0) != '('):
		return nil, p.fail(at, `nothing stands behind -; to search for it write "-"`)
	case p.end(), p.peek(0) == ')', p.ahead("OR"), p.ahead("AND"):
		return nil, p.fail(at, `nothing stands behind NOT; to search for the word write "NOT"`)
	}
	if err := p.enter(at); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.not()
	if err != nil {
		return nil, err
	}
	if n.kind == notNode {
		return n.kids[0], nil
	}
	return &node{kind: notNode, kids: []*node{n}}, nil
}

func (p *parser) enter(at int) error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(at, "too deeply nested")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// atom reads a group or a leaf.
func (p *parser) atom() (*node, error) {
	at := p.at
	if p.peek(0) != '(' {
		l, err := p.word()
		if err != nil {
			return nil, err
		}
		p.n++
		return &node{leaf: l}, nil
	}
	if err := p.enter(at); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.peek(0) != ')' {
		return nil, p.fail(at, "the closing ) is missing")
	}
	p.at++
	return n, nil
}

// word reads a leaf.
func (p *parser) word() (*leaf, error) {
	at := p.at
	switch p.peek(0) {
	case '"':
		s, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if s == "" {
			return nil, p.fail(at, "the text to search for is empty")
		}
		return textLeaf(s), nil
	case '/':
		s, err := p.regex()
		if err != nil {
			return nil, err
		}
		re, err := regexp.Compile("(?i)" + s)
		if err != nil {
			return nil, p.fail(at, "regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return regexLeaf(s, re), nil
	}
	name := p.name()
	term := lookupTerm(name)
	next := p.peek(len(name))
	switch {
	case term != nil && strings.ContainsRune(":<>=!", next) && next != 0:
		p.at += len(name)
		return p.term(term, at)
	case name != "" && next == ':' && !(p.peek(len(name)+1) == '/' && p.peek(len(name)+2) == '/'):
		return nil, p.unknown(name, at)
	case (next == '<' || next == '>') && nearestTerm(name, 1) != "":
		return nil, p.unknown(name, at)
	}
	return textLeaf(p.raw()), nil
}

func (p *parser) unknown(name string, at int) error {
	msg := fmt.Sprintf("there is no term %s:", name)
	if near := nearestTerm(name, 2); near != "" {
		msg += "; did you mean " + near + "?"
	}
	return p.fail(at, msg+" To search for the text put it in quotation marks")
}

// join makes one node of several, and takes nested ones of the same kind apart.
func join(kind nodeKind, kids []*node) *node {
	if len(kids) == 1 {
		return kids[0]
	}
	n := &node{kind: kind}
	for _, k := range kids {
		if k.kind == kind {
			n.kids = append(n.kids, k.kids...)
		} else {
			n.kids = append(n.kids, k)
		}
	}
	return n
}

// write appends the canonical spelling; key says whether moments are resolved.
func (n *node) write(b *strings.Builder, key bool) {
	switch n.kind {
	case leafNode:
		if key {
			b.WriteString(n.leaf.key)
		} else {
			b.WriteString(n.leaf.text)
		}
	case notNode:
		b.WriteByte('-')
		n.kids[0].writeIn(b, key, n.kids[0].kind != leafNode)
	case andNode:
		for i, k := range n.kids {
			if i > 0 {
				b.WriteByte(' ')
			}
			k.writeIn(b, key, k.kind == orNode)
		}
	case orNode:
		for i, k := range n.kids {
			if i > 0 {
				b.WriteString(" OR ")
			}
			k.write(b, key)
		}
	}
}

func (n *node) writeIn(b *strings.Builder, key, parens bool) {
	if parens {
		b.WriteByte('(')
	}
	n.write(b, key)
	if parens {
		b.WriteByte(')')
	}
}

// cost is that of the dearest leaf.
func (n *node) cost() cost {
	if n.kind == leafNode {
		return n.leaf.cost
	}
	c := ofFrame
	for _, k := range n.kids {
		c = max(c, k.cost())
	}
	return c
}

// planned gives the node with its parts in the order in which they are tested.
func (n *node) planned() *node {
	if n.kind == leafNode {
		return n
	}
	kids := make([]*node, len(n.kids))
	for i, k := range n.kids {
		kids[i] = k.planned()
	}
	slices.SortStableFunc(kids, func(a, b *node) int { return int(a.cost()) - int(b.cost()) })
	return &node{kind: n.kind, kids: kids}
}

// leaves calls visit with every leaf.
func (n *node) leaves(visit func(*leaf)) {
	if n.kind == leafNode {
		visit(n.leaf)
	}
	for _, k := range n.kids {
		k.leaves(visit)
	}
}
