package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// toolRow is a tool: what it was defined as, and how its calls went.
type toolRow struct {
	name          string
	stats         *store.ToolStats  // nil when it was never called
	def           *store.Definition // nil when no listing has it
	p50, p95, p99 time.Duration
	schema        []schemaFlaw
	lost          []lostTo // clients that do not offer it
	listed        bool     // there is a listing at all
}

// toolsPage lists the tools of a session.
type toolsPage struct {
	table[*toolRow]
	rows    []*toolRow
	listing store.Listing
	has     bool // there is a listing
	heavy   *toolRow
	flaws   *flaws
}

func (p *toolsPage) at() place   { return inTools }
func (p *toolsPage) name() Text  { return "tools" }
func (p *toolsPage) empty() Text { return "no tool was listed or called" }
func (p *toolsPage) ages() bool  { return false }
func (p *toolsPage) len() int    { return len(p.rows) }

func (p *toolsPage) look(s *store.Session) {
	*p = toolsPage{table: p.table}
	p.s = s
}

func (p *toolsPage) key(i int) string { return p.rows[i].name }

// frame is the definition, or the slowest call of a tool that has none.
func (p *toolsPage) frame(i int) (uint32, bool) {
	r := p.rows[i]
	if r.def != nil {
		return r.def.Frame, true
	}
	if r.stats != nil && r.stats.Ended > 0 {
		return p.s.Op(r.stats.Slowest).Request, true
	}
	return 0, false
}

// goes is the filter that shows the calls of the tool.
func (p *toolsPage) goes(i int) string {
	if p.rows[i].stats == nil {
		return ""
	}
	return `tool:="` + p.rows[i].name + `"`
}

func (p *toolsPage) plan(j job) func(context.Context) (func(), bool) {
	known, by, down := p.flaws, p.by, p.down
	return func(ctx context.Context) (func(), bool) {
		listing, has := j.s.Summary().Listing(mcp.ToolsList)
		if has && !known.of(listing) {
			known = findFlaws(ctx, j, listing)
		}
		rows := toolRows(j.s.Tools(), listing, has, known)
		var heavy *toolRow
		for _, r := range rows {
			if r.stats != nil && r.stats.ResultMax > 0 && (heavy == nil || r.stats.ResultMax > heavy.stats.ResultMax) {
				heavy = r
			}
		}
		if by != 0 {
			slices.SortStableFunc(rows, func(a, b *toolRow) int {
				if down {
					a, b = b, a
				}
				return compareTools(a, b, by)
			})
		}
		return func() { p.rows, p.listing, p.has, p.heavy, p.flaws = rows, listing, has, heavy, known }, false
	}
}

// toolRows are the tools of the listing in its order, then those that were
// called and are not listed.
func toolRows(called []*store.ToolStats, listing store.Listing, has bool, known *flaws) []*toolRow {
	rows := make([]*toolRow, 0, len(listing.Tools)+len(called))
	index := make(map[string]*toolRow, len(listing.Tools)+len(called))
	for i := range listing.Tools {
		def := &listing.Tools[i]
		r := &toolRow{name: def.Name, def: def, listed: true, schema: known.tool(def.Name), lost: known.lostBy(def.Name)}
		rows, index[def.Name] = append(rows, r), r
	}
	for _, t := range called {
		r := index[t.Name]
		if r == nil {
			r = &toolRow{name: t.Name, listed: has}
			rows = append(rows, r)
		}
		r.stats = t
		r.p50, r.p95, r.p99 = t.Quantile(0.5), t.Quantile(0.95), t.Quantile(0.99)
	}
	return rows
}

func compareTools(a, b *toolRow, by byte) int {
	calls := func(r *toolRow) store.ToolStats {
		if r.stats == nil {
			return store.ToolStats{}
		}
		return *r.stats
	}
	x, y := calls(a), calls(b)
	switch by {
	case 'C':
		return cmp.Compare(x.Calls.Total, y.Calls.Total)
	case 'R':
		return cmp.Compare(x.Calls.Failed, y.Calls.Failed)
	case 'P':
		return cmp.Compare(a.p50, b.p50)
	case 'M':
		return cmp.Compare(x.Longest, y.Longest)
	case 'D':
		return cmp.Compare(a.bytes(), b.bytes())
	case 'U':
		return cmp.Compare(x.ResultMax, y.ResultMax)
	case 'I':
		return cmp.Compare(x.Trips, y.Trips)
	case 'H':
		return cmp.Compare(len(a.schema), len(b.schema))
	}
	return strings.Compare(a.name, b.name)
}

