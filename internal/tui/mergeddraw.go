package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

func (s *merged) draw(w, h int) []line {
	s.split = w >= splitWidth
	switch {
	case s.split:
		lw := listWidth(w)
		left := s.drawList(lw, h, !s.inspect)
		return s.m.d.beside(left, s.insp.draw(w-lw-1, h, s.inspect))
	case s.inspect:
		return s.insp.draw(w, h, true)
	}
	return s.drawList(w, h, true)
}

// columns are those of a stream, with the session in front.
func (s *merged) columns(w, idWidth int) []column[*frameRow] {
	d := &s.m.d
	widest := 0
	for _, l := range s.all {
		widest = max(widest, 2+d.w.of(l.title()))
	}
	of := column[*frameRow]{head: " ", sort: 'O', min: 1, rank: 0, cell: func(r *frameRow, width int) []span {
		return laneCell(d, r.lane, width)
	}}
	if w >= namesWidth {
		of.head, of.min = "SESSION", min(10, max(7, widest))
		of.want = min(widest, max(of.min, w/5))
	}
	return append([]column[*frameRow]{of}, frameColumns(d, w-of.min-1, idWidth)...)
}

// laneCell is the letter of a session with its name, of which the end gives
// way, and last what tells it from others of that name.
func laneCell(d *dress, l *lane, width int) []span {
	out := []span{{l.letter, l.ink}}
	room := width - 2
	if room < 3 {
		return out
	}
	if l.tail == "" {
		return append(out, span{" " + l.name, l.ink})
	}
	left := room - 1 - d.w.of(l.tail) // for the name
	if left < min(4, d.w.of(l.name)) {
		return append(out, span{" " + l.tail, l.ink})
	}
	name, _ := d.w.cut(l.name, left, d.g.dots)
	return append(out, span{" " + name, l.ink}, span{" " + l.tail, inkDim})
}

// drawList is the table of frames.
func (s *merged) drawList(w, h int, active bool) []line {
	d := &s.m.d
	s.list.resize(s.view.len(), h-1)
	now := s.m.now()
	rows := s.frameRows(s.visible())
	for i := range rows {
		rows[i].now = now
	}
	s.cols = layout(s.columns(w, idWidth(d, rows, max(4, w/5))), w-3)
	return drawFrames(d, head(d, s.cols, s.view.by, s.view.down), s.cols, rows, &s.list, s.empty, w, h, active)
}

// frameRows are the rows of some frames. By time, the difference is to the row
// above, of whichever session.
func (s *merged) frameRows(frames []store.Match) []frameRow {
	now := s.m.now()
	rows := make([]frameRow, 0, len(frames))
	var last *store.Frame
	for i, x := range frames {
		l := s.lane[x.Session]
		if l == nil {
			continue
		}
		r := newFrameRow(x.Session, x.Frame, now, l.live, s.m.opts.Zone)
		r.lane = l
		r.detail = s.details.of(x)
		r.marked = s.marked[x]
		if s.view.folds {
			r.run = runAfter(x.Session, x.Frame)
		}
		r.worst, r.found = s.m.rules.Worst(x.Session, x.Frame)
		rows = append(rows, r)
		if i > 0 && s.view.by == 0 {
			rows[len(rows)-1].since(last)
		}
		last = r.f
	}
	if len(rows) > 0 && s.view.by == 0 {
		if above, ok := s.view.at(s.list.top - 1); ok {
			rows[0].since(above.Session.Frame(above.Frame))
		} else {
			rows[0].first = true
		}
	}
	return rows
}

// empty says why there are no rows.
func (s *merged) empty() Text {
	_, busy := s.view.progress()
	switch {
	case busy:
		return "looking"
	case s.view.text != "":
		return "no frame of these sessions fits the filter; esc drops it"
	case len(s.all) == 0:
		return "these sessions are gone"
	case s.live():
		return "no frame yet"
	}
	if done, total := s.m.src.Progress(); done < total {
		return "loading"
	}
	return "no frames in these logs"
}

// mouse selects, sorts and scrolls.
func (s *merged) mouse(x, y int, e mouse) tea.Cmd {
	s.moved = true
	inRight := s.split && x > listWidth(s.m.width)
	if inRight || s.inspect && !s.split {
		s.mouseInspector(y, e)
		return s.show()
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
			if c := columnAt(s.cols, x-2); c != 0 {
				return s.sort(c)
			}
			return nil
		}
		s.click(s.list.top + y - 1)
	}
	s.keep()
	return tea.Batch(s.show(), s.details.load(s.visible()))
}

// click selects a row, or shows the frame of the selected one.
func (s *merged) click(row int) {
	switch {
	case row >= s.list.n:
	case row == s.list.cur:
		s.inspect = s.hasSel
	default:
		s.list.follow = false
		s.list.to(row)
	}
}

func (s *merged) mouseInspector(y int, e mouse) {
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

// mergedDetails are the details of the rows of several sessions.
type mergedDetails struct {
	m         *Model
	bySession map[*store.Session]*details
}

func (c *mergedDetails) of(x store.Match) string {
	if d := c.bySession[x.Session]; d != nil {
		return d.of(x.Frame)
	}
	return ""
}

// load reads the details that some frames lack.
func (c *mergedDetails) load(frames []store.Match) tea.Cmd {
	kept := 0
	for _, d := range c.bySession {
		kept += len(d.known)
	}
	if kept > maxDetails || c.bySession == nil {
		c.bySession = map[*store.Session]*details{}
	}
	lists := map[*store.Session][]uint32{}
	for _, x := range frames {
		lists[x.Session] = append(lists[x.Session], x.Frame)
	}
	var cmds []tea.Cmd
	for s, list := range lists {
		d := c.bySession[s]
		if d == nil {
			d = &details{m: c.m}
			d.look(s)
			c.bySession[s] = d
		}
		cmds = append(cmds, d.load(list))
	}
	return tea.Batch(cmds...)
}
