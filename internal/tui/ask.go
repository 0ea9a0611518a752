package tui

import (
	tea "charm.land/bubbletea/v2"
)

// question is what has to be answered with y before something is done.
type question struct {
	text Text
	more []Text // what else is to be known before the answer, a paragraph each
	yes  func() tea.Cmd
}

// ask asks a question; any key but y is a no.
func (m *Model) ask(q question) {
	m.notice = line{}
	m.prompt = &prompt{kind: promptAsk, sign: "? ", chosen: -1, ask: &q}
}

func (q *question) key(m *Model, name string) tea.Cmd {
	m.prompt = nil
	if name == "y" || name == "Y" {
		return q.yes()
	}
	m.say(inkNote, "left as it is")
	return nil
}

func (q *question) hint() line {
	return of(span{" y", inkKey}, span{" yes  ", inkDim}, span{"n", inkKey}, span{" no  ", inkDim}, span{"esc", inkKey}, span{" no", inkDim})
}

// below is the question where it is too long for its line, and what else is
// to be known.
func (q *question) below(d *dress, w, n int) []line {
	paragraphs := q.more
	if d.w.of(q.text) > w-4 {
		paragraphs = append([]Text{q.text}, q.more...)
	}
	var out []line
	for _, t := range paragraphs {
		for _, part := range d.w.wrap(of(span{t, inkText}), w-4) {
			l := line{spans: append([]span{{"   ", inkText}}, part.spans...), base: baseResting}
			out = append(out, d.w.fit(l, w, d.g.dots))
		}
	}
	return out[:min(len(out), n)]
}
