package tui

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// diffRow is one difference between two sessions. Strings are wire text.
type diffRow struct {
	sign       diffSign
	name       string // of a tool, prompt, resource
	more       string // arguments of a call
	what, path string // what differs, and where in it
	was, is    string
	paces      []diffPace
	changes    []checks.Change
	extra      int // changes that are not among them
	regression bool
	at         [2]int64  // frames in both sessions, -1 for none
	filter     [2]string // that shows what the row counts, where it counts
}

// diffSign is the kind of a difference.
type diffSign uint8

const (
	diffChanged diffSign = iota
	diffAdded
	diffRemoved
	diffSame
)

// diffSection is a kind of differences.
type diffSection struct {
	name   Text
	note   Text // beside the count
	rows   []*diffRow
	folded bool
}

// diffResult is what a comparison found.
type diffResult struct {
	sections    []*diffSection
	matched     int
	regressions int
	differences int
	uncompared  []string
	skipped     int
	took        time.Duration
}

// compareTwo compares two sessions as the command does. It reads bodies
// and takes its time; step is told how far it is, and ends it.
func compareTwo(src Source, a, b *store.Session, step func(done, total int) bool) *diffResult {
	start := time.Now()
	body := store.NewBodyFunc(src.Bodies())
	sides := [2]checks.DiffSide{{Session: a, Body: body}, {Session: b, Body: body}}
	for i := range sides {
		sides[i].Definitions = checks.ListedDefinitions(sides[i].Session, body)
	}
	d := checks.Compare(sides[0], sides[1], checks.DiffOptions{Threshold: checks.DiffThreshold, Ratio: checks.DiffRatio, Step: step})
	if d.Stopped {
		return nil
	}
	out := &diffResult{matched: d.Matched, regressions: d.Regressions, uncompared: d.Uncompared, skipped: d.Skipped}
	out.definitions(d, sides)
	out.calls(d, a, b)
	out.alone(d)
	for _, s := range out.sections {
		out.differences += len(s.rows)
	}
	out.latency(a, b)
	out.took = time.Since(start)
	return out
}

// add adds a section that has rows.
func (r *diffResult) add(name Text, rows []*diffRow) *diffSection {
	s := &diffSection{name: name, rows: rows}
	if len(rows) > 0 {
		r.sections = append(r.sections, s)
	}
	return s
}

var definitionKinds = [...]struct {
	kind string
	name Text
}{{"tools", "Tools"}, {"prompts", "Prompts"}, {"resources", "Resources"}, {"resourceTemplates", "Resource templates"}}

// definitions are what the servers offer, field by field.
func (r *diffResult) definitions(d *checks.Diff, sides [2]checks.DiffSide) {
	for _, k := range definitionKinds {
		at := [2]int64{-1, -1}
		for i := range sides {
			if frame, ok := sides[i].Definitions.At(k.kind); ok {
				at[i] = int64(frame)
			}
		}
		var rows []*diffRow
		for i := range d.Definitions {
			c := &d.Definitions[i]
			if c.Kind != k.kind {
				continue
			}
			row := &diffRow{name: c.Name, what: c.What, changes: c.Changes, regression: c.Regression, at: at}
			switch c.What {
			case "added":
				row.sign, row.at[0] = diffAdded, -1
				row.is = sides[1].Definitions.Kinds[k.kind][c.Name]["description"]
			case "removed":
				row.sign, row.at[1] = diffRemoved, -1
				row.was = sides[0].Definitions.Kinds[k.kind][c.Name]["description"]
			default:
				row.first()
			}
			rows = append(rows, row)
		}
		r.add(k.name, rows)
	}
}

// first shows the first of the changes in the row itself.
func (r *diffRow) first() {
	if len(r.changes) == 0 {
		return
	}
	c := r.changes[0]
	r.path, r.was, r.is = c.Path, c.Old, c.New
	if n := len(r.changes) - 1 + r.extra; n > 0 {
		r.path += " +" + strconv.Itoa(n)
	}
}

// diffPace is one measure of how long the calls of a tool take.
type diffPace struct{ name, was, is Text }

// calls are those that both sessions have, in what order ever.
func (r *diffResult) calls(d *checks.Diff, a, b *store.Session) {
	var status, pace, answers []*diffRow
	for i := range d.Calls {
		c := &d.Calls[i]
		row := &diffRow{
			name: c.Tool, more: c.Arguments, what: c.What, was: c.A, is: c.B, changes: c.Changes, extra: c.More,
			regression: c.Regression, at: [2]int64{frameOf(a, c.SeqA), frameOf(b, c.SeqB)},
		}
		switch c.What {
		case "status":
			status = append(status, row)
		case "answer":
			row.first()
			answers = append(answers, row)
		default:
			pace = append(pace, row)
		}
	}
	r.add("Calls that end otherwise", status)
	r.add("Calls that take longer or shorter", pace)
	s := r.add("Answers that differ", answers)
	if d.Skipped > 0 {
		s.note = plural(d.Skipped, "call was", "calls were") + " not compared: too many differ"
	}
}

// frameOf is the frame with a number, -1 when there is none.
func frameOf(s *store.Session, seq uint64) int64 {
	if i, ok := searchSeq(s, seq); ok {
		return int64(i)
	}
	return -1
}

// alone are the calls that one session has and the other has not.
func (r *diffResult) alone(d *checks.Diff) {
	var rows []*diffRow
	for side, n := range []map[string]int{d.OnlyA, d.OnlyB} {
		for _, tool := range slices.Sorted(maps.Keys(n)) {
			row := &diffRow{name: tool, at: [2]int64{-1, -1}}
			row.filter[side] = `tool:="` + tool + `"`
			calls := string(plural(n[tool], "call", "calls"))
			if side == 0 {
				row.sign, row.what, row.was = diffRemoved, "only before", calls
			} else {
				row.sign, row.what, row.is = diffAdded, "only after", calls
			}
			rows = append(rows, row)
		}
	}
	r.add("Calls in one of them alone", rows)
}

// latency is how long the tools took that both sessions called, the one that
// got slower most first. It is no difference that counts: few calls vary.
func (r *diffResult) latency(a, b *store.Session) {
	before := map[string]*store.ToolStats{}
	for _, t := range a.Tools() {
		before[t.Name] = t
	}
	type timed struct {
		row *diffRow
		by  float64
	}
	var list []timed
	for _, now := range b.Tools() {
		was := before[now.Name]
		if was == nil || was.Ended == 0 || now.Ended == 0 {
			continue
		}
		row := &diffRow{sign: diffSame, name: now.Name, what: "p50", was: string(duration(was.Quantile(0.5))), is: string(duration(now.Quantile(0.5)))}
		row.paces = []diffPace{
			{"calls", count(was.Ended), count(now.Ended)},
			{"p50", duration(was.Quantile(0.5)), duration(now.Quantile(0.5))},
			{"p95", duration(was.Quantile(0.95)), duration(now.Quantile(0.95))},
			{"longest", duration(was.Longest), duration(now.Longest)},
		}
		row.at = [2]int64{int64(a.Op(was.Slowest).Request), int64(b.Op(now.Slowest).Request)}
		list = append(list, timed{row, float64(now.Quantile(0.5)+1) / float64(was.Quantile(0.5)+1)})
	}
	slices.SortStableFunc(list, func(x, y timed) int { return cmp.Compare(y.by, x.by) })
	var rows []*diffRow
	for _, t := range list {
		rows = append(rows, t.row)
	}
	r.add("How long the tools take", rows)
}
