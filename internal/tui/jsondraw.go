package tui

import "strconv"

// gutter is the width of the line numbers and the sign of folding.
func (p *inspector) gutter() int { return len(strconv.Itoa(max(len(p.doc.lines), 10))) + 4 }

// indent is how far a line is set in; deep lines are set in less on narrow screens.
func (p *inspector) indent(i int) int {
	return min(2*int(p.doc.lines[i].depth), max(0, p.width/2-p.gutter()))
}

// drawJSON is the visible part of the outline: nothing else is looked at.
func (p *inspector) drawJSON(w, h int, active bool) []line {
	d := &p.m.d
	var out []line
	at := p.top
	for len(out) < h && at.line < len(p.doc.lines) {
		l := p.jsonLine(at, w)
		if at == p.at {
			l.base = baseResting
			l.spans[0].text = d.g.resting
			if active {
				l.base = baseSelected
				l.spans[0].text = d.g.selected
			}
		}
		out = append(out, d.w.fit(l, w, d.g.dots))
		next := p.doc.next(at)
		if next == at {
			break
		}
		at = next
	}
	return out
}

// jsonLine is one line of the outline, or a piece of an unfolded string.
func (p *inspector) jsonLine(at spot, w int) line {
	d := &p.m.d
	g := p.gutter()
	l := of(span{" ", inkCursor})
	if at.part > 0 {
		l.put(inkRule, d.w.padLeft(d.g.side+" ", g-1+p.indent(at.line)+2))
		t := p.doc.texts[at.line][at.part-1]
		l.spans = append(l.spans, mark(d, []span{{d.safe(t), inkString}}, p.search)...)
		return l
	}
	j := p.doc.lines[at.line]
	sign := Text(" ")
	switch {
	case p.doc.closed[at.line]:
		sign = d.g.folded
	case j.kind == jOpen:
		sign = d.g.unfolded
	case j.kind == jString && p.doc.texts[at.line] != nil:
		sign = d.g.unfolded
	case j.kind == jString && p.worthUnfolding(at.line, w):
		sign = d.g.folded
	}
	l.put(inkDim, d.w.padLeft(Text(strconv.Itoa(at.line+1)), g-3))
	l.put(inkKey, " "+sign)
	l.put(inkText, blanks(1+p.indent(at.line)))
	l.spans = append(l.spans, mark(d, p.jsonSpans(at.line, w), p.search)...)
	return l
}

// worthUnfolding reports whether a string has more to show as text: it does
// not fit, or holds line ends.
func (p *inspector) worthUnfolding(i, w int) bool {
	j := p.doc.lines[i]
	n := int(j.end - j.val)
	if n > w-p.gutter()-p.indent(i)-int(j.keyEnd-j.key)-4 {
		return true
	}
	for k := j.val; k+1 < j.end; k++ {
		if p.doc.text[k] == '\\' && p.doc.text[k+1] == 'n' {
			return true
		}
	}
	return false
}

// jsonSpans is what a line says: name, value, comma.
func (p *inspector) jsonSpans(i, w int) []span {
	d := &p.m.d
	j := p.doc.lines[i]
	var out []span
	if j.key != j.keyEnd {
		out = append(out, span{d.safeBytes(p.doc.text[j.key:j.keyEnd], 4*w), inkName}, span{": ", inkPunct})
	}
	value, size_ := p.doc.text[j.val:j.end], Text("")
	if len(value) > 1024 {
		size_ = " " + size(len(value))
	}
	room := max(8, w-p.gutter()-p.indent(i)-d.w.of(size_)-3)
	for _, s := range out {
		room -= d.w.of(s.text)
	}
	shown := d.safeBytes(value, 4*max(room, 8))
	cutAt := len(value) > 4*max(room, 8)
	if t, n := d.w.cut(shown, max(room, 8), d.g.dots); n < d.w.of(shown) || cutAt {
		shown = t
	} else {
		size_ = ""
	}
	switch j.kind {
	case jString:
		if t := p.doc.texts[i]; t != nil { // it stands below
			shown, size_ = Text(""), plural(len(t), "line", "lines")+", "+size(len(value))
		}
		out = append(out, span{shown, inkString})
	case jNumber:
		out = append(out, span{shown, inkNumber})
	case jConst:
		out = append(out, span{shown, inkConst})
	case jBad:
		out = append(out, span{shown, inkWarn})
	default:
		out = append(out, span{shown, inkPunct})
	}
	if size_ != "" {
		out = append(out, span{size_, inkDim})
	}
	if p.doc.closed[i] {
		out = append(out, p.foldedSpans(i)...)
		j.comma = p.doc.lines[j.mate].comma
	}
	if j.comma {
		out = append(out, span{",", inkPunct})
	}
	return out
}

// foldedSpans say what is behind a folded bracket.
func (p *inspector) foldedSpans(i int) []span {
	j := p.doc.lines[i]
	end := p.doc.lines[j.mate]
	n := int(j.mate) - i - 1
	return []span{
		{" " + plural(n, "line", "lines") + ", " + size(end.end-j.val) + " ", inkDim},
		{Text(p.doc.text[end.val:end.end]), inkPunct},
	}
}
