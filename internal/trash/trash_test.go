package trash

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

const id = "files-1-00000000000a"

func newBin(t *testing.T, names ...string) *Bin {
	t.Helper()
	home := t.TempDir()
	b := &Bin{FS: capture.OS{}, Logs: filepath.Join(home, "sessions"), Trash: filepath.Join(home, "trash")}
	if err := os.MkdirAll(b.Logs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		write(t, filepath.Join(b.Logs, n), "in "+n)
	}
	return b
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// All files of a log go and come back, and those of others stay.
func TestPutAndBack(t *testing.T) {
	for _, files := range [][]string{
		{id + ".jsonl"},
		{id + ".jsonl.zst"},
		{id + ".jsonl", id + ".0002.jsonl", id + ".0003.jsonl"},
		{id + ".jsonl.zst", id + ".0002.jsonl", id + ".0002.jsonl.zst"},
	} {
		const other = "files-1-00000000000b.jsonl"
		b := newBin(t, append([]string{other}, files...)...)
		before := names(t, b.Logs)
		m, err := b.Put(filepath.Join(b.Logs, id+".jsonl"))
		if err != nil {
			t.Fatalf("%q: %v", files, err)
		}
		slices.Sort(files)
		if got := names(t, b.Logs); got != other {
			t.Errorf("%q: left are %s", files, got)
		}
		if got := names(t, b.Trash); got != strings.Join(files, " ") {
			t.Errorf("%q: in the trash are %s", files, got)
		}
		if err := b.Back(m); err != nil {
			t.Fatal(err)
		}
		if got := names(t, b.Logs); got != before || names(t, b.Trash) != "" {
			t.Errorf("%q: after it came back there are %s", files, got)
		}
		if text, err := os.ReadFile(filepath.Join(b.Logs, files[0])); err != nil || string(text) != "in "+files[0] {
			t.Errorf("%q: %s %v", files, text, err)
		}
	}
}

// What must not be moved stays, whole.
func TestPutRefuses(t *testing.T) {
	b := newBin(t, id+".jsonl", id+".0002.jsonl")
	path := filepath.Join(b.Logs, id+".jsonl")
	if _, err := b.Put(filepath.Join(b.Logs, "nothing.jsonl")); !errors.Is(err, ErrGone) {
		t.Errorf("of a log that is not there: %v", err)
	}
	elsewhere := filepath.Join(t.TempDir(), id+".jsonl")
	write(t, elsewhere, "x")
	if _, err := b.Put(elsewhere); err == nil {
		t.Error("a log of another folder is moved")
	}
	if err := os.MkdirAll(b.Trash, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(b.Trash, id+".jsonl"), "older")
	if _, err := b.Put(path); !errors.Is(err, ErrExists) {
		t.Errorf("over what is in the trash: %v", err)
	}
	if got := names(t, b.Logs); got != id+".0002.jsonl "+id+".jsonl" {
		t.Errorf("left are %s", got)
	}
	if err := os.Remove(filepath.Join(b.Trash, id+".jsonl")); err != nil {
		t.Fatal(err)
	}
	m, err := b.Put(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "a new one")
	if err := b.Back(m); !errors.Is(err, ErrExists) {
		t.Errorf("back over a new log: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "a new one" {
		t.Errorf("the new log holds %q", text)
	}
}
