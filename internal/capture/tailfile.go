package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// prepare looks at the path before reading: opens the file when there is one,
// and notices when it is another one, or has been cut.
func (t *Tailer) prepare(emit func(*Item) error) error {
	if t.finished || t.unpacker != nil || t.stale {
		return nil
	}
	name := SegmentPath(t.path, t.segment)
	info, err := t.fs.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.file != nil:
		t.stale = true
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return t.openPacked(name, emit)
	case err != nil:
		return fmt.Errorf("look at the log: %w", err)
	}
	if t.file == nil {
		return t.open(name, info, emit)
	}
	changed := info.Size() != t.size || info.ModTime().UnixNano() != t.mod
	t.size, t.mod = info.Size(), info.ModTime().UnixNano()
	same, known := sameFile(t.opened, info)
	if !changed && same || !changed && !known {
		return nil
	}
	if !t.verified {
		if err := t.verify(Truncated, emit); err != nil {
			return err
		}
	}
	t.stale = t.file != nil && !same && t.turns < maxTurns
	return nil
}

// maxTurns bounds how often a Poll opens the log anew: where the identity of
// files is never the same twice, it would not end.
const maxTurns = 2

// open opens the segment and finds its place in it again.
func (t *Tailer) open(name string, info fs.FileInfo, emit func(*Item) error) error {
	f, err := t.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone between the two calls: the next poll sees it
	}
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	var head [len(zstdMagic)]byte
	if n, _ := f.ReadAt(head[:], 0); string(head[:n]) == zstdMagic {
		return t.unpack(f)
	}
	t.file, t.opened, t.size, t.mod = f, info, info.Size(), info.ModTime().UnixNano()
	wasGone := t.gone
	t.gone = false
	if t.from != (Pos{}) {
		if err := t.resume(f, info.Size()); err != nil {
			return t.failed(err)
		}
	}
	kind := Replaced
	if wasGone {
		kind = 0 // said already
	}
	return t.verify(kind, emit)
}

// resume begins at the place where an earlier reader ended, if the log is still
// the same there.
func (t *Tailer) resume(f File, size int64) error {
	from := t.from
	t.from = Pos{}
	if from.Offset <= 0 || from.Offset > size {
		return nil
	}
	var before [1]byte
	if _, err := f.ReadAt(before[:], from.Offset-1); err != nil && !errors.Is(err, io.EOF) {
		t.from = from
		return fmt.Errorf("read the log: %w", err)
	}
	it := Item{}
	head := NewReader(io.NewSectionReader(f, 0, size), t.dec.name)
	for it.Record.SessionID == "" && head.Next(&it) == nil {
	}
	if from.Session != "" && from.Session != it.Record.SessionID || before[0] != '\n' && before[0] != '}' {
		return nil
	}
	t.lines.reset(from.Offset)
	t.dec.format, t.lines.strict = head.dec.format, false
	t.uncount, t.first = from.Offset, it.Record.SessionID
	return nil
}

// verify compares the last bytes that were read with what stands there now. If
// they differ, reading begins again: behind the last whole line, when that one
// is still there, else at the start of the file. kind is what to report then.
func (t *Tailer) verify(kind ProblemKind, emit func(*Item) error) error {
	t.verified = true
	s := &t.lines
	ok, err := t.stands(s.readOffset(), s.known(s.end))
	if err != nil || ok {
		return err
	}
	ok, err = t.stands(s.off-s.skipped, s.known(s.start))
	if err != nil {
		return err
	}
	if ok && s.skipped == 0 { // an unfinished line was taken back
		s.unread()
		return nil
	}
	lost := s.pending()
	if t.alien {
		lost = 0
	}
	t.restart()
	return t.notice(kind, lost, emit)
}

// stands reports whether b stands in the file before offset end.
func (t *Tailer) stands(end int64, b []byte) (bool, error) {
	info, err := t.file.Stat()
	if err != nil {
		return false, t.failed(fmt.Errorf("read the log: %w", err))
	}
	if end > info.Size() {
		return false, nil
	}
	have := make([]byte, len(b))
	n, err := t.file.ReadAt(have, end-int64(len(b)))
	if err != nil && !errors.Is(err, io.EOF) {
		return false, t.failed(fmt.Errorf("read the log: %w", err))
	}
	return n == len(b) && bytes.Equal(have, b), nil
}

// restart reads the file from its start, and gives what was not given before.
func (t *Tailer) restart() {
	t.lines.reset(0)
	t.lines.strict = true
	t.dec.forget()
	t.dec.startSegment(t.segment)
	t.again, t.alien, t.uncount, t.base, t.first, t.tried = true, false, 0, 0, "", 0
}

