package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// findingGroup is a rule that was broken: how often, and where first.
type findingGroup struct {
	rule   *checks.Rule
	level  Level
	signal store.Signal
	count  int
	first  uint32 // frame
	last   uint32
	what   string // wire text of the first frame, where that says more than the title
	said   string // what the rule said there; may hold wire text
}

// findingsPage lists the findings of a session by rule.
type findingsPage struct {
	table[*findingGroup]
	rows []*findingGroup

	// Of the work alone:
	read   uint32
	groups map[string]*findingGroup
}

func (p *findingsPage) at() place   { return inFindings }
func (p *findingsPage) name() Text  { return "findings" }
func (p *findingsPage) empty() Text { return "no rule has anything to say" }
func (p *findingsPage) ages() bool  { return false }
func (p *findingsPage) len() int    { return len(p.rows) }

func (p *findingsPage) look(s *store.Session) {
	*p = findingsPage{table: p.table, groups: map[string]*findingGroup{}}
	p.s = s
}

func (p *findingsPage) key(i int) string { return p.rows[i].rule.ID }

func (p *findingsPage) frame(i int) (uint32, bool) { return p.rows[i].first, true }

// plan reads the marks that are new and sums them up by rule.
func (p *findingsPage) plan(j job) func(context.Context) (func(), bool) {
	groups, read, by, down, words := p.groups, p.read, p.by, p.down, p.m.opts.Messages
	return func(ctx context.Context) (func(), bool) {
		end, until := j.s.MarkLen(), time.Now().Add(step)
		for ; read < end; read++ {
			if read%256 == 255 && over(ctx, until) {
				break
			}
			if frame, rule, g := j.s.MarkAt(read); g != store.SignalPending {
				addFinding(groups, frame, rule, g)
			}
		}
		if words != nil {
			for _, g := range groups {
				g.said = words.Message(j.s, g.rule.ID, g.first)
			}
		}
		rows := sortedFindings(j, groups, by, down)
		return func() { p.rows, p.read = rows, read }, read < end
	}
}

// over reports whether a step is to end.
func over(ctx context.Context, until time.Time) bool {
	return ctx.Err() != nil || !time.Now().Before(until)
}

// sortedFindings are copies of the groups, the most severe first.
func sortedFindings(j job, groups map[string]*findingGroup, by byte, down bool) []*findingGroup {
	rows := make([]*findingGroup, 0, len(groups))
	for _, g := range groups {
		if g.what == "" {
			g.what = firstText(j, g.first)
		}
		now := *g
		rows = append(rows, &now)
	}
	slices.SortFunc(rows, func(a, b *findingGroup) int {
		order := compareFindings(a, b, by)
		if down {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(b.level, a.level), cmp.Compare(a.first, b.first), cmp.Compare(a.rule.ID, b.rule.ID))
	})
	return rows
}

func addFinding(groups map[string]*findingGroup, frame uint32, rule string, g store.Signal) {
	at := groups[rule]
	if at == nil {
		r, level := levelOf(rule)
		if r == nil {
			return
		}
		at = &findingGroup{rule: r, level: level, signal: g, first: frame}
		groups[rule] = at
	}
	at.count++
	if frame < at.first {
		at.first, at.what = frame, ""
	}
	at.last = max(at.last, frame)
}

// firstText is what the frame says itself, where its text is the matter: a
// line that is no message, an error, a notification. A blank says that there
// is nothing, so that it is not read again.
func firstText(j job, frame uint32) string {
	f := j.s.Frame(frame)
	switch f.Kind {
	case store.KindInvalid, store.KindStderr, store.KindError, store.KindNotification, store.KindBody:
	default:
		return " "
	}
	if f.Length > maxDetailFrame {
		return " "
	}
	rec, err := j.src.Body(j.s, frame)
	if err != nil {
		return " "
	}
	return cmp.Or(detailOf(&rec, f.Kind), " ")
}

func compareFindings(a, b *findingGroup, by byte) int {
	switch by {
	case 'L':
		return cmp.Compare(a.level, b.level)
	case 'C':
		return cmp.Compare(a.count, b.count)
	case 'F':
		return cmp.Compare(a.first, b.first)
	case 'R':
		return strings.Compare(a.rule.ID, b.rule.ID)
	}
	return 0
}

