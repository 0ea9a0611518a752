package tui

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// jsonRow is a line of a JSON value as it is compared: its members in the order
// of their names, a line a value, texts broken where they break themselves.
type jsonRow struct {
	depth int
	name  string // of the member, with its colon as JSON text; "" for none
	value string
	ink   ink
	mark  bool // redaction hid something of the value
}

// answerRow is a line of two answers beside each other.
type answerRow struct {
	sign        rowSign
	left, right *jsonRow // nil for none
}

// rowSign says how the two sides of a row differ.
type rowSign uint8

const (
	rowSame    rowSign = iota
	rowChanged         // another value
	rowGone            // in the recorded answer alone
	rowNew             // in the new one alone
)

// Bounds of a comparison: rows of an answer, and the pairs of rows that are
// looked at.
const (
	maxJSONRows = 4000
	maxRowPairs = 4 << 20
)

// compareAnswers aligns two answers. What is an answer's own each time (its id,
// the metadata of the result, the opaque state of the server) is left out.
func compareAnswers(was, is []byte) []answerRow {
	a, b := answerRows(was), answerRows(is)
	switch {
	case a == nil:
		return oneSided(b, func(r *answerRow, j *jsonRow) { r.right = j })
	case b == nil:
		return oneSided(a, func(r *answerRow, j *jsonRow) { r.left = j })
	}
	return alignRows(a, b)
}

// differences counts the rows that differ.
func differences(rows []answerRow) int {
	n := 0
	for i := range rows {
		if rows[i].sign != rowSame {
			n++
		}
	}
	return n
}

func answerRows(message []byte) []jsonRow {
	if message == nil {
		return nil
	}
	o := jsonOutline{}
	m := wire.ParseMessage(message)
	switch {
	case wire.Check(message) != nil:
		o.add(jsonRow{value: string(message[:min(len(message), maxPlain)]), ink: inkText})
	case m.Kind == wire.Error:
		o.value(0, `"error": `, wire.AppendCanonical(nil, m.Error), nil)
	case m.Kind == wire.Result:
		o.value(0, `"result": `, wire.AppendCanonical(nil, m.Result), map[string]bool{"_meta": true, "requestState": true})
	default:
		o.value(0, "", wire.AppendCanonical(nil, message), nil)
	}
	return o.rows
}

// jsonOutline writes a value line by line.
type jsonOutline struct {
	rows []jsonRow
	full bool
}

func (o *jsonOutline) add(r jsonRow) {
	if len(o.rows) < maxJSONRows {
		r.mark = redact.HasMark(r.value)
		o.rows = append(o.rows, r)
		return
	}
	if !o.full {
		o.full = true
		o.rows = append(o.rows, jsonRow{value: "more than is compared here; y copies all of it", ink: inkNote})
	}
}

// value writes a value that is well-formed, and so not deeper than wire.MaxDepth.
func (o *jsonOutline) value(depth int, name string, v []byte, without map[string]bool) {
	if o.full {
		return
	}
	switch wire.TypeOf(v) {
	case wire.Object:
		if len(v) == len("{}") {
			o.add(jsonRow{depth: depth, name: name, value: "{}", ink: inkPunct})
			return
		}
		o.add(jsonRow{depth: depth, name: name, value: "{", ink: inkPunct})
		for m := wire.MembersOf(v); m.Next(); {
			if !without[string(m.Key)] {
				o.value(depth+1, string(wire.AppendString(nil, m.Key))+": ", m.Value, nil)
			}
		}
		o.add(jsonRow{depth: depth, value: "}", ink: inkPunct})
	case wire.Array:
		if len(v) == len("[]") {
			o.add(jsonRow{depth: depth, name: name, value: "[]", ink: inkPunct})
			return
		}
		o.add(jsonRow{depth: depth, name: name, value: "[", ink: inkPunct})
		for e := wire.ElementsOf(v); e.Next(); {
			o.value(depth+1, "", e.Value, nil)
		}
		o.add(jsonRow{depth: depth, value: "]", ink: inkPunct})
	case wire.String:
		o.text(depth, name, v)
	case wire.Number:
		o.add(jsonRow{depth: depth, name: name, value: string(v), ink: inkNumber})
	default:
		o.add(jsonRow{depth: depth, name: name, value: string(v), ink: inkConst})
	}
}

