package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// schemaFlaw is what a rule says about the definition of a tool.
type schemaFlaw struct {
	rule    *checks.Rule
	level   Level
	message string
	path    string
	client  string // what a client does about it
}

// word is the rule in as few words as a column has room for.
func (f *schemaFlaw) word() string {
	if f.rule.ID == noRoot {
		return "no root"
	}
	id := f.rule.ID
	for _, lead := range []string{"tool-", "js-"} {
		id = strings.TrimPrefix(id, lead)
	}
	return strings.ReplaceAll(id, "-", " ")
}

// noRoot is the rule whose tools clients drop.
const noRoot = "tool-input-root-type"

// flaws are those of all tools of one listing.
type flaws struct {
	first uint32 // of the listing
	pages int
	tools map[string][]schemaFlaw
	lost  map[string][]lostTo
}

// lostTo is a client that does not offer a tool, and the rules that say why.
type lostTo struct {
	client string
	rules  []string
}

// of reports whether they are those of a listing.
func (f *flaws) of(l store.Listing) bool { return f != nil && f.first == l.First && f.pages == l.Pages }

func (f *flaws) lostBy(name string) []lostTo {
	if f == nil {
		return nil
	}
	return f.lost[name]
}

func (f *flaws) tool(name string) []schemaFlaw {
	if f == nil {
		return nil
	}
	return f.tools[name]
}

// findFlaws has the rules look at the frames of a listing once more: the marks
// of the session do not tell the tools of one frame apart.
func findFlaws(ctx context.Context, j job, l store.Listing) *flaws {
	engine := checks.NewEngine(checks.Options{})
	judgeListing(ctx, j, l, engine)
	out := &flaws{first: l.First, pages: l.Pages, tools: map[string][]schemaFlaw{}, lost: losses(ctx, j, l)}
	for _, f := range engine.Findings() {
		if f.Tool == "" {
			continue
		}
		list := out.tools[f.Tool]
		if !slices.ContainsFunc(list, func(x schemaFlaw) bool { return x.rule == f.Rule }) {
			_, level := levelOf(f.Rule.ID)
			out.tools[f.Tool] = append(list, schemaFlaw{rule: f.Rule, level: level, message: f.Message, path: f.Path, client: f.Client})
		}
	}
	for _, list := range out.tools {
		slices.SortStableFunc(list, func(a, b schemaFlaw) int {
			return cmp.Or(rootFirst(&a)-rootFirst(&b), int(b.level)-int(a.level))
		})
	}
	return out
}

// judgeListing has an engine look at the frames of a listing.
func judgeListing(ctx context.Context, j job, l store.Listing, engine *checks.Engine) {
	_, a := store.New(store.Limits{}).Open(j.s.ID, j.s.Path, func(*store.Session, *store.Appender) store.Observer { return engine })
	for i, frame := range framesOfListing(j.s, l) {
		if ctx.Err() != nil {
			break
		}
		if rec, err := j.src.Body(j.s, frame); err == nil {
			a.Append(&capture.Item{Line: i + 1, Record: rec})
		}
	}
	a.Publish()
}

// maxLossBytes is how long a listing is at most that is judged once for each
// client.
const maxLossBytes = 4 << 20

// losses are, by tool, the clients that do not offer it.
func losses(ctx context.Context, j job, l store.Listing) map[string][]lostTo {
	out := map[string][]lostTo{}
	if l.Bytes > maxLossBytes {
		return out
	}
	for _, client := range checks.Clients() {
		engine := checks.NewEngine(checks.Options{Client: client})
		judgeListing(ctx, j, l, engine)
		for _, t := range engine.Lost() {
			out[t.Tool] = append(out[t.Tool], lostTo{client, t.Rules})
		}
	}
	return out
}

func rootFirst(f *schemaFlaw) int {
	if f.rule.ID == noRoot {
		return 0
	}
	return 1
}

