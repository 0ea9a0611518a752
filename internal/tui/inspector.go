package tui

import (
	"bytes"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// inspector shows one frame: what is known of it, and its body, read from the
// log, as JSON that folds, as text or as bytes.
type inspector struct {
	m *Model
	s *store.Session

	lane *lane // of s, where there are several sessions

	frame   uint32 // wanted
	has     bool
	loaded  bool // rec is that of frame
	loading bool
	fresh   bool // it was not drawn yet
	rec     capture.Record
	body    []byte
	err     error

	mode  bodyMode
	bytes bool // the user wants to see bytes
	doc   *folded
	at    spot // selected
	top   spot // first visible
	text  []string
	rows  list // of text and bytes

	width, height int // of the body, as it was drawn last

	search string
	hits   []int // offsets in body
	hit    int
	more   bool // there are more hits than were kept
}

type bodyMode uint8

const (
	bodyNone bodyMode = iota
	bodyJSON
	bodyText
	bodyBytes
)

func (p *inspector) look(s *store.Session) {
	*p = inspector{m: p.m, s: s, width: p.width, height: p.height}
}

// show turns to a frame and reads its body beside Update.
func (p *inspector) show(frame uint32, on bool) tea.Cmd {
	if !on || p.s == nil {
		return nil
	}
	if !p.has || p.frame != frame {
		p.frame, p.has, p.loaded = frame, true, false
		p.hits, p.hit = nil, 0
	}
	if p.loaded || p.loading {
		return nil
	}
	p.loading = true
	s, src := p.s, p.m.src
	return p.m.work(func(context.Context) done {
		rec, err := src.Body(s, frame)
		if err == nil && rec.Seq != 0 && rec.Seq != s.Frame(frame).Seq {
			err = capture.ErrChanged
		}
		body := rec.Body()
		return func(*Model) tea.Cmd {
			p.loading = false
			if p.s != s || p.frame != frame {
				return p.show(p.frame, p.has)
			}
			p.set(rec, body, err)
			return tea.Batch(p.grow(), p.find())
		}
	})
}

// maxPlain is how much of a text is shown as text, in bytes.
const maxPlain = 256 << 10

// set takes over a body.
func (p *inspector) set(rec capture.Record, body []byte, err error) {
	p.rec, p.body, p.err, p.loaded = rec, body, err, true
	p.doc, p.text, p.at, p.top, p.rows, p.fresh = nil, nil, spot{}, spot{}, list{}, true
	switch t := bytes.TrimLeft(body, " \t\r\n"); {
	case len(t) == 0:
		p.mode = bodyNone
	case rec.Raw != nil || rec.HasText && (t[0] == '{' || t[0] == '['):
		p.mode = bodyJSON
		p.doc = newFolded(body)
		p.doc.grow(firstBytes)
	case rec.HasText:
		p.mode = bodyText
	default:
		p.mode = bodyBytes
	}
	if p.bytes && p.mode != bodyNone {
		p.mode = bodyBytes
	}
	p.wrap()
}

const (
	firstBytes = 64 << 10             // outlined before the first look
	stepTime   = 5 * time.Millisecond // of outlining between two keys
	stepBytes  = 64 << 10             // outlined between two looks at the clock
	bytesAtAll = 16                   // bytes in a row of bytes, where there is room
)

// grow outlines the rest of the body in steps short enough to wait for.
func (p *inspector) grow() tea.Cmd {
	doc := p.doc
	if doc == nil || doc.ended {
		return nil
	}
	return p.m.work(func(context.Context) done {
		return func(*Model) tea.Cmd {
			if p.doc != doc {
				return nil
			}
			for start := time.Now(); time.Since(start) < stepTime; {
				if !doc.grow(stepBytes) {
					break
				}
			}
			return p.grow()
		}
	})
}

// wrap breaks what is shown as text anew, because the width has changed.
func (p *inspector) wrap() {
	d := &p.m.d
	if p.mode == bodyText {
		n := min(len(p.body), maxPlain)
		p.text = breakText(string(p.body[:n]), p.width-1, d.runeCells)
		if n < len(p.body) {
			p.text = append(p.text, moreText)
		}
	}
	if p.doc != nil {
		for i := range p.doc.texts {
			l := p.doc.lines[i]
			p.doc.texts[i] = textLines(p.doc.text[l.val:l.end], p.textWidth(i), d.runeCells)
		}
	}
}

// Bounds of the strings that are unfolded from the start, because they do not
// fit into their line and are short enough to be read at once.
const (
	unfoldLines = 1000 // lines of the outline that are looked at
	unfoldBytes = 2 << 10
	unfoldRows  = 8
)

// unfoldShort unfolds the strings whose end would be out of sight.
func (p *inspector) unfoldShort() {
	p.fresh = false
	if p.doc == nil || p.mode != bodyJSON {
		return
	}
	for i, l := range p.doc.lines[:min(len(p.doc.lines), unfoldLines)] {
		if l.kind != jString || l.end-l.val > unfoldBytes || !p.worthUnfolding(i, p.width) {
			continue
		}
		if t := textLines(p.doc.text[l.val:l.end], p.textWidth(i), p.m.d.runeCells); len(t) <= unfoldRows {
			p.doc.texts[i] = t
		}
	}
}

// textWidth is how wide the text of a string below line i may be.
func (p *inspector) textWidth(i int) int { return p.width - p.gutter() - p.indent(i) - 4 }

// rowCount is the number of rows of a text or of bytes.
func (p *inspector) rowCount() int {
	switch p.mode {
	case bodyText:
		return len(p.text)
	case bodyBytes:
		return (len(p.body) + p.perRow() - 1) / p.perRow()
	}
	return 0
}

// perRow is how many bytes stand in a row.
func (p *inspector) perRow() int {
	n := bytesAtAll
	for n > 4 && 11+n*4 > p.width {
		n /= 2
	}
	return n
}

// ages reports whether the facts hold a time that runs.
func (p *inspector) ages() bool {
	if !p.has || p.s == nil {
		return false
	}
	at, ok := p.s.Frame(p.frame).Op()
	return ok && p.s.Op(at).State == store.Pending
}

// do moves about in the body.
func (p *inspector) do(act action) tea.Cmd {
	if p.mode == bodyJSON {
		p.doJSON(act)
	} else {
		p.doRows(act)
	}
	switch act {
	case actRaw:
		p.toggleBytes()
	case actNext:
		p.jump(1)
	case actPrev:
		p.jump(-1)
	case actCopyValue:
		return p.copyValue()
	}
	return nil
}

func (p *inspector) toggleBytes() {
	p.bytes = !p.bytes
	if p.loaded {
		p.set(p.rec, p.body, p.err)
	}
}

func (p *inspector) doRows(act action) {
	p.rows.resize(p.rowCount(), p.height)
	switch act {
	case actDown:
		p.rows.move(1)
	case actUp:
		p.rows.move(-1)
	case actTop:
		p.rows.to(0)
	case actEnd:
		p.rows.to(p.rows.n - 1)
	case actPageDown:
		p.rows.page(1)
	case actPageUp:
		p.rows.page(-1)
	}
}

func (p *inspector) doJSON(act action) {
	switch act {
	case actDown:
		p.walk(1)
	case actUp:
		p.walk(-1)
	case actPageDown:
		p.walk(max(1, p.height-1))
	case actPageUp:
		p.walk(-max(1, p.height-1))
	case actTop:
		p.at = spot{}
	case actEnd:
		p.at = p.doc.last()
	case actEnter:
		p.at = p.doc.toggle(p.at, p.textWidth(p.at.line), p.m.d.runeCells)
	case actLeft:
		p.left()
	case actRight:
		if l := p.doc.lines; p.at.line < len(l) && (p.doc.closed[p.at.line] || l[p.at.line].kind == jString && p.doc.texts[p.at.line] == nil) {
			p.at = p.doc.toggle(p.at, p.textWidth(p.at.line), p.m.d.runeCells)
		}
	case actFold:
		p.doc.foldAll()
		p.at = p.doc.visible(p.at.line)
	case actUnfold:
		p.doc.unfoldAll()
		p.at.part = 0
	}
	if act == actEnter || act == actLeft || act == actFold {
		p.top = p.doc.visible(p.top.line) // it may have been folded away
	}
	p.scrollTo()
}

// left folds what is unfolded here, or goes to the enclosing line.
func (p *inspector) left() {
	if p.at.line >= len(p.doc.lines) {
		return
	}
	l := p.doc.lines[p.at.line]
	if l.kind == jOpen && !p.doc.closed[p.at.line] || p.doc.texts[p.at.line] != nil {
		p.at = p.doc.toggle(p.at, p.textWidth(p.at.line), p.m.d.runeCells)
		return
	}
	if up := p.doc.enclosing(p.at.line); up >= 0 {
		p.at = spot{up, 0}
	}
}

func (p *inspector) walk(d int) {
	for ; d > 0; d-- {
		p.at = p.doc.next(p.at)
	}
	for ; d < 0; d++ {
		p.at = p.doc.prev(p.at)
	}
}

// scrollTo brings the selected line onto the screen.
func (p *inspector) scrollTo() {
	if p.at.line < p.top.line || p.at.line == p.top.line && p.at.part < p.top.part {
		p.top = p.at
		return
	}
	back := p.at
	for range max(p.height-1, 0) {
		if back == p.top {
			return
		}
		back = p.doc.prev(back)
	}
	p.top = back
}

// scroll moves what is seen.
func (p *inspector) scroll(d int) {
	if p.mode != bodyJSON {
		p.rows.resize(p.rowCount(), p.height)
		p.rows.scroll(d)
		return
	}
	p.walk(d)
	p.scrollTo()
}

// click selects a line of the body, or folds at the selected one.
func (p *inspector) click(row int) {
	if p.mode != bodyJSON {
		p.rows.to(p.rows.top + row)
		return
	}
	at := p.top
	for range row {
		at = p.doc.next(at)
	}
	if at == p.at {
		p.at = p.doc.toggle(p.at, p.textWidth(p.at.line), p.m.d.runeCells)
	} else {
		p.at = at
	}
	p.scrollTo()
}
