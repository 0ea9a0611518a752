package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/checks"
)

func (s *compare) draw(w, h int) []line {
	d := &s.m.d
	switch {
	case s.result == nil:
		return pad(d, s.waiting(w), w, h)
	case w >= splitWidth:
		lw := listWidth(w)
		return d.beside(s.drawList(lw, h, h), pad(d, s.drawNote(w-lw-1, h, true), w-lw-1, h))
	case h < noteHeight:
		below := s.shortNote(w)
		return append(s.drawList(w, h-len(below), h-len(below)), below...)
	}
	room := noteRoom(h, 1+len(s.rows))
	return append(s.drawList(w, h-room, h-room), pad(d, s.drawNote(w, room, false), w, room)...)
}

// shortNote is what the columns have no room for on a small screen: the values
// of the selected row.
func (s *compare) shortNote(w int) []line {
	d := &s.m.d
	l, ok := s.selected()
	if !ok || l.row == nil {
		return []line{d.w.fit(line{}, w, d.g.dots), d.w.fit(line{}, w, d.g.dots)}
	}
	return []line{
		d.w.fit(of(span{"  - ", inkWarn}, span{d.safe(l.row.was), inkWarn}), w, d.g.dots),
		d.w.fit(of(span{"  + ", inkOK}, span{d.safe(l.row.is), inkOK}), w, d.g.dots),
	}
}

// waiting says what is done while there is nothing to show.
func (s *compare) waiting(w int) []line {
	d := &s.m.d
	fit := func(l line) line { return d.w.fit(l, w, d.g.dots) }
	out := []line{fit(line{})}
	for i, x := range s.s {
		l := of(span{"  " + [...]Text{"before", "after "}[i] + " ", inkDim}, span{s.name(i), inkStrong})
		if x == nil {
			l.put(inkWarn, " is not there yet")
		} else {
			l.put(inkDim, "  "+plural(x.Len(), "frame", "frames"))
		}
		out = append(out, fit(l))
	}
	return out
}

// sign is how a row begins: a sign that the column beside says in a word.
func (r *diffRow) signed(d *dress) span {
	switch {
	case r.regression:
		return span{d.g.warn, inkError}
	case r.sign == diffAdded:
		return span{"+", inkOK}
	case r.sign == diffRemoved:
		return span{"-", inkWarn}
	case r.sign == diffSame:
		return span{d.g.dot, inkDim}
	}
	return span{"~", inkText}
}

func (s *compare) columns(w int) []column[*diffRow] {
	d := &s.m.d
	text := func(i ink, t string) []span { return []span{{d.safe(t), i}} }
	return []column[*diffRow]{
		{head: " ", min: 1, rank: 0, cell: func(r *diffRow, _ int) []span { return []span{r.signed(d)} }},
		{head: "NAME", min: min(14, w/3), want: 22, grow: 3, rank: 0, cell: func(r *diffRow, _ int) []span {
			return []span{{d.safe(r.name), inkStrong}, {" " + d.safe(r.more), inkDim}}
		}},
		{head: "WHAT", min: min(12, w/3), want: 20, grow: 2, rank: 1, cell: func(r *diffRow, width int) []span {
			i := inkText
			if r.regression {
				i = inkError
			}
			return []span{{d.tail(d.safe(r.what+r.path), width), i}}
		}},
		{head: "BEFORE", min: 8, want: 16, grow: 2, rank: 3, cell: func(r *diffRow, _ int) []span { return text(inkDim, r.was) }},
		{head: "AFTER", min: 8, want: 16, grow: 2, rank: 2, cell: func(r *diffRow, _ int) []span { return text(inkText, r.is) }},
	}
}

// tail is the end of a text that is too wide: of a path it tells most.
func (d *dress) tail(t Text, width int) Text {
	if d.w.of(t) <= width {
		return t
	}
	if most := 4 * max(width, 1); len(t) > most {
		t = t[len(t)-most:]
	}
	for len(t) > 0 && (d.w.of(t) > width-1 || !utf8.RuneStart(t[0])) {
		t = t[1:]
	}
	return d.g.dots + t
}

// drawList is the list of differences below the names of their kinds.
func (s *compare) drawList(w, h, height int) []line {
	d := &s.m.d
	s.list.resize(len(s.rows), height-1)
	s.cols = layout(s.columns(w), w-4)
	title := of(span{"    ", inkText})
	title.spans = append(title.spans, head(d, s.cols, 0, false).spans...)
	out := []line{d.w.fit(title, w, d.g.dots)}
	for i := s.list.top; i < s.list.n && len(out) < h; i++ {
		l := s.rows[i]
		var drawn line
		if l.row == nil {
			drawn = s.sectionLine(l.section)
		} else {
			drawn = row(d, s.cols, l.row)
			drawn.spans = append([]span{{"  ", inkText}}, drawn.spans...)
		}
		out = append(out, d.pick(drawn, i == s.list.cur, true, false, w))
	}
	if len(s.rows) == 0 && len(out) < h {
		out = append(out, d.w.fit(of(span{"   what both have is the same", inkDim}), w, d.g.dots))
	}
	return pad(d, out, w, h)
}

