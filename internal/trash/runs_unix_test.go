//go:build !windows

package trash

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A log that its recorder holds is not moved; once it is let go it is.
func TestPutOfARunningLog(t *testing.T) {
	b := newBin(t, id+".jsonl", id+".0002.jsonl")
	f, err := os.Open(filepath.Join(b.Logs, id+".0002.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatalf("lock: %v", err)
	}
	path := filepath.Join(b.Logs, id+".jsonl")
	if _, err := b.Put(path); !errors.Is(err, ErrRuns) {
		t.Errorf("of a log that is written: %v", err)
	}
	if got := names(t, b.Logs); got != id+".0002.jsonl "+id+".jsonl" {
		t.Errorf("left are %s", got)
	}
	f.Close()
	if _, err := b.Put(path); err != nil {
		t.Errorf("of a log that is not written any more: %v", err)
	}
}
