package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

func writeStats(w io.Writer, list []*labelStats) error {
	out := bufio.NewWriter(w)
	table := [][]string{{"LABEL", "SESSIONS", "FRAMES", "CALLS", "ERRORS", "CANCELLED", "PENDING", "SIZE", "LAST"}}
	for _, l := range list {
		table = append(table, []string{
			safe(l.Label), fmt.Sprint(l.Sessions), fmt.Sprint(l.Frames), fmt.Sprint(l.Calls.Total), fmt.Sprint(l.Calls.Failed),
			fmt.Sprint(l.Calls.Cancelled), fmt.Sprint(l.Calls.Pending), roundSize(l.Size), startText(&l.Last),
		})
	}
	writeTable(out, table, 1, 8)
	return out.Flush()
}

func writeToolStats(w io.Writer, list []*labelStats) error {
	out := bufio.NewWriter(w)
	table := [][]string{{"LABEL", "TOOL", "SESSIONS", "CALLS", "ERRORS", "P50", "P95", "MAX", "RESULTS", "DEFINITION"}}
	for _, l := range list {
		for _, name := range slices.Sorted(maps.Keys(l.tools)) {
			t := l.tools[name]
			sum := store.SumTools(t.parts...)
			table = append(table, []string{
				safe(l.Label), safe(name), fmt.Sprint(t.listed), fmt.Sprint(sum.Calls.Total), fmt.Sprint(sum.Calls.Failed),
				timeText(sum, sum.Quantile(0.5)), timeText(sum, sum.Quantile(0.95)), timeText(sum, sum.Longest),
				roundSize(int64(sum.ResultBytes)), roundSize(int64(t.definition)),
			})
		}
	}
	writeTable(out, table, 2, 10)
	return out.Flush()
}

// timeText is a duration; "-" when no call has ended.
func timeText(t *store.ToolStats, d time.Duration) string {
	if t.Ended == 0 {
		return "-"
	}
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// The statistics for programs. Members are added, never renamed or removed.
type (
	statsJSON struct {
		Version  int              `json:"version"`
		Sessions int              `json:"sessions"`
		Frames   uint64           `json:"frames"`
		Size     int64            `json:"size"`
		Calls    countsJSON       `json:"calls"`
		Labels   []labelStatsJSON `json:"labels"`
		Tools    []toolStatsJSON  `json:"tools,omitempty"`
	}
	countsJSON struct {
		Total     uint64 `json:"total"`
		OK        uint64 `json:"ok"`
		Error     uint64 `json:"error"`
		Cancelled uint64 `json:"cancelled"`
		Pending   uint64 `json:"pending"`
	}
	labelStatsJSON struct {
		Label    string     `json:"label"`
		Sessions int        `json:"sessions"`
		Frames   uint64     `json:"frames"`
		Size     int64      `json:"size"`
		Calls    countsJSON `json:"calls"`
		First    time.Time  `json:"first"`
		Last     time.Time  `json:"last"`
	}
	toolStatsJSON struct {
		Label       string     `json:"label"`
		Tool        string     `json:"tool"`
		Sessions    int        `json:"sessions"`
		Calls       countsJSON `json:"calls"`
		P50         float64    `json:"p50_ms"`
		P95         float64    `json:"p95_ms"`
		P99         float64    `json:"p99_ms"`
		Max         float64    `json:"max_ms"`
		ResultBytes uint64     `json:"result_bytes"`
		ResultMax   uint32     `json:"result_max_bytes"`
		Definition  int        `json:"definition_bytes"`
	}
)

func countsOf(c *store.Counts) countsJSON {
	return countsJSON{c.Total, c.OK, c.Failed, c.Cancelled, c.Pending}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func writeStatsJSON(w io.Writer, list []*labelStats, tools bool) error {
	out := statsJSON{Version: 1, Labels: []labelStatsJSON{}}
	var total store.Counts
	for _, l := range list {
		out.Sessions += l.Sessions
		out.Frames += l.Frames
		out.Size += l.Size
		total.Add(&l.Calls)
		out.Labels = append(out.Labels, labelStatsJSON{l.Label, l.Sessions, l.Frames, l.Size, countsOf(&l.Calls), l.First, l.Last})
		for _, name := range slices.Sorted(maps.Keys(l.tools)) {
			if !tools {
				break
			}
			t := l.tools[name]
			sum := store.SumTools(t.parts...)
			out.Tools = append(out.Tools, toolStatsJSON{
				l.Label, name, t.listed, countsOf(&sum.Calls), millis(sum.Quantile(0.5)), millis(sum.Quantile(0.95)), millis(sum.Quantile(0.99)),
				millis(sum.Longest), sum.ResultBytes, sum.ResultMax, t.definition,
			})
		}
	}
	out.Calls = countsOf(&total)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(out)
}
