//go:build windows

package capture

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked says that another process writes this log.
var errLocked = errors.New("another process writes this log")

// lockAt is where the lock lies: far behind any log, because Windows keeps
// readers out of a locked range.
const lockAt = 1 << 30

// lockFile takes the writer's lock on f.
func lockFile(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return errLocked
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
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
