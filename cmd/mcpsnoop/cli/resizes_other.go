//go:build !unix

package cli

import "os"

// resizes gives nothing: there is no signal that a terminal has a new size.
func resizes(*os.File) (sizes <-chan [2]int, stop func()) { return nil, func() {} }
