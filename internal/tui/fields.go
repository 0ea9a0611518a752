package tui

import (
	"encoding/json"
	"slices"
	"strings"
)

// field is a cell of a row, with the title of its column: for copying it and
// for looking for words in it.
type field struct{ head, value Text }

// fieldWidth is how wide cells are asked for that are not drawn.
const fieldWidth = 200

// fieldsOf are all cells of a row, also those of columns that the screen has
// no room for. The bars of calls say nothing in words.
func fieldsOf[R any](cols []column[R], r R) []field {
	out := make([]field, 0, len(cols))
	for _, c := range cols {
		if c.head == barHead {
			continue
		}
		t := Text("")
		for _, s := range c.cell(r, fieldWidth) {
			t += s.text
		}
		out = append(out, field{c.head, Text(strings.TrimSpace(string(t)))})
	}
	return out
}

// byCell puts rows into the order of the words in a column; by is its letter,
// and before, when not nil, knows better than words. They are few.
func byCell[R any](t *table[R], all []column[R], rows []R, before func(a, b R) (int, bool)) []R {
	at := slices.IndexFunc(all, func(c column[R]) bool { return c.sort == t.by && t.by != 0 })
	if at < 0 {
		return rows
	}
	words := func(r R) string { return strings.ToLower(string(fieldsOf(all[at:at+1], r)[0].value)) }
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b R) int {
		if t.down {
			a, b = b, a
		}
		if before != nil {
			if n, ok := before(a, b); ok {
				return n
			}
		}
		return strings.Compare(words(a), words(b))
	})
	return rows
}

// fieldsText is a row as a line for people: its cells with two spaces between.
func fieldsText(fields []field) string {
	var out []string
	for _, f := range fields {
		if f.value != "" {
			out = append(out, string(f.value))
		}
	}
	return strings.Join(out, "  ")
}

// fieldsJSON is a row as an object, in the order of the columns.
func fieldsJSON(fields []field) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonString(strings.ToLower(string(f.head))))
		b.WriteByte(':')
		b.Write(jsonString(string(f.value)))
	}
	b.WriteByte('}')
	return b.String()
}

func jsonString(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`)
	}
	return b
}
