package cli

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/term"
)

// sizeTick is how often the size of a console is looked at: no signal says
// that it has changed, and its events would have to be read in place of keys.
const sizeTick = 250 * time.Millisecond

// resizes gives the sizes of a terminal as they change, until stop.
func resizes(tty *os.File) (sizes <-chan [2]int, stop func()) {
	tick := time.NewTicker(sizeTick)
	sizes, end := watchSizes(tick.C, func() (int, int, error) { return term.GetSize(int(tty.Fd())) })
	return sizes, func() {
		tick.Stop()
		end()
	}
}

// screenModes makes a console take escape sequences, until restore.
func screenModes(tty *os.File) (restore func(), err error) {
	h := windows.Handle(tty.Fd())
	var before uint32
	if err := windows.GetConsoleMode(h, &before); err != nil {
		return nil, fmt.Errorf("look at the modes of the console: %w", err)
	}
	if err := windows.SetConsoleMode(h, before|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		return nil, fmt.Errorf("make the console take escape sequences: %w", err)
	}
	return func() { _ = windows.SetConsoleMode(h, before) }, nil // the program ends
}

// defaultTerm is what a console is, which sets no TERM.
const defaultTerm = "xterm-256color"
