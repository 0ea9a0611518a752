package tui

import (
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// A call that reports its progress a thousand times, or a server that logs
// without end, hides all the rest. Runs of notifications of one method and one
// call can be folded into their first row, which says how many there are.

// fold folds runs, or unfolds them.
func (v *frameView) fold(on bool) {
	v.folds = on
	v.restore(v.text)
}

func (v *mergedView) fold(on bool) {
	v.folds = on
	v.restore(v.text)
}

// foldRuns narrows a filter to the frames that are not folded away.
func foldRuns(text string, q *store.Query, now time.Time) *store.Query {
	both := "NOT kind:repeat"
	if !q.All() {
		both = "(" + text + ") " + both
	}
	if narrow, err := store.Compile(both, now); err == nil {
		return narrow
	}
	return q
}

// maxRun is how far a run is counted.
const maxRun = 100_000

// runAfter is how many frames are folded into the row of a frame.
func runAfter(s *store.Session, frame uint32) int {
	n, end := 0, min(s.Len(), frame+maxRun)
	for i := frame + 1; i < end && s.Frame(i).Has(store.Repeat); i++ {
		n++
	}
	return n
}

func foldNote(on bool) Text {
	if on {
		return "runs of like notifications are folded into their first row; z unfolds them"
	}
	return "every frame has its row again"
}

// floodFrom is from how many repeats on the line below the title says that
// they can be folded.
const floodFrom = 20

// flood says that repeats are folded, or that there are many.
func flood(d *dress, repeats uint64, folded bool) line {
	switch {
	case repeats == 0 || !folded && repeats < floodFrom:
		return line{}
	case folded:
		return of(span{" " + d.g.dot + " ", inkDim}, span{d.g.folded + " " + plural(repeats, "repeat", "repeats") + " folded", inkNote})
	}
	return of(span{" " + d.g.dot + " " + plural(repeats, "repeat", "repeats") + ", ", inkDim}, span{"z", inkKey}, span{" folds them", inkDim})
}
