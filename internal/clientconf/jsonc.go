package clientconf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxNest bounds the nesting of a file.
const maxNest = 200

// value is a JSON value by where it stands. Members and elements are filled in
// for objects and arrays.
type value struct {
	at      span
	kind    byte // { [ " or the first byte of a scalar
	members []member
	items   []value
}

type member struct {
	name string
	line int
	val  value
}

// get returns the value of the members of that name: how many there are tells
// a caller that a file is ambiguous.
func (v *value) get(name string) (found []*value) {
	for i := range v.members {
		if v.members[i].name == name {
			found = append(found, &v.members[i].val)
		}
	}
	return found
}

// parser reads JSON with comments, trailing commas and a byte order mark.
type parser struct {
	b []byte
	i int
}

func parseJSONC(b []byte) (value, error) {
	p := &parser{b: b}
	if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		p.i = 3
	}
	v, err := p.value(0)
	if err != nil {
		return v, err
	}
	if err := p.space(); err != nil {
		return v, err
	}
	if p.i != len(b) {
		return v, p.fail("the end of the file")
	}
	return v, nil
}

func (p *parser) fail(want string) error {
	line := 1 + bytes.Count(p.b[:min(p.i, len(p.b))], []byte{'\n'})
	return fmt.Errorf("line %d: want %s", line, want)
}

// space skips white space and comments.
func (p *parser) space() error {
	for p.i < len(p.b) {
		rest := p.b[p.i:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			p.i++
		case bytes.HasPrefix(rest, []byte("//")):
			k := bytes.IndexByte(rest, '\n')
			if k < 0 {
				k = len(rest)
			}
			p.i += k
		case bytes.HasPrefix(rest, []byte("/*")):
			k := bytes.Index(rest[2:], []byte("*/"))
			if k < 0 {
				return p.fail("the end of a comment")
			}
			p.i += k + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) peek() byte {
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

func (p *parser) value(depth int) (value, error) {
	if err := p.space(); err != nil {
		return value{}, err
	}
	v := value{at: span{p.i, p.i}, kind: p.peek()}
	var err error
	switch {
	case depth > maxNest:
		return v, p.fail("less nesting")
	case v.kind == '{' || v.kind == '[':
		err = p.nested(&v, depth)
	case v.kind == '"':
		_, err = p.text()
	default:
		for p.i < len(p.b) && bytes.IndexByte([]byte(" \t\r\n,]}/:\"[{"), p.b[p.i]) < 0 {
			p.i++
		}
		if !json.Valid(p.b[v.at.from:p.i]) {
			p.i = v.at.from
			err = p.fail("a value")
		}
	}
	v.at.to = p.i
	return v, err
}

// nested reads the members of an object or the elements of an array.
func (p *parser) nested(v *value, depth int) error {
	closing := v.kind + 2 // '{'+2 == '}' and '['+2 == ']'
	p.i++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == closing {
			p.i++
			return nil
		}
		m := member{line: 1 + bytes.Count(p.b[:p.i], []byte{'\n'})}
		var err error
		if v.kind == '{' {
			if m.name, err = p.name(); err != nil {
				return err
			}
		}
		if m.val, err = p.value(depth + 1); err != nil {
			return err
		}
		if v.kind == '{' {
			v.members = append(v.members, m)
		} else {
			v.items = append(v.items, m.val)
		}
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.i++
		case closing:
		default:
			return p.fail("a comma or " + strconv.Quote(string(closing)))
		}
	}
}

func (p *parser) name() (string, error) {
	if p.peek() != '"' {
		return "", p.fail("a member name in quotes")
	}
	s, err := p.text()
	if err != nil {
		return "", err
	}
	if err := p.space(); err != nil {
		return "", err
	}
	if p.peek() != ':' {
		return "", p.fail("a colon")
	}
	p.i++
	return s, nil
}

// text reads a string and leaves the place behind it.
func (p *parser) text() (string, error) {
	from := p.i
	for p.i++; p.i < len(p.b) && p.b[p.i] != '"' && p.b[p.i] != '\n'; p.i++ {
		if p.b[p.i] == '\\' {
			p.i++
		}
	}
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		p.i = min(p.i, len(p.b))
		return "", p.fail("a closing quote")
	}
	p.i++
	var s string
	if err := json.Unmarshal(p.b[from:p.i], &s); err != nil || !utf8.Valid(p.b[from:p.i]) {
		p.i = from
		return "", p.fail("a string")
	}
	return s, nil
}

// textOf is the text of a string value, or the spelling of another.
func textOf(b []byte, v *value) string {
	raw := b[v.at.from:v.at.to]
	var s string
	if v.kind == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
