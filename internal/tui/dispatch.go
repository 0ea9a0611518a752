package tui

import (
	tea "charm.land/bubbletea/v2"
)

// typist is a screen in which a text is typed: it takes all keys.
type typist interface {
	typed(msg tea.KeyPressMsg) tea.Cmd
	pasted(text string)
	cursor(width int) (x, y int)
}

// key takes a key press.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+c":
		return m.quit()
	case name == "ctrl+z" && m.opts.Suspend:
		return tea.Suspend
	}
	if name == "alt+esc" { // pressed twice, in quick succession
		esc := tea.KeyPressMsg{Code: tea.KeyEscape}
		return tea.Batch(m.key(esc), m.key(esc))
	}
	if m.prompt != nil {
		return m.prompt.key(m, msg)
	}
	m.notice = line{}
	if m.tooSmall() {
		if name == "q" || name == "esc" {
			return m.quit()
		}
		return nil
	}
	if t, ok := m.top().(typist); ok {
		return t.typed(msg)
	}
	act := actionOf(name, m.top().place())
	if act != actCopy {
		m.turn = copyTurn{} // y begins with the first thing again
	}
	if act != actNone {
		return m.act(act)
	}
	if len(name) == 1 && name[0] >= 'A' && name[0] <= 'Z' {
		return m.top().sort(name[0])
	}
	if e, ok := elsewhere[name]; ok && m.top().place()&leads != 0 {
		m.sayElsewhere(e.what, e.command)
	}
	return nil
}

// sayElsewhere names the command that answers what has no screen here.
func (m *Model) sayElsewhere(what, command Text) {
	id := Text("")
	if s := m.chosen(); s != "" {
		id = " " + s
	}
	m.say(inkNote, what+":")
	m.notice.put(inkDim, " $ ")
	m.notice.put(inkText, m.prog()+" "+command+id)
}

// chosen is the id of the session that is shown or selected.
func (m *Model) chosen() Text {
	if c, ok := m.top().(interface{ session() string }); ok {
		return m.d.safe(c.session())
	}
	return ""
}

// act does an action: those of every screen here, others in the screen.
func (m *Model) act(act action) tea.Cmd {
	switch act {
	case actQuit:
		return m.quit()
	case actHelp:
		if m.top().place() == inHelp {
			return m.pop()
		}
		return m.push(newHelp(m))
	case actCommand:
		m.prompt = commandPrompt(m)
		return nil
	case actRedraw:
		return tea.Batch(tea.ClearScreen, m.top().refresh())
	case actAuth:
		return m.openAuth()
	case actSearchAll:
		old, _ := m.top().(*searchAll)
		m.prompt = searchPrompt(m, old)
		return nil
	case actFindings, actTools, actCalls, actCaps, actElicits:
		return m.openSheet(act)
	case actExport:
		return m.export()
	case actReplay, actEdit:
		return m.replay(act == actEdit)
	case actCopy:
		return m.copyNext()
	case actUndo:
		return m.undelete()
	}
	return m.top().do(act)
}

// mouse finds what is below the pointer.
func (m *Model) mouse(x, y int, e mouse) tea.Cmd {
	if m.prompt != nil || m.tooSmall() {
		return nil
	}
	top, height := m.body()
	if y < top || y >= top+height {
		return nil
	}
	m.notice = line{}
	return m.top().mouse(x, y-top, e)
}
