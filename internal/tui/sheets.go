package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// newPage makes the page that a key asks for.
func (m *Model) newPage(act action) page {
	switch act {
	case actFindings:
		return &findingsPage{table: table[*findingGroup]{m: m}}
	case actTools:
		return &toolsPage{table: table[*toolRow]{m: m}}
	case actCalls:
		return &callsPage{table: table[*callRow]{m: m}}
	case actCaps:
		return &capsPage{table: table[*capRow]{m: m}}
	case actElicits:
		return &elicitsPage{table: table[*store.Elicitation]{m: m}}
	}
	return nil
}

// openSheet shows a sheet of the chosen session. One sheet of a session takes
// the place of another, and one that lies below is come back to.
func (m *Model) openSheet(act action) tea.Cmd {
	c, ok := m.top().(interface{ session() string })
	if !ok || c.session() == "" {
		m.say(inkWarn, "no session is chosen")
		return nil
	}
	id, p := c.session(), m.newPage(act)
	from := m.top()
	for i, x := range m.stack {
		if old, ok := x.(*sheet); ok && old.id == id && old.page.at() == p.at() {
			for len(m.stack) > i+1 {
				m.drop()
			}
			if c, ok := old.page.(*callsPage); ok && screen(old) == from {
				c.asking = !c.asking
				old.key, old.stale, old.moved = "", true, false
			}
			return old.refresh()
		}
	}
	m.src.Want(id)
	if _, ok := m.top().(*sheet); ok && len(m.stack) > 1 {
		m.drop()
	}
	return m.push(newSheet(m, id, p))
}

// drop takes the top screen away.
func (m *Model) drop() {
	if c, ok := m.top().(interface{ close() }); ok {
		c.close()
	}
	m.stack = m.stack[:len(m.stack)-1]
}

// openAt shows a frame in the inspector, with the stream around it behind.
func (m *Model) openAt(id string, frame uint32) tea.Cmd {
	s := newStream(m, id)
	if s.s == nil {
		return nil
	}
	s.led, s.moved, s.inspect = true, true, true
	cmd := m.push(s)
	s.list.follow = false
	return tea.Batch(cmd, s.jump(frame))
}

// openFiltered shows the frames of a session that a filter lets through.
func (m *Model) openFiltered(id, filter string, as Text) tea.Cmd {
	s := newStream(m, id)
	if s.s == nil || s.view.filter(filter) != nil {
		return nil
	}
	s.moved, s.as, s.list.follow = true, as, false
	cmd := m.push(s)
	m.sayDone("", s.command())
	return cmd
}
