//go:build !linux

package capture

import "runtime"

// yield lets another goroutine run first.
func yield() { runtime.Gosched() }
