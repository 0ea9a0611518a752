package tui

import (
	"encoding/json"
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
