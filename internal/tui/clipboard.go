package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// maxCopy is what is sent to the terminal's clipboard at most: many terminals
// drop longer sequences, some of them without a word.
const maxCopy = 96 << 10

// copy sends text to the clipboard of the viewer's terminal (OSC 52), which
// works through SSH too, and says so. Whether the terminal takes it cannot be
// known.
func (m *Model) copy(text string, what, command Text) tea.Cmd {
	if len(text) > maxCopy {
		m.say(inkWarn, what+" is "+size(len(text))+": too long for a terminal's clipboard ("+size(maxCopy)+")")
		m.hintNext()
		m.sayCommand(command)
		return nil
	}
	m.say(inkNote, "copied "+what+", "+size(len(text))+" (OSC 52)")
	m.hintNext()
	m.sayCommand(command)
	return tea.SetClipboard(text)
}

// quote writes a word for a shell.
func quote(t Text) Text {
	if t != "" && strings.IndexFunc(string(t), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r))
	}) < 0 {
		return t
	}
	return "'" + Text(strings.ReplaceAll(string(t), "'", `'\''`)) + "'"
}
