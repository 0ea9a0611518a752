package capture

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

// DefaultBudget is what a Poll reads at most unless told otherwise, in bytes.
const DefaultBudget = 4 << 20

// errBudget ends a Poll that has read enough.
var errBudget = errors.New("the budget of the poll is used up")

// Tailer follows one session's log. It has no goroutine and watches nothing:
// its owner calls Poll when a nudge came or a tick is due. One goroutine uses it.
//
// What it trusts is the stat of the path and the bytes of the file: before it
// reads on, the last bytes that it has read must still stand where they stood.
// When they do not, the log was truncated or replaced: that is reported, and
// what stands there is read from its start, records that were given before
// (same session id and seq; same line, where there is no seq) left out. A file
// that was renamed or deleted is read to its end first.
type Tailer struct {
	fs     FS
	path   string
	budget int

	lines   lineSource
	dec     decoder
	seen    seenSet
	again   bool // something is read that may have been read before
	item    Item
	from    Pos    // where to start; zero once that is done
	uncount int64  // bytes before the start, while their lines are not counted
	base    int    // lines before the start, once counted
	first   string // id of the first session in the segment

	segment  int
	file     File
	opened   fs.FileInfo   // of the path when file was opened
	unpacker *zstd.Decoder // when the segment is compressed
	size     int64         // at the last stat
	mod      int64         // modification time at the last stat, in Unix nanoseconds
	stale    bool          // the path leads elsewhere: read file to its end, then look again
	finished bool          // nothing more will come in this segment
	gone     bool          // the deletion was reported
	still    int64         // read offset when the last poll ended
	tried    int64         // read offset where an unended line was found to be no record
	left     int           // of the budget
	ctx      context.Context
	verified bool // in this poll
	turns    int  // in this poll: how often the file was opened anew
	alien    bool // no session log
}

// TailOptions say where to start and how much to read at once. The zero value
// reads from the beginning.
type TailOptions struct {
	Name   string // session id for formats that have none; "" means the file's name
	From   Pos    // go on here, when the log is still the same
	Budget int    // bytes a Poll reads at most, about; 0 means DefaultBudget
}

// NewTailer follows the log whose first segment is at path, which need not
// exist yet. Started with From, a tape is numbered anew from there.
func NewTailer(fsys FS, path string, opts TailOptions) *Tailer {
	if opts.Name == "" {
		_, opts.Name = split(path)
		opts.Name = trimLogExt(opts.Name)
	}
	if opts.Budget <= 0 {
		opts.Budget = DefaultBudget
	}
	t := &Tailer{fs: fsys, path: path, budget: opts.Budget, from: opts.From, segment: max(1, opts.From.Segment)}
	t.dec.name = opts.Name
	t.lines = lineSource{src: tailSource{t}, max: MaxLine, strict: true}
	t.dec.startSegment(t.segment)
	return t
}

// Poll reads what has come, up to the budget, and calls emit for each item.
// n counts the items, more says that there is more to read at once. A log that
// is not there (yet, or any more) is no error. An error of the file system
// leaves the Tailer as it was: the next Poll tries again. An error of emit or
// of ctx ends Poll; it goes on behind the item that met it.
func (t *Tailer) Poll(ctx context.Context, emit func(*Item) error) (n int, more bool, err error) {
	t.left, t.ctx, t.verified, t.turns = t.budget, ctx, false, 0
	count := func(it *Item) error {
		n++
		return emit(it)
	}
	for {
		if err = t.drain(count); err != nil {
			break
		}
		var again bool
		if again, err = t.turn(count); err != nil || !again {
			break
		}
	}
	t.ctx = nil
	if err == nil {
		t.lines.shrink()
	}
	t.still = t.lines.readOffset()
	if errors.Is(err, errBudget) {
		return n, true, nil
	}
	return n, false, err
}

