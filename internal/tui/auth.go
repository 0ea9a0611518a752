package tui

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// auth is the screen of the attempts to get authorization: for each operation
// its ladder, what was demanded on each rung, and why it is so long.
type auth struct {
	m    *Model
	id   string
	s    *store.Session
	list list
	rows []authRow
	made int // the width for which rows were made
}

// authRow is a line of it, and the frame that it is about.
type authRow struct {
	line  line
	frame uint32
	leads bool // to the frame
}

// openAuth shows the screen for the chosen session. Over stdio there is
// nothing to show: credentials come from the environment there.
func (m *Model) openAuth() tea.Cmd {
	c, ok := m.top().(interface{ session() string })
	if !ok || c.session() == "" {
		return nil
	}
	a := &auth{m: m, id: c.session()}
	a.find()
	switch {
	case a.s == nil:
		return nil
	case a.s.Summary().Transport != capture.HTTP:
		m.say(inkNote, "no authorization over stdio: credentials come from the environment")
		return nil
	}
	return m.push(a)
}

func (a *auth) find() {
	for _, s := range a.m.src.Sessions() {
		if s.ID == a.id {
			a.s = s
		}
	}
}

func (a *auth) place() place        { return inAuth }
func (a *auth) session() string     { return a.id }
func (a *auth) crumb() Text         { return "authorization" }
func (a *auth) sort(byte) tea.Cmd   { return nil }
func (a *auth) ages(time.Time) bool { return false }
func (a *auth) command() Text       { return a.m.prog() + " export -T text " + a.m.d.safe(a.id) }

func (a *auth) facts() (line, line) {
	sum := a.s.Summary()
	return of(span{a.m.d.safe(sum.Meta.Target), inkDim}), line{}
}

func (a *auth) status() (line, line) {
	list := a.s.Summary().Ladders
	open := 0
	for _, l := range list {
		if !l.Succeeded {
			open++
		}
	}
	left := of(span{plural(len(list), "operation was refused", "operations were refused"), inkText})
	if open > 0 {
		left.put(inkDim, " "+a.m.d.g.dot+" ")
		left.put(inkWarn, plural(open, "not let through", "not let through"))
	}
	return left, line{}
}

// refresh keeps the line that is selected: ladders only grow.
func (a *auth) refresh() tea.Cmd {
	a.find()
	a.made = 0
	return nil
}

func (a *auth) do(act action) tea.Cmd {
	if a.list.do(act) {
		return nil
	}
	switch act {
	case actEnter:
		return a.follow()
	case actBack:
		return a.m.pop()
	}
	return nil
}

// follow goes to the frame that the selected line is about.
func (a *auth) follow() tea.Cmd {
	if a.list.cur >= len(a.rows) || !a.rows[a.list.cur].leads {
		return nil
	}
	frame := a.rows[a.list.cur].frame
	cmd := a.m.pop()
	s, ok := a.m.top().(*stream)
	if !ok {
		s = newStream(a.m, a.id)
		cmd = tea.Batch(cmd, a.m.push(s))
	}
	return tea.Batch(cmd, s.jump(frame))
}

func (a *auth) mouse(_, y int, e mouse) tea.Cmd {
	switch e {
	case mouseWheelUp:
		a.list.scroll(-3)
	case mouseWheelDown:
		a.list.scroll(3)
	default:
		a.list.to(a.list.top + y)
	}
	return nil
}

