package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// help is the screen that explains all keys, the words of the filter and the
// command line.
type help struct {
	m    *Model
	of   place // the screen that it was called from
	list list
	rows []line
	made int // the width for which rows were made
}

func newHelp(m *Model) *help { return &help{m: m, of: m.top().place()} }

func (h *help) place() place { return inHelp }
func (h *help) crumb() Text  { return "help" }
func (h *help) facts() (line, line) {
	return line{}, of(span{"mcpsnoop " + h.m.d.safe(h.m.opts.Version), inkDim})
}
func (h *help) status() (line, line) { return of(span{"esc or ? goes back", inkDim}), line{} }
func (h *help) command() Text        { return h.m.prog() + " help" }
func (h *help) refresh() tea.Cmd     { return nil }
func (h *help) sort(byte) tea.Cmd    { return nil }
func (h *help) ages(time.Time) bool  { return false }

func (h *help) do(act action) tea.Cmd {
	switch act {
	case actDown:
		h.list.scroll(1)
	case actUp:
		h.list.scroll(-1)
	case actTop:
		h.list.scroll(-h.list.n)
	case actEnd:
		h.list.scroll(h.list.n)
	case actPageDown:
		h.list.scroll(h.list.height)
	case actPageUp:
		h.list.scroll(-h.list.height)
	case actBack:
		return h.m.pop()
	}
	return nil
}

func (h *help) mouse(_, _ int, e mouse) tea.Cmd {
	switch e {
	case mouseWheelUp:
		h.list.scroll(-3)
	case mouseWheelDown:
		h.list.scroll(3)
	}
	return nil
}

func (h *help) draw(w, height int) []line {
	d := &h.m.d
	if h.made != w {
		h.rows, h.made = h.make(w), w
	}
	h.list.resize(len(h.rows), height)
	var out []line
	for i := h.list.top; i < len(h.rows) && len(out) < height; i++ {
		l := line{spans: append([]span(nil), h.rows[i].spans...)}
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return pad(d, out, w, height)
}

// make writes the help for a width: the screen one came from first.
func (h *help) make(w int) []line {
	d := &h.m.d
	var out []line
	title := func(t Text) {
		if len(out) > 0 {
			out = append(out, line{})
		}
		out = append(out, of(span{"  " + t, inkTitle}))
	}
	places := []struct {
		place place
		title Text
	}{{inSessions, "Sessions"}, {inStream, "Stream"}, {inInspector, "Inspector"}, {inCompare, "Compare"}, {inSearch, "Search over all sessions"}, {inReplay, "Replay"}, {inEdit, "Editing params"}, {inAuth, "Authorization"}, {inSheets, "Findings, tools, calls, capabilities, elicitations"}}
	for _, first := range []bool{true, false} {
		for _, p := range places {
			if (p.place&h.of != 0) == first {
				title(p.title)
				out = append(out, keyRows(d, p.place, everywhere)...)
			}
		}
	}
	title("Everywhere")
	out = append(out, keyRows(d, everywhere, 0)...)
	out = append(out, helpRow(d, "shift+letter", "sort by the column whose underlined letter it is; again: the other way round"))
	title("Filter words: space is AND, OR and NOT in capitals, ( ) and \"quotes\"")
	for _, t := range store.Terms() {
		text := d.safe(t.Help)
		if t.Example != "" {
			text += "   " + d.safe(t.Example)
		}
		out = append(out, helpRow(d, d.safe(t.Name), text))
	}
	title("Command line")
	for _, c := range commands() {
		out = append(out, helpRow(d, ":"+c.name+" "+c.takes, c.help))
	}
	title("Signs")
	for _, s := range h.signs() {
		out = append(out, of(span{"    ", inkText}, span{d.w.padRight(s.sign, 14), s.ink}, span{s.help, inkText}))
	}
	return out
}

// keyRows are the bindings of a place that are not those of all others too.
func keyRows(d *dress, at, not place) []line {
	var out []line
	for _, b := range bindings {
		if b.where&at == 0 || not != 0 && b.where == not || not == 0 && b.where != at {
			continue
		}
		out = append(out, helpRow(d, b.shown, b.help))
	}
	return out
}

func helpRow(d *dress, key, text Text) line {
	return of(span{"    ", inkText}, span{d.w.padRight(key, 14), inkKey}, span{" " + text, inkText})
}

type sign struct {
	sign Text
	ink  ink
	help Text
}

func (h *help) signs() []sign {
	g := h.m.d.g
	return []sign{
		{g.out + " " + g.in, inkOut, "from the client to the server, from the server to the client"},
		{g.ok + " ok", inkOK, "answered with a result"},
		{g.bad + " failed", inkError, "answered with an error, or a tool result with isError"},
		{g.open + " open", inkPending, "no answer yet; the time runs"},
		{g.gone + " no answer", inkWarn, "none came before the session ended; also: cancelled"},
		{g.late + " late", inkWarn, "the answer came after the cancel"},
		{g.warn + " lost", inkWarn, "frames are missing just before this one"},
		{g.warn + " must", inkError, "breaks a rule of the specification, or should not be; the inspector says which"},
		{g.marked, inkNote, "marked with space"},
	}
}
