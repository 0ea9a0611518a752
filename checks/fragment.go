package checks

import (
	"bytes"
	"errors"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// A message that was printed over several lines is one fault, not one for each
// line. So lines that are no message are held while they could be the
// beginning of such a message, and judged one by one when they are not.
type fragments struct {
	dir   capture.Direction
	lines []heldLine
	text  []byte
	depth int // brackets that are open
}

type heldLine struct {
	at   pos
	text string // its beginning, "" for a line that is JSON by itself
}

// Bounds of what is held.
const (
	maxHeldLines = 4_096
	maxHeldBytes = 1 << 20
	maxHeldText  = 512
)

// fragment takes a stdio line that may be a piece of a message, and reports
// whether it is to be left alone for now.
func (c *ctx) fragment() bool {
	f := &c.e.frag
	if c.rec.Direction != f.dir && len(f.lines) > 0 {
		return false // the two directions interleave as they like
	}
	body, text := c.rec.Raw, c.rec.Text
	if body == nil {
		body = []byte(text)
	}
	if len(f.lines) == 0 && !c.beginsMessage() {
		return false
	}
	if len(f.lines) > 0 && c.root.isObject() && c.root.get("jsonrpc").ok() || c.rec.Truncated || c.rec.Bytes != nil {
		c.endFragment()
		return false
	}
	depth, ok := brackets(body)
	if !ok || f.depth+depth < 0 || len(f.lines) >= maxHeldLines || len(f.text)+len(body) > maxHeldBytes {
		c.endFragment()
		return false
	}
	if c.rec.Raw != nil {
		text = ""
	}
	f.dir = c.rec.Direction
	f.lines = append(f.lines, heldLine{c.pos(), clip(text, maxHeldText)})
	f.text = append(append(f.text, body...), '\n')
	f.depth += depth
	if f.depth == 0 {
		c.closeFragment()
	}
	return true
}

// beginsMessage reports whether a message printed over several lines could
// begin here: a line that is not JSON and breaks off inside an object or array.
func (c *ctx) beginsMessage() bool {
	if c.rec.Raw != nil || !c.rec.HasText || c.rec.EOL == "none" {
		return false
	}
	t := bytes.TrimSpace([]byte(c.rec.Text))
	if len(t) == 0 || t[0] != '{' && t[0] != '[' {
		return false
	}
	var syntax *wire.SyntaxError
	return errors.As(wire.Check(t), &syntax) && syntax.Offset >= len(t)
}

// closeFragment judges what is held when all its brackets are closed.
func (c *ctx) closeFragment() {
	f := &c.e.frag
	if len(f.lines) < 2 || wire.Check(f.text) != nil {
		c.endFragment()
		return
	}
	m := wire.ParseMessage(f.text)
	if m.Kind == wire.Other {
		c.endFragment()
		return
	}
	for _, r := range c.e.cat.runs[triggerIndex(onText)][0] {
		if r.ID != embeddedNewline || c.e.ignored(r) {
			continue
		}
		c.rule = r
		first := f.lines[0].at
		first.id, first.method = string(m.ID), string(m.Method)
		c.hitPos(first, "", "one message stands on %d lines (#%d to #%d): line feeds between its tokens cut it",
			len(f.lines), first.seq, f.lines[len(f.lines)-1].at.seq)
	}
	f.reset()
}

// endFragment gives up on what is held: each line is judged by itself.
func (c *ctx) endFragment() {
	f := &c.e.frag
	held, dir := f.lines, f.dir
	f.lines = nil
	f.reset()
	if len(held) == 0 {
		return
	}
	id := stdoutNotJSON
	if dir == capture.C2S {
		id = stdinNotJSON
	}
	rule := c.e.cat.byID[id]
	if rule == nil || c.e.ignored(rule) {
		return
	}
	was := c.rule
	c.rule = rule
	for _, l := range held {
		if l.text != "" {
			c.hitPos(l.at, "", "%s", notJSONMessage(l.text, false))
		}
	}
	c.rule = was
}

func (f *fragments) reset() { f.lines, f.text, f.depth = f.lines[:0], f.text[:0], 0 }

// brackets counts how many brackets a line leaves open; ok is false when a
// string does not end on it.
func brackets(b []byte) (open int, ok bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			open++
		case '}', ']':
			open--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) {
				return open, false
			}
		}
	}
	return open, true
}