// drain gives what can be read of the open file. It ends with errUnended
// turned to nil when there is nothing more now.
func (t *Tailer) drain(emit func(*Item) error) error {
	if err := t.give(nil, emit); err != nil { // left from a poll that emit ended
		return err
	}
	if err := t.prepare(emit); err != nil || t.file == nil {
		return err
	}
	switch {
	case t.alien && t.stale: // nothing to read in the old file
		return nil
	case t.alien:
		return ErrNotLog
	}
	for {
		l, err := t.lines.next()
		if errors.Is(err, errUnended) {
			return nil
		}
		if err != nil {
			return t.failed(err)
		}
		if err := t.take(l, false, emit); err != nil {
			return err
		}
	}
}

// failed sorts out why reading ended.
func (t *Tailer) failed(err error) error {
	switch {
	case errors.Is(err, ErrNotLog):
		t.alien = true
	case errors.Is(err, errBudget), t.ctx.Err() != nil:
	default:
		_ = t.shut() // open it again: NFS handles go stale, disks come back
	}
	return err
}

// take decodes a line and gives its items.
func (t *Tailer) take(l sourceLine, last bool, emit func(*Item) error) error {
	unnumbered := t.dec.format == nil || !t.dec.format.numbered
	if unnumbered && len(l.b) > 0 && t.seen.line(l.b) && t.again {
		t.dec.line++
		return nil
	}
	ok, err := t.dec.decode(l, last, &t.item)
	if err != nil {
		return t.failed(err)
	}
	t.lines.strict = t.dec.format == nil
	if !ok {
		return t.give(nil, emit)
	}
	if !unnumbered && t.item.Problem == nil && t.item.Record.Seq == 0 && t.seen.line(l.b) && t.again {
		return nil
	}
	return t.give(&t.item, emit)
}

// give emits an item and what is queued behind it.
func (t *Tailer) give(it *Item, emit func(*Item) error) error {
	for {
		if it == nil {
			if !t.dec.queued(&t.item) {
				return nil
			}
			it = &t.item
		}
		if !t.known(it) {
			if err := emit(it); err != nil {
				return err
			}
		}
		it = nil
	}
}

// known notes an item, and reports whether it was given before.
func (t *Tailer) known(it *Item) bool {
	if it.Problem != nil {
		t.countLines()
		it.Line += t.base
		it.Problem.Line += t.base
		return false
	}
	it.Line += t.base
	if t.first == "" {
		t.first = it.Record.SessionID
	}
	if it.Record.Seq == 0 || t.dec.format != nil && !t.dec.format.numbered {
		return false
	}
	return t.seen.record(it.Record.SessionID, it.Record.Seq) && t.again
}

// Pos is behind the last whole line that was read.
func (t *Tailer) Pos() Pos {
	if t.from != (Pos{}) {
		return t.from
	}
	return Pos{Session: t.first, Segment: t.segment, Offset: t.lines.readOffset() - t.lines.pending()}
}

// Pending is the length of the unfinished line behind Pos that waits for its
// end, in bytes: a log that stands still with one is torn.
func (t *Tailer) Pending() int64 { return t.lines.pending() }

// Format names the format of the log, once a line has been read.
func (t *Tailer) Format() string {
	if t.dec.format == nil {
		return ""
	}
	return t.dec.format.name
}

// Close closes the file.
func (t *Tailer) Close() error { return t.shut() }

func (t *Tailer) shut() error {
	if t.unpacker != nil {
		t.unpacker.Close()
		t.unpacker = nil
	}
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file, t.stale = nil, false
	return f.Close()
}

// tailSource reads on in the file behind what the lines hold.
type tailSource struct{ t *Tailer }

func (s tailSource) Read(p []byte) (int, error) {
	t := s.t
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	if t.left <= 0 {
		return 0, errBudget
	}
	p = p[:min(len(p), max(t.left, 512))]
	var n int
	var err error
	if t.unpacker != nil {
		n, err = t.unpacker.Read(p)
	} else {
		n, err = t.file.ReadAt(p, t.lines.readOffset())
	}
	t.left -= n
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
