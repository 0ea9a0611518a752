//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// resizes gives the sizes of a terminal as they change, until stop.
func resizes(tty *os.File) (sizes <-chan [2]int, stop func()) {
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGWINCH)
	sizes, end := watchSizes(sig, func() (int, int, error) { return term.GetSize(int(tty.Fd())) })
	return sizes, func() {
		signal.Stop(sig)
		end()
	}
}

// screenModes needs nothing here: terminals take escape sequences.
func screenModes(*os.File) (restore func(), err error) { return func() {}, nil }

// defaultTerm is what a terminal is that does not say so.
const defaultTerm = ""
