package main

import (
	"strings"
	"testing"
)

// y puts the frame into the clipboard of the terminal, as it stood on the wire.
func TestUICopy(t *testing.T) {
	u := newUI(t)
	u.record("files", files...)
	u.start(100, 30, "open", "files").wants("7 frames")
	u.do("set-option", "-s", "set-clipboard", "on")
	u.keys("g", "j", "j", "j", "y").wants("copied frame #5", "OSC 52")
	if got, want := strings.TrimSpace(u.do("show-buffer")), files[3][2:]; got != want {
		t.Errorf("the clipboard holds %q; want %q", got, want)
	}
	u.quits()
}
