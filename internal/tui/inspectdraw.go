package tui

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// draw is the inspector in w by h cells.
func (p *inspector) draw(w, h int, active bool) []line {
	d := &p.m.d
	out := make([]line, 0, h)
	if !p.has || p.s == nil || p.frame >= p.s.Len() {
		out = append(out, d.rule("frame", line{}, w, active))
		return pad(d, out, w, h)
	}
	facts := d.wrapFacts(p.facts(), w-2, h)
	room := max(1, min(len(facts), (h-2)*2/5))
	named := h >= 10 // there is room for a line that names the body
	where := p.where()
	title := where
	if named {
		title = line{}
	}
	name := "#" + Text(strconv.FormatUint(p.s.Frame(p.frame).Seq, 10))
	if p.lane != nil {
		name = p.lane.letter + " " + p.lane.title() + " " + name
	}
	out = append(out, d.rule(name, title, w, active))
	for i := range min(room, len(facts)) {
		l := line{spans: append([]span{{" ", inkText}}, facts[i].spans...)}
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	if named && len(out) < h {
		state := p.bodyState()
		if len(where.spans) > 0 {
			state.put(inkDim, " "+d.g.dot+" ")
			state.spans = append(state.spans, where.spans...)
		}
		out = append(out, d.rule(p.bodyName(), state, w, false))
	}
	p.resize(w, h-len(out))
	if p.fresh && p.loaded {
		p.unfoldShort()
	}
	if len(out) < h {
		out = append(out, p.drawBody(w, h-len(out), active)...)
	}
	return pad(d, out, w, h)
}

func pad(d *dress, lines []line, w, h int) []line {
	for len(lines) < h {
		lines = append(lines, d.w.fit(line{}, w, d.g.dots))
	}
	return lines[:max(h, 0)]
}

func (p *inspector) resize(w, h int) {
	if w != p.width {
		p.width = w
		p.wrap()
	}
	if p.height != h {
		p.height = h
		if p.mode == bodyJSON {
			p.scrollTo()
		}
	}
	p.rows.resize(p.rowCount(), h)
}

func (p *inspector) facts() []line {
	now := p.m.now()
	r := newFrameRow(p.s, p.frame, now, live(p.m.src, p.s, now), p.m.opts.Zone)
	found := p.m.rules.OnFrame(p.s, p.frame)
	if p.loaded {
		return frameFacts(&p.m.d, p.s, p.frame, &p.rec, &r, found)
	}
	return frameFacts(&p.m.d, p.s, p.frame, nil, &r, found)
}

// where says how far down the body one is.
func (p *inspector) where() line {
	switch {
	case p.search != "" && len(p.hits) > 0:
		return p.found()
	case p.mode == bodyJSON && p.doc != nil && len(p.doc.lines) > p.height:
		return of(span{count(p.at.line+1) + "/" + count(len(p.doc.lines)), inkDim})
	case p.mode != bodyJSON && p.rows.n > p.height:
		return of(span{count(p.rows.cur+1) + "/" + count(p.rows.n), inkDim})
	}
	return line{}
}

func (p *inspector) bodyName() Text {
	return [...]Text{"body", "json", "text", "bytes"}[p.mode]
}

// bodyState says where the body is from and what is missing of it.
func (p *inspector) bodyState() line {
	switch {
	case !p.loaded:
		return of(span{"reading the log", inkDim})
	case p.err != nil:
		return of(span{"unreadable", inkError})
	case p.doc != nil && !p.doc.ended:
		return of(span{"outlined " + size(p.doc.at) + " of " + size(len(p.body)), inkNote})
	case p.doc != nil && p.doc.cut:
		return of(span{"the first " + size(p.doc.at) + " of " + size(len(p.body)), inkWarn})
	case p.doc != nil && p.doc.bad:
		return of(span{"no JSON from byte " + count(p.doc.at) + " on", inkWarn})
	}
	return of(span{size(len(p.body)), inkDim}, span{" from the log", inkDim})
}

func (p *inspector) drawBody(w, h int, active bool) []line {
	d := &p.m.d
	note := func(i ink, t Text) []line {
		return []line{d.w.fit(of(span{"  ", inkText}, span{t, i}), w, d.g.dots)}
	}
	switch {
	case !p.loaded:
		return note(inkDim, "reading the log")
	case p.err != nil:
		return append(note(inkError, "the frame could not be read again: "+d.safe(p.err.Error())),
			note(inkText, "the log may have been moved or replaced; the list shows what was indexed")...)
	case p.mode == bodyNone:
		return note(inkDim, "no body")
	case p.mode == bodyJSON:
		return p.drawJSON(w, h, active)
	}
	var out []line
	for i := p.rows.top; i < p.rows.n && len(out) < h; i++ {
		var l line
		if p.mode == bodyBytes {
			l = bytesRow(d, p.body, i*p.perRow(), p.perRow())
		} else {
			l = p.textRow(i)
		}
		if i == p.rows.cur {
			l.base = baseResting
			if active {
				l.base = baseSelected
			}
		}
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return out
}

func (p *inspector) textRow(i int) line {
	d := &p.m.d
	return line{spans: append([]span{{" ", inkText}}, mark(d, []span{{d.safe(p.text[i]), inkText}}, p.search)...)}
}

// bytesRow is a row of bytes: offset, hexadecimal, characters of ASCII.
func bytesRow(d *dress, body []byte, off, n int) line {
	b := body[off:min(off+n, len(body))]
	var hex, text strings.Builder
	for i := range n {
		if i < len(b) {
			hex.WriteByte(hexDigits[b[i]>>4])
			hex.WriteByte(hexDigits[b[i]&15])
			c := b[i]
			if c < 0x20 || c >= 0x7f {
				c = '.'
			}
			text.WriteByte(c)
		} else {
			hex.WriteString("  ")
		}
		hex.WriteByte(' ')
	}
	at := strconv.FormatInt(int64(off), 16)
	return of(span{" " + repeat("0", max(0, 7-len(at))) + Text(at), inkDim}, span{"  " + Text(hex.String()), inkText}, span{" " + Text(text.String()), inkString})
}

// mark shows where a search text stands in some spans.
func mark(d *dress, spans []span, search string) []span {
	if search == "" {
		return spans
	}
	needle := strings.ToLower(string(d.safe(search)))
	var out []span
	for _, s := range spans {
		low := strings.ToLower(string(s.text))
		if len(low) != len(s.text) || !strings.Contains(low, needle) {
			out = append(out, s)
			continue
		}
		at := 0
		for {
			i := strings.Index(low[at:], needle)
			if i < 0 {
				break
			}
			out = append(out, span{s.text[at : at+i], s.ink}, span{s.text[at+i : at+i+len(needle)], inkMatch})
			at += i + len(needle)
		}
		out = append(out, span{s.text[at:], s.ink})
	}
	return out
}

// factsRoom is the height from which a fact that is too long for its line goes
// on in the next ones.
const factsRoom = 18

// maxFactLines is how many lines such a fact gets.
const maxFactLines = 3

// isFinding reports whether a fact is what a rule says, or what to do about it.
func (d *dress) isFinding(f line) bool {
	return len(f.spans) > 0 && (f.spans[0].text == fixLead || strings.HasPrefix(string(f.spans[0].text), string(d.g.warn)))
}

// wrapFacts breaks those that do not fit into n cells: what a rule says and
// what to do about it is there to be read.
func (d *dress) wrapFacts(facts []line, n, h int) []line {
	if h < factsRoom {
		return facts
	}
	out := make([]line, 0, len(facts))
	for _, f := range facts {
		if d.w.width(f) <= n || !d.isFinding(f) {
			out = append(out, f)
			continue
		}
		parts := d.w.wrap(f, n-6)
		for k, l := range parts[:min(len(parts), maxFactLines)] {
			if k > 0 {
				l.spans = append([]span{{"      ", inkText}}, l.spans...)
			}
			if k == maxFactLines-1 && len(parts) > maxFactLines {
				l.put(inkDim, d.g.dots)
			}
			out = append(out, l)
		}
	}
	return out
}

// copyFrame copies a frame as it stood on the wire.
func copyFrame(m *Model, s *store.Session, frame uint32) tea.Cmd {
	src := m.src
	seq := "#" + Text(strconv.FormatUint(s.Frame(frame).Seq, 10))
	command := m.prog() + " tail --format jsonl --where seq=" + seq[1:] + " " + m.word(m.d.safe(s.ID))
	return m.work(func(context.Context) done {
		rec, err := src.Body(s, frame)
		body := bytes.Clone(rec.Body())
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.say(inkError, "not copied: "+m.d.safe(err.Error()))
			case len(body) == 0:
				m.say(inkWarn, "not copied: "+seq+" has no body")
			}
			if err != nil || len(body) == 0 {
				m.hintNext()
				return nil
			}
			return m.copy(string(body), "frame "+seq, command)
		}
	})
}

// copyValue copies the value of the selected line.
func (p *inspector) copyValue() tea.Cmd {
	if p.mode != bodyJSON || p.at.line >= len(p.doc.lines) {
		p.m.say(inkWarn, "not copied: there is no value here; y copies the frame")
		return nil
	}
	l := p.doc.lines[p.at.line]
	from, to := l.val, l.end
	if l.kind == jClose {
		from = p.doc.lines[l.mate].val
	}
	if l.kind == jOpen {
		if l.mate == 0 {
			p.m.say(inkWarn, "not copied: its end is not known yet")
			return nil
		}
		to = p.doc.lines[l.mate].end
	}
	return p.m.copy(string(p.body[from:to]), "the value", "")
}