func (a *auth) draw(w, h int) []line {
	d := &a.m.d
	if a.made != w {
		a.rows, a.made = a.make(w), w
	}
	a.list.resize(len(a.rows), h)
	var out []line
	for i := a.list.top; i < len(a.rows) && len(out) < h; i++ {
		mark := span{"  ", inkText}
		if i == a.list.cur {
			mark = span{d.g.path + " ", inkActive}
		}
		l := line{spans: append([]span{mark}, a.rows[i].line.spans...)}
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return pad(d, out, w, h)
}

// make writes the ladders for a width.
func (a *auth) make(w int) []authRow {
	sum := a.s.Summary()
	var out []authRow
	for k, l := range sum.Ladders {
		if k > 0 {
			out = append(out, authRow{})
		}
		out = append(out, a.heading(l))
		for _, r := range l.Reasons(sum.Meta.Target) {
			for _, part := range wrapWords(a.m.d.safe(r), w-8) {
				out = append(out, authRow{line: of(span{"   ", inkText}, span{a.m.d.g.warn + " ", inkWarn}, span{part, inkText})})
			}
		}
		for i := range l.Attempts {
			out = append(out, a.attempt(&l.Attempts[i], i+1)...)
		}
		if n := l.Count - len(l.Attempts); n > 0 {
			out = append(out, authRow{line: of(span{"   and " + plural(n, "attempt", "attempts") + " more", inkDim})})
		}
	}
	if len(out) == 0 {
		out = append(out, authRow{line: of(span{"no request was refused for want of authorization", inkDim})})
	}
	return out
}

func (a *auth) heading(l *store.Ladder) authRow {
	d := &a.m.d
	h := of(span{d.safe(l.Operation), inkStrong}, span{"  " + plural(l.Count, "attempt", "attempts") + "  ", inkDim})
	if l.Succeeded {
		h.put(inkOK, d.g.ok+" let through")
	} else {
		h.put(inkError, d.g.bad+" not let through")
	}
	return authRow{line: h, frame: l.Attempts[0].Request, leads: true}
}

// attempt writes one rung: when and how it was answered, with which
// credential, and each challenge with its parts.
func (a *auth) attempt(t *store.Attempt, n int) []authRow {
	d := &a.m.d
	row := func(l line) authRow { return authRow{l, t.Answer, true} }
	at := time.Unix(0, t.TS).In(a.m.opts.Zone)
	head := of(span{"  " + Text(strconv.Itoa(n)) + " ", inkDim}, span{Text(at.Format("15:04:05")) + " ", inkDim}, span{"HTTP " + Text(strconv.Itoa(t.Status)), statusInk(t)})
	head.put(inkDim, "  #"+Text(strconv.FormatUint(t.Seq, 10)))
	if c := t.Auth; c != nil {
		head.put(inkText, "  "+d.safe(strings.TrimSpace(c.Scheme+" "+c.SHA256)))
	}
	out := []authRow{row(head)}
	if c := t.Auth; c != nil && c.JWT != nil {
		out = append(out, row(a.claims(c.JWT)))
	}
	for i := range t.Demands {
		m := &t.Demands[i]
		for k := range m.Challenges {
			out = append(out, row(a.challenge(&m.Challenges[k])))
		}
		if m.Fault != "" {
			out = append(out, row(of(span{"      cannot be read: " + d.safe(m.Fault), inkWarn})))
		}
		out = append(out, row(of(span{"      ", inkText}, span{d.safe(m.Raw), inkDim})))
	}
	return out
}

func statusInk(t *store.Attempt) ink {
	switch {
	case t.Status < 300:
		return inkOK
	case t.Refused():
		return inkWarn
	}
	return inkError
}

// claims writes what a token says of itself.
func (a *auth) claims(j *capture.JWTFacts) line {
	d := &a.m.d
	l := of(span{"      token says (unverified)", inkDim})
	fact := func(name, value string) {
		if value != "" {
			l.put(inkName, " "+Text(name)+" ")
			l.put(inkText, d.safe(value))
		}
	}
	fact("aud", strings.Join(j.Aud, ", "))
	fact("scope", j.Scope)
	if j.Exp > 0 {
		fact("exp", time.Unix(j.Exp, 0).In(a.m.opts.Zone).Format(time.RFC3339))
	}
	fact("iss", j.Iss)
	fact("sub", j.Sub)
	return l
}

// challenge writes one, part by part.
func (a *auth) challenge(c *mcp.Challenge) line {
	d := &a.m.d
	l := of(span{"      wants ", inkDim}, span{d.safe(c.Scheme), inkText})
	for _, p := range c.Params {
		l.put(inkName, " "+d.safe(p.Name)+" ")
		l.put(inkText, d.safe(p.Value))
	}
	return l
}

// wrapWords breaks a text at its spaces; a word that is longer stays whole.
func wrapWords(t Text, w int) []Text {
	var out []Text
	at := Text("")
	for word := range strings.FieldsSeq(string(t)) {
		if at != "" && len(at)+1+len(word) > max(w, 10) {
			out, at = append(out, at), ""
		}
		if at != "" {
			at += " "
		}
		at += Text(word)
	}
	return append(out, at)
}
