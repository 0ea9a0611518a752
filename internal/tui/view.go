package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
)

// The smallest screen on which everything can be used.
const (
	minWidth  = 40
	minHeight = 10
)

func (m *Model) tooSmall() bool { return m.width < minWidth || m.height < minHeight }

// View draws the screen, when something has changed since the last time.
func (m *Model) View() tea.View {
	if !m.dirty {
		return m.drawn
	}
	m.dirty = false
	m.drawn = tea.View{AltScreen: true, MouseMode: tea.MouseModeCellMotion}
	if !m.hasSize || !m.hasEnv {
		return m.drawn
	}
	lines, cursor := m.lines()
	var b []byte
	for i, l := range lines {
		if i > 0 {
			b = append(b, '\n')
		}
		b = m.d.theme.render(b, l)
	}
	m.drawn.Content = string(b)
	m.drawn.Cursor = cursor
	return m.drawn
}

// lines is the screen: as many lines as it has rows, each exactly as wide as it.
func (m *Model) lines() ([]line, *tea.Cursor) {
	w, h := m.width, m.height
	if w <= 0 || h <= 0 {
		return nil, nil
	}
	if m.tooSmall() {
		return m.smallLines(w, h), nil
	}
	out := make([]line, 0, h)
	out = append(out, m.titleLine(w))
	status, cursor := m.statusLine(w)
	out = append(out, status)
	_, bodyHeight := m.body()
	if m.prompt != nil {
		below := m.prompt.below(m, w, bodyHeight/2)
		out = append(out, below...)
		bodyHeight -= len(below)
	}
	foot := m.footLines(w)
	out = append(out, m.top().draw(w, bodyHeight-len(foot)+1)...)
	if t, ok := m.top().(typist); ok && m.prompt == nil {
		x, y := t.cursor(w)
		top, _ := m.body()
		cursor = tea.NewCursor(x, top+y)
	}
	return append(out, foot...), cursor
}

// body is where the screen of the stack stands.
func (m *Model) body() (top, height int) { return 2, m.height - 3 }

func (m *Model) smallLines(w, h int) []line {
	out := make([]line, h)
	need, have := cells(minWidth, minHeight), cells(w, h)
	msg := Text("")
	for _, t := range []Text{"mcpsnoop needs " + need + " cells, here are " + have + "; q quits", "needs " + need + ", here " + have + "; q quits", "needs " + need} {
		if msg = t; m.d.w.of(t) <= w {
			break
		}
	}
	for i := range out {
		if i == (h-1)/2 {
			out[i].put(inkText, msg)
		}
		out[i] = m.d.w.fit(out[i], w, m.d.g.dots)
	}
	return out
}

func cells(w, h int) Text { return Text(strconv.Itoa(w) + "x" + strconv.Itoa(h)) }

// titleLine is the path, what is shown, and its state.
func (m *Model) titleLine(w int) line {
	facts, state := m.top().facts()
	state.put(inkText, " ")
	left := m.path(w - m.d.w.width(state))
	room := w - m.d.w.width(left) - m.d.w.width(state) - 4
	if n := m.d.w.width(facts); n > 0 && (n <= room || room >= 24) {
		facts = m.d.w.fit(facts, min(n, room), m.d.g.dots)
		left.put(inkText, "   ")
		left.spans = append(left.spans, facts.spans...)
	}
	l := m.d.w.join(left, state, w, m.d.g.dots)
	l.base = baseBar
	return l
}

// path is where we are. In a narrow terminal its beginning gives way, never
// its end.
func (m *Model) path(room int) line {
	for from := range m.stack {
		l := of(span{" mcpsnoop", inkStrong})
		if from > 0 {
			l = of(span{" " + m.d.g.dots, inkDim})
		}
		for _, s := range m.stack[from:] {
			l.put(inkDim, " "+m.d.g.path+" ")
			l.put(inkTitle, s.crumb())
		}
		if from == len(m.stack)-1 || m.d.w.width(l) < room {
			return l
		}
	}
	return line{}
}

// statusLine is the prompt while there is one, else the filter or the counts.
func (m *Model) statusLine(w int) (line, *tea.Cursor) {
	left, right := m.top().status()
	right.put(inkText, " ")
	if m.prompt == nil {
		l := line{spans: append([]span{{" ", inkText}}, left.spans...)}
		return m.d.w.join(l, right, w, m.d.g.dots), nil
	}
	if m.prompt.kind == promptCommand || m.prompt.kind == promptAsk || m.prompt.kind == promptExport {
		right = line{}
	}
	room := w - m.d.w.width(right) - 2
	if room < w/2 {
		right, room = line{}, w-1
	}
	typed, x := m.prompt.draw(m, room)
	return m.d.w.join(typed, right, w, m.d.g.dots), tea.NewCursor(min(x, w-1), 1)
}

// footLine is what the last action did, else the keys and the command that
// prints the same.
func (m *Model) footLine(w int) line {
	if len(m.notice.spans) > 0 {
		l := line{spans: append([]span{{" ", inkText}}, m.notice.spans...)}
		return m.d.w.fit(l, w, m.d.g.dots)
	}
	if m.prompt != nil {
		return m.d.w.fit(m.prompt.hint(m), w, m.d.g.dots)
	}
	cmd := m.top().command()
	n := m.d.w.of(cmd) + 5
	room := w
	if w >= 100 {
		room = w - min(n, w/3)
	}
	keys := keyLine(&m.d, m.top().place(), room)
	if left := w - m.d.w.width(keys); cmd != "" && w >= 100 && left > 20 {
		cmd, _ = m.d.w.cut(cmd, left-5, m.d.g.dots)
		return m.d.w.join(keys, of(span{"$ ", inkDim}, span{cmd, inkDim}, span{" ", inkText}), w, m.d.g.dots)
	}
	return m.d.w.fit(keys, w, m.d.g.dots)
}

// rule is a line that begins a pane: its name, and on the right what is said of it.
func (d *dress) rule(name Text, right line, w int, active bool) line {
	i, r := inkRule, d.g.rule
	if active {
		i, r = inkActive, d.g.thick
	}
	l := of(span{r, i}, span{" " + name + " ", i})
	n := w - d.w.width(l) - d.w.width(right) - 1
	if len(right.spans) > 0 {
		n -= 2
	}
	if n < 0 {
		return d.w.fit(l, w, d.g.dots)
	}
	l.put(i, repeat(r, n))
	if len(right.spans) > 0 {
		l.put(inkText, " ")
		l.spans = append(l.spans, right.spans...)
		l.put(inkText, " ")
	}
	l.put(i, r)
	return l
}
