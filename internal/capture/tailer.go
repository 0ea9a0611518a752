package capture

import "context"

// Tailer follows one session's log. It has no goroutine and watches nothing:
// its owner calls Poll when a nudge came or a tick is due. One goroutine uses it.
type Tailer struct{}

// TailOptions say where to start and how much to read at once. The zero value
// reads from the beginning.
type TailOptions struct {
	From   Pos // go on here
	Budget int // bytes a Poll reads at most, about; 0 means 4 MiB
}

// NewTailer follows the log whose first segment is at path, which need not
// exist yet.
func NewTailer(fsys FS, path string, opts TailOptions) *Tailer { panic("TODO") }

// Poll reads what has come, up to the budget, and calls emit for each item.
// n counts the items, more says that there is more to read at once. An error
// of the file system leaves the Tailer as it was: the next Poll tries again.
// An error of emit or ctx ends Poll behind the item that met it.
func (t *Tailer) Poll(ctx context.Context, emit func(*Item) error) (n int, more bool, err error) {
	panic("TODO")
}

// Pos is behind the last whole line that was read.
func (t *Tailer) Pos() Pos { panic("TODO") }

// Pending is the length of the unfinished line behind Pos that waits for its
// end: a log that stands still with one is torn.
func (t *Tailer) Pending() int { panic("TODO") }

// Close closes the file.
func (t *Tailer) Close() error { panic("TODO") }
