package tui

import (
	tea "charm.land/bubbletea/v2"
)

func (s *searchAll) facts() (line, line) {
	d := &s.m.d
	if s.stopped {
		return line{}, of(span{d.g.pause + " stopped", inkWarn})
	}
	if s.work != nil {
		return line{}, of(span{"searching", inkNote})
	}
	return line{}, of(span{d.g.ok + " all searched", inkOK})
}

func (s *searchAll) status() (line, line) {
	d := &s.m.d
	left := of(span{"/ ", inkKey}, span{d.safe(s.text), inkStrong})
	right := of(span{plural(s.hits, "frame", "frames"), inkText}, span{" in " + plural(len(s.groups), "session", "sessions"), inkText})
	if s.shown < s.hits {
		right.put(inkDim, ", "+count(s.shown)+" shown")
	}
	total := len(s.m.src.Sessions())
	n := min(len(s.done), total)
	if s.work != nil || s.stopped {
		right.put(inkDim, " "+d.g.dot+" ")
		full := 0
		if total > 0 {
			full = n * 10 / total
		}
		if s.m.width >= splitWidth {
			right.put(inkNote, repeat(d.g.barFull, full))
			right.put(inkRule, repeat(d.g.barFree, 10-full))
			right.put(inkText, " ")
		}
		right.put(inkNote, count(n)+" of "+count(total)+" searched")
		if s.m.width >= 80 {
			right.put(inkDim, ", "+shortCount(s.frames+uint64(s.now))+" frames")
		}
	}
	right.spans = append(right.spans, progressBar(d, s.m.src, 10).spans...)
	return left, right
}

// command writes the calls of what was found, from the sessions that have it.
func (s *searchAll) command() Text {
	if len(s.groups) == 0 {
		return s.m.prog() + " sessions"
	}
	t := s.m.prog() + " export -T text --where " + s.m.word(s.m.d.safe(s.text))
	for _, g := range s.groups[:min(len(s.groups), maxNamed)] {
		t += " " + s.m.word(s.m.d.safe(g.s.ID))
	}
	return t
}

// maxNamed is how many sessions are named in a command.
const maxNamed = 50

func (s *searchAll) draw(w, h int) []line {
	if s.split = w >= splitWidth; !s.split {
		return s.drawList(w, h)
	}
	lw := listWidth(w)
	d := &s.m.d
	right := pad(d, nil, w-lw-1, h)
	if l, ok := s.selected(); ok && l.kind == hitFrame && s.insp.s == l.group.s {
		right = s.insp.draw(w-lw-1, h, false)
	}
	return d.beside(s.drawList(lw, h), right)
}

func (s *searchAll) drawList(w, h int) []line {
	d := &s.m.d
	s.list.resize(len(s.lines), h-1)
	now := s.m.now()
	to := min(len(s.lines), s.list.top+s.list.height)
	rows := make([]frameRow, 0, h)
	for _, l := range s.lines[min(s.list.top, to):to] {
		if l.kind != hitFrame {
			continue
		}
		r := newFrameRow(l.group.s, l.frame, now, live(s.m.src, l.group.s, now), s.m.opts.Zone)
		r.detail = s.details.of(l.match())
		r.worst, r.found = s.m.rules.Worst(l.group.s, l.frame)
		rows = append(rows, r)
	}
	s.cols = layout(s.columns(w, idWidth(d, rows, max(4, w/5))), w-5)
	title := of(span{"    ", inkText})
	title.spans = append(title.spans, head(d, s.cols, 0, false).spans...)
	out := []line{d.w.fit(title, w, d.g.dots)}
	for i := s.list.top; i < to && len(out) < h; i++ {
		l := s.lines[i]
		var drawn line
		switch l.kind {
		case hitSession:
			drawn = s.groupLine(l.group, w)
		case hitMore:
			drawn = of(span{"  " + d.g.more + " " + plural(int(l.group.total)-s.drawn(l.group), "frame", "frames") + " before these: " + d.g.key + " shows all", inkNote})
		case hitFrame:
			drawn = row(d, s.cols, &rows[0])
			rows = rows[1:]
			drawn.spans = append([]span{{"  ", inkText}}, drawn.spans...)
		}
		out = append(out, d.pick(drawn, i == s.list.cur, true, false, w))
	}
	if len(s.lines) == 0 && len(out) < h {
		out = append(out, d.w.fit(of(span{"   " + s.empty(), inkDim}), w, d.g.dots))
	}
	return pad(d, out, w, h)
}

// drawn is how many frames of a session have a line.
func (s *searchAll) drawn(g *hitGroup) int {
	n := 0
	for _, l := range s.lines {
		if l.group == g && l.kind == hitFrame {
			n++
		}
	}
	return n
}

// columns are those of a stream; the difference in time says nothing here.
func (s *searchAll) columns(w, idWidth int) []column[*frameRow] {
	var out []column[*frameRow]
	for _, c := range frameColumns(&s.m.d, w, idWidth) {
		c.sort = 0
		switch c.head {
		case "DELTA":
			continue
		case "SEQ":
			c.rank, c.min = 3, 9
		case "DUR":
			c.rank = 5
		}
		out = append(out, c)
	}
	return out
}

// groupLine is a session, how much was found in it and how long ago.
func (s *searchAll) groupLine(g *hitGroup, w int) line {
	d := &s.m.d
	fold := d.g.unfolded
	if g.folded {
		fold = d.g.folded
	}
	now := s.m.now()
	r := newSessionRow(s.m.src, g.s, now)
	name, _ := d.w.cut(s.m.label(g.s), max(12, w-20), d.g.dots)
	l := of(span{fold + " ", inkDim}, span{name, inkTitle}, span{"  " + plural(g.total, "frame", "frames"), inkText})
	if !g.whole {
		l.put(inkNote, " so far")
	}
	e := ending(d, &r)
	l.put(inkDim, "  ")
	l.put(e.ink, e.text)
	if !r.sum.Newest.IsZero() {
		l.put(inkDim, "  "+Text(r.sum.Newest.In(s.m.opts.Zone).Format("2006-01-02 15:04")))
	}
	if r.client != "" {
		l.put(inkDim, "  "+d.safe(r.client)+" "+d.g.out+" "+d.safe(r.server))
	}
	return l
}

func (s *searchAll) empty() Text {
	switch {
	case s.work != nil:
		return "searching"
	case s.stopped:
		return "nothing so far; / and enter search again"
	}
	if done, total := s.m.src.Progress(); done < total {
		return "nothing yet; logs are still being loaded"
	}
	return "nothing in any session"
}

func (s *searchAll) mouse(_, y int, e mouse) tea.Cmd {
	switch e {
	case mouseWheelUp:
		s.list.scroll(-3)
	case mouseWheelDown:
		s.list.scroll(3)
	case mouseClick:
		i, ok := s.list.under(y)
		if !ok {
			return nil
		}
		if i == s.list.cur {
			return s.open()
		}
		s.list.to(i)
	}
	s.keep()
	return s.show()
}
