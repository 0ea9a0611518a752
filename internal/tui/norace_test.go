//go:build !race

package tui

// slower is how much longer things may take than they should: the machine that
// tests may have other things to do.
const slower = 3
