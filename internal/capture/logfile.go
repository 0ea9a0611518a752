package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// FileOptions say where a log is written.
type FileOptions struct {
	Dir       string // sessions/ of the state folder; made with mode 0700
	SessionID string
	TraceFile string // takes the place of the file in Dir; appended to
	MaxSize   int64  // a new segment starts at this size; 0 means never
	Now       func() time.Time
	Warn      func(string)

	open func(path string) (handle, error) // nil means openLocked; for tests of full disks
}

// handle is an open log: what of *os.File a writer needs.
type handle interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
}

// checkEvery is how often the writer looks whether its file is still there.
const checkEvery = 100 * time.Millisecond

// logFile is the file that a recorder writes: it holds an advisory lock on it,
// takes whole lines only, and comes back after trouble.
type logFile struct {
	opts    FileOptions
	path    string // of the current segment
	base    string // path of the first segment, without .jsonl
	segment int

	f       handle
	size    int64 // of the file; whole lines only
	once    bool  // a file was open before: the next one needs a meta line
	checked time.Time
	giveUp  time.Time // when Close stops trying
}

func newLogFile(o FileOptions) *logFile {
	if o.open == nil {
		o.open = openLocked
	}
	path := filepath.Join(o.Dir, o.SessionID+".jsonl")
	if o.TraceFile != "" {
		path = o.TraceFile
	}
	return &logFile{opts: o, path: path, base: strings.TrimSuffix(path, ".jsonl"), segment: 1}
}

// write appends whole lines. fresh says that nothing was written because a
// new file has begun in place of one that was taken away: it needs a meta
// line first. After an error nothing of p is in the file.
func (l *logFile) write(p []byte) (fresh bool, err error) {
	l.check()
	if l.f == nil {
		if err := l.open(); err != nil {
			return false, err
		}
		if again := l.once; again {
			return true, nil
		}
		l.once = true
	}
	n, err := l.f.Write(p)
	if err == nil {
		l.size += int64(n)
		return false, nil
	}
	if n > 0 { // a line may be torn: take back what is there of p
		if terr := l.f.Truncate(l.size); terr != nil {
			l.drop()
		}
	}
	return false, fmt.Errorf("%s: %w", l.path, cause(err))
}

// cause takes the path, which the message names already, out of an error.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// check closes the file when its path leads elsewhere or nowhere, or when it
// has become shorter: the log was deleted, moved, replaced or truncated, or its
// folder is gone.
func (l *logFile) check() {
	now := l.opts.Now()
	if l.f == nil || now.Sub(l.checked) < checkEvery {
		return
	}
	l.checked = now
	have, err := l.f.Stat()
	if err != nil {
		return
	}
	named, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(have, named) || have.Size() < l.size {
		l.drop()
	}
}

func (l *logFile) drop() {
	if l.f != nil {
		_ = l.f.Close() // nothing is buffered, and the file is given up
		l.f = nil
	}
}

// open opens the log for appending. A trace file that another process holds
// is left to it: this log goes to the sessions folder.
func (l *logFile) open() error {
	err := l.openPath()
	if errors.Is(err, errLocked) && l.opts.TraceFile != "" && l.path != l.inDir() {
		held := l.path
		l.path = l.inDir()
		l.base = strings.TrimSuffix(l.path, ".jsonl")
		l.opts.Warn(fmt.Sprintf("%s is being written by another process; this session goes to %s", held, l.path))
		err = l.openPath()
	}
	return err
}

func (l *logFile) inDir() string { return filepath.Join(l.opts.Dir, l.opts.SessionID+".jsonl") }

func (l *logFile) openPath() error {
	if l.path == l.inDir() {
		if err := os.MkdirAll(l.opts.Dir, 0o700); err != nil {
			return fmt.Errorf("make the folder %s: %w", l.opts.Dir, cause(err))
		}
	}
	f, err := l.opts.open(l.path)
	if err != nil {
		return fmt.Errorf("open %s: %w", l.path, cause(err))
	}
	if err := l.adopt(f); err != nil {
		_ = f.Close() // the error below is the one that matters
		return fmt.Errorf("open %s: %w", l.path, err)
	}
	l.checked = l.opts.Now()
	return nil
}

// openLocked opens a log for appending and takes the writer's lock on it.
func openLocked(path string) (handle, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = lockSoon(f)
	}
	if err != nil {
		_ = f.Close() // the error is the one that matters
		return nil, err
	}
	return f, nil
}

// adopt makes sure that the next write starts a line.
func (l *logFile) adopt(f handle) error {
	info, err := f.Stat()
	if err != nil {
		return cause(err)
	}
	l.f, l.size = f, info.Size()
	if l.size == 0 || !info.Mode().IsRegular() {
		return nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], l.size-1); err != nil && !errors.Is(err, io.EOF) {
		l.f = nil
		return cause(err)
	}
	if last[0] != '\n' { // an earlier writer was killed inside a line
		if _, err := f.Write([]byte{'\n'}); err != nil {
			l.f = nil
			return cause(err)
		}
		l.size++
	}
	return nil
}

// lockSoon takes the lock, with a few tries: a reader that asks whether the
// log is locked holds a shared lock for a moment.
func lockSoon(f *os.File) error {
	err := lockFile(f)
	for range 3 {
		if !errors.Is(err, errLocked) {
			break
		}
		time.Sleep(2 * time.Millisecond)
		err = lockFile(f)
	}
	return err
}

// full reports whether the segment has reached its size, pending bytes included.
func (l *logFile) full(pending int) bool {
	return l.opts.MaxSize > 0 && l.f != nil && l.size+int64(pending) >= l.opts.MaxSize
}

// next starts the next segment and reports whether it could: when it cannot,
// the current one goes on.
func (l *logFile) next() bool {
	old, oldPath, oldSize := l.f, l.path, l.size
	l.path = fmt.Sprintf("%s.%04d.jsonl", l.base, l.segment+1)
	if err := l.openPath(); err != nil {
		l.f, l.path, l.size = old, oldPath, oldSize
		return false
	}
	_ = old.Close() // its lines are written; nothing is buffered
	l.segment++
	return true
}

func (l *logFile) close() { l.drop() }