// notice reports what happened to the log. lost is how much of an unfinished
// line went with it.
func (t *Tailer) notice(kind ProblemKind, lost int64, emit func(*Item) error) error {
	if kind == 0 {
		return nil
	}
	p := &Problem{Kind: kind, Segment: t.segment, Length: lost}
	if lost > 0 {
		p.Err = fmt.Errorf("%d bytes of an unfinished line are lost", lost)
	}
	t.item = Item{Problem: p, Ref: Ref{Segment: t.segment}}
	return emit(&t.item)
}

// openPacked takes the compressed segment, where there is one.
func (t *Tailer) openPacked(name string, emit func(*Item) error) error {
	f, err := t.fs.Open(name + zstdExt)
	switch {
	case err == nil:
		return t.unpack(f)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open the log: %w", err)
	case t.from != (Pos{}) && t.segment > 1: // not the log that it was
		t.from, t.segment = Pos{}, 1
		t.dec.startSegment(1)
		return t.prepare(emit)
	case t.gone || t.lines.readOffset() == 0:
		return nil
	}
	t.gone = true
	return t.notice(Deleted, 0, emit)
}

// unpack reads a compressed segment: a finished one, which does not change.
func (t *Tailer) unpack(f File) error {
	d, err := newUnpacker(f)
	if err != nil {
		f.Close()
		return err
	}
	t.file, t.unpacker = f, d
	skip := t.lines.readOffset()
	if t.from != (Pos{}) {
		skip, t.from = t.from.Offset, Pos{}
		t.lines.reset(skip)
	}
	if _, err := io.CopyN(io.Discard, d, skip); err != nil {
		if !errors.Is(err, io.EOF) {
			return t.failed(fmt.Errorf("decompress the log: %w", err))
		}
		_ = t.shut()
		t.finished = true // shorter than what was read: nothing new in it
	}
	return nil
}

// turn is called when there is nothing more to read now. It reports whether
// there is another file to read.
func (t *Tailer) turn(emit func(*Item) error) (bool, error) {
	if t.stale {
		return true, t.leave()
	}
	if t.unpacker != nil {
		t.finished = true
		_ = t.shut()
	}
	if t.file == nil && !t.finished {
		return false, nil
	}
	next, err := statSegment(t.fs, t.path, t.segment+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, t.whole(emit)
	case err != nil:
		return false, fmt.Errorf("look for the next segment: %w", err)
	}
	if !t.finished { // what was written before the next segment began
		if err := t.drain(emit); err != nil || t.stale {
			return true, err
		}
	}
	if t.lines.pending() > 0 {
		if err := t.take(t.lines.rest(), true, emit); err != nil {
			return false, err
		}
	}
	t.segment = next.Number
	_ = t.shut()
	t.finished, t.gone, t.first, t.uncount, t.base, t.tried = false, false, "", 0, 0, 0
	t.lines.reset(0)
	t.dec.startSegment(t.segment)
	return true, nil
}

// leave closes a file that was renamed or deleted, once it is read to its end.
// When it was compressed meanwhile, all of it is known.
func (t *Tailer) leave() error {
	_ = t.shut()
	t.turns++
	name := SegmentPath(t.path, t.segment)
	if _, err := t.fs.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if _, err := t.fs.Stat(name + zstdExt); err == nil {
			t.finished = true
		}
	}
	t.verified = false
	return nil
}

// whole takes a last line that lacks its line feed, when it is a record and
// has stood still for a whole poll.
func (t *Tailer) whole(emit func(*Item) error) error {
	s := &t.lines
	n := s.end - s.start
	if n == 0 || s.skipped > 0 || t.still != s.readOffset() || t.tried == s.readOffset() {
		return nil
	}
	t.tried = s.readOffset()
	b := bytes.TrimRight(s.buf[s.start:s.end], "\r")
	if len(b) == 0 || b[len(b)-1] != '}' {
		return nil
	}
	if whole := wire.Check(b) == nil; !whole {
		return nil
	}
	err := t.take(s.rest(), true, emit)
	t.dec.line-- // its line feed is still to come
	return err
}

// countLines counts the lines before the place where reading began.
func (t *Tailer) countLines() {
	if t.uncount == 0 || t.file == nil || t.unpacker != nil {
		return
	}
	buf := make([]byte, lineBuffer)
	r := io.NewSectionReader(t.file, 0, t.uncount)
	t.uncount = 0
	for {
		n, err := r.Read(buf)
		t.base += bytes.Count(buf[:n], []byte{'\n'})
		if err != nil {
			return
		}
	}
}

func trimLogExt(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, zstdExt), logExt)
}
