package tui

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// maxHits is how many places a search in a frame keeps.
const maxHits = 10000

// searchPrompt asks for what to look for.
func (p *inspector) searchPrompt() *prompt {
	before := p.search
	q := &prompt{kind: promptSearch, sign: "/ ", chosen: -1}
	q.input.set(before)
	set := func(text string) (tea.Cmd, *store.QueryError) {
		p.search = text
		return p.find(), nil
	}
	q.change = set
	q.accept = func(text string) (tea.Cmd, *store.QueryError) {
		if text != "" && len(p.hits) == 0 && p.search == text {
			p.m.say(inkWarn, "not in this frame: "+p.m.d.safe(text))
		}
		return nil, nil
	}
	q.cancel = func() tea.Cmd {
		p.search = before
		return p.find()
	}
	return q
}

// find looks for the search text in the body, beside Update.
func (p *inspector) find() tea.Cmd {
	p.hits, p.hit, p.more = nil, 0, false
	if p.search == "" || len(p.body) == 0 {
		return nil
	}
	search, body := p.search, p.body
	return p.m.work(func(ctx context.Context) done {
		hits, more := findAll(body, search)
		return func(*Model) tea.Cmd {
			if p.search != search || len(p.body) != len(body) || len(body) > 0 && &p.body[0] != &body[0] {
				return nil
			}
			p.hits, p.more, p.hit = hits, more, -1
			p.jumpFrom()
			return nil
		}
	})
}

// findAll gives the offsets of s in body, whatever the case of letters; also
// where JSON has written it with escapes.
func findAll(body []byte, s string) (hits []int, more bool) {
	low := lowerASCII(body)
	for _, needle := range spellings(s) {
		needle = lowerASCII(needle)
		for at := 0; ; {
			i := bytes.Index(low[at:], needle)
			if i < 0 || len(hits) >= maxHits {
				more = more || i >= 0
				break
			}
			hits = append(hits, at+i)
			at += i + max(1, len(needle))
		}
	}
	slices.Sort(hits)
	return slices.Compact(hits), more
}

// lowerASCII is a copy with the letters of ASCII in lower case: offsets stay.
func lowerASCII(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// spellings are the ways in which JSON may write s.
func spellings(s string) [][]byte {
	out := [][]byte{[]byte(s)}
	escaped := strconv.QuoteToASCII(s)
	if e := escaped[1 : len(escaped)-1]; e != s && !strings.Contains(e, `\U`) && !strings.Contains(e, `\x`) {
		out = append(out, []byte(strings.ToLower(e)))
	}
	return out
}

// jumpFrom goes to the first hit at or below the selected line.
func (p *inspector) jumpFrom() {
	if len(p.hits) == 0 {
		return
	}
	off := 0
	switch {
	case p.mode == bodyJSON && p.at.line < len(p.doc.lines):
		off = int(min(p.doc.lines[p.at.line].key, p.doc.lines[p.at.line].val))
		if l := p.doc.lines[p.at.line]; l.key == l.keyEnd {
			off = int(l.val)
		}
	case p.mode == bodyBytes:
		off = p.rows.cur * p.perRow()
	}
	for i, h := range p.hits {
		if h >= off {
			p.to(i)
			return
		}
	}
	p.to(0)
}

// jump goes to the next hit, round and round.
func (p *inspector) jump(d int) {
	switch n := len(p.hits); {
	case p.search == "":
		p.m.say(inkNote, "nothing is searched for; / does")
	case n == 0:
		p.m.say(inkWarn, "not in this frame: "+p.m.d.safe(p.search))
	default:
		p.to((p.hit + d + n) % n)
	}
}

func (p *inspector) to(i int) {
	p.hit = i
	off := p.hits[i]
	switch p.mode {
	case bodyJSON:
		for !p.doc.ended && p.doc.at <= off {
			p.doc.grow(stepBytes)
		}
		line := p.doc.lineAt(off)
		if line < 0 {
			return
		}
		p.doc.reveal(line)
		p.at = spot{line, 0}
		p.top = p.doc.visible(min(p.top.line, len(p.doc.lines)-1))
		p.scrollTo()
	case bodyBytes:
		p.rows.resize(p.rowCount(), p.height)
		p.rows.to(off / p.perRow())
	case bodyText:
		p.rows.resize(p.rowCount(), p.height)
		n := 0
		for row, t := range p.text {
			if n += len(t) + 1; n > off {
				p.rows.to(row)
				return
			}
		}
	}
}

// found says which hit is shown, of how many.
func (p *inspector) found() line {
	switch n := len(p.hits); {
	case p.search == "":
		return line{}
	case n == 0:
		return of(span{"not in this frame", inkWarn})
	default:
		more := Text("")
		if p.more {
			more = " or more"
		}
		return of(span{count(p.hit+1) + " of " + count(n) + more, inkText})
	}
}
