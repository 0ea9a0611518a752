package tui

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// resorter sorts a list anew, beside Update, when there is more to sort. It
// takes a longer pause the longer it takes. The zero value is one that has not
// sorted yet.
type resorter struct {
	busy  bool
	last  time.Time     // when the order was made; zero when there is none that holds
	pause time.Duration // how long an order is kept at least
}

// run sorts, after the pause. begin says what is sorted then, beside Update, and
// how the order is put in its place, unless it is not wanted any more; then
// again has to look what is.
func (r *resorter) run(m *Model, begin func() (sort func(), take func() bool), again func() tea.Cmd) tea.Cmd {
	r.busy = true
	if early := r.pause - time.Since(r.last); early > 0 && !r.last.IsZero() {
		return m.work(func(context.Context) done {
			m.sleep(early)
			return func(*Model) tea.Cmd {
				r.busy, r.pause = false, 0
				return again()
			}
		})
	}
	sort, take := begin()
	return m.work(func(context.Context) done {
		start := time.Now()
		sort()
		took := time.Since(start)
		return func(m *Model) tea.Cmd {
			r.busy = false
			if !take() {
				return again()
			}
			r.last, r.pause = time.Now(), max(time.Second, 20*took)
			return m.top().refresh()
		}
	})
}

// sortByKey sorts in place by a number and a text, like ones as they were.
func sortByKey[T any](list []T, down bool, key func(i int, x T) (int64, string)) {
	type keyed struct {
		n int64
		t string
		x T
	}
	keys := make([]keyed, len(list))
	for i, x := range list {
		n, t := key(i, x)
		keys[i] = keyed{n, t, x}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		if down {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.t, b.t))
	})
	for i := range keys {
		list[i] = keys[i].x
	}
}
