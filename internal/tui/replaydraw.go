package tui

import (
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// sideWidth is the width from which two answers stand beside each other.
const sideWidth = 120

// replayBody is the comparison and the request as lines of one width.
type replayBody struct {
	lines []line
	odd   []int // where a difference begins
	width int
}

// replayPen writes the lines of a comparison. It knows nothing that changes
// while it does.
type replayPen struct {
	d    dress
	both bool // there are two answers
}

func (r *replayScreen) draw(w, h int) []line {
	d := &r.m.d
	head := r.head(w)
	r.lead = len(head)
	r.list.resize(len(head)+len(r.body.lines), h)
	var out []line
	for i := r.list.top; i < r.list.n && len(out) < h; i++ {
		var l line
		if i < len(head) {
			l = head[i]
		} else {
			l = r.body.lines[i-len(head)]
		}
		l.spans = slices.Clone(l.spans)
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return pad(d, out, w, h)
}

// title is what stands above the answers.
func (r *replayScreen) title() Text {
	switch {
	case r.both():
		return "answer: - recorded, + now"
	case r.answer != nil && r.answer.Message != nil:
		return "answer"
	}
	return "recorded answer"
}

// body writes all lines for a width.
func (p *replayPen) body(rows []answerRow, asked []jsonRow, title Text, w int) replayBody {
	d := &p.d
	b := replayBody{width: w}
	wide := w >= sideWidth && p.both
	if wide {
		half := (w - 3) / 2
		l := d.rule("recorded", line{}, half, false)
		l.put(inkRule, d.g.rule+d.g.rule+d.g.rule)
		l.spans = append(l.spans, d.rule("now", line{}, w-half-3, true).spans...)
		b.lines = append(b.lines, l)
	} else {
		b.lines = append(b.lines, d.rule(title, line{}, w, false))
	}
	for i := range rows {
		row := &rows[i]
		if row.sign != rowSame && (i == 0 || rows[i-1].sign == rowSame) {
			b.odd = append(b.odd, len(b.lines))
		}
		if wide {
			b.lines = append(b.lines, p.beside(row, w)...)
		} else {
			b.lines = append(b.lines, p.below(row, w)...)
		}
	}
	if len(rows) == 0 {
		b.lines = append(b.lines, of(span{"  none", inkDim}))
	}
	b.lines = append(b.lines, d.rule("request", line{}, w, false))
	for i := range asked {
		b.lines = append(b.lines, p.rowLines(&asked[i], w-2, 1, of(span{"  ", inkText}))...)
	}
	return b
}

// both reports whether there are two answers.
func (r *replayScreen) both() bool {
	return r.plan.Recorded.Message != nil && r.answer != nil && r.answer.Message != nil
}

// head says what was sent where, how both ended, and what else is known.
func (r *replayScreen) head(w int) []line {
	d := &r.m.d
	var out []line
	fact := func(name Text, value line) {
		l := of(span{" " + d.w.padRight(name, 9) + " ", inkDim})
		for i, part := range d.w.wrap(value, max(1, w-12)) {
			if i == maxNoteLines {
				break
			}
			if i > 0 {
				l = of(span{blanks(11), inkText})
			}
			l.spans = append(l.spans, part.spans...)
			out = append(out, l)
		}
	}
	to := of(span{d.safe(r.plan.Target), inkStrong})
	if r.plan.Dir != "" {
		to.put(inkDim, " in "+d.safe(r.plan.Dir))
	}
	fact("to", to)
	fact("recorded", of(r.ending(&r.plan.Recorded)))
	fact("now", r.now())
	for _, n := range r.plan.Notes {
		fact("note", of(span{d.safe(n), inkWarn}))
	}
	if r.plan.Recorded.Cut {
		fact("note", of(span{"the recorded answer was cut", inkWarn}))
	}
	if r.answer != nil {
		for _, n := range r.answer.Notes {
			fact("note", of(span{d.safe(n), inkNote}))
		}
	}
	return out
}

// maxNoteLines bounds what is shown of one note.
const maxNoteLines = 6

// ending is how a call ended and how long it took.
func (r *replayScreen) ending(e *ReplayEnd) span {
	g := r.m.d.g
	took := " in " + duration(e.Took)
	switch {
	case e.State == store.Failed:
		return span{g.bad + " error" + took, inkError}
	case e.Message == nil:
		return span{g.open + " no answer", inkPending}
	case e.State == store.Cancelled:
		return span{g.gone + " cancelled, answered late" + took, inkWarn}
	}
	return span{g.ok + " " + Text(e.State.String()) + took, inkOK}
}

// now is how the call that was sent ended, held against the recorded one.
func (r *replayScreen) now() line {
	d := &r.m.d
	switch {
	case r.sending:
		return of(span{d.g.clock[0] + " sending, " + waited(r.m.now().Sub(r.began)), inkPending}, span{"; esc gives up", inkDim})
	case r.err != nil:
		return of(span{d.g.bad + " no answer: ", inkError}, span{d.safe(r.err.Error()), inkText})
	case r.answer == nil:
		return of(span{"not sent", inkDim})
	}
	l := of(r.ending(&r.answer.ReplayEnd))
	if was := r.plan.Recorded.Took; r.both() && was > 0 {
		l.put(inkDim, ", "+against(r.answer.Took, was))
	}
	return l
}

// against says how a time stands to an earlier one.
func against(now, was time.Duration) Text {
	switch delta := now - was; {
	case delta > time.Millisecond:
		return duration(delta) + " longer"
	case delta < -time.Millisecond:
		return duration(-delta) + " less"
	}
	return "about the same"
}

// rowSigns are what stands before a row.
var rowSigns = [...]span{rowSame: {" ", inkText}, rowChanged: {"~", inkWarn}, rowGone: {"-", inkError}, rowNew: {"+", inkOK}}

// beside draws a row of two answers, one on the left and one on the right.
func (p *replayPen) beside(row *answerRow, w int) []line {
	d := &p.d
	half := (w - 3) / 2
	rows := 1
	if row.sign != rowSame {
		rows = maxNoteLines
	}
	left, right := p.rowLines(row.left, half-1, rows, of(span{" ", inkText})), p.rowLines(row.right, w-half-3, rows, line{})
	out := make([]line, 0, max(len(left), len(right)))
	for i := range max(len(left), len(right)) {
		var l, rt line
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			rt = right[i]
		}
		l = d.w.fit(l, half, d.g.dots)
		l.put(inkText, " ")
		sign := rowSigns[row.sign]
		if i > 0 {
			sign.text = " "
		}
		l.spans = append(l.spans, sign)
		l.put(inkText, " ")
		l.spans = append(l.spans, rt.spans...)
		out = append(out, l)
	}
	return out
}

// below draws a row of two answers, one below the other.
func (p *replayPen) below(row *answerRow, w int) []line {
	lead := func(s span) line { return of(s, span{" ", inkText}) }
	if row.sign == rowSame {
		one := row.right
		if one == nil {
			one = row.left
		}
		return p.rowLines(one, w-2, 1, lead(rowSigns[rowSame]))
	}
	var out []line
	if row.left != nil {
		out = append(out, p.rowLines(row.left, w-2, maxNoteLines, lead(rowSigns[rowGone]))...)
	}
	if row.right != nil {
		out = append(out, p.rowLines(row.right, w-2, maxNoteLines, lead(rowSigns[rowNew]))...)
	}
	return out
}

// rowLines are the lines of a row w cells wide behind what leads it: one that
// is cut, or as many as it takes, at most n.
func (p *replayPen) rowLines(j *jsonRow, w, n int, lead line) []line {
	if j == nil {
		return nil
	}
	d := &p.d
	indent := min(2*j.depth, w/3)
	lead.put(inkText, blanks(indent))
	var l line
	room := 4 * max(w, 8) * n // bytes that can be seen at most
	name, _ := safeUpTo(j.name, d.ascii, room)
	value, used := safeUpTo(j.value, d.ascii, room)
	if used < len(j.value) {
		value += d.g.dots
	}
	l.put(inkName, name)
	l.put(j.ink, value)
	if n == 1 || d.w.width(l) <= w-indent {
		lead.spans = append(lead.spans, d.w.fit(l, max(w-indent, 1), d.g.dots).spans...)
		return []line{lead}
	}
	var out []line
	parts := d.w.wrap(l, max(w-indent-3, 1))
	for i, part := range parts[:min(len(parts), n)] {
		x := line{spans: slices.Clone(lead.spans)}
		if i > 0 {
			x.spans[0].text = blanks(d.w.of(x.spans[0].text))
			x.put(inkText, "  ")
		}
		x.spans = append(x.spans, part.spans...)
		if i == n-1 && len(parts) > n {
			x.put(inkDim, d.g.dots)
		}
		out = append(out, x)
	}
	return out
}