// levelSpan is how a level is written: a sign and a word.
func levelSpan(d *dress, l Level) span {
	switch l {
	case LevelMust:
		return span{d.g.warn + " must", inkError}
	case LevelShould:
		return span{d.g.warn + " should", inkWarn}
	}
	return span{d.g.dot + " note", inkDim}
}

func (p *findingsPage) columns() []column[*findingGroup] {
	d := &p.m.d
	return []column[*findingGroup]{
		{head: "RULE", sort: 'R', min: 16, want: 23, grow: 1, rank: 0, cell: func(r *findingGroup, _ int) []span { return []span{{Text(r.rule.ID), inkStrong}} }},
		{head: "LEVEL", sort: 'L', min: 8, rank: 2, cell: func(r *findingGroup, _ int) []span { return []span{levelSpan(d, r.level)} }},
		{head: "COUNT", sort: 'C', min: 6, rank: 1, right: true, cell: func(r *findingGroup, _ int) []span { return []span{{shortCount(r.count), inkText}} }},
		{head: "FIRST", sort: 'F', min: 6, want: 8, rank: 3, right: true, cell: func(r *findingGroup, _ int) []span { return []span{{seqOf(p.s, r.first), inkText}} }},
		{head: "WHAT", min: 20, want: 30, grow: 4, rank: 4, cell: func(r *findingGroup, _ int) []span { return findingWhat(d, r) }},
	}
}

func findingWhat(d *dress, r *findingGroup) []span {
	if r.said != "" {
		return []span{{d.safe(r.said), inkText}}
	}
	out := []span{{d.safe(r.rule.Title), inkText}}
	if t := strings.TrimSpace(r.what); t != "" {
		out = append(out, span{": " + d.safe(t), inkDim})
	}
	return out
}

func (p *findingsPage) head(w int) line { return p.titles(p.columns(), w) }
func (p *findingsPage) row(i int) line  { return row(&p.m.d, p.cols, p.rows[i]) }

func (p *findingsPage) fields(i int) []field { return fieldsOf(p.columns(), p.rows[i]) }

func (p *findingsPage) lead(int) []line { return nil }

func (p *findingsPage) sort(letter byte) (Text, bool) {
	return p.order(p.columns(), letter, "LC")
}

func (p *findingsPage) status() (line, line) {
	d := &p.m.d
	var n [LevelMust + 1]int
	total := 0
	for _, r := range p.rows {
		n[r.level]++
		total += r.count
	}
	left := of(span{plural(len(p.rows), "rule", "rules"), inkText})
	for l := LevelMust; l > LevelNone; l-- {
		if n[l] > 0 {
			s := levelSpan(d, l)
			left.put(inkDim, " "+d.g.dot+" ")
			word := strings.TrimPrefix(string(s.text), string(d.g.dot)+" ") // two dots in a row say nothing
			left.put(s.ink, Text(word)+" "+count(n[l]))
		}
	}
	left.put(inkDim, " "+d.g.dot+" "+plural(total, "time", "times"))
	return left, line{}
}

// more is what the rule says in general.
func (p *findingsPage) more(i int) string {
	r := p.rows[i]
	return r.rule.Title + " " + r.rule.Help + " " + r.what
}

// note says why the rule matters, and what to do.
func (p *findingsPage) note(i, w int) []line {
	d := &p.m.d
	r := p.rows[i]
	l := of(levelSpan(d, r.level), span{" " + d.g.dot + " " + Text(r.signal.String()), inkDim})
	l.put(inkText, " "+d.g.dot+" "+plural(r.count, "time", "times")+", first at "+seqOf(p.s, r.first))
	if r.last != r.first {
		l.put(inkText, ", last at "+seqOf(p.s, r.last))
	}
	out := []line{l}
	what := d.safe(r.rule.Title)
	if t := strings.TrimSpace(r.what); t != "" && r.said == "" {
		what += ": " + d.safe(t)
	}
	out = append(out, wrapped(d, "said", d.safe(r.said), inkStrong, w)...)
	out = append(out, wrapped(d, "rule", what, inkText, w)...)
	out = append(out, wrapped(d, "why", d.safe(r.rule.Help), inkText, w)...)
	out = append(out, wrapped(d, "fix", d.safe(r.rule.Fix), inkOK, w)...)
	return append(out, wrapped(d, "spec", d.safe(r.rule.Spec), inkDim, w)...)
}
