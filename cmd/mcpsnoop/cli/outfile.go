package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// output is where a command writes its result: standard output, or a file
// that appears when it is whole and not before.
type output struct {
	io.Writer
	commit  func() error // makes the file appear
	discard func()       // after a failure; does nothing after commit
}

// newFileMode is the mode of files that are written: captures may hold
// secrets. A file that is replaced keeps its own.
const newFileMode = 0o600

// create opens the output for path; "-" and "" stand for standard output.
func (a *App) create(path string) (*output, error) {
	if path == "" || path == stdinArg {
		return &output{Writer: a.Out, commit: func() error { return nil }, discard: func() {}}, nil
	}
	if a.ReadOnly {
		return nil, usagef("-o %s: nothing is written here; leave -o out and redirect the output on your side", path)
	}
	full := a.abs(path)
	info, err := os.Stat(full)
	switch {
	case err == nil && info.IsDir():
		return nil, withHint(fmt.Errorf("write %s: it is a folder", path), "name a file in it")
	case err == nil && !info.Mode().IsRegular():
		return openDevice(path, full)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("write %s: %w", path, plain(err))
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real // replace the file, not the link to it
	}
	out, err := newPending(full)
	if err != nil {
		return nil, withHint(fmt.Errorf("write %s: %w", path, plain(err)), "its folder must be there and writable")
	}
	return out, nil
}

// openDevice writes to what is no file: a terminal, a pipe, /dev/null.
func openDevice(path, full string) (*output, error) {
	f, err := os.OpenFile(full, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, plain(err))
	}
	return &output{Writer: f, commit: f.Close, discard: func() { f.Close() }}, nil
}

// sameFile reports whether path is one of the files of the logs.
func (a *App) sameFile(path string, sources []source) bool {
	out, err := os.Stat(a.abs(path))
	if err != nil {
		return false
	}
	for _, s := range sources {
		for _, seg := range s.Log.Segments {
			if in, err := a.FS.Stat(seg.Path); err == nil && os.SameFile(in, out) {
				return true
			}
		}
	}
	return false
}
