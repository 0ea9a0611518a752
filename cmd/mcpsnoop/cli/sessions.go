package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type sessionsOptions struct {
	Format *choice
	Where  string
}

func newSessionsCmd(app *App) *cobra.Command {
	o := &sessionsOptions{Format: newChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "sessions [flags]",
		Short: "List the saved sessions, newest first",
		Example: `  mcpsnoop sessions --format json | jq '.sessions[0].id'
  mcpsnoop sessions --where 'tool:read status:err'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSessions(cmd.Context(), app, o)
		},
	}
	cmd.Flags().Var(o.Format, "format", "how to list them")
	cmd.Flags().StringVar(&o.Where, "where", "", "only those with a frame that matches this `FILTER`")
	return cmd
}

// sessionRow is a session in the list. Its JSON is a contract.
type sessionRow struct {
	ID        string     `json:"id"`
	Label     string     `json:"label"`
	Path      string     `json:"path"`
	Transport string     `json:"transport"`
	Started   *time.Time `json:"started"`
	Ended     *time.Time `json:"ended"`
	Frames    uint64     `json:"frames"`
	Calls     uint64     `json:"calls"`
	Errors    uint64     `json:"errors"`
	Pending   uint64     `json:"pending"`
	Size      int64      `json:"size"`
	Origin    string     `json:"origin"`

	running bool
}

func runSessions(ctx context.Context, app *App, o *sessionsOptions) error {
	where, err := compileWhere(app, o.Where)
	if err != nil {
		return err
	}
	logs, err := app.savedLogs()
	if err != nil {
		return err
	}
	rows, err := app.sessionRows(ctx, logs, where)
	if err != nil {
		return err
	}
	if o.Format.value == "json" {
		return writeSessionsJSON(app.Out, rows)
	}
	if len(rows) == 0 && len(logs) > 0 && !where.All() {
		app.note("no session has a frame that matches; sessions: %d", len(logs))
		return nil
	}
	if len(rows) == 0 {
		app.note("no sessions yet; record one with: mcpsnoop -- CMD")
		return nil
	}
	return writeSessionsText(app.Out, rows)
}

// sessionRows reads all logs, a few at a time. One that cannot be read is
// noted and left out: it must not hide the others.
func (a *App) sessionRows(ctx context.Context, logs []savedLog, where *store.Query) ([]sessionRow, error) {
	found := make([][]sessionRow, len(logs))
	bad := make([]error, len(logs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)/2)) // each reads with two goroutines
	for i, l := range logs {
		g.Go(func() error {
			found[i], bad[i] = a.rowsOf(ctx, l, where)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, cause(ctx, err)
	}
	var rows []sessionRow
	for i := range found {
		rows = append(rows, found[i]...)
		if bad[i] != nil && len(found[i]) == 0 {
			a.note("left out: %v", bad[i])
		}
	}
	return rows, nil
}

// rowsOf makes the rows of one log: mostly one.
func (a *App) rowsOf(ctx context.Context, l savedLog, where *store.Query) ([]sessionRow, error) {
	src := savedSource(l)
	var o loadOptions
	if !where.All() {
		gone := writerGone(src)
		o.Observer = func(string) store.Observer { return newJudge(gone, true) }
	}
	list, err := a.load(ctx, src, o)
	var rows []sessionRow
	for _, s := range list {
		if fits, bad := a.holds(ctx, s, where); bad != nil {
			return rows, bad
		} else if !fits {
			continue
		}
		sum := s.Summary()
		row := sessionRow{
			ID: s.ID, Label: sum.Label, Path: s.Path, Transport: sum.Transport.String(),
			Frames: sum.FrameTotal(), Calls: sum.Calls.Total, Errors: sum.Calls.Failed, Pending: sum.Calls.Pending,
			Size: sum.Size, Origin: l.Origin, running: !sum.Ended && l.Origin == "" && capture.Locked(lastSegment(l.Log)),
		}
		if len(list) == 1 {
			row.Size = l.Size
		}
		if !sum.Started.IsZero() {
			row.Started = &sum.Started
		}
		if sum.Ended {
			row.Ended = &sum.Newest
		}
		rows = append(rows, row)
	}
	return rows, err
}

// holds reports whether a session has a frame that matches.
func (a *App) holds(ctx context.Context, s *loadedSession, where *store.Query) (bool, error) {
	j, ok := s.Observer.(*judge)
	if !ok {
		return true, nil
	}
	j.finish(s)
	bodies := capture.NewBodies(a.FS)
	defer bodies.Close()
	c := store.NewCursor(s.Session, where, bodies)
	defer c.Close()
	p, err := c.Finish(ctx)
	return p.Matched > 0, cause(ctx, err)
}

func lastSegment(l capture.Log) string {
	if len(l.Segments) == 0 {
		return l.Path
	}
	return l.Segments[len(l.Segments)-1].Path
}

func writeSessionsJSON(w io.Writer, rows []sessionRow) error {
	if rows == nil {
		rows = []sessionRow{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Version  int          `json:"version"`
		Sessions []sessionRow `json:"sessions"`
	}{1, rows})
}

func writeSessionsText(w io.Writer, rows []sessionRow) error {
	out := bufio.NewWriter(w)
	table := [][]string{{"SESSION", "STARTED", "STATE", "FRAMES", "CALLS", "ERRORS", "PENDING", "SIZE"}}
	origin := false
	for _, r := range rows {
		origin = origin || r.Origin != ""
	}
	if origin {
		table[0] = append(table[0], "ORIGIN")
	}
	for _, r := range rows {
		cells := []string{
			safe(r.ID), startText(r.Started), r.state(), fmt.Sprint(r.Frames), fmt.Sprint(r.Calls),
			fmt.Sprint(r.Errors), fmt.Sprint(r.Pending), roundSize(r.Size),
		}
		if origin {
			cells = append(cells, safe(r.Origin))
		}
		table = append(table, cells)
	}
	writeTable(out, table, 3, 8)
	return out.Flush()
}

func startText(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

func (r *sessionRow) state() string {
	switch {
	case r.Ended != nil:
		return "ended"
	case r.running:
		return "running"
	}
	return "cut"
}

// writeTable writes rows in columns; those from right to before are numbers.
func writeTable(w io.Writer, rows [][]string, right, before int) {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range rows {
		for i, c := range r {
			switch {
			case i >= right && i < before:
				fmt.Fprintf(w, "%*s", width[i], c)
			case i == len(r)-1:
				fmt.Fprint(w, c)
			default:
				fmt.Fprintf(w, "%-*s", width[i], c)
			}
			if i < len(r)-1 {
				fmt.Fprint(w, "  ")
			}
		}
		fmt.Fprintln(w)
	}
}
