package tui

// ink says what a span of text is; the theme says how that looks.
type ink uint8

const (
	inkText    ink = iota
	inkDim         // beside the point: times, units, what repeats
	inkStrong      // names
	inkTitle       // where we are
	inkKey         // a key that can be pressed
	inkHead        // column heads
	inkSort        // the letter in a column head that sorts by it
	inkRule        // lines that part the panes
	inkActive      // the same in the pane that has the keys
	inkOut         // from the client to the server
	inkIn          // from the server to the client
	inkOK          // went well
	inkWarn        // against a rule, or odd
	inkError       // failed
	inkPending     // still open
	inkNote        // what the program says
	inkName        // JSON member names
	inkString      // JSON strings
	inkNumber      // JSON numbers
	inkConst       // true, false, null
	inkPunct       // brackets and commas
	inkMatch       // found by a search
	inkCursor      // the character under the cursor of a list that has the keys
	inkCount
)

// base is what lies under a whole line.
type base uint8

const (
	basePlain    base = iota
	baseSelected      // the selected row of the pane that has the keys
	baseResting       // the selected row of the other pane
	baseBar           // title and key lines
	baseMarked        // a row marked with space
	baseCount
)

// span is a piece of a line in one ink.
type span struct {
	text Text
	ink  ink
}

// line is one row of a pane.
type line struct {
	spans []span
	base  base
	panes []line // when not nil, the line is these, one beside the other
}

// put adds a span.
func (l *line) put(i ink, t Text) {
	if t != "" {
		l.spans = append(l.spans, span{t, i})
	}
}

// of makes a line of spans.
func of(spans ...span) line { return line{spans: spans} }

// width is the width of a line in cells.
func (w widths) width(l line) int {
	n := 0
	for _, s := range l.spans {
		n += w.of(s.text)
	}
	return n
}

// fit cuts or pads a line to exactly n cells.
func (w widths) fit(l line, n int, dots Text) line {
	left := max(n, 0)
	for i, s := range l.spans {
		cells := w.of(s.text)
		if cells <= left {
			left -= cells
			continue
		}
		t, cells := w.cut(s.text, left, dots)
		l.spans[i].text = t
		l.spans = l.spans[:i+1]
		left -= cells
		break
	}
	if left > 0 {
		l.spans = append(l.spans, span{blanks(left), inkText})
	}
	return l
}

// join puts right at the right end of n cells and left before it; left gives way.
func (w widths) join(left, right line, n int, dots Text) line {
	r := w.width(right)
	if r >= n {
		return w.fit(right, n, dots)
	}
	l := w.fit(left, n-r, dots)
	l.spans = append(l.spans, right.spans...)
	return l
}

const blankRow = "                                                                                "

// blanks is n spaces.
func blanks(n int) Text {
	b := Text(blankRow)
	for len(b) < n {
		b += b
	}
	return b[:max(n, 0)]
}

// repeat is t n times.
func repeat(t Text, n int) Text {
	b := make([]byte, 0, max(n, 0)*len(t))
	for range n {
		b = append(b, t...)
	}
	return Text(b)
}

// padLeft and padRight widen t to n cells.
func (w widths) padLeft(t Text, n int) Text  { return blanks(n-w.of(t)) + t }
func (w widths) padRight(t Text, n int) Text { return t + blanks(n-w.of(t)) }
