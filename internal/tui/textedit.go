package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// textEdit is a text of several lines that is being typed.
type textEdit struct {
	lines    [][]rune // never empty
	row, col int      // cursor, before lines[row][col]
	top      int      // first visible line
	height   int
	size     int // characters and line ends
}

// maxEdit is the longest text that is edited in place, in characters.
const maxEdit = 256 << 10

func newTextEdit(text string) textEdit {
	e := textEdit{lines: [][]rune{{}}}
	e.insert(text)
	e.row, e.col, e.top = 0, 0, 0
	return e
}

func (e *textEdit) text() string {
	var b strings.Builder
	for i, l := range e.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(string(l))
	}
	return b.String()
}

// insert puts text at the cursor. Tabs become spaces; other controls are
// dropped, and what does not fit into the bound.
func (e *textEdit) insert(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"), "\t", "  ")
	for part := range strings.SplitAfterSeq(text, "\n") {
		line, broken := strings.CutSuffix(part, "\n")
		var add []rune
		for _, r := range line {
			if !unicode.IsControl(r) {
				add = append(add, r)
			}
		}
		add = add[:min(len(add), max(0, maxEdit-e.size))]
		e.lines[e.row] = slices.Insert(e.lines[e.row], e.col, add...)
		e.col, e.size = e.col+len(add), e.size+len(add)
		if broken && e.size < maxEdit {
			e.split()
		}
	}
}

// split breaks the line at the cursor.
func (e *textEdit) split() {
	rest := slices.Clone(e.lines[e.row][e.col:])
	e.lines[e.row] = e.lines[e.row][:e.col]
	e.lines = slices.Insert(e.lines, e.row+1, rest)
	e.row, e.col, e.size = e.row+1, 0, e.size+1
}

// newline breaks the line and sets the new one in as far as the old one.
func (e *textEdit) newline() {
	l := e.lines[e.row]
	n := 0
	for n < len(l) && n < e.col && l[n] == ' ' {
		n++
	}
	e.insert("\n" + strings.Repeat(" ", n))
}

// back takes away what stands before the cursor, forward what stands behind.
func (e *textEdit) back() bool {
	if e.row == 0 && e.col == 0 {
		return false
	}
	e.left()
	return e.forward()
}

func (e *textEdit) forward() bool {
	l := e.lines[e.row]
	switch {
	case e.col < len(l):
		e.lines[e.row] = slices.Delete(l, e.col, e.col+1)
	case e.row+1 < len(e.lines):
		e.lines[e.row] = append(l, e.lines[e.row+1]...)
		e.lines = slices.Delete(e.lines, e.row+1, e.row+2)
	default:
		return false
	}
	e.size--
	return true
}

// cut takes away the rest of the line, or its end.
func (e *textEdit) cut() bool {
	if n := len(e.lines[e.row]) - e.col; n > 0 {
		e.lines[e.row] = e.lines[e.row][:e.col]
		e.size -= n
		return true
	}
	return e.forward()
}

func (e *textEdit) left() {
	if e.col > 0 {
		e.col--
	} else if e.row > 0 {
		e.row--
		e.col = len(e.lines[e.row])
	}
}

func (e *textEdit) right() {
	if e.col < len(e.lines[e.row]) {
		e.col++
	} else if e.row+1 < len(e.lines) {
		e.row, e.col = e.row+1, 0
	}
}

// to moves the cursor to a line and a column, or as near as there is one.
func (e *textEdit) to(row, col int) {
	e.row = max(0, min(row, len(e.lines)-1))
	e.col = max(0, min(col, len(e.lines[e.row])))
}

// at moves the cursor to the byte at that offset of the text.
func (e *textEdit) at(offset int) {
	for i, l := range e.lines {
		n := len(string(l))
		if offset <= n || i == len(e.lines)-1 {
			e.to(i, len([]rune(string(l)[:min(max(offset, 0), n)])))
			return
		}
		offset -= n + 1
	}
}

// key edits the text, and reports whether it has changed.
func (e *textEdit) key(msg tea.KeyPressMsg) (changed bool) {
	switch msg.String() {
	case "enter", "ctrl+j":
		e.newline()
		return true
	case "tab":
		e.insert("  ")
		return true
	case "backspace", "ctrl+h":
		return e.back()
	case "delete", "ctrl+d":
		return e.forward()
	case "ctrl+k":
		return e.cut()
	}
	if e.move(msg.String()) || msg.Text == "" {
		return false
	}
	e.insert(msg.Text)
	return true
}

// move moves the cursor as a key says.
func (e *textEdit) move(key string) bool {
	switch key {
	case "left", "ctrl+b":
		e.left()
	case "right", "ctrl+f":
		e.right()
	case "up", "ctrl+p":
		e.to(e.row-1, e.col)
	case "down", "ctrl+n":
		e.to(e.row+1, e.col)
	case "home", "ctrl+a":
		e.col = 0
	case "end", "ctrl+e":
		e.col = len(e.lines[e.row])
	case "pgup":
		e.to(e.row-max(1, e.height-1), e.col)
	case "pgdown":
		e.to(e.row+max(1, e.height-1), e.col)
	case "ctrl+home":
		e.to(0, 0)
	case "ctrl+end":
		e.to(len(e.lines)-1, len(e.lines[len(e.lines)-1]))
	default:
		return false
	}
	return true
}

// show scrolls so that the cursor is among h lines.
func (e *textEdit) show(h int) {
	e.height = h
	if e.row < e.top {
		e.top = e.row
	}
	if e.row >= e.top+h {
		e.top = e.row - h + 1
	}
	e.top = max(0, min(e.top, len(e.lines)-1))
}
