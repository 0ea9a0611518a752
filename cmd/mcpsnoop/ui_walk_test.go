package main

import "testing"

// From the list of sessions to the answer of a call, and back out.
func TestUIWalk(t *testing.T) {
	u := newUI(t)
	u.record("files", files...)
	u.start(80, 24).wants("1 session", "files 2b04", "exit 3")
	u.keys("Enter").wants("7 frames", "1 without an answer", "1 failed", "no answer")
	u.keys("n").wants("▌ 15:00:00  +120ms → tools/call write")
	u.keys("x", "Enter").wants("#7", "error answer 2", `"message": "disk full"`)
	u.keys("x").wants("#6", "request 2", "failed after 120ms ⇄ #7")
	u.keys("Escape").lacks("request 2").wants("tools/call write")
	u.keys("?").wants("jump between request and answer").keys("?")
	u.keys("Escape").wants("1 session")
	u.quits()
}
