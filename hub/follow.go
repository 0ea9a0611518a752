package hub

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// How much of a log is read in one turn, in bytes: little enough that logs
// that grow do not wait for history.
const turnBudget = 1 << 20

// settleAfter is how long a log has to stand still until its file is closed,
// and until half a line at its end counts as torn.
const settleAfter = 5 * time.Second

// follow is one log of a folder. Its first block belongs to the agenda, the
// second to the scanning goroutine, the third to whoever has its turn.
type follow struct {
	found           time.Time // its modification time when it was found
	urgency         urgency
	turn            uint64
	queued, running bool
	again, dropped  bool

	log     capture.Log // as it was listed last; guarded by Directory.mu
	missing int         // scans that did not list it
	goneAt  time.Time
	nudged  bool // an event came since the last scan
	probed  time.Time
	retry   bool // guarded by Directory.mu: the last turn failed

	intake *Intake
	tailer *capture.Tailer
	shown  bool // from its ends
	torn   bool

	read     atomic.Int64 // bytes that count for the progress
	loaded   atomic.Bool
	live     atomic.Bool
	settled  atomic.Bool // the tailer rests
	lastRead atomic.Int64
}

// take reads what there is of the log, at most turnBudget, and reports whether
// there is more.
func (f *follow) take(ctx context.Context, fsys capture.FS, log capture.Log, now time.Time) (more bool, err error) {
	if f.tailer == nil {
		f.tailer = capture.NewTailer(fsys, log.Path, capture.TailOptions{Name: log.ID, Budget: turnBudget})
	}
	f.settled.Store(false)
	n, more, err := f.tailer.Poll(ctx, f.intake.Take)
	if n > 0 {
		f.lastRead.Store(now.UnixNano())
		f.torn = false
	}
	f.read.Store(f.position(log))
	if !more && err == nil {
		f.loaded.Store(true)
		f.read.Store(log.Size)
		f.intake.Loaded(true)
		f.settle(log, now)
	}
	f.intake.Publish()
	if err != nil {
		err = fmt.Errorf("read %s: %w", log.Path, err)
	}
	return more, err
}

// position is how many bytes of the log have been read, as far as segments
// that are not compressed tell.
func (f *follow) position(log capture.Log) int64 {
	pos := f.tailer.Pos()
	n := int64(0)
	for _, s := range log.Segments {
		switch {
		case s.Number < pos.Segment:
			n += s.Size
		case s.Number == pos.Segment && !s.Zstd:
			n += min(pos.Offset, s.Size)
		}
	}
	return n
}

// settle closes the file of a log that stands still, and says when it ends in
// half a line.
func (f *follow) settle(log capture.Log, now time.Time) {
	if now.Sub(log.ModTime) < settleAfter || now.Sub(time.Unix(0, f.lastRead.Load())) < settleAfter && !log.ModTime.Before(now.Add(-time.Minute)) {
		return
	}
	if f.tailer.Pending() > 0 {
		if !f.torn {
			f.torn = true
			pos := f.tailer.Pos()
			f.intake.problem(&capture.Item{Problem: &capture.Problem{
				Kind: capture.Torn, Segment: pos.Segment, Offset: pos.Offset, Length: f.tailer.Pending(),
			}})
		}
	}
	f.tailer.Close()
	f.settled.Store(true)
}

func (f *follow) release() {
	if f.tailer != nil {
		f.tailer.Close()
	}
}

// preview shows the log from its ends.
func (f *follow) preview(fsys capture.FS, log capture.Log) error {
	first, err := capture.Head(fsys, log)
	if err != nil {
		return err
	}
	if first.SessionID == "" {
		first.SessionID = log.ID
	}
	if first.Label == "" {
		first.Label = log.Label
	}
	var last *capture.Record
	if n := len(log.Segments); n > 0 && !log.Segments[n-1].Zstd {
		if rec, err := capture.Last(fsys, log); err == nil {
			last = &rec
		}
	}
	f.intake.Preview(&first, last, log.Size)
	f.intake.Publish()
	return nil
}
