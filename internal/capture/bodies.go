package capture

import (
	"container/list"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// ErrChanged says that no record stands where one stood.
var ErrChanged = errors.New("the log has changed: no record stands there any more")

// Limits of Bodies.
const (
	maxOpenBodies = 64      // files held open
	maxTempBodies = 4       // of them, decompressed copies in temporary files
	maxTempSize   = 4 << 30 // longest segment that is decompressed, in bytes
)

// Bodies reads records again by their place. It holds a bounded number of
// files open: 64, at most 4 of them compressed segments, which are
// decompressed once into temporary files without a name. Safe for concurrent use.
type Bodies struct {
	fs FS

	mu    sync.Mutex
	files map[bodyKey]*list.Element // of *bodyFile
	order list.List                 // most recently used first
	temps int
}

// bodyKey names a segment by the path that Read was given.
type bodyKey struct {
	path    string
	segment int
}

// bodyFile is an open segment. It is closed when nobody uses it any more.
type bodyFile struct {
	key   bodyKey
	once  sync.Once // opening; err and at are set by it
	err   error
	at    io.ReaderAt
	close func() error
	temp  bool

	users int  // guarded by Bodies.mu, as gone
	gone  bool // out of the table: the last user closes it
}

// NewBodies reads logs of fsys; Close ends it.
func NewBodies(fsys FS) *Bodies { return &Bodies{fs: fsys, files: map[bodyKey]*list.Element{}} }

// Read fills rec with the record that stands at ref in the log whose first
// segment is at path (Log.Path), and returns buf, grown when needed, which
// rec.Raw aliases. What a record takes from earlier lines is zero here:
// SessionID, Label and Seq of tapes that this program did not write. When the
// log has been truncated or replaced, the error is ErrChanged or the record is
// another one: compare Seq.
func (b *Bodies) Read(path string, ref Ref, rec *Record, buf []byte) ([]byte, error) {
	if ref.Length < 0 || ref.Length > MaxLine || ref.Offset < 0 {
		return buf, fmt.Errorf("read %s: %w", path, ErrChanged)
	}
	f := b.acquire(bodyKey{path, ref.Segment})
	defer b.release(f)
	if f.err != nil {
		b.drop(f)
		return buf, f.err
	}
	if cap(buf) < ref.Length {
		buf = make([]byte, ref.Length)
	}
	buf = buf[:ref.Length]
	if _, err := f.at.ReadAt(buf, ref.Offset); errors.Is(err, io.EOF) {
		b.drop(f)
		return buf, fmt.Errorf("read %s: %w", path, ErrChanged)
	} else if err != nil {
		b.drop(f)
		return buf, fmt.Errorf("read %s: %w", path, err)
	}
	if err := parseAny(buf, ref.Sub, rec); err != nil {
		b.drop(f)
		return buf, fmt.Errorf("read %s: %w: %w", path, ErrChanged, err)
	}
	return buf, nil
}

// parseAny reads frame sub of a line, first as the format that it looks like.
func parseAny(line []byte, sub int, rec *Record) error {
	all := formats()
	slices.SortStableFunc(all, func(a, b *format) int {
		if a.begins(line) && !b.begins(line) {
			return -1
		}
		return 0
	})
	err := ErrNotRecord
	for _, f := range all {
		d := decoder{format: f}
		rest, perr := f.parse(&d, line, rec)
		switch {
		case perr != nil:
			err = perr
		case sub <= len(rest) && rec.Direction != DirUnknown:
			if sub > 0 {
				*rec = rest[sub-1]
			}
			if !f.numbered && rec.SessionID == "" {
				rec.Seq = 0
			}
			return nil
		}
	}
	return err
}

// Forget closes the files of the log at path, because it was replaced or is
// no longer shown.
func (b *Bodies) Forget(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.order.Front(); e != nil; {
		next := e.Next()
		if f := e.Value.(*bodyFile); f.key.path == path {
			b.remove(f)
		}
		e = next
	}
}

// Close closes all files; those in use, when their reader is done.
func (b *Bodies) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.order.Len() > 0 {
		b.remove(b.order.Front().Value.(*bodyFile))
	}
	return nil
}

// acquire gives the open file for key and counts its user. The file is opened
// outside the lock, by the first who wants it.
func (b *Bodies) acquire(key bodyKey) *bodyFile {
	b.mu.Lock()
	e := b.files[key]
	if e == nil {
		e = b.order.PushFront(&bodyFile{key: key})
		b.files[key] = e
		if b.order.Len() > maxOpenBodies {
			b.remove(b.order.Back().Value.(*bodyFile))
		}
	}
	b.order.MoveToFront(e)
	f := e.Value.(*bodyFile)
	f.users++
	b.mu.Unlock()
	f.once.Do(func() { b.open(f) })
	return f
}

func (b *Bodies) release(f *bodyFile) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.users--; f.users == 0 && f.gone {
		f.shut()
	}
}

// drop takes a file that failed out of the table: the next reader opens it anew.
func (b *Bodies) drop(f *bodyFile) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(f)
}

// remove takes a file out of the table. Called with the lock held.
func (b *Bodies) remove(f *bodyFile) {
	if f.gone {
		return
	}
	f.gone = true
	b.order.Remove(b.files[f.key])
	delete(b.files, f.key)
	if f.temp {
		b.temps--
	}
	if f.users == 0 {
		f.shut()
	}
}

func (f *bodyFile) shut() {
	if f.close != nil {
		_ = f.close() // opened for reading only
	}
}

// open opens a segment, decompressed when need be.
func (b *Bodies) open(f *bodyFile) {
	name := SegmentPath(f.key.path, f.key.segment)
	file, err := b.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		var zerr error
		if file, zerr = b.fs.Open(name + zstdExt); zerr == nil {
			err = nil
		}
	}
	if err != nil {
		f.err = fmt.Errorf("open the log: %w", err)
		return
	}
	var head [len(zstdMagic)]byte
	if n, _ := file.ReadAt(head[:], 0); string(head[:n]) != zstdMagic {
		f.at, f.close = file, file.Close
		return
	}
	defer file.Close()
	if f.at, f.close, err = unpack(file); err != nil {
		f.err = fmt.Errorf("decompress %s: %w", name, err)
		return
	}
	b.countTemp(f)
}

// countTemp notes that f is a decompressed copy, and drops the oldest ones.
func (b *Bodies) countTemp(f *bodyFile) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f.temp = true
	if f.gone {
		return
	}
	b.temps++
	for e := b.order.Back(); e != nil && b.temps > maxTempBodies; {
		prev := e.Prev()
		if old := e.Value.(*bodyFile); old.temp && old != f {
			b.remove(old)
		}
		e = prev
	}
}

// unpack decompresses src into a temporary file that has no name any more,
// where the system allows that.
func unpack(src io.Reader) (io.ReaderAt, func() error, error) {
	d, err := newUnpacker(src)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	temp, err := os.CreateTemp("", "mcpsnoop-segment-*")
	if err != nil {
		return nil, nil, err
	}
	done := temp.Close
	if os.Remove(temp.Name()) != nil { // Windows keeps the name while it is open
		done = func() error { return errors.Join(temp.Close(), os.Remove(temp.Name())) }
	}
	n, err := io.Copy(temp, io.LimitReader(d, maxTempSize+1))
	if err == nil && n > maxTempSize {
		err = fmt.Errorf("longer than %d bytes", int64(maxTempSize))
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return temp, done, nil
}
