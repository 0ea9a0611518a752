//go:build !unix

package cli

import "os"

func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }

func isHangup(os.Signal) bool { return false }

// signalCode is the exit code of a program that a signal ended, as shells give it.
func signalCode(os.Signal) int { return 130 }
