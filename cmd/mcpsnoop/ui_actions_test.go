package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A session is exported by the keys that are shown, goes to the trash and
// comes back, all on a terminal of 80 columns.
func TestUIExportAndDelete(t *testing.T) {
	u := newUI(t)
	u.record("files", files...)
	out := filepath.Join(u.home, "out.jsonl")
	u.start(80, 24).wants("1 session", "exit 3")
	u.keys("e").wants("export html files-", "a page that needs nothing else")
	u.keys("C-u", "=jsonl "+out, "Enter").wants("wrote "+u.home, "$ mcpsnoop export -T jsonl -o")
	text, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(text), "disk full") {
		t.Errorf("the export holds %q: %v", text, err)
	}
	u.keys("e", "C-u", "=jsonl "+out, "Enter").wants("not overwritten")
	u.keys("C-d").wants("move files (files-", "y yes").keys("n").wants("left as it is")
	u.keys("C-d", "y").wants("moved to the trash", "no sessions")
	trashed := filepath.Join(u.home, "trash", "files-4821-7f3a1c9e2b04.jsonl")
	if _, err := os.Stat(trashed); err != nil {
		t.Error(err)
	}
	u.keys("u").wants("came back from the trash", "exit 3")
	if _, err := os.Stat(trashed); err == nil {
		t.Error("it came back and is in the trash still")
	}
	u.quits()
}

// A filter gets a name, and the next run knows it.
func TestUISavedFilter(t *testing.T) {
	u := newUI(t)
	u.record("files", files...)
	u.start(80, 24, "open", "files").wants("7 frames")
	u.keys("/", "=status:err", "Enter").wants("2 of 7 frames").keys(":", "=save bad", "Enter").wants("kept: @bad")
	u.quits()
	u.do("kill-session")
	u.start(80, 24, "open", "files").wants("7 frames")
	u.keys("/", "=@b").wants("@bad", "status:err").keys("Tab", "Enter").wants("/ status:err", "2 of 7 frames")
	u.keys("Escape").wants("no filter any more").keys("/", "Up").wants("/ status:err")
	u.keys("Escape").wants("inspect")
	u.quits()
}
