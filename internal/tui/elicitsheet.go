package tui

import (
	"cmp"
	"context"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// elicitsPage lists what the server asked the user, and what came of it. What
// the user wrote is not kept and not shown.
type elicitsPage struct {
	table[*store.Elicitation]
	rows []*store.Elicitation
	now  time.Time
	live bool
	open int
}

func (p *elicitsPage) at() place       { return inElicits }
func (p *elicitsPage) name() Text      { return "elicitations" }
func (p *elicitsPage) empty() Text     { return "the server asked the user nothing in this session" }
func (p *elicitsPage) ages() bool      { return p.open > 0 }
func (p *elicitsPage) len() int        { return len(p.rows) }
func (p *elicitsPage) lead(int) []line { return nil }

func (p *elicitsPage) command() Text { return "tail --where method:elicitation" }

func (p *elicitsPage) look(s *store.Session) {
	*p = elicitsPage{table: p.table}
	p.s = s
}

func (p *elicitsPage) key(i int) string {
	if r := p.rows[i]; r.Key != "" {
		return r.Key + " " + string(seqOf(p.s, r.Asked))
	}
	return string(seqOf(p.s, p.rows[i].Asked))
}

func (p *elicitsPage) frame(i int) (uint32, bool) { return p.rows[i].Asked, true }

func (p *elicitsPage) plan(j job) func(context.Context) (func(), bool) {
	return func(context.Context) (func(), bool) {
		rows := j.s.Elicitations()
		open := 0
		for _, r := range rows {
			if r.Action == "" {
				open++
			}
		}
		return func() {
			p.open, p.live, p.now = open, j.live, j.now
			p.rows = byCell(&p.table, p.columns(), rows, p.before)
		}, false
	}
}

// window takes over the time that open questions are measured with.
func (p *elicitsPage) window(_ []int, now time.Time, alive bool) {
	p.now, p.live = now, alive
	if !alive {
		p.now = p.s.Summary().Newest
	}
}

func (p *elicitsPage) columns() []column[*store.Elicitation] {
	d := &p.m.d
	text := func(i ink, t Text) []span { return []span{{t, i}} }
	return []column[*store.Elicitation]{
		{head: "ASKED", sort: 'D', min: 8, rank: 4, cell: func(r *store.Elicitation, _ int) []span {
			return text(inkDim, Text(time.Unix(0, r.At).In(p.m.opts.Zone).Format("15:04:05")))
		}},
		{head: "FRAME", min: 6, rank: 6, right: true, cell: func(r *store.Elicitation, _ int) []span { return text(inkDim, seqOf(p.s, r.Asked)) }},
		{head: "BY", sort: 'B', min: 12, want: 16, grow: 1, rank: 5, cell: func(r *store.Elicitation, _ int) []span { return text(inkStrong, d.safe(p.asker(r))) }},
		{head: "MODE", sort: 'M', min: 4, rank: 2, cell: func(r *store.Elicitation, _ int) []span { return text(inkText, d.safe(r.Mode)) }},
		{head: "QUESTION", sort: 'Q', min: 14, want: 24, grow: 3, rank: 0, cell: func(r *store.Elicitation, _ int) []span {
			out := text(inkText, d.safe(r.Message))
			if r.Host != "" {
				out = append(out, span{" " + d.g.out + " " + d.safe(r.Host), inkWarn})
			}
			return out
		}},
		{head: "ANSWER", sort: 'W', min: 11, rank: 1, cell: func(r *store.Elicitation, _ int) []span { return []span{p.action(r)} }},
		{head: "AFTER", sort: 'F', min: 6, rank: 3, right: true, cell: func(r *store.Elicitation, _ int) []span { return text(inkText, p.after(r)) }},
	}
}

// asker is the tool, or the method, on whose behalf the server asks.
func (p *elicitsPage) asker(r *store.Elicitation) string {
	o := p.s.Op(r.Op)
	if name := p.s.OpName(o); name != "" {
		return name
	}
	return p.s.OpMethod(o)
}

func (p *elicitsPage) action(r *store.Elicitation) span {
	d := &p.m.d
	switch r.Action {
	case "":
		if p.live {
			return span{d.g.open + " open", inkPending}
		}
		return span{d.g.gone + " no answer", inkWarn}
	case "accept":
		return span{d.g.ok + " accept", inkOK}
	case "decline":
		return span{d.g.bad + " decline", inkWarn}
	}
	return span{d.g.gone + " " + d.safe(r.Action), inkWarn}
}

func (p *elicitsPage) after(r *store.Elicitation) Text {
	if r.Action == "" {
		return waited(time.Duration(p.now.UnixNano() - r.At))
	}
	return duration(time.Duration(r.AnswerAt - r.At))
}

func (p *elicitsPage) head(w int) line { return p.titles(p.columns(), w) }
func (p *elicitsPage) row(i int) line  { return row(&p.m.d, p.cols, p.rows[i]) }

func (p *elicitsPage) fields(i int) []field { return fieldsOf(p.columns(), p.rows[i]) }

func (p *elicitsPage) sort(letter byte) (Text, bool) { return p.order(p.columns(), letter, "F") }

// before orders by what is no word.
func (p *elicitsPage) before(a, b *store.Elicitation) (int, bool) {
	switch p.by {
	case 'D':
		return cmp.Compare(a.At, b.At), true
	case 'F':
		return cmp.Compare(p.took(a), p.took(b)), true
	}
	return 0, false
}

// took is how long a question waited, or waits.
func (p *elicitsPage) took(r *store.Elicitation) int64 {
	if r.Action == "" {
		return p.now.UnixNano() - r.At
	}
	return r.AnswerAt - r.At
}

func (p *elicitsPage) status() (line, line) {
	d := &p.m.d
	l := of(span{plural(len(p.rows), "question", "questions"), inkText})
	if p.open > 0 {
		l.put(inkDim, " "+d.g.dot+" ")
		l.put(openInk(p.live), d.g.open+" "+count(p.open)+" unanswered")
	}
	if n := p.s.Summary().MoreQuestions; n > 0 {
		l.put(inkDim, " "+d.g.dot+" ")
		l.put(inkWarn, count(n)+" more were asked than are kept")
	}
	return l, of(span{"answers are not kept", inkDim})
}

func (p *elicitsPage) note(i, w int) []line {
	d := &p.m.d
	r := p.rows[i]
	l := of(p.action(r), span{" after " + p.after(r), inkText})
	l.put(inkDim, " "+d.g.dot+" asked in "+seqOf(p.s, r.Asked))
	if r.Answer > 0 {
		l.put(inkDim, ", answered in "+seqOf(p.s, r.Answer-1))
	}
	out := append([]line{l}, wrapped(d, "asks", d.safe(r.Message), inkText, w)...)
	if r.URL != "" {
		out = append(out, of(span{d.w.padRight("host", 9), inkDim}, span{d.safe(r.Host), inkStrong}, span{"  look at it before you open it", inkWarn}))
		out = append(out, wrapped(d, "url", d.safe(r.URL), inkText, w)...)
	}
	for k, f := range r.Fields {
		name := Text("")
		if k == 0 {
			name = "fields"
		}
		out = append(out, of(span{d.w.padRight(name, 9), inkDim}, span{d.safe(f.Name), inkName}, span{" " + d.safe(f.Type), inkDim}, span{"  " + d.safe(f.Title), inkText}))
	}
	if r.Cut {
		out = append(out, of(span{d.g.warn + " too long to be kept whole; the frame has all of it", inkWarn}))
	}
	return out
}
