package tui

import (
	"context"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// capRow is a capability that a side has declared.
type capRow struct {
	client int // number of the client session
	server bool
	kind   string       // "extension", "experimental", or ""
	name   string       // wire text
	says   string       // wire text: its members
	known  string       // what the capture holds of it
	rule   *checks.Rule // why it is on its way out, or nil
	frame  uint32
}

// capsPage lists what client and server said they can do.
type capsPage struct {
	table[*capRow]
	rows    []*capRow
	clients int
}

func (p *capsPage) at() place       { return inCaps }
func (p *capsPage) name() Text      { return "capabilities" }
func (p *capsPage) empty() Text     { return "no capabilities were declared in this capture" }
func (p *capsPage) ages() bool      { return false }
func (p *capsPage) len() int        { return len(p.rows) }
func (p *capsPage) lead(int) []line { return nil }

func (p *capsPage) command() Text { return "export -T text" }

func (p *capsPage) look(s *store.Session) {
	*p = capsPage{table: p.table}
	p.s = s
}

func (p *capsPage) key(i int) string { return p.rows[i].name }

func (p *capsPage) frame(i int) (uint32, bool) { return p.rows[i].frame, true }

// maxCaps bounds the rows: what a peer declares is of any length.
const maxCaps = 2000

func (p *capsPage) plan(j job) func(context.Context) (func(), bool) {
	return func(context.Context) (func(), bool) {
		sum := j.s.Summary()
		var rows []*capRow
		peers := sum.Peers()
		for i := range peers {
			c := &peers[i]
			if c.ServerFrame > 0 {
				rows = appendCaps(rows, sum, c, capRow{client: i, server: true, frame: c.ServerFrame - 1}, c.ServerCaps)
			}
			if c.ClientFrame > 0 {
				rows = appendCaps(rows, sum, c, capRow{client: i, frame: c.ClientFrame - 1}, c.ClientCaps)
			}
		}
		return func() {
			p.rows, p.clients = rows, len(peers)
			p.rows = byCell(&p.table, p.columns(), rows, nil)
		}, false
	}
}

// appendCaps takes the members of a capabilities object apart; like is what
// all its rows have.
func appendCaps(rows []*capRow, sum *store.Summary, c *store.ClientInfo, like capRow, caps string) []*capRow {
	m := wire.MembersOf([]byte(caps))
	for m.Next() && len(rows) < maxCaps {
		name := string(m.Key)
		if name == "extensions" || name == "experimental" {
			in := wire.MembersOf(m.Value)
			for in.Next() && len(rows) < maxCaps {
				r := like
				r.kind, r.name, r.says = strings.TrimSuffix(name, "s"), string(in.Key), capSays(in.Value)
				rows = append(rows, &r)
			}
			continue
		}
		r := like
		r.name, r.says = name, capSays(m.Value)
		r.known = listedOf(sum, &r)
		if mcp.Revision(c.Revision).Modern() {
			r.rule, _ = checks.Find("dep-" + name)
		}
		rows = append(rows, &r)
	}
	return rows
}

// capSays is what a capability holds, without the braces.
func capSays(v []byte) string {
	t := compact(v)
	if t == "{}" {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(t, "{"), "}")
}

// listedOf is what was listed of a kind of thing that the server has.
func listedOf(sum *store.Summary, r *capRow) string {
	var method string
	var one, many Text
	switch {
	case !r.server:
		return ""
	case r.name == "tools":
		method, one, many = mcp.ToolsList, "tool", "tools"
	case r.name == "prompts":
		method, one, many = mcp.PromptsList, "prompt", "prompts"
	case r.name == "resources":
		method, one, many = mcp.ResourcesList, "resource", "resources"
	default:
		return ""
	}
	l, ok := sum.Listing(method)
	if !ok {
		return "never listed"
	}
	return string(plural(l.Entries, one, many)) + " listed"
}

func (p *capsPage) columns() []column[*capRow] {
	d := &p.m.d
	return []column[*capRow]{
		{head: "SIDE", sort: 'S', min: 8, want: 9, rank: 1, cell: func(r *capRow, _ int) []span { return []span{p.side(r)} }},
		{head: "CAPABILITY", sort: 'C', min: 16, want: 24, grow: 1, rank: 0, cell: func(r *capRow, _ int) []span { return []span{{d.safe(r.name), inkStrong}} }},
		{head: "KIND", sort: 'K', min: 12, rank: 4, cell: func(r *capRow, _ int) []span { return []span{{Text(r.kind), inkDim}} }},
		{head: "NOTE", sort: 'T', min: 11, want: 16, rank: 2, cell: func(r *capRow, _ int) []span { return capNote(d, r) }},
		{head: "SAYS", sort: 'Y', min: 12, want: 20, grow: 3, rank: 3, cell: func(r *capRow, _ int) []span { return []span{{d.safe(r.says), inkText}} }},
	}
}

func (p *capsPage) side(r *capRow) span {
	d := &p.m.d
	s := span{d.g.out + " client", inkOut}
	if r.server {
		s = span{d.g.in + " server", inkIn}
	}
	if p.clients > 1 {
		s.text += " " + count(r.client+1)
	}
	return s
}

func capNote(d *dress, r *capRow) []span {
	switch {
	case r.rule != nil:
		return []span{{d.g.warn + " deprecated", inkWarn}}
	case r.known != "":
		return []span{{Text(r.known), inkText}}
	}
	return []span{{d.g.dot, inkDim}}
}

func (p *capsPage) head(w int) line { return p.titles(p.columns(), w) }
func (p *capsPage) row(i int) line  { return row(&p.m.d, p.cols, p.rows[i]) }

func (p *capsPage) fields(i int) []field { return fieldsOf(p.columns(), p.rows[i]) }

func (p *capsPage) sort(letter byte) (Text, bool) { return p.order(p.columns(), letter, "") }

func (p *capsPage) status() (line, line) {
	d := &p.m.d
	var l, right line
	server, old := 0, 0
	for _, r := range p.rows {
		if r.server {
			server++
		}
		if r.rule != nil {
			old++
		}
	}
	l.put(inkText, "server "+count(server)+" "+d.g.dot+" client "+count(len(p.rows)-server))
	if old > 0 {
		l.put(inkDim, " "+d.g.dot+" ")
		l.put(inkWarn, d.g.warn+" "+count(old)+" deprecated")
	}
	if sum := p.s.Summary(); len(sum.Clients) > 0 {
		right.put(inkDim, d.safe(sum.Clients[len(sum.Clients)-1].Revision))
	}
	return l, right
}

func (p *capsPage) note(i, w int) []line {
	d := &p.m.d
	r := p.rows[i]
	l := of(p.side(r), span{", declared in " + seqOf(p.s, r.frame), inkText})
	if r.kind != "" {
		l.put(inkDim, " "+d.g.dot+" "+Text(r.kind))
	}
	out := append([]line{l}, wrapped(d, "says", d.safe(r.says), inkText, w)...)
	if r.rule != nil {
		out = append(out, wrapped(d, "old", d.safe(r.rule.Title+". "+r.rule.Help), inkWarn, w)...)
		out = append(out, wrapped(d, "fix", d.safe(r.rule.Fix), inkOK, w)...)
	}
	if r.known != "" {
		out = append(out, of(span{d.w.padRight("seen", 9), inkDim}, span{Text(r.known), inkText}))
	}
	return out
}
