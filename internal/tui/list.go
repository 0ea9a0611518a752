package tui

// list is where one stands in a list of any length: the selected row and the
// first visible one. It knows no rows.
type list struct {
	cur, top int
	n        int // rows
	height   int // visible rows
	follow   bool
}

// resize takes over how many rows there are and how many fit on the screen.
func (l *list) resize(n, height int) {
	l.n, l.height = n, max(height, 0)
	if l.follow {
		l.cur = l.n - 1
	}
	l.cur = max(0, min(l.cur, l.n-1))
	l.show()
}

// show scrolls as little as needed to have the selected row on the screen.
func (l *list) show() {
	h := max(l.height, 1)
	if l.cur < l.top {
		l.top = l.cur
	}
	if l.cur >= l.top+h {
		l.top = l.cur - h + 1
	}
	l.top = max(0, min(l.top, l.n-h))
}

// move selects the row d further down.
func (l *list) move(d int) { l.to(l.cur + d) }

// to selects a row.
func (l *list) to(i int) {
	l.cur = max(0, min(i, l.n-1))
	l.show()
}

// page moves by screens, keeping one row of the old one.
func (l *list) page(d int) { l.move(d * max(1, l.height-1)) }

// do moves as a key says, and reports whether the key was one that moves.
func (l *list) do(act action) bool {
	switch act {
	case actDown:
		l.move(1)
	case actUp:
		l.move(-1)
	case actTop:
		l.to(0)
	case actEnd:
		l.to(l.n - 1)
	case actPageDown:
		l.page(1)
	case actPageUp:
		l.page(-1)
	default:
		return false
	}
	return true
}

// under is the row that stands y lines below the line of the titles.
func (l *list) under(y int) (row int, ok bool) {
	row = l.top + y - 1
	return row, y >= 1 && y <= l.height && row < l.n
}

// scroll moves what is seen, and the selected row only when it would leave.
func (l *list) scroll(d int) {
	h := max(l.height, 1)
	l.top = max(0, min(l.top+d, l.n-h))
	l.cur = max(l.top, min(l.cur, l.top+h-1, l.n-1))
	l.cur = max(l.cur, 0)
}
