package tui

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// promptKind is what is being typed.
type promptKind uint8

const (
	promptFilter promptKind = iota
	promptSearch
	promptCommand
	promptAsk
	promptExport
)

// prompt is the line that takes the keys while something is typed.
type prompt struct {
	kind   promptKind
	sign   Text // before the text
	input  input
	change func(text string) (tea.Cmd, *store.QueryError) // after each key; may be nil
	accept func(text string) (tea.Cmd, *store.QueryError)
	cancel func() tea.Cmd
	offer  func(text string, column int) []store.Completion

	wrong   *store.QueryError
	offers  []store.Completion
	chosen  int // of offers, -1 for none
	history []string
	back    int // how far back in history
	draft   string

	ask  *question // instead of all that is typed
	what Text      // below the line: what it is about
}

// key edits the line, or ends the prompt.
func (p *prompt) key(m *Model, msg tea.KeyPressMsg) tea.Cmd {
	if p.ask != nil {
		return p.ask.key(m, msg.String())
	}
	switch msg.String() {
	case "esc":
		m.prompt = nil
		return p.cancel()
	case "enter":
		return p.enter(m)
	case "tab":
		return p.complete(m, 1)
	case "shift+tab":
		return p.complete(m, -1)
	case "up", "ctrl+p":
		return p.older(m, 1)
	case "down", "ctrl+n":
		return p.older(m, -1)
	}
	changed, _ := p.input.key(msg)
	if !changed {
		return nil
	}
	return p.changed(m)
}

func (p *prompt) insert(m *Model, s string) tea.Cmd {
	if p.ask != nil {
		return nil
	}
	p.input.insert(s)
	return p.changed(m)
}

func (p *prompt) changed(m *Model) tea.Cmd {
	p.offers, p.chosen, p.wrong, p.back = nil, -1, nil, 0
	if p.offer != nil {
		p.offers = p.offer(p.input.text(), p.input.at+1)
	}
	if p.change == nil {
		return nil
	}
	cmd, wrong := p.change(p.input.text())
	p.wrong = wrong
	return cmd
}

func (p *prompt) enter(m *Model) tea.Cmd {
	cmd, wrong := p.accept(p.input.text())
	if wrong != nil {
		p.wrong, p.offers = wrong, nil
		return cmd
	}
	if m.prompt == p {
		m.prompt = nil
	}
	return cmd
}

// complete puts the next offer into the line.
func (p *prompt) complete(m *Model, d int) tea.Cmd {
	if len(p.offers) == 0 && p.offer != nil {
		p.offers = p.offer(p.input.text(), p.input.at+1)
		p.chosen = -1
	}
	if len(p.offers) == 0 {
		return nil
	}
	if p.chosen < 0 {
		p.draft = p.input.text()
	}
	p.chosen = (p.chosen + d + len(p.offers)) % len(p.offers)
	if p.chosen < 0 {
		p.chosen = len(p.offers) - 1
	}
	o := p.offers[p.chosen]
	runes := []rune(p.draft)
	from := max(0, min(o.From, len(runes)))
	to := max(from, min(o.To, len(runes)))
	text := slices.Concat(runes[:from], []rune(o.Text), runes[to:])
	p.input.runes, p.input.at = text, from+len([]rune(o.Text))
	p.wrong = nil
	if p.change == nil {
		return nil
	}
	cmd, wrong := p.change(p.input.text())
	p.wrong = wrong
	return cmd
}

// older goes through what was typed before.
func (p *prompt) older(m *Model, d int) tea.Cmd {
	back := p.back + d
	if back < 0 || back > len(p.history) {
		return nil
	}
	if p.back == 0 {
		p.draft = p.input.text()
	}
	if back == 0 {
		p.input.set(p.draft)
	} else {
		p.input.set(p.history[len(p.history)-back])
	}
	cmd := p.changed(m)
	p.offers, p.back = nil, back
	return cmd
}

// draw is the line in w cells, and where the cursor stands.
func (p *prompt) draw(m *Model, w int) (line, int) {
	l := of(span{" ", inkText}, span{p.sign, inkKey})
	start := m.d.w.width(l)
	if p.ask != nil {
		t, _ := m.d.w.head(p.ask.text, max(1, w-start-1))
		l.put(inkStrong, t)
		return l, start + m.d.w.of(t)
	}
	t, x := p.input.draw(&m.d, max(1, w-start-1))
	i := inkStrong
	if p.wrong != nil && len(p.offers) == 0 {
		i = inkWarn
	}
	l.put(i, t)
	return l, start + x
}

// hint is the key line while something is typed.
func (p *prompt) hint(m *Model) line {
	d := &m.d
	if p.ask != nil {
		return p.ask.hint()
	}
	l := of(span{" ", inkText}, span{d.g.key, inkKey}, span{" take  ", inkDim}, span{"esc", inkKey}, span{" drop  ", inkDim})
	if p.offer != nil {
		l.put(inkKey, "tab")
		l.put(inkDim, " complete  ")
	}
	if len(p.history) > 0 {
		l.put(inkKey, "up")
		l.put(inkDim, " before  ")
	}
	return l
}

const maxOffers = 8

// below are the lines between the prompt and the list: the mistake, or ways to
// go on typing, at most n.
func (p *prompt) below(m *Model, w, n int) []line {
	d := &m.d
	if p.ask != nil {
		return p.ask.below(d, w, n)
	}
	if p.wrong != nil && len(p.offers) == 0 && n > 0 {
		return p.mistake(d, w, n)
	}
	var out []line
	if p.what != "" && n > 0 {
		l := of(span{"   " + p.what, inkDim})
		l.base = baseResting
		out, n = append(out, d.w.fit(l, w, d.g.dots)), n-1
	}
	n = min(n, maxOffers, len(p.offers))
	first := max(0, min(p.chosen-n+1, len(p.offers)-n))
	col := 24
	for i := range n {
		col = max(col, d.w.of(d.safe(p.offers[first+i].Text)))
	}
	col = min(col, w*3/5)
	for i := range n {
		o := p.offers[first+i]
		l := of(span{"   ", inkText}, span{d.w.padRight(d.safe(o.Text), col), inkStrong}, span{"  " + d.safe(o.Help), inkDim})
		l.base = baseResting
		if first+i == p.chosen {
			l.base = baseSelected
			l.spans[0].text = " " + d.g.selected + " "
		}
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return out
}

// mistake says what is wrong, below the place where it is, or over several
// lines where it is long.
func (p *prompt) mistake(d *dress, w, n int) []line {
	at := min(1+d.w.of(p.sign)+max(0, p.wrong.Column-1), w-2)
	msg := Text("column "+strconv.Itoa(p.wrong.Column)+": ") + d.safe(p.wrong.Msg)
	l := of(span{blanks(at), inkText}, span{"^ " + msg, inkError})
	if d.w.width(l) <= w {
		return []line{d.w.fit(l, w, d.g.dots)}
	}
	var out []line
	for _, t := range breakText(string(msg), w-2, d.runeCells) {
		out = append(out, d.w.fit(of(span{" ", inkText}, span{Text(t), inkError}), w, d.g.dots))
	}
	return out[:min(len(out), n)]
}