func (r *toolRow) bytes() int {
	if r.def == nil {
		return -1
	}
	return r.def.Bytes
}

func (p *toolsPage) columns() []column[*toolRow] {
	d := &p.m.d
	num := func(head Text, sort byte, width, rank int, i ink, f func(r *toolRow) Text) column[*toolRow] {
		return column[*toolRow]{head: head, sort: sort, min: width, rank: rank, right: true, cell: func(r *toolRow, _ int) []span {
			t := f(r)
			if t == "" {
				return []span{{d.g.dot, inkDim}}
			}
			return []span{{t, i}}
		}}
	}
	took := func(f func(r *toolRow) time.Duration) func(r *toolRow) Text {
		return func(r *toolRow) Text {
			if r.stats == nil || r.stats.Ended == 0 {
				return ""
			}
			return duration(f(r))
		}
	}
	return []column[*toolRow]{
		{head: "TOOL", sort: 'T', min: 14, want: 20, grow: 3, rank: 0, cell: func(r *toolRow, _ int) []span { return []span{{d.safe(r.name), inkStrong}} }},
		{head: "CALLS", sort: 'C', min: 5, rank: 1, right: true, cell: func(r *toolRow, _ int) []span { return callsCell(r) }},
		num("ERR", 'R', 4, 2, inkError, func(r *toolRow) Text { return r.number(func(t *store.ToolStats) uint64 { return t.Calls.Failed }) }),
		num("OPEN", 0, 4, 9, inkPending, func(r *toolRow) Text { return r.number(func(t *store.ToolStats) uint64 { return t.Calls.Pending }) }),
		num("P50", 'P', 6, 4, inkText, took(func(r *toolRow) time.Duration { return r.p50 })),
		num("P95", 0, 6, 7, inkText, took(func(r *toolRow) time.Duration { return r.p95 })),
		num("P99", 0, 6, 10, inkText, took(func(r *toolRow) time.Duration { return r.p99 })),
		num("MAX", 'M', 6, 12, inkText, took(func(r *toolRow) time.Duration { return r.stats.Longest })),
		num("DEF", 'D', 8, 5, inkText, func(r *toolRow) Text {
			if r.def == nil {
				return ""
			}
			return size(r.def.Bytes)
		}),
		num("RESULT", 'U', 8, 6, inkText, func(r *toolRow) Text {
			if r.stats == nil || r.stats.ResultMax == 0 {
				return ""
			}
			return size(r.stats.ResultMax)
		}),
		num("TRIPS", 'I', 5, 8, inkText, func(r *toolRow) Text { return r.number(func(t *store.ToolStats) uint64 { return uint64(t.Trips) }) }),
		{head: "SCHEMA", sort: 'H', min: 9, want: 18, grow: 2, rank: 3, cell: func(r *toolRow, _ int) []span { return schemaCell(d, r) }},
	}
}

// number is a number of the calls, "" for none.
func (r *toolRow) number(f func(*store.ToolStats) uint64) Text {
	if r.stats == nil || f(r.stats) == 0 {
		return ""
	}
	return shortCount(f(r.stats))
}

func callsCell(r *toolRow) []span {
	if r.stats == nil {
		return []span{{"never", inkWarn}}
	}
	return []span{{shortCount(r.stats.Calls.Total), inkText}}
}

// schemaCell is the most notable flaw of the definition; a + says that there
// are more kinds.
func schemaCell(d *dress, r *toolRow) []span {
	switch {
	case r.def == nil && r.listed:
		return []span{{"not listed", inkWarn}}
	case r.def == nil:
		return []span{{d.g.dot, inkDim}}
	case len(r.schema) == 0:
		return []span{{d.g.ok, inkOK}}
	}
	t := r.schema[0].word()
	if len(r.schema) > 1 {
		t += " +"
	}
	return []span{{d.safe(t), inkWarn}}
}

func (p *toolsPage) head(w int) line { return p.titles(p.columns(), w) }
func (p *toolsPage) row(i int) line  { return row(&p.m.d, p.cols, p.rows[i]) }

func (p *toolsPage) fields(i int) []field { return fieldsOf(p.columns(), p.rows[i]) }

func (p *toolsPage) sort(letter byte) (Text, bool) {
	return p.order(p.columns(), letter, "CRPMDUIH")
}
