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
	out := make(chan [2]int, 1)
	sig := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(sig, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-sig:
			}
			w, h, err := term.GetSize(int(tty.Fd()))
			if err != nil {
				continue
			}
			select {
			case out <- [2]int{w, h}:
			case <-done:
				return
			}
		}
	}()
	return out, func() {
		signal.Stop(sig)
		close(done)
	}
}
