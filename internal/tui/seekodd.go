package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// oddSeek looks for the next frame of a list that failed, is open or is no
// message, and past an end of the list at those from the other end on.
type oddSeek struct {
	read  func(row, n int) []store.Match // good until the next call
	start int                            // the row that is selected
	n     int                            // rows in all
	d     int                            // 1 or -1
	// waits lets the call that is open the longest go before what else stands
	// past the end: who follows is at the end, and has seen none of it.
	waits bool
}

// oddStep is how many rows are read at once.
const oddStep = 256

// next is the frame, and what to say of the way when it leads past an end.
func (o *oddSeek) next(ctx context.Context) (x store.Match, round Text, ok bool) {
	ahead, back := [2]int{o.start + 1, o.n}, [2]int{0, o.start}
	round = "none further on: from the top again"
	if o.d < 0 {
		ahead, back, round = back, ahead, "none before: from the end again"
	}
	if x, ok = o.between(ctx, ahead, isOdd); ok {
		return x, "", true
	}
	if o.waits {
		if x, ok = o.between(ctx, back, isOpenCall); ok {
			return x, "the call that waits longest", true
		}
	}
	x, ok = o.between(ctx, back, isOdd)
	return x, round, ok
}

// between looks at some rows, forwards or backwards, many with one read.
func (o *oddSeek) between(ctx context.Context, rows [2]int, wanted func(*store.Session, uint32) bool) (store.Match, bool) {
	for rows[0] < rows[1] && ctx.Err() == nil {
		lo := rows[0]
		if o.d < 0 {
			lo = max(rows[0], rows[1]-oddStep)
		}
		some := slices.Clone(o.read(lo, min(rows[1]-lo, oddStep)))
		if o.d < 0 {
			slices.Reverse(some)
			rows[1] = lo
		} else {
			rows[0] = lo + oddStep
		}
		for _, x := range some {
			if wanted(x.Session, x.Frame) {
				return x, true
			}
		}
	}
	return store.Match{}, false
}

// isOdd reports whether a frame is worth a look: a call that did not go well,
// or bytes that are none of the protocol's.
func isOdd(s *store.Session, i uint32) bool {
	f := s.Frame(i)
	if f.Kind == store.KindInvalid || f.Status >= 400 || f.Flags&(store.Late|store.Unpaired|store.Gap) != 0 {
		return true
	}
	if at, ok := f.Op(); ok && f.Kind == store.KindRequest && s.Op(at).State != store.OK {
		return true
	}
	worst, _ := (&markFindings{}).Worst(s, i)
	return worst >= LevelShould
}

// isOpenCall reports whether a frame is the request of a call without an answer.
func isOpenCall(s *store.Session, i uint32) bool {
	f := s.Frame(i)
	at, ok := f.Op()
	return ok && f.Kind == store.KindRequest && s.Op(at).State == store.Pending
}

// nextOdd looks beside Update, since that may take all rows, and then jumps.
// seeking is set meanwhile; gone reports that something else was done by then.
func (m *Model) nextOdd(o oddSeek, closes func(), seeking *bool, gone func() bool, jump func(store.Match) tea.Cmd) tea.Cmd {
	*seeking = true
	return m.work(func(ctx context.Context) done {
		defer closes()
		found, round, ok := o.next(ctx)
		return func(m *Model) tea.Cmd {
			*seeking = false
			switch {
			case gone():
				return nil
			case !ok:
				m.say(inkNote, "no other failed, open or odd frame")
				return nil
			}
			cmd := jump(found)
			if round != "" {
				m.say(inkNote, round)
			}
			return cmd
		}
	})
}
