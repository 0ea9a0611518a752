//go:build unix

package cli

import (
	"os"
	"syscall"
)

func endSignals() []os.Signal { return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} }

func isHangup(s os.Signal) bool { return s == syscall.SIGHUP }

// signalCode is the exit code of a program that a signal ended, as shells give it.
func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitNotRun
}
