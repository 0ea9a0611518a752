package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/mcpsnoop/mcpsnoop/internal/stream"
)

var errNotExist = fs.ErrNotExist

func newestFirst(files []stream.File) {
	slices.SortStableFunc(files, func(a, b stream.File) int { return cmp.Compare(b.MTime, a.MTime) })
}

// Mirror keeps copies of the logs of a far end in Dir/sessions. A copy is
// only ever added to: what was replaced, or is shorter than before, is moved to
// Dir/replaced first. Nothing is deleted, also not what is gone at the far end.
type Mirror struct {
	Dir   string
	Notes func(string) // what the user should know, in the order it happens

	copied atomic.Int64 // bytes, since the start
	files  atomic.Int64 // files that were looked at
}

// Copied is how many bytes have come since the start, and how many files were
// compared.
func (m *Mirror) Copied() (bytes, files int64) { return m.copied.Load(), m.files.Load() }

// Folders in the folder of a mirror.
const (
	sessionsDir = "sessions"
	replacedDir = "replaced"
)

// ErrBusy says that another process keeps the mirror.
var ErrBusy = errors.New("another mcpsnoop remote keeps this mirror already")

// Lock takes the mirror for this process. Where another one keeps it, that is
// ErrBusy, and what it copies can be looked at all the same.
func (m *Mirror) Lock() (unlock func(), err error) {
	for _, dir := range []string{sessionsDir, replacedDir} {
		if err := os.MkdirAll(filepath.Join(m.Dir, dir), 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of the mirror: %w", err)
		}
	}
	lock := flock.New(filepath.Join(m.Dir, ".lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the mirror: %w", err)
	}
	if !ok {
		return nil, ErrBusy
	}
	return func() { _ = lock.Close() }, nil // it ends with the process at the latest
}

func (m *Mirror) note(format string, args ...any) {
	if m.Notes != nil {
		m.Notes(fmt.Sprintf(format, args...))
	}
}

// Sync copies what is new of some files. A file that vanishes meanwhile is no
// error.
func (m *Mirror) Sync(ctx context.Context, far Far, files []stream.File) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !stream.ValidName(f.Name) {
			continue
		}
		m.files.Add(1)
		err := m.one(ctx, far, f)
		var said stream.FarError
		if errors.As(err, &said) { // one that cannot be read must not hide the others
			m.note("%s: %v", f.Name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", f.Name, err)
		}
	}
	return nil
}

// one brings the copy of a file up to date.
func (m *Mirror) one(ctx context.Context, far Far, f stream.File) error {
	path := filepath.Join(m.Dir, sessionsDir, f.Name)
	for range 3 { // a log may be replaced while it is copied
		why := "was replaced at the far end"
		info, err := os.Lstat(path)
		switch {
		case err == nil && !info.Mode().IsRegular():
			return fmt.Errorf("%s is no file", path)
		case err == nil && info.Size() == f.Size && info.ModTime().UnixNano() == f.MTime:
			return nil
		case err == nil && info.Size() > f.Size:
			why = "is shorter than before at the far end"
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		err = m.extend(ctx, far, f, path)
		switch {
		case errors.Is(err, stream.ErrMoved):
			if err := m.keepAside(f.Name, why); err != nil {
				return err
			}
		case errors.Is(err, stream.ErrGone):
			return nil
		default:
			return err
		}
	}
	return nil // the next change brings it here again
}

// extend adds to a copy what the far end has more, after a check that the copy
// is the begin of what is there.
func (m *Mirror) extend(ctx context.Context, far Far, f stream.File, path string) (err error) {
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	info, err := out.Stat()
	if err != nil {
		return err
	}
	at := info.Size()
	for range 2 { // the second time, for what was replaced while it was copied
		check := ""
		if at > 0 {
			if check, err = stream.Digest(out, at); err != nil {
				return err
			}
		}
		n, err := far.Copy(ctx, f.Name, at, max(f.Size, at), check, func(p []byte) error {
			n, err := out.Write(p)
			m.copied.Add(int64(n))
			return err
		})
		at += n
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	if at == f.Size && tells(f.MTime) { // a mark that it is whole, for the next start
		_ = os.Chtimes(path, time.Time{}, time.Unix(0, f.MTime))
	}
	return nil
}

// tells reports whether a time of change tells one state of a file from the
// next: SFTP gives whole seconds, in which much may happen.
func tells(mtime int64) bool {
	const enough = time.Minute
	return mtime%int64(time.Second) != 0 || time.Since(time.Unix(0, mtime)) > enough
}

// keepAside moves a copy that is no longer the begin of what the far end has.
func (m *Mirror) keepAside(name, why string) error {
	base, ext := name, ""
	if i := strings.Index(name, ".jsonl"); i >= 0 {
		base, ext = name[:i], name[i:]
	}
	for n := 1; ; n++ {
		to := filepath.Join(m.Dir, replacedDir, fmt.Sprintf("%s.%d%s", base, n, ext))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.Rename(filepath.Join(m.Dir, sessionsDir, name), to); err != nil {
			return fmt.Errorf("keep the old copy: %w", err)
		}
		m.note("%s %s; the old copy is kept as %s", name, why, to)
		return nil
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
