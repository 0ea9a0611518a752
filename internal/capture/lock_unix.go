//go:build unix

package capture

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked says that another process writes this log.
var errLocked = errors.New("another process writes this log")

// lockFile takes the writer's advisory lock on f itself, so that the lock goes
// when the process does and no second file lies beside the log. A file system
// without locks is written without one.
func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errLocked
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOLCK):
		return nil
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// Locked reports whether a writer holds the log at path: its session runs.
func Locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
