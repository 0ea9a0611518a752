package tui

import (
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// sideWidth is the width from which two answers stand beside each other.
const sideWidth = 120

func (r *replayScreen) draw(w, h int) []line {
	d := &r.m.d
	if r.made != w || r.sending {
		r.make(w)
	}
	r.list.resize(len(r.lines), h)
	if r.fresh {
		r.fresh = false
		r.list.top = 0
	}
	var out []line
	for i := r.list.top; i < len(r.lines) && len(out) < h; i++ {
		l := r.lines[i]
		l.spans = slices.Clone(l.spans)
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return pad(d, out, w, h)
}

// make writes all lines for a width.
func (r *replayScreen) make(w int) {
	r.lines, r.odd, r.made = r.head(w), nil, w
	d := &r.m.d
	wide := w >= sideWidth
	switch {
	case r.answer == nil || r.answer.Message == nil:
		r.lines = append(r.lines, d.rule("recorded answer", line{}, w, false))
	case r.plan.Recorded.Message == nil:
		r.lines = append(r.lines, d.rule("answer", line{}, w, false))
	case wide:
		half := (w - 3) / 2
		l := d.rule("recorded", line{}, half, false)
		l.put(inkRule, d.g.rule+d.g.rule+d.g.rule)
		l.spans = append(l.spans, d.rule("now", line{}, w-half-3, true).spans...)
		r.lines = append(r.lines, l)
	default:
		r.lines = append(r.lines, d.rule("answer: - recorded, + now", line{}, w, false))
	}
	for i := range r.rows {
		if row := &r.rows[i]; row.sign != rowSame && (i == 0 || r.rows[i-1].sign == rowSame) {
			r.odd = append(r.odd, len(r.lines))
		}
		if wide && r.both() {
			r.lines = append(r.lines, r.beside(&r.rows[i], w)...)
		} else {
			r.lines = append(r.lines, r.below(&r.rows[i], w)...)
		}
	}
	if len(r.rows) == 0 {
		r.lines = append(r.lines, of(span{"  none", inkDim}))
	}
	r.lines = append(r.lines, d.rule("request", line{}, w, false))
	for i := range r.asked {
		r.lines = append(r.lines, r.rowLines(&r.asked[i], w-2, 1, of(span{"  ", inkText}))...)
	}
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
func (r *replayScreen) beside(row *answerRow, w int) []line {
	d := &r.m.d
	half := (w - 3) / 2
	rows := 1
	if row.sign != rowSame {
		rows = maxNoteLines
	}
	left, right := r.rowLines(row.left, half-1, rows, of(span{" ", inkText})), r.rowLines(row.right, w-half-3, rows, line{})
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
func (r *replayScreen) below(row *answerRow, w int) []line {
	lead := func(s span) line { return of(s, span{" ", inkText}) }
	if row.sign == rowSame {
		one := row.right
		if one == nil {
			one = row.left
		}
		return r.rowLines(one, w-2, 1, lead(rowSigns[rowSame]))
	}
	var out []line
	if row.left != nil {
		out = append(out, r.rowLines(row.left, w-2, maxNoteLines, lead(rowSigns[rowGone]))...)
	}
	if row.right != nil {
		out = append(out, r.rowLines(row.right, w-2, maxNoteLines, lead(rowSigns[rowNew]))...)
	}
	return out
}

// rowLines are the lines of a row w cells wide behind what leads it: one that
// is cut, or as many as it takes, at most n.
func (r *replayScreen) rowLines(j *jsonRow, w, n int, lead line) []line {
	if j == nil {
		return nil
	}
	d := &r.m.d
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
