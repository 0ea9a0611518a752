package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// input is a line that is being typed.
type input struct {
	runes []rune
	at    int // cursor, before runes[at]
}

func (in *input) text() string { return string(in.runes) }

func (in *input) set(s string) {
	in.runes = []rune(s)
	in.at = len(in.runes)
}

// maxTyped is the longest line that can be typed or pasted, in characters.
const maxTyped = 4096

// insert puts s at the cursor; line ends become spaces, controls are dropped.
func (in *input) insert(s string) {
	var add []rune
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			add = append(add, ' ')
		case !unicode.IsControl(r):
			add = append(add, r)
		}
	}
	add = add[:min(len(add), max(0, maxTyped-len(in.runes)))]
	in.runes = slices.Insert(in.runes, in.at, add...)
	in.at += len(add)
}

// key edits the line; it reports whether the text has changed and whether the
// key was one of the editor's.
func (in *input) key(msg tea.KeyPressMsg) (changed, used bool) {
	switch msg.String() {
	case "left", "ctrl+b":
		in.at = max(0, in.at-1)
	case "right", "ctrl+f":
		in.at = min(len(in.runes), in.at+1)
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.runes)
	case "backspace", "ctrl+h":
		return in.remove(in.at-1, in.at), true
	case "delete", "ctrl+d":
		return in.remove(in.at, in.at+1), true
	case "ctrl+u":
		return in.remove(0, in.at), true
	case "ctrl+k":
		return in.remove(in.at, len(in.runes)), true
	case "ctrl+w", "alt+backspace":
		return in.remove(in.wordStart(), in.at), true
	case "alt+b", "ctrl+left":
		in.at = in.wordStart()
	default:
		if msg.Text == "" {
			return false, false
		}
		in.insert(msg.Text)
		return true, true
	}
	return false, true
}

func (in *input) wordStart() int {
	i := in.at
	for i > 0 && in.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && in.runes[i-1] != ' ' {
		i--
	}
	return i
}

func (in *input) remove(from, to int) bool {
	from, to = max(from, 0), min(to, len(in.runes))
	if from >= to {
		return false
	}
	in.runes = slices.Delete(in.runes, from, to)
	in.at = from
	return true
}

// draw shows the line in w cells with the cursor in sight; x is where it stands.
func (in *input) draw(d *dress, w int) (t Text, x int) {
	start := 0
	for {
		before := d.safe(string(in.runes[start:in.at]))
		if x = d.w.of(before); x < w || start == in.at {
			break
		}
		start += max(1, min((x-w)/2, in.at-start))
	}
	t, _ = d.w.head(d.safe(string(in.runes[start:])), w)
	return t, x
}
