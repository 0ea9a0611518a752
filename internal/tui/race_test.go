//go:build race

package tui

// slower is how much longer things may take than they should.
const slower = 20
