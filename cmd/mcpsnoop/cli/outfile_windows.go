package cli

import (
	"os"
	"path/filepath"
)

// newPending writes beside path, and puts the file in its place on commit.
// Windows replaces a file in one step unless another program has it open.
func newPending(path string) (*output, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return nil, err
	}
	done := false
	discard := func() {
		if !done {
			f.Close()
			_ = os.Remove(f.Name())
		}
	}
	commit := func() error {
		err := f.Sync()
		if err2 := f.Close(); err == nil {
			err = err2
		}
		if err == nil {
			err = os.Rename(f.Name(), path)
		}
		done = err == nil
		return err
	}
	return &output{Writer: f, commit: commit, discard: discard}, nil
}
