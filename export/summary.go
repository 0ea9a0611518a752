package export

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// slowest is how many calls the summary names.
const slowest = 10

// toolStats is what became of all calls of one tool.
type toolStats struct {
	name          string
	calls, errors int
	pending       int
	trips         int // of the longest chain
	result, most  int64
	took          []time.Duration
}

// timed is a call that ended, for the list of the slowest.
type timed struct {
	s    *Session
	o    *store.Operation
	took time.Duration
}

// summary writes totals over all sessions.
func (d *document) summary() {
	var total store.Counts
	var missing uint64
	tools := map[string]*toolStats{}
	var slow []timed
	for _, s := range d.sessions {
		c := s.counts()
		missing += s.Summary().Missing
		total = store.Counts{Total: total.Total + c.Total, OK: total.OK + c.OK, Failed: total.Failed + c.Failed, Cancelled: total.Cancelled + c.Cancelled, Pending: total.Pending + c.Pending}
		slow = tally(s, tools, slow)
	}
	d.member("summary")
	d.open("{")
	d.num("missing_frames", int64(missing))
	d.counts(total)
	d.list("tools", func() {
		for _, t := range byName(tools) {
			d.line()
			d.tool(t)
		}
	})
	d.list("slowest", func() {
		for _, t := range slow {
			d.line()
			d.call(t.s, t.o, false)
		}
	})
	d.definitions()
	d.close("}")
}

// tally counts the calls of tools, and keeps the slowest ones in order.
func tally(s *Session, tools map[string]*toolStats, slow []timed) []timed {
	for i := range s.OpLen() {
		o := s.Op(i)
		if s.OpMethod(o) != mcp.ToolsCall || !s.hasOp(i) {
			continue
		}
		name := s.OpName(o)
		t := tools[name]
		if t == nil {
			t = &toolStats{name: name}
			tools[name] = t
		}
		if t.count(s, o) {
			slow = insertSlow(slow, timed{s, o, time.Duration(o.Finish - o.Start)})
		}
	}
	return slow
}

// count counts a call in, and reports whether it has an answer in time.
func (t *toolStats) count(s *Session, o *store.Operation) bool {
	t.calls++
	t.trips = max(t.trips, o.Trip())
	if a, ok := o.Answer(); ok {
		size := int64(s.Frame(a).Size)
		t.result += size
		t.most = max(t.most, size)
	}
	switch o.State {
	case store.Pending:
		t.pending++
		return false
	case store.Cancelled:
		return false
	case store.Failed:
		t.errors++
	case store.OK:
	}
	t.took = append(t.took, time.Duration(o.Finish-o.Start))
	return true
}

func insertSlow(slow []timed, t timed) []timed {
	if len(slow) >= slowest && t.took <= slow[len(slow)-1].took {
		return slow
	}
	at, _ := slices.BinarySearchFunc(slow, t.took, func(x timed, d time.Duration) int {
		if x.took >= d {
			return -1 // behind the earlier ones
		}
		return 1
	})
	slow = slices.Insert(slow, at, t)
	return slow[:min(len(slow), slowest)]
}

func byName(tools map[string]*toolStats) []*toolStats {
	var list []*toolStats
	for _, t := range tools {
		slices.Sort(t.took)
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *toolStats) int { return strings.Compare(a.name, b.name) })
	return list
}

func (d *document) tool(t *toolStats) {
	d.open("{")
	d.text("name", t.name)
	d.num("calls", int64(t.calls))
	d.num("errors", int64(t.errors))
	d.numIf("pending", int64(t.pending))
	if len(t.took) > 0 {
		d.millis("p50_ms", percentile(t.took, 50))
		d.millis("p95_ms", percentile(t.took, 95))
		d.millis("p99_ms", percentile(t.took, 99))
		d.millis("max_ms", t.took[len(t.took)-1])
	}
	d.num("max_round_trips", int64(t.trips))
	d.num("result_bytes", t.result)
	d.num("max_result_bytes", t.most)
	d.close("}")
}

// percentile is the nearest-rank percentile of sorted durations.
func percentile(sorted []time.Duration, p int) time.Duration {
	rank := (p*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}

// definition is one tool as its server lists it.
type definition struct {
	store.Definition
	s        *Session
	listed   bool // its size is known
	findings []*checks.Finding
}

// definitions writes what the lists of tools weigh before anything is called,
// the heaviest first, and what was found in them.
func (d *document) definitions() {
	var all []*definition
	pages, bytes, listed := 0, 0, 0
	for _, s := range d.sessions {
		mine := map[string]*definition{}
		if l, ok := s.Summary().Listing(mcp.ToolsList); ok {
			pages += l.Pages
			bytes += l.Bytes
			listed += l.Entries
			for _, def := range l.Tools {
				one := &definition{Definition: def, s: s, listed: true}
				mine[def.Name] = one
				all = append(all, one)
			}
		}
		for _, f := range s.Findings {
			if f.Method != mcp.ToolsList || f.Tool == "" || !s.hasFinding(f) {
				continue
			}
			one := mine[f.Tool]
			if one == nil { // of a list that was not read to its end
				one = &definition{Definition: store.Definition{Name: f.Tool, Frame: f.Frame}, s: s}
				mine[f.Tool] = one
				all = append(all, one)
			}
			one.findings = append(one.findings, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *definition) int { return cmp.Compare(b.Bytes, a.Bytes) })
	d.member("definitions")
	d.open("{")
	d.num("tools", int64(listed))
	d.num("pages", int64(pages))
	d.num("total_bytes", int64(bytes))
	d.list("per_tool", func() {
		for _, one := range all {
			d.line()
			d.definition(one)
		}
	})
	d.close("}")
}

func (d *document) definition(one *definition) {
	d.open("{")
	d.of(one.s)
	d.text("name", one.Name)
	if one.Frame < one.s.Len() {
		d.num("seq", int64(one.s.Frame(one.Frame).Seq))
	}
	if one.listed {
		d.num("bytes", int64(one.Bytes))
		d.num("description_bytes", int64(one.Description))
		d.num("schema_bytes", int64(one.Schemas))
	}
	d.list("findings", func() {
		for _, f := range one.findings {
			d.open("{")
			d.text("rule", f.Rule.ID)
			d.text("signal", string(f.Signal))
			d.textIf("path", f.Path)
			d.num("count", int64(f.Count))
			d.text("message", f.Message)
			d.close("}")
		}
	})
	d.close("}")
}
