package capture

import (
	"errors"
	"fmt"
	"io"
)

// Window reads bytes of a segment as they stand there (decompressed), from off
// on, into buf, and returns how many there were: for walking over many records
// with few reads. The log is that of Read.
func (b *Bodies) Window(path string, segment int, off int64, buf []byte) (int, error) {
	f := b.acquire(bodyKey{path, segment})
	defer b.release(f)
	if f.err != nil {
		b.drop(f)
		return 0, f.err
	}
	n, err := f.at.ReadAt(buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		b.drop(f)
		return n, fmt.Errorf("read %s: %w", path, err)
	}
	return n, nil
}

// ParseLine reads frame sub of a line in whatever format it is, as Read does.
func ParseLine(line []byte, sub int, rec *Record) error { return parseAny(line, sub, rec) }

// Lines reads lines as ParseLine does, one after the other, and keeps what
// repeats on the lines of a session. The zero value is ready; one goroutine
// uses it.
type Lines struct{ in interned }

// Parse reads frame sub of a line.
func (l *Lines) Parse(line []byte, sub int, rec *Record) error {
	if sub == 0 && parseRecord(line, rec, &l.in) == nil && rec.Direction != DirUnknown && (rec.SessionID != "" || rec.Seq > 0 || !rec.TS.IsZero()) {
		return nil
	}
	return parseAny(line, sub, rec)
}
