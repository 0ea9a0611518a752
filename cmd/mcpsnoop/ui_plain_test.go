package main

import (
	"strings"
	"testing"
)

// Terminals that show no screens, no colours or no Unicode.
func TestUITerminals(t *testing.T) {
	for _, tt := range []struct {
		name, env string
		wants     []string
	}{
		{"dumb", "TERM=dumb", []string{"tools/call write", "✗ failed", "left with 0"}},
		{"no colour", "NO_COLOR=1", []string{"▌", "7 frames"}},
		{"ASCII", "LC_ALL=C", []string{"> ", "x failed", `\u00f6`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := newUI(t)
			u.record("files", files...)
			line := "env " + tt.env + " " + u.bin
			u.do("new-session", "-d", "-x", "100", "-y", "30", line+" open files; echo left with $?; exec cat")
			u.wants(tt.wants...)
			if screen := u.screen(); tt.name == "ASCII" && strings.IndexFunc(screen, func(r rune) bool { return r > 0x7e }) >= 0 {
				t.Errorf("there is more than ASCII:\n%s", screen)
			}
			if tt.name != "dumb" {
				u.quits()
			}
		})
	}
}
