package main

import "testing"

// The screen follows the size of the terminal: two panes, one, and a line
// that says that there is no room.
func TestUIResize(t *testing.T) {
	u := newUI(t)
	u.record("files", files...)
	u.start(140, 40, "open", "files").wants("─ #2 ─", "│")
	u.resize(80, 24).wants("7 frames").lacks("#2")
	u.resize(39, 24).wants("needs 40x10, here 39x24; q quits").lacks("frames")
	u.resize(40, 10).wants("7 frames", "WHAT")
	u.resize(140, 40).wants("─ #2 ─", "$ mcpsnoop tail files")
	u.quits()
}
