package tui

import (
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// sessionRow is what the list of sessions shows of one.
type sessionRow struct {
	s *store.Session

	id, name, client, server, revision, origin string

	sum      *store.Summary
	warnings int // -1 where nobody judges
	drift    int
	live     bool
	age      time.Duration
	spark    []uint32
	marked   bool
}

// newSessionRow reads a session; it does no work proportional to its frames.
func newSessionRow(src Source, s *store.Session, now time.Time) sessionRow {
	sum := s.Summary()
	r := sessionRow{s: s, id: s.ID, name: sum.Label, origin: s.Origin, sum: sum, live: live(src, s, now), warnings: -1, drift: -1}
	if r.name == "" {
		r.name = s.ID
	}
	if !sum.Started.IsZero() {
		r.age = now.Sub(sum.Started)
	}
	for _, c := range sum.Clients {
		r.client = joinNew(r.client, version(c.Client, c.ClientVersion))
		r.server = joinNew(r.server, version(c.Server, c.ServerVersion))
		if c.Revision > r.revision {
			r.revision = c.Revision
		}
	}
	return r
}

func version(name, v string) string {
	if v == "" {
		return name
	}
	return name + " " + v
}

func joinNew(list, s string) string {
	switch {
	case list == "":
		return s
	case s == "" || strings.Contains(list, s) || len(list) > 200:
		return list
	}
	return list + ", " + s
}

// activity counts the frames of a session in n equal parts of its time, by
// looking for the borders: the frames are in the order of time.
func activity(s *store.Session, n int) []uint32 {
	total := s.Len()
	if total == 0 {
		return nil
	}
	first, last := s.Frame(0).TS, s.Frame(total-1).TS
	out := make([]uint32, n)
	if last <= first {
		out[0] = total
		return out
	}
	at := uint32(0)
	for i := range n {
		end := total
		if i < n-1 {
			end = searchTime(s, at, total, first+(last-first)/int64(n)*int64(i+1))
		}
		out[i] = end - at
		at = end
	}
	return out
}

// searchTime finds the first frame in [lo, hi) that is not before ts.
func searchTime(s *store.Session, lo, hi uint32, ts int64) uint32 {
	for lo < hi {
		mid := lo + (hi-lo)/2
		if s.Frame(mid).TS < ts {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// sparkline draws counts; nothing at all is a blank.
func sparkline(g *glyphs, counts []uint32) Text {
	top := uint32(1)
	for _, c := range counts {
		top = max(top, c)
	}
	out := Text("")
	for _, c := range counts {
		if c == 0 {
			out += " "
			continue
		}
		out += g.spark[uint64(c)*7/uint64(top)]
	}
	return out
}

// ending says in a word or two how a session stands, with its sign.
func ending(d *dress, r *sessionRow) span {
	end := &r.sum.End
	switch {
	case !r.sum.Ended && r.sum.Torn:
		return span{d.g.gone + " cut off", inkWarn}
	case !r.sum.Ended && r.sum.Filtered:
		return span{d.g.ended + " copy", inkDim}
	case !r.sum.Ended && r.live:
		return span{d.g.live + " live", inkOK}
	case !r.sum.Ended:
		return span{d.g.gone + " no end", inkWarn}
	case end.Signal != "":
		return span{d.g.bad + " " + d.safe(end.Signal), inkError}
	case end.ExitCode != nil && *end.ExitCode != 0:
		return span{d.g.bad + " exit " + count(*end.ExitCode), inkError}
	case end.ExitCode != nil:
		return span{d.g.ended + " exit 0", inkDim}
	case end.Reason != "":
		return span{d.g.ended + " " + d.safe(end.Reason), inkDim}
	}
	return span{d.g.ended + " ended", inkDim}
}

// sessionColumns is the table of sessions.
func sessionColumns(d *dress) []column[*sessionRow] {
	text := func(i ink, t Text) []span { return []span{{t, i}} }
	number := func(i ink, n uint64) []span {
		if n == 0 {
			return text(inkDim, d.g.dot)
		}
		return text(i, shortCount(n))
	}
	optional := func(i ink, n int) []span {
		if n < 0 {
			return text(inkDim, d.g.dot)
		}
		return number(i, uint64(n))
	}
	return []column[*sessionRow]{
		{head: "NAME", sort: 'M', min: 12, want: 18, grow: 3, rank: 0, cell: func(r *sessionRow, _ int) []span { return nameCell(d, r) }},
		{head: "CLIENT", sort: 'C', min: 13, want: 18, grow: 2, rank: 7, cell: func(r *sessionRow, _ int) []span { return text(inkText, d.safe(r.client)) }},
		{head: "SERVER", sort: 'S', min: 14, want: 20, grow: 2, rank: 10, cell: func(r *sessionRow, _ int) []span { return text(inkText, d.safe(r.server)) }},
		{head: "REVISION", sort: 'V', min: 10, rank: 11, cell: func(r *sessionRow, _ int) []span { return text(inkDim, d.safe(r.revision)) }},
		{head: "CALLS", sort: 'L', min: 5, rank: 4, right: true, cell: func(r *sessionRow, _ int) []span { return number(inkText, r.sum.Calls.Total) }},
		{head: "ERR", sort: 'R', min: 5, rank: 2, right: true, cell: func(r *sessionRow, _ int) []span { return number(inkError, r.sum.Calls.Failed) }},
		{head: "OPEN", sort: 'P', min: 5, rank: 3, right: true, cell: func(r *sessionRow, _ int) []span { return openCell(d, r) }},
		{head: "WARN", sort: 'W', min: 5, rank: 8, right: true, cell: func(r *sessionRow, _ int) []span { return optional(inkWarn, r.warnings) }},
		{head: "DRIFT", sort: 'D', min: 5, rank: 9, right: true, cell: func(r *sessionRow, _ int) []span { return optional(inkWarn, r.drift) }},
		{head: "ACTIVITY", sort: 'Y', min: 8, rank: 6, cell: func(r *sessionRow, _ int) []span { return text(inkIn, sparkline(d.g, r.spark)) }},
		{head: "STATE", sort: 'T', min: 9, want: 12, rank: 1, cell: func(r *sessionRow, _ int) []span { return []span{ending(d, r)} }},
		{head: "AGE", sort: 'A', min: 4, rank: 5, right: true, cell: func(r *sessionRow, _ int) []span { return text(inkDim, ageCell(d, r)) }},
		{head: "SIZE", sort: 'Z', min: 8, rank: 12, right: true, cell: func(r *sessionRow, _ int) []span { return text(inkDim, size(r.sum.Size)) }},
		{head: "ORIGIN", sort: 'O', min: 8, want: 12, grow: 1, rank: 13, cell: func(r *sessionRow, _ int) []span { return text(inkDim, origin(d, r)) }},
	}
}

// nameCell is the label with the end of the id, by which sessions of one
// server are told apart.
func nameCell(d *dress, r *sessionRow) []span {
	out := []span{{d.safe(r.name), inkStrong}}
	if n := len(r.id); n > 4 && r.id != r.name {
		out = append(out, span{" " + d.safe(r.id[n-4:]), inkDim})
	}
	return out
}

func ageCell(d *dress, r *sessionRow) Text {
	if r.sum.Started.IsZero() {
		return d.g.dot
	}
	return age(r.age)
}

// openCell marks calls without an answer: they wait, or nobody will answer them.
func openCell(d *dress, r *sessionRow) []span {
	switch n := r.sum.Calls.Pending; {
	case n == 0:
		return []span{{d.g.dot, inkDim}}
	case r.live:
		return []span{{d.g.open + shortCount(n), inkPending}}
	default:
		return []span{{d.g.gone + shortCount(n), inkWarn}}
	}
}

func origin(d *dress, r *sessionRow) Text {
	if r.origin == "" {
		if r.sum.Transport == capture.HTTP {
			return "local http"
		}
		return "local"
	}
	return d.safe(r.origin)
}
