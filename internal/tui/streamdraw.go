package tui

import (
	tea "charm.land/bubbletea/v2"
)

// listWidth is how much of a split screen the list gets.
func listWidth(w int) int { return w * 11 / 20 }

func (s *stream) draw(w, h int) []line {
	d := &s.m.d
	if s.s == nil {
		return pad(d, []line{d.w.fit(of(span{"  the log of ", inkText}, span{d.safe(s.id), inkStrong}, span{" is not there yet", inkText}), w, d.g.dots)}, w, h)
	}
	s.split = w >= splitWidth
	switch {
	case s.split:
		return s.drawBoth(w, h)
	case s.inspect:
		return s.insp.draw(w, h, true)
	}
	return s.drawList(w, h, true)
}

// drawBoth is list and inspector side by side.
func (s *stream) drawBoth(w, h int) []line {
	d := &s.m.d
	lw := listWidth(w)
	left := s.drawList(lw, h, !s.inspect)
	right := s.insp.draw(w-lw-1, h, s.inspect)
	return d.beside(left, right)
}

// beside puts two panes next to each other. The base of a line belongs to its
// own pane, so the spans take it with them.
func (d *dress) beside(left, right []line) []line {
	out := make([]line, len(left))
	for i := range left {
		l := &out[i]
		l.panes = []line{left[i], of(span{d.g.side, inkRule}), right[i]}
	}
	return out
}

// drawList is the table of frames.
func (s *stream) drawList(w, h int, active bool) []line {
	d := &s.m.d
	s.list.resize(s.view.len(), h-1)
	now := s.m.now()
	frames := s.visible()
	rows := make([]frameRow, len(frames))
	for i, f := range frames {
		rows[i] = newFrameRow(s.s, f, now, s.live, s.m.opts.Zone)
		rows[i].detail = s.details.of(f)
		rows[i].marked = s.marked[f]
		if s.view.folds {
			rows[i].run = runAfter(s.s, f)
		}
		rows[i].worst, rows[i].found = s.m.rules.Worst(s.s, f)
	}
	s.cols = layout(frameColumns(d, w, idWidth(d, rows, max(4, w/5))), w-3)
	return drawFrames(d, head(d, s.cols, s.view.by, s.view.down), s.cols, rows, &s.list, s.empty, w, h, active)
}

// drawFrames draws a table of the frames that a list shows, below its titles.
func drawFrames(d *dress, titles line, cols []placed[*frameRow], rows []frameRow, l *list, empty func() Text, w, h int, active bool) []line {
	out := make([]line, 0, h)
	title := of(span{"  ", inkText})
	title.spans = append(title.spans, titles.spans...)
	out = append(out, d.w.fit(title, w, d.g.dots))
	for i := range rows {
		if len(out) == h {
			break
		}
		out = append(out, d.pick(row(d, cols, &rows[i]), l.top+i == l.cur, active, rows[i].marked, w))
	}
	if len(rows) == 0 && len(out) < h {
		out = append(out, d.w.fit(of(span{"   " + empty(), inkDim}), w, d.g.dots))
	}
	return pad(d, out, w, h)
}

// empty says why there are no rows.
func (s *stream) empty() Text {
	_, busy := s.view.progress()
	switch {
	case busy:
		return "looking"
	case s.view.text != "":
		return "no frame fits the filter; esc drops it"
	case s.live:
		return "no frame yet"
	}
	if done, total := s.m.src.Progress(); done < total {
		return "loading"
	}
	return "no frames in this log"
}

// mouse selects, sorts and scrolls.
func (s *stream) mouse(x, y int, e mouse) tea.Cmd {
	if s.s == nil {
		return nil
	}
	s.moved = true
	inRight := s.split && x > listWidth(s.m.width)
	if inRight || s.inspect && !s.split {
		s.mouseInspector(y, e)
		return s.insp.show(s.shownFrame())
	}
	switch e {
	case mouseWheelUp:
		s.list.follow = false
		s.list.scroll(-3)
	case mouseWheelDown:
		s.list.scroll(3)
	case mouseClick:
		s.inspect = false
		if y == 0 {
			return s.clickHead(x)
		}
		i := s.list.top + y - 1
		switch {
		case i >= s.list.n:
		case i == s.list.cur:
			s.inspect = s.hasSel
		default:
			s.list.follow = false
			s.list.to(i)
		}
	}
	s.keep()
	return tea.Batch(s.insp.show(s.shownFrame()), s.details.load(s.visible()))
}

func (s *stream) mouseInspector(y int, e mouse) {
	switch e {
	case mouseWheelUp:
		s.insp.scroll(-3)
	case mouseWheelDown:
		s.insp.scroll(3)
	case mouseClick:
		s.inspect = s.hasSel
		_, h := s.m.body()
		if row := y - (h - s.insp.height); row >= 0 {
			s.insp.click(row)
		}
	}
}

// clickHead sorts by the column that was clicked.
func (s *stream) clickHead(x int) tea.Cmd {
	if c := columnAt(s.cols, x-2); c != 0 {
		return s.sort(c)
	}
	return nil
}

// columnAt is the letter that sorts by the column at x.
func columnAt[R any](cols []placed[R], x int) byte {
	at := 0
	for _, c := range cols {
		if x >= at && x < at+c.width {
			return c.sort
		}
		at += c.width + gap
	}
	return 0
}
