package tui

import "strings"

// word writes a word of a command for the shell that the command is typed
// into. Over SSH two read it: the viewer's, and the hub that splits what comes.
func (m *Model) word(t Text) Text {
	q := quote(t)
	if m.farCommands() && q != t {
		return quote(q)
	}
	return q
}

// farCommands reports whether commands run on another machine.
func (m *Model) farCommands() bool { return strings.HasPrefix(m.opts.Command, "ssh ") }
