package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// mergedView says which frames of several sessions are shown: all by time,
// those that a filter lets through, or one of these sorted.
type mergedView struct {
	m        *Model
	sessions []*store.Session
	text     string // the filter as it was typed
	query    *store.Query
	rows     *store.Merged
	running  *store.Merged // the one that is being advanced beside Update
	matched  uint64        // version of the sessions that was matched to the end
	held     bool
	folds    bool // of a run of like notifications only the first one is shown

	by      byte // sorted by this column, 0 for the order of time
	down    bool
	order   []store.Match
	sorting resorter
	buf     []store.Match
}

// look turns to other sessions, under the filter that there is.
func (v *mergedView) look(sessions []*store.Session) {
	v.sessions = sessions
	rows := store.NewMerged(sessions, v.query, v.m.src.Bodies())
	rows.Hold(v.held)
	v.turn(rows)
}

// turn takes other rows in the place of those it has.
func (v *mergedView) turn(rows *store.Merged) {
	v.giveUp(v.rows)
	v.rows, v.matched = rows, 0
	v.order, v.sorting.last = nil, time.Time{}
}

// giveUp closes rows, or leaves that to the work that still uses them.
func (v *mergedView) giveUp(rows *store.Merged) {
	if rows != nil && rows != v.running {
		rows.Close()
	}
}

func (v *mergedView) close() {
	v.giveUp(v.rows)
	v.rows = nil
}

// filter shows what text lets through; the mistake is returned when there is one.
func (v *mergedView) filter(text string) *store.QueryError {
	q, wrong := compileFilter(text, v.m.now())
	if wrong != nil {
		return wrong
	}
	v.text, v.query = text, q
	if q.All() {
		v.text, v.query = "", nil
	}
	if v.folds {
		q = foldRuns(text, q, v.m.now())
		v.query = q
	}
	v.turn(v.rows.Refine(q))
	return nil
}

// compileFilter compiles a filter of the user.
func compileFilter(text string, now time.Time) (*store.Query, *store.QueryError) {
	q, err := store.Compile(text, now)
	if err == nil {
		return q, nil
	}
	if qe := (*store.QueryError)(nil); errors.As(err, &qe) {
		return nil, qe
	}
	return nil, &store.QueryError{Column: 1, Msg: err.Error()}
}

// restore goes back to a filter that was in force before, or to none.
func (v *mergedView) restore(text string) {
	if v.filter(text) != nil && text != "" {
		v.restore("") // it no longer compiles
	}
}

// advance goes on with what takes longer than a redraw may.
func (v *mergedView) advance() tea.Cmd { return tea.Batch(v.match(), v.resort()) }

// version changes with every session.
func (v *mergedView) version() uint64 {
	sum := uint64(1)
	for _, s := range v.sessions {
		sum += s.Version()
	}
	return sum
}

// match lets the filter look at frames, step by step beside Update.
func (v *mergedView) match() tea.Cmd {
	if v.query == nil || v.running != nil || v.matched == v.version() {
		return nil
	}
	rows, version := v.rows, v.version()
	v.running = rows
	return v.m.work(func(ctx context.Context) done {
		p, err := rows.Advance(ctx, step)
		return func(m *Model) tea.Cmd {
			v.running = nil
			if v.rows != rows {
				rows.Close() // it was given up meanwhile
				return v.match()
			}
			if err == nil && !p.More {
				v.matched = version
			}
			return m.top().refresh()
		}
	})
}

// progress says how far the filter is, and whether it still works.
func (v *mergedView) progress() (store.Progress, bool) {
	if v.query == nil {
		return store.Progress{}, false
	}
	p := v.rows.Progress()
	return p, p.More || v.matched == 0
}

// hold keeps what comes from now on out of the list, or lets it in.
func (v *mergedView) hold(on bool) {
	v.held = on
	v.rows.Hold(on)
}

func (v *mergedView) len() int {
	if v.order != nil {
		return len(v.order)
	}
	return v.rows.Len()
}

// window are n rows from row on. The slice is used again.
func (v *mergedView) window(row, n int) []store.Match {
	if v.order != nil {
		row = min(max(row, 0), len(v.order))
		return v.order[row:min(row+max(n, 0), len(v.order))]
	}
	v.buf = v.rows.Rows(v.buf[:0], row, n)
	return v.buf
}

// at is the frame of a row.
func (v *mergedView) at(row int) (store.Match, bool) {
	if w := v.window(row, 1); len(w) > 0 {
		return w[0], true
	}
	return store.Match{}, false
}

// rank is the row of a frame; of one that is not shown, where it would stand.
func (v *mergedView) rank(x store.Match) (row int, found bool) {
	if v.order != nil {
		i := slices.Index(v.order, x)
		return max(i, 0), i >= 0
	}
	return v.rows.Rank(x)
}

// reader gives rows as they stand now to one goroutine beside Update, which
// closes it.
func (v *mergedView) reader() (read func(row, n int) []store.Match, closes func()) {
	order := v.order
	if order != nil {
		return func(row, n int) []store.Match { return order[row:min(row+n, len(order))] }, func() {}
	}
	rows := v.rows.Refine(v.query)
	return func(row, n int) []store.Match { return rows.Rows(nil, row, n) }, rows.Close
}

// sortBy sorts by a column; the order of time comes back with 0.
func (v *mergedView) sortBy(letter byte, down bool) {
	v.by, v.down, v.sorting.last = letter, down, time.Time{}
	if letter == 0 {
		v.order = nil
	}
}

// resort makes the order anew when there is more to sort.
func (v *mergedView) resort() tea.Cmd {
	if v.by == 0 || v.sorting.busy {
		return nil
	}
	want := v.rows.Len()
	if !v.sorting.last.IsZero() && len(v.order) == want {
		return nil
	}
	return v.sorting.run(v.m, func() (sort func(), take func() bool) {
		rows, by, down := v.rows, v.by, v.down
		own := v.rows.Refine(v.query)
		var order []store.Match
		sort = func() {
			defer own.Close()
			order = sortMatches(own.Rows(nil, 0, want), by, down)
		}
		take = func() bool {
			if v.rows != rows || v.by != by || v.down != down {
				return false
			}
			v.order = order
			return true
		}
		return sort, take
	}, v.resort)
}

// sortMatches sorts frames of several sessions by a column, equal ones by time.
func sortMatches(list []store.Match, by byte, down bool) []store.Match {
	sortByKey(list, down, func(i int, x store.Match) (int64, string) {
		switch by {
		case 'O':
			return 0, x.Session.Summary().Label + x.Session.ID
		case 'T':
			return int64(i), ""
		}
		return sortKey(x.Session, x.Frame, by)
	})
	return list
}
