package tui

import (
	"sort"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// spot is a place in the folded form of an outline: a line, and of a string
// that is unfolded, which part of it.
type spot struct {
	line int
	part int // 0 is the line itself, from 1 on the parts of its text
}

// folded is an outline with some containers closed and some strings opened.
// Going up and down costs the same whatever the size.
type folded struct {
	*outline
	closed map[int]bool     // lines of opening brackets that are folded
	texts  map[int][]string // strings that are unfolded, as lines of text
}

func newFolded(text []byte) *folded {
	return &folded{outline: newOutline(text), closed: map[int]bool{}, texts: map[int][]string{}}
}

// next is the spot below p, or p itself at the end.
func (f *folded) next(p spot) spot {
	if p.part < len(f.texts[p.line]) {
		return spot{p.line, p.part + 1}
	}
	line := p.line + 1
	if f.closed[p.line] {
		line = int(f.lines[p.line].mate) + 1
	}
	if line >= len(f.lines) {
		return p
	}
	return spot{line, 0}
}

// prev is the spot above p, or p itself at the beginning.
func (f *folded) prev(p spot) spot {
	if p.part > 0 {
		return spot{p.line, p.part - 1}
	}
	line := p.line - 1
	if line < 0 {
		return p
	}
	if l := f.lines[line]; l.kind == jClose && f.closed[int(l.mate)] {
		return spot{int(l.mate), 0}
	}
	return spot{line, len(f.texts[line])}
}

// last is the spot at the end.
func (f *folded) last() spot {
	if len(f.lines) == 0 {
		return spot{}
	}
	return f.prev(spot{len(f.lines), 0})
}

// enclosing is the line of the container that line stands in, -1 for none.
func (f *folded) enclosing(line int) int {
	depth := f.lines[line].depth
	for i := line - 1; i >= 0; i-- {
		l := f.lines[i]
		if l.kind == jClose && l.depth >= depth {
			i = int(l.mate) // over what is a neighbour
			continue
		}
		if l.kind == jOpen && l.depth < depth {
			return i
		}
	}
	return -1
}

// reveal unfolds what hides a line.
func (f *folded) reveal(line int) {
	for at := f.enclosing(line); at >= 0; at = f.enclosing(at) {
		delete(f.closed, at)
	}
}

// visible is the spot that shows a line: it, or the folded one it is in.
func (f *folded) visible(line int) spot {
	out := line
	for at := f.enclosing(line); at >= 0; at = f.enclosing(at) {
		if f.closed[at] {
			out = at
		}
	}
	return spot{out, 0}
}

// toggle folds or unfolds at a spot and gives the spot to stand at then. The
// text of a string is broken into pieces of at most width cells.
func (f *folded) toggle(p spot, width int, cells func(rune) int) spot {
	if p.line >= len(f.lines) {
		return p
	}
	l := f.lines[p.line]
	switch l.kind {
	case jOpen:
		if f.closed[p.line] {
			delete(f.closed, p.line)
		} else if l.mate > 0 {
			f.closed[p.line] = true
		}
	case jClose:
		f.closed[int(l.mate)] = true
		return spot{int(l.mate), 0}
	case jString:
		if f.texts[p.line] != nil {
			delete(f.texts, p.line)
			return spot{p.line, 0}
		}
		f.texts[p.line] = textLines(f.text[l.val:l.end], width, cells)
	}
	return p
}

// foldAll closes every container below the outermost.
func (f *folded) foldAll() {
	for i, l := range f.lines {
		if l.kind == jOpen && l.depth == 1 && l.mate > 0 {
			f.closed[i] = true
		}
	}
	clear(f.texts)
}

func (f *folded) unfoldAll() {
	clear(f.closed)
	clear(f.texts)
}

// maxText is how much of a string is shown as text, in bytes.
const maxText = 64 << 10

// textLines is the text of a JSON string, cut at its line ends and into pieces
// of at most width cells.
func textLines(quoted []byte, width int, cells func(rune) int) []string {
	whole := len(quoted) <= maxText
	if !whole {
		end := maxText
		for end > 0 && quoted[end-1] == '\\' {
			end--
		}
		quoted = append(append([]byte{}, quoted[:end]...), '"')
	}
	text, ok := wire.Text(quoted)
	if !ok {
		return nil
	}
	out := breakText(text, width, cells)
	if !whole {
		out = append(out, moreText)
	}
	return out
}

const moreText = "(the rest is not unfolded; b shows all bytes)"

// breakText cuts wire text at its line ends and into pieces of at most width
// cells, on whole characters.
func breakText(text string, width int, cells func(rune) int) []string {
	width = max(width, 12)
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSuffix(l, "\r")
		start, n := 0, 0
		for i, r := range l {
			c := cells(r)
			if n > 0 && n+c > width {
				out = append(out, l[start:i])
				start, n = i, 0
			}
			n += c
		}
		out = append(out, l[start:])
	}
	return out
}

// lineAt is the line that holds the byte at off.
func (o *outline) lineAt(off int) int {
	i := sort.Search(len(o.lines), func(i int) bool { return int(max(o.lines[i].end, o.lines[i].keyEnd)) > off })
	return min(i, len(o.lines)-1)
}
