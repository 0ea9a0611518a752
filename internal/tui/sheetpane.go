package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// later is work that is done in Update, in its turn.
func later(f done) func(context.Context) done {
	return func(context.Context) done { return f }
}

// pane is the inspector beside a sheet, where there is room for both.
type pane struct {
	open bool
	keys bool // it has the keys
	insp inspector
}

// beside reports whether the inspector stands beside the table.
func (s *sheet) beside() bool { return s.pane.open && s.m.width >= splitWidth }

// inPane reports whether the inspector has the keys.
func (s *sheet) inPane() bool { return s.pane.keys && s.beside() }

// showPane shows the frame of the selected row in the inspector.
func (s *sheet) showPane() tea.Cmd {
	if s.s == nil || !s.beside() || s.list.cur >= s.count() {
		return nil
	}
	frame, ok := s.page.frame(s.row(s.list.cur))
	return s.pane.insp.show(frame, ok && frame < s.s.Len())
}

// turnPane moves to the other pane; the first time it opens it.
func (s *sheet) turnPane() tea.Cmd {
	if s.m.width < splitWidth {
		s.m.say(inkNote, "there is one pane below "+count(splitWidth)+" columns; "+s.m.d.g.key+" shows the frame")
		return nil
	}
	if !s.pane.open {
		s.pane.open, s.pane.keys = true, true
	} else {
		s.pane.keys = !s.pane.keys
	}
	return s.showPane()
}

// doPane does an action in the inspector.
func (s *sheet) doPane(act action) tea.Cmd {
	switch act {
	case actBack:
		if s.pane.insp.search != "" {
			s.pane.insp.search, s.pane.insp.hits = "", nil
			return nil
		}
		s.pane.keys, s.pane.open = false, false
	case actPane:
		s.pane.keys = false
	case actFilter:
		s.m.prompt = s.pane.insp.searchPrompt()
	case actNextFrame, actPrevFrame:
		d := 1
		if act == actPrevFrame {
			d = -1
		}
		s.list.move(d)
		s.keep()
		return s.showPane()
	case actPair:
		return s.enter()
	default:
		return s.pane.insp.do(act)
	}
	return nil
}

// drawPane puts the inspector beside the table.
func (s *sheet) drawPane(w, h int) []line {
	lw := listWidth(w)
	left := s.drawTable(lw, h, !s.inPane())
	if n := s.count(); n == 0 {
		return s.m.d.beside(left, pad(&s.m.d, nil, w-lw-1, h))
	}
	return s.m.d.beside(left, s.pane.insp.draw(w-lw-1, h, s.inPane()))
}

// mousePane scrolls and clicks in the inspector; it reports whether the pointer
// is there.
func (s *sheet) mousePane(x, y int, e mouse) bool {
	if !s.beside() || x <= listWidth(s.m.width) {
		return false
	}
	switch e {
	case mouseWheelUp:
		s.pane.insp.scroll(-3)
	case mouseWheelDown:
		s.pane.insp.scroll(3)
	case mouseClick:
		s.pane.keys = true
		_, h := s.m.body()
		if row := y - (h - s.pane.insp.height); row >= 0 {
			s.pane.insp.click(row)
		}
	}
	return true
}

// copies are the row in several forms, and what else leads there.
func (s *sheet) copies() ([]copyItem, string) {
	if s.s == nil || s.list.cur >= s.count() {
		return nil, ""
	}
	m, i := s.m, s.row(s.list.cur)
	if s.inPane() {
		frame, _ := s.page.frame(i)
		return m.frameCopies(s.s, frame, m.valueItem(&s.pane.insp, true))
	}
	fields := s.page.fields(i)
	items := []copyItem{
		m.textItem("the row", fieldsText(fields)),
		m.textItem("the row as JSON", fieldsJSON(fields)),
		m.commandItem("the command", s.command()),
	}
	if frame, ok := s.page.frame(i); ok && frame < s.s.Len() {
		items = append(items, copyItem{"the frame", func(m *Model) tea.Cmd { return copyFrame(m, s.s, frame) }})
	}
	return append(items, m.sessionItems(s.s)...), s.id + string(s.page.name()) + s.page.key(i)
}
