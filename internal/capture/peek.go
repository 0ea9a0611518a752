package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Head reads the first record of a log: the meta record, where the log has one.
func Head(fsys FS, log Log) (Record, error) {
	log.Segments = log.Segments[:min(1, len(log.Segments))]
	r, err := OpenLog(fsys, log)
	if err != nil {
		return Record{}, err
	}
	defer r.Close()
	var it Item
	for {
		if err := r.Next(&it); errors.Is(err, io.EOF) {
			return Record{}, ErrEmpty
		} else if err != nil {
			return Record{}, err
		}
		if it.Problem == nil {
			return it.Record.Clone(), nil
		}
	}
}

// Last reads the last whole record of a log from its end: the end record when
// the session is over. Only a compressed log has to be read as a whole.
func Last(fsys FS, log Log) (Record, error) {
	for i := len(log.Segments) - 1; i >= 0; i-- {
		rec, err := lastOf(fsys, log, log.Segments[i])
		if !errors.Is(err, ErrEmpty) {
			return rec, err
		}
	}
	return Record{}, ErrEmpty
}

func lastOf(fsys FS, log Log, s Segment) (Record, error) {
	if s.Zstd {
		log.Segments = []Segment{s}
		return lastByReading(fsys, log)
	}
	f, err := fsys.Open(s.Path)
	if err != nil {
		return Record{}, fmt.Errorf("read the end of the log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Record{}, fmt.Errorf("read the end of the log: %w", err)
	}
	return lastIn(f, info.Size(), log.ID)
}

// lastIn looks for the last record in longer and longer ends of a file.
func lastIn(f File, size int64, name string) (Record, error) {
	for n := int64(64 << 10); ; n *= 8 {
		n = min(n, size)
		buf := make([]byte, n)
		if _, err := f.ReadAt(buf, size-n); err != nil && !errors.Is(err, io.EOF) {
			return Record{}, fmt.Errorf("read the end of the log: %w", err)
		}
		if n < size { // begin behind a line feed
			buf = buf[bytes.IndexByte(buf, '\n')+1:]
		}
		if rec, ok := lastRecord(buf, name); ok {
			return rec, nil
		}
		if n == size || n > MaxLine {
			return Record{}, ErrEmpty
		}
	}
}

// lastRecord walks back over the lines of b.
func lastRecord(b []byte, name string) (Record, bool) {
	for len(b) > 0 {
		k := bytes.LastIndexByte(b, '\n')
		d := decoder{name: name}
		var it Item
		ok, err := d.decode(sourceLine{b: b[k+1:], size: int64(len(b) - k - 1)}, true, &it)
		if err == nil && ok {
			best := it
			for d.queued(&it) {
				if it.Problem == nil {
					best = it
				}
			}
			if best.Problem == nil {
				return best.Record.Clone(), true
			}
		}
		b = b[:max(0, k)]
	}
	return Record{}, false
}

func lastByReading(fsys FS, log Log) (Record, error) {
	r, err := OpenLog(fsys, log)
	if err != nil {
		return Record{}, err
	}
	defer r.Close()
	var it Item
	var last Record
	found := false
	for {
		err := r.Next(&it)
		switch {
		case errors.Is(err, io.EOF) && found:
			return last, nil
		case errors.Is(err, io.EOF):
			return last, ErrEmpty
		case err != nil:
			return last, err
		case it.Problem == nil:
			raw := append(last.Raw[:0], it.Record.Raw...)
			last, found = it.Record, true
			if last.Raw != nil {
				last.Raw = raw
			}
		}
	}
}

// Clone gives a copy of r that owns its Raw. Other fields are shared: nothing
// changes them once a record has been read.
func (r *Record) Clone() Record {
	c := *r
	c.Raw = bytes.Clone(r.Raw)
	return c
}
