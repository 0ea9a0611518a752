package tui

import (
	"github.com/mcpsnoop/mcpsnoop/store"
)

// frameColumns is the table of the stream for a pane of w cells whose widest
// id takes idWidth. Without a column for them, details stand behind the name.
func frameColumns(d *dress, w, idWidth int) []column[*frameRow] {
	wide := w >= 100
	timeWidth := 8
	if w >= 150 {
		timeWidth = 12
	}
	text := func(i ink, t Text) []span { return []span{{t, i}} }
	cols := []column[*frameRow]{
		{head: "SEQ", sort: 'Q', min: 7, rank: 9, right: true, cell: func(r *frameRow, _ int) []span { return text(inkDim, "#"+count(r.f.Seq)) }},
		{head: "TIME", sort: 'T', min: timeWidth, rank: 3, cell: func(r *frameRow, width int) []span { return text(inkDim, clock(r, width >= 12)) }},
		{head: "DELTA", min: 7, rank: 5, right: true, cell: func(r *frameRow, _ int) []span { return text(inkDim, deltaText(r)) }},
		{head: " ", min: 1, rank: 0, cell: func(r *frameRow, _ int) []span { return []span{arrow(d, r)} }},
		{head: "KIND", sort: 'K', min: 7, rank: 10, cell: func(r *frameRow, _ int) []span { return text(inkDim, Text(r.f.Kind.String())) }},
		{head: "WHAT", sort: 'W', min: min(30, max(12, w*3/8)), want: 34, grow: 2, rank: 0, cell: func(r *frameRow, _ int) []span {
			out := what(d, r)
			if t := lost(r); t != "" {
				out = append([]span{{d.g.warn + " " + t + " ", inkWarn}}, out...)
			}
			if !wide && r.detail != "" && inDetailColumn(r) {
				out = append(out, span{"  " + d.safe(r.detail), inkDim})
			}
			return out
		}},
		{head: "ID", sort: 'I', min: max(2, idWidth), rank: 4, right: true, cell: func(r *frameRow, _ int) []span { return text(inkText, idText(d, r)) }},
		{head: "DUR", sort: 'D', min: 7, rank: 2, right: true, cell: func(r *frameRow, _ int) []span { return took(d, r) }},
		{head: "STATUS", sort: 'S', min: 11, rank: 1, cell: func(r *frameRow, _ int) []span { return stands(d, r) }},
		{head: "SIZE", sort: 'Z', min: 8, rank: 8, right: true, cell: func(r *frameRow, _ int) []span { return text(inkDim, size(r.f.Size)) }},
	}
	if wide {
		cols = append(cols, column[*frameRow]{head: "DETAIL", min: 24, grow: 5, rank: 7, cell: func(r *frameRow, _ int) []span {
			if !inDetailColumn(r) {
				return nil
			}
			return detail(d, r, inkDim)
		}})
	}
	return cols
}

// inDetailColumn reports whether the detail of a frame stands apart from its
// name; of stray text it is the name.
func inDetailColumn(r *frameRow) bool {
	switch r.f.Kind {
	case store.KindInvalid, store.KindStderr, store.KindBody, store.KindNone:
		return false
	}
	return true
}

// idWidth is how many cells the ids of some rows need.
func idWidth(d *dress, rows []frameRow, most int) int {
	n := 2
	for i := range rows {
		n = max(n, min(d.w.of(idText(d, &rows[i])), most))
	}
	return n
}
