package tui

import (
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// noteHeight is the height from which a sheet tells more of the selected row.
const noteHeight = 14

// windowed is a page that makes its rows when they are drawn.
type windowed interface {
	window(rows []int, now time.Time, alive bool)
}

// noteRoom is the height of the pane below: more where the table, with a line
// below it, leaves more.
func noteRoom(h, table int) int {
	least := min(max(h/3, 4), 10)
	return max(least, min(h-table-1, 2*least))
}

func (s *sheet) draw(w, h int) []line {
	d := &s.m.d
	if s.s == nil {
		return pad(d, []line{d.w.fit(of(span{"  the log of ", inkText}, span{d.safe(s.id), inkStrong}, span{" is not there yet", inkText}), w, d.g.dots)}, w, h)
	}
	if s.beside() {
		return s.drawPane(w, h)
	}
	return s.drawTable(w, h, true)
}

// drawTable draws the table, with what is known of the selected row below it.
func (s *sheet) drawTable(w, h int, active bool) []line {
	d := &s.m.d
	out := make([]line, 0, h)
	if h >= noteHeight {
		for _, l := range s.page.lead(w) {
			out = append(out, d.w.fit(l, w, d.g.dots))
		}
	}
	s.above = len(out)
	n := s.count()
	var notes []line
	room := 0
	if h >= noteHeight && n > 0 {
		room = noteRoom(h, len(out)+1+n)
	}
	s.list.resize(n, h-len(out)-1-room)
	to := min(n, s.list.top+s.list.height)
	if p, ok := s.page.(windowed); ok {
		rows := make([]int, 0, s.list.height)
		for i := min(s.list.top, to); i < to; i++ {
			rows = append(rows, s.row(i))
		}
		p.window(rows, s.m.now(), s.live)
	}
	if room > 0 {
		notes = s.notes(s.row(min(s.list.cur, n-1)), w, room)
	}
	title := of(span{"  ", inkText})
	title.spans = append(title.spans, s.page.head(w-3).spans...)
	out = append(out, d.w.fit(title, w, d.g.dots))
	for i := s.list.top; i < to; i++ {
		out = append(out, d.pick(s.page.row(s.row(i)), i == s.list.cur, active, false, w))
	}
	if n == 0 && len(out) < h {
		out = append(out, d.w.fit(of(span{"  " + s.nothing(), inkDim}), w, d.g.dots))
	}
	out = pad(d, out, w, h-len(notes))
	return pad(d, append(out, notes...), w, h)
}

// notes is the pane below: what is known of the selected row. Its height does
// not change from row to row, so that the table stands still.
func (s *sheet) notes(i, w, room int) []line {
	d := &s.m.d
	out := []line{d.w.fit(d.rule(d.safe(s.page.key(i)), line{}, w, false), w, d.g.dots)}
	for _, l := range s.page.note(i, w-4) {
		if len(out) == room {
			break
		}
		l.spans = append([]span{{"  ", inkText}}, l.spans...)
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return pad(d, out, w, room)
}

// nothing says why there are no rows.
func (s *sheet) nothing() Text {
	if !s.made || s.filter.on() && s.filter.busy {
		return "looking"
	}
	if s.filter.on() {
		return "no row holds these words; esc drops the filter"
	}
	if done, total := s.m.src.Progress(); done < total {
		return "loading"
	}
	return s.page.empty()
}

// table is the part of a page that all have: columns, and the order of rows.
type table[R any] struct {
	m    *Model
	s    *store.Session
	cols []placed[R]
	by   byte
	down bool
}

func (t *table[R]) command() Text { return "check" }

func (t *table[R]) column(x int) byte { return columnAt(t.cols, x) }

// head lays out the columns and gives their titles.
func (t *table[R]) titles(all []column[R], w int) line {
	t.cols = layout(all, w)
	return head(&t.m.d, t.cols, t.by, t.down)
}

// order takes a letter over; large are those that begin with the largest.
func (t *table[R]) order(all []column[R], letter byte, large string) (Text, bool) {
	for _, c := range all {
		if c.sort != letter || letter == 0 {
			continue
		}
		if t.by == letter {
			t.down = !t.down
		} else {
			t.by, t.down = letter, strings.IndexByte(large, letter) >= 0
		}
		return c.head, true
	}
	return "", false
}

// wrapped writes a text below its name, as many lines as it needs.
func wrapped(d *dress, name, t Text, i ink, w int) []line {
	if t == "" {
		return nil
	}
	const indent = 9
	var out []line
	for k, part := range wrapWords(t, w-indent) {
		if k > 0 {
			name = ""
		}
		out = append(out, of(span{d.w.padRight(name, indent), inkDim}, span{part, i}))
	}
	return out
}

// seqOf is how a frame is written: #31.
func seqOf(s *store.Session, frame uint32) Text { return "#" + count(s.Frame(frame).Seq) }
