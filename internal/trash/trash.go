package trash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// What stands in the way of a log.
var (
	ErrRuns   = errors.New("it is still written to")
	ErrExists = errors.New("a file of this name is there already")
	ErrGone   = errors.New("its files are no longer there")
)

// Bin moves logs between two folders of this machine.
type Bin struct {
	FS    capture.FS
	Logs  string // where logs are found
	Trash string // where they are put; made when it is needed
}

// Moved is a log that was moved aside.
type Moved struct {
	Path  string // where its first segment was
	Size  int64
	files []string // base names, in the order of the segments
}

// Runs reports whether somebody writes one of the files of a log.
func Runs(l capture.Log) bool {
	return slices.ContainsFunc(l.Segments, func(s capture.Segment) bool { return capture.Locked(s.Path) })
}

// Put moves the log whose first segment is at path aside.
func (b *Bin) Put(path string) (Moved, error) {
	if filepath.Dir(path) != filepath.Clean(b.Logs) {
		return Moved{}, fmt.Errorf("delete %s: it is not among the saved sessions in %s", path, b.Logs)
	}
	log, err := capture.Locate(b.FS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Moved{}, fmt.Errorf("delete %s: %w", path, ErrGone)
	}
	if err != nil {
		return Moved{}, fmt.Errorf("delete %s: %w", path, err)
	}
	if Runs(log) {
		return Moved{}, fmt.Errorf("delete %s: %w", path, ErrRuns)
	}
	if err := os.MkdirAll(b.Trash, 0o700); err != nil {
		return Moved{}, fmt.Errorf("make the trash: %w", err)
	}
	m := Moved{Path: path, Size: log.Size, files: b.filesOf(log)}
	if err := b.move(m.files, b.Logs, b.Trash); err != nil {
		return Moved{}, fmt.Errorf("delete %s: %w", path, err)
	}
	return m, nil
}

// Back moves a log back.
func (b *Bin) Back(m Moved) error {
	if err := b.move(m.files, b.Trash, b.Logs); err != nil {
		return fmt.Errorf("bring %s back: %w", m.Path, err)
	}
	return nil
}

// filesOf are the names of all files of a log: of a segment that was being
// compressed there are two.
func (b *Bin) filesOf(log capture.Log) []string {
	var out []string
	for _, s := range log.Segments {
		out = append(out, filepath.Base(s.Path))
		if packed := s.Path + ".zst"; !s.Zstd {
			if info, err := b.FS.Stat(packed); err == nil && info.Mode().IsRegular() {
				out = append(out, filepath.Base(packed))
			}
		}
	}
	return out
}

// move moves files from one folder to another, or none of them: the first
// name is what a log is found by, so it leaves last and comes back first.
func (b *Bin) move(names []string, from, to string) error {
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(from, name)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", name, ErrGone)
		}
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
			return fmt.Errorf("%s: %w in %s", name, ErrExists, to)
		}
	}
	order := slices.Clone(names)
	if to == b.Trash {
		slices.Reverse(order)
	}
	for i, name := range order {
		err := os.Rename(filepath.Join(from, name), filepath.Join(to, name))
		if err == nil {
			continue
		}
		for _, done := range order[:i] { // as it was
			err = errors.Join(err, os.Rename(filepath.Join(to, done), filepath.Join(from, done)))
		}
		return err
	}
	return nil
}
