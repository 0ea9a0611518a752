package hub

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// until waits for something that the system will bring.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// Two hubs follow one folder of this machine, with its own events.
func TestSystem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	l := lines(session, 10)
	name := filepath.Join(dir, session+".jsonl")
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	hubs := []*Hub{New(Options{Dir: dir}), New(Options{Dir: dir})}
	done := make(chan error, len(hubs))
	for _, h := range hubs {
		go func() { done <- h.Run(ctx) }()
	}
	defer func() {
		cancel()
		for range hubs {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}()
	shows := func(want string) func() bool {
		return func() bool {
			for _, h := range hubs {
				if ss := h.Sessions(); len(ss) != 1 || seqs(ss[0]) != want {
					return false
				}
			}
			return true
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	add(l[0] + l[1])
	until(t, "the first frame", shows("2"))
	add(l[2][:30])
	add(l[2][30:])
	until(t, "a line in two parts", shows("2 3"))
	if err := os.WriteFile(name+".tmp", []byte(strings.Join(l[2:5], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		t.Fatal(err)
	}
	until(t, "a replaced log", shows("2 3 4 5"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	add(strings.Join(l[:7], ""))
	until(t, "a new folder", shows("2 3 4 5 6 7"))
	rec, err := hubs[0].Body(hubs[0].Sessions()[0], 5)
	if err != nil || !strings.Contains(string(rec.Raw), "mark-06") {
		t.Errorf("body: %s, %v", rec.Raw, err)
	}
}

// Closing ends what watches the folder, also while nobody listens.
func TestWatchCloses(t *testing.T) {
	dir := t.TempDir()
	events, err := watchFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	events.Close()
	events.Close()
	if _, err := watchFolder(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that is not there is watched")
	}
}
