package tui

import (
	"strings"
	"unicode"
)

// column is a column of a table of R.
type column[R any] struct {
	head  Text // its title, ASCII
	sort  byte // the letter that sorts by it with shift; 0 for none
	min   int  // cells it needs
	want  int  // cells it takes when there is room; 0 means min
	grow  int  // its share of what is left over
	rank  int  // the lower the longer it stays when the screen gets narrow
	right bool // aligned to the right
	cell  func(r R, width int) []span
}

// placed is a column with the width it got.
type placed[R any] struct {
	column[R]
	width int
}

const gap = 1 // cells between two columns

// layout chooses the columns that fit into width and gives out the cells.
func layout[R any](all []column[R], width int) []placed[R] {
	chosen := make([]bool, len(all))
	left := width
	for {
		best := -1
		for i := range all {
			if !chosen[i] && (best < 0 || all[i].rank < all[best].rank) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		chosen[best] = true
		if need := all[best].min + gap; left-need >= -gap {
			left -= need
		} else {
			chosen[best] = false
			break
		}
	}
	var out []placed[R]
	for i := range all {
		if chosen[i] {
			out = append(out, placed[R]{all[i], all[i].min})
		}
	}
	if len(out) == 0 && len(all) > 0 && width > 0 {
		out = append(out, placed[R]{all[0], width})
		left = 0
	}
	spread(out, left+gap)
	return out
}

// spread gives left cells to the columns: first what they want, then by share.
func spread[R any](cols []placed[R], left int) {
	for i := range cols {
		more := min(max(0, cols[i].want-cols[i].width), max(left, 0))
		cols[i].width += more
		left -= more
	}
	shares := 0
	for i := range cols {
		shares += cols[i].grow
	}
	for i := range cols {
		if g := cols[i].grow; g > 0 && left > 0 {
			more := left * g / shares
			cols[i].width += more
			left -= more
			shares -= g
		}
	}
}

// head is the line of column titles. by is the letter of the sorted column.
func head[R any](d *dress, cols []placed[R], by byte, down bool) line {
	var l line
	for i, c := range cols {
		if i > 0 {
			l.put(inkText, blanks(gap))
		}
		title, arrow := c.head, Text("")
		if by != 0 && c.sort == by {
			arrow = d.g.up
			if down {
				arrow = d.g.down
			}
		}
		if d.w.of(title)+d.w.of(arrow) > c.width {
			title, _ = d.w.head(title, c.width-d.w.of(arrow))
		}
		pad := blanks(c.width - d.w.of(title) - d.w.of(arrow))
		if c.right {
			l.put(inkText, pad)
		}
		ink := inkHead
		if arrow != "" {
			ink = inkActive
		}
		at := strings.IndexByte(string(title), c.sort)
		if c.sort == 0 || at < 0 {
			l.put(ink, title)
		} else {
			l.put(ink, title[:at])
			l.put(inkSort, title[at:at+1])
			l.put(ink, title[at+1:])
		}
		l.put(inkActive, arrow)
		if !c.right {
			l.put(inkText, pad)
		}
	}
	return l
}

// row is the line of one row.
func row[R any](d *dress, cols []placed[R], r R) line {
	var l line
	for i, c := range cols {
		if i > 0 {
			l.put(inkText, blanks(gap))
		}
		cell := line{spans: c.cell(r, c.width)}
		if c.right {
			cell = d.alignRight(cell, c.width)
		} else {
			cell = d.w.fit(cell, c.width, d.g.dots)
		}
		l.spans = append(l.spans, cell.spans...)
	}
	return l
}

// alignRight fits a cell with its right end in place.
func (d *dress) alignRight(cell line, width int) line {
	if n := d.w.width(cell); n < width {
		cell.spans = append([]span{{blanks(width - n), inkText}}, cell.spans...)
		return cell
	}
	return d.w.fit(cell, width, d.g.dots)
}

// dress is how a viewer's terminal is drawn to: signs, widths, colours.
type dress struct {
	g     *glyphs
	w     widths
	theme *theme
	ascii bool
}

// safe makes screen text of wire text for this terminal.
func (d *dress) safe(s string) Text { return Safe(s, d.ascii) }

// safeBytes is the beginning of wire text, at most n bytes of it.
func (d *dress) safeBytes(b []byte, n int) Text {
	t, _ := safeUpTo(b, d.ascii, n)
	return t
}

// runeCells is how many cells a rune takes at most, once it is Safe.
func (d *dress) runeCells(r rune) int {
	switch {
	case r >= 0x20 && r < 0x7f:
		return 1
	case r < 0x80:
		return 4
	case d.ascii && r >= 0x10000, r >= 0xe0000:
		return 10
	case d.ascii, !unicode.IsPrint(r):
		return 6
	}
	return 2
}
