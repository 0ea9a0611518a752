package main

import "testing"

// A filter is completed, shows what it lets through while it is typed, says
// where a mistake stands, and is dropped.
func TestUIFilter(t *testing.T) {
	u := newUI(t)
	u.record("files", files...)
	u.start(100, 30, "open", "files").wants("7 frames")
	u.keys("/", "=tool:re").wants("3 of 7 frames", "tool:read").lacks("write")
	u.keys("Enter").wants("$ mcpsnoop tail --where tool:re")
	u.keys("/", "C-u", "=status:what", "Enter").wants("column 8: status is one of")
	u.keys("Escape").lacks("column 8")
	u.keys("Escape").wants("7 frames ·", "tools/call write")
	u.quits()
}