// framesOfListing are the requests and answers of a listing, after those that
// say which revision it follows.
func framesOfListing(s *store.Session, l store.Listing) []uint32 {
	var out []uint32
	for _, c := range s.Summary().Clients {
		for _, f := range []uint32{c.ClientFrame, c.ServerFrame} {
			if f > 0 && !slices.Contains(out, f-1) {
				out = append(out, f-1)
			}
		}
	}
	last := uint32(0)
	for i := range l.Tools {
		frame := l.Tools[i].Frame
		if i > 0 && frame == last {
			continue
		}
		last = frame
		if at, ok := s.Frame(frame).Op(); ok {
			out = append(out, s.Op(at).Request)
		}
		out = append(out, frame)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// whole is the command that prints the same, of all sessions of the label.
func (p *toolsPage) whole() Text {
	t := Text("stats --tools")
	if p.s == nil {
		return t
	}
	if label := p.s.Summary().Label; label != "" {
		t += " --label " + p.m.word(p.m.d.safe(label))
	}
	return t
}

// more are the flaws of the definition in words.
func (p *toolsPage) more(i int) string {
	t := ""
	for _, f := range p.rows[i].schema {
		t += " " + f.rule.ID + " " + f.message
	}
	return t
}

func (p *toolsPage) status() (line, line) {
	d := &p.m.d
	never := 0
	for _, r := range p.rows {
		if r.stats == nil {
			never++
		}
	}
	left := of(span{plural(len(p.rows), "tool", "tools"), inkText})
	if p.has {
		left.put(inkDim, " "+d.g.dot+" ")
		left.put(inkText, "definitions "+size(p.listing.Bytes))
	}
	if never > 0 {
		left.put(inkDim, " "+d.g.dot+" ")
		left.put(inkWarn, count(never)+" never called")
	}
	return left, line{}
}

// lead are the fixed cost of the definitions and the heaviest single result.
func (p *toolsPage) lead(int) []line {
	d := &p.m.d
	defs := of(span{"  definitions     ", inkDim})
	switch {
	case !p.has:
		defs.put(inkDim, "not seen: no whole tools/list in this capture")
	default:
		defs.put(inkStrong, size(p.listing.Bytes))
		defs.put(inkText, " of "+plural(p.listing.Entries, "tool", "tools")+", each time they are put before a model")
		if !p.listing.Complete {
			defs.put(inkWarn, " "+d.g.dot+" a page is missing")
		}
	}
	heavy := of(span{"  heaviest result ", inkDim})
	if p.heavy == nil {
		heavy.put(inkDim, "none yet")
	} else {
		heavy.put(inkStrong, size(p.heavy.stats.ResultMax))
		heavy.put(inkText, " by "+d.safe(p.heavy.name)+" in "+seqOf(p.s, p.heavy.stats.ResultFrame))
	}
	return []line{defs, heavy}
}

// note says what the definition costs, what is wrong with it, and how the
// calls went.
func (p *toolsPage) note(i, w int) []line {
	d := &p.m.d
	r := p.rows[i]
	var out []line
	if r.def != nil {
		l := of(span{"defined  ", inkDim}, span{"at " + seqOf(p.s, r.def.Frame) + ": " + size(r.def.Bytes), inkText})
		l.put(inkText, ", description "+size(r.def.Description)+", schemas "+size(r.def.Schemas))
		out = append(out, l)
	} else if r.listed {
		out = append(out, of(span{d.g.warn + " the server does not list it, and yet it was called", inkWarn}))
	}
	if t := r.stats; t == nil {
		out = append(out, p.neverNote(r))
	} else {
		out = append(out, p.callNote(t))
	}
	out = append(out, wrapped(d, "lost by", lostText(r.lost), inkWarn, w)...)
	for k := range r.schema {
		f := &r.schema[k]
		out = append(out, wrapped(d, Text(string(levelWord(f.level))), d.safe(f.rule.ID+": "+cmp.Or(f.message, f.rule.Title)), inkWarn, w)...)
		out = append(out, wrapped(d, "", d.safe(f.client), inkText, w)...)
		if k == 0 {
			out = append(out, wrapped(d, "fix", d.safe(f.rule.Fix), inkOK, w)...)
		}
	}
	return out
}

// neverNote says why a tool may never have been called: the client of this
// session may not have shown it to its model.
func (p *toolsPage) neverNote(r *toolRow) line {
	l := of(span{"calls    ", inkDim})
	for _, c := range p.s.Summary().Clients {
		for _, lost := range r.lost {
			if c.Client == lost.client {
				l.put(inkError, "none: "+p.m.d.safe(c.Client)+" does not offer it to its model")
				return l
			}
		}
	}
	l.put(inkWarn, "none: the model never chose it, or the client dropped it")
	return l
}

// lostText names the clients that do not offer a tool, those with the same
// rules together.
func lostText(list []lostTo) Text {
	var rules []string
	clients := map[string][]string{}
	for _, x := range list {
		by := strings.Join(x.rules, ", ")
		if len(clients[by]) == 0 {
			rules = append(rules, by)
		}
		clients[by] = append(clients[by], x.client)
	}
	t := Text("")
	for i, by := range rules {
		if i > 0 {
			t += "; "
		}
		t += Text(strings.Join(clients[by], ", ") + " (" + by + ")")
	}
	return t
}

func (p *toolsPage) callNote(t *store.ToolStats) line {
	l := of(span{"calls    ", inkDim}, span{plural(t.Calls.Total, "call", "calls") + ", " + count(t.Calls.Failed) + " failed", inkText})
	if t.Retries > 0 {
		l.put(inkText, ", "+plural(t.Retries, "retry", "retries"))
	}
	if t.Late > 0 {
		l.put(inkWarn, ", "+count(t.Late)+" answered after the cancel")
	}
	if t.Ended > 0 {
		l.put(inkText, ", slowest "+duration(t.Longest)+" in "+seqOf(p.s, p.s.Op(t.Slowest).Request))
	}
	return l
}

func levelWord(l Level) Text {
	switch l {
	case LevelMust:
		return "must"
	case LevelShould:
		return "should"
	}
	return "note"
}