func (s *compare) sectionLine(x *diffSection) line {
	d := &s.m.d
	fold := d.g.unfolded
	if x.folded {
		fold = d.g.folded
	}
	l := of(span{fold + " ", inkDim}, span{x.name, inkTitle}, span{"  " + count(len(x.rows)), inkText})
	worse := 0
	for _, r := range x.rows {
		if r.regression {
			worse++
		}
	}
	if worse > 0 {
		l.put(inkError, "  "+d.g.warn+" "+count(worse)+" for the worse")
	}
	if x.note != "" {
		l.put(inkWarn, "  "+x.note)
	}
	return l
}

// drawNote is all that is known of the selected row.
func (s *compare) drawNote(w, h int, beside bool) []line {
	d := &s.m.d
	l, ok := s.selected()
	if !ok {
		return nil
	}
	if l.row == nil {
		out := []line{d.rule(l.section.name, line{}, w, false)}
		for _, t := range wrapWords(l.section.help(), w-4) {
			out = append(out, d.w.fit(of(span{"  ", inkText}, span{t, inkDim}), w, d.g.dots))
		}
		return out[:min(len(out), h)]
	}
	out := []line{d.rule(d.safe(l.row.name), line{}, w, false)}
	for _, x := range s.noteLines(l.row, w-4, beside) {
		if len(out) == h {
			break
		}
		x.spans = append([]span{{"  ", inkText}}, x.spans...)
		out = append(out, d.w.fit(x, w, d.g.dots))
	}
	return out
}

// help says what a kind of differences is.
func (x *diffSection) help() Text {
	switch x.name {
	case "Calls that end otherwise":
		return "Calls of the same tool with the same arguments, matched in their order, whose outcome is another."
	case "Calls that take longer or shorter":
		return "Calls that went well in both and took at least " + duration(checks.DiffThreshold) + " and " + count(checks.DiffRatio) + " times as long in one of them. The user's time is left out."
	case "Answers that differ":
		return "Calls that ended the same way with another answer. The order of members and metadata count for nothing."
	case "Calls in one of them alone":
		return "Calls whose tool and arguments the other session does not have; enter shows them."
	case "How long the tools take":
		return "Half of the calls took no longer than that, of all tools that both called; what got slower most first. It is no difference that counts."
	}
	return "What the server offers, compared field by field."
}

// noteLines are the changes of a row, place by place, and where they stand.
func (s *compare) noteLines(r *diffRow, w int, roomy bool) []line {
	d := &s.m.d
	head := of(r.signed(d), span{" " + d.safe(r.what), inkText})
	if len(r.paces) > 0 {
		head = of(span{"longest call", inkText})
	}
	if r.regression {
		head.put(inkError, "  for the worse")
	}
	for i, name := range [...]Text{"before", "after"} {
		if x := s.s[i]; x != nil && r.at[i] >= 0 && uint32(r.at[i]) < x.Len() {
			head.put(inkDim, "   "+name+" ")
			head.put(inkText, seqOf(x, uint32(r.at[i])))
		}
	}
	out := []line{head}
	if r.more != "" {
		out = append(out, wrapped(d, "with", d.safe(r.more), inkText, w)...)
	}
	for _, p := range r.paces {
		out = append(out, of(span{d.w.padRight(p.name, 9), inkDim}, span{d.w.padLeft(p.was, 8), inkDim}, span{" " + d.g.out + " ", inkDim}, span{p.is, inkText}))
	}
	if len(r.paces) > 0 {
		return out
	}
	if len(r.changes) == 0 && r.was+r.is != "" {
		return append(out, s.sides("", r.was, r.is, w)...)
	}
	for i, c := range r.changes {
		if i > 0 && roomy {
			out = append(out, line{})
		}
		path := c.Path
		if path == "" {
			path = "/"
		}
		out = append(out, s.sides(path, c.Old, c.New, w)...)
	}
	if r.extra > 0 {
		out = append(out, of(span{"and " + plural(r.extra, "change", "changes") + " more", inkDim}))
	}
	return out
}

// sides are two values, one below the other.
func (s *compare) sides(path, was, is string, w int) []line {
	d := &s.m.d
	var out []line
	if path != "" {
		out = append(out, of(span{d.safe(path), inkName}))
	}
	for i, v := range []string{was, is} {
		if v == "" {
			continue
		}
		sign, k := Text("- "), inkWarn
		if i == 1 {
			sign, k = "+ ", inkOK
		}
		for n, part := range breakText(v, w-2, d.runeCells) {
			if n > 0 {
				sign = "  "
			}
			out = append(out, of(span{sign, k}, span{d.safe(part), k}))
		}
	}
	return out
}

// text is the row as it is copied.
func (r *diffRow) text() string {
	out := strings.TrimSpace(r.name+" "+r.more) + ": " + r.what + r.path
	for _, c := range r.changes {
		out += "\n  " + c.String()
	}
	if len(r.changes) == 0 && r.was+r.is != "" {
		out += ": " + r.was + " -> " + r.is
	}
	return out
}

func (s *compare) mouse(x, y int, e mouse) tea.Cmd {
	if s.result == nil {
		return nil
	}
	switch e {
	case mouseWheelUp:
		s.list.scroll(-3)
	case mouseWheelDown:
		s.list.scroll(3)
	case mouseClick:
		i, ok := s.list.under(y)
		if inList := s.m.width < splitWidth || x < listWidth(s.m.width); !ok || !inList {
			return nil
		}
		if i == s.list.cur {
			return s.open(1)
		}
		s.list.to(i)
	}
	s.keep()
	return nil
}
