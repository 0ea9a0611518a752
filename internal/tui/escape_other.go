//go:build !unix

package tui

import "io"

// promptEsc leaves the input as it is: the console reports keys, not sequences.
func promptEsc(in io.Reader) io.Reader { return in }
