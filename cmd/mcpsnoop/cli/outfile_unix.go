//go:build !windows

package cli

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

// newPending writes beside path, and puts the file in its place on commit.
func newPending(path string) (*output, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(newFileMode), renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	return &output{Writer: f, commit: f.CloseAtomicallyReplace, discard: func() { _ = f.Cleanup() }}, nil
}