// text writes a string, one that has lines a line each.
func (o *jsonOutline) text(depth int, name string, v []byte) {
	s, ok := wire.Text(v)
	if !ok || !strings.Contains(strings.TrimRight(s, "\n"), "\n") {
		o.add(jsonRow{depth: depth, name: name, value: string(v), ink: inkString})
		return
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	o.add(jsonRow{depth: depth, name: name, value: string(plural(len(lines), "line", "lines")), ink: inkDim})
	for _, l := range lines {
		o.add(jsonRow{depth: depth + 1, value: strings.TrimSuffix(l, "\r"), ink: inkString})
	}
}

// oneSided are the rows of an answer that has none to stand beside.
func oneSided(rows []jsonRow, put func(*answerRow, *jsonRow)) []answerRow {
	out := make([]answerRow, len(rows))
	for i := range rows {
		put(&out[i], &rows[i])
	}
	return out
}

// same reports whether two rows say the same. What redaction hid is taken for
// equal to everything.
func (r *jsonRow) same(s *jsonRow) bool {
	if r.depth != s.depth || r.name != s.name {
		return false
	}
	return r.mark || s.mark || r.value == s.value
}

// alignRows finds what both sides have, the longest common part, and puts the
// rest beside each other where it is about the same member.
func alignRows(a, b []jsonRow) []answerRow {
	var out []answerRow
	for len(a) > 0 && len(b) > 0 && a[0].same(&b[0]) {
		out = append(out, answerRow{rowSame, &a[0], &b[0]})
		a, b = a[1:], b[1:]
	}
	var tail []answerRow
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].same(&b[len(b)-1]) {
		tail = append(tail, answerRow{rowSame, &a[len(a)-1], &b[len(b)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	x, y := 0, 0 // where the gap before the next common row begins
	for i, k := range common(a, b) {
		if k < 0 {
			continue
		}
		out = append(between(out, a[x:i], b[y:k]), answerRow{rowSame, &a[i], &b[k]})
		x, y = i+1, k+1
	}
	out = between(out, a[x:], b[y:])
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

// common gives for each row of a the row of b that it stands beside, -1 for
// none: a longest common subsequence. Of answers that are too large for that,
// none is looked for.
func common(a, b []jsonRow) []int {
	match := make([]int, len(a))
	for i := range match {
		match[i] = -1
	}
	if len(a) == 0 || len(b) == 0 || len(a) > maxRowPairs/len(b) {
		return match
	}
	w := len(b) + 1
	best := make([]uint16, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if a[i].same(&b[k]) {
				best[i*w+k] = best[(i+1)*w+k+1] + 1
			} else {
				best[i*w+k] = max(best[(i+1)*w+k], best[i*w+k+1])
			}
		}
	}
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i].same(&b[k]) && best[i*w+k] == best[(i+1)*w+k+1]+1:
			match[i] = k
			i, k = i+1, k+1
		case best[(i+1)*w+k] >= best[i*w+k+1]:
			i++
		default:
			k++
		}
	}
	return match
}

// between puts rows that have no partner beside each other where they are about
// the same member. Members stand in the order of their names.
func between(out []answerRow, a, b []jsonRow) []answerRow {
	for len(a) > 0 && len(b) > 0 && a[0].depth == b[0].depth && (a[0].name == "") == (b[0].name == "") {
		switch x, y := &a[0], &b[0]; {
		case x.name < y.name:
			out, a = append(out, answerRow{sign: rowGone, left: x}), a[1:]
		case x.name > y.name:
			out, b = append(out, answerRow{sign: rowNew, right: y}), b[1:]
		case x.same(y):
			out, a, b = append(out, answerRow{rowSame, x, y}), a[1:], b[1:]
		default:
			out, a, b = append(out, answerRow{rowChanged, x, y}), a[1:], b[1:]
		}
	}
	for i := range a {
		out = append(out, answerRow{sign: rowGone, left: &a[i]})
	}
	for i := range b {
		out = append(out, answerRow{sign: rowNew, right: &b[i]})
	}
	return out
}
