//go:build unix

package shim

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const sigTerm = unix.SIGTERM

func classify(s os.Signal) class {
	switch s {
	case unix.SIGINT, unix.SIGTERM, unix.SIGHUP:
		return endsIt
	case unix.SIGTSTP:
		return stopsUs
	case unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGCONT:
		return justPass
	}
	return ignore
}

// Notify asks for the signals that Run has to know of, and for SIGPIPE, which
// it ignores: a client that has gone must not end the shim before the log is
// whole. Signals that were ignored when the program started (nohup) stay so.
// stop undoes it.
func Notify() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 16)
	for _, s := range []os.Signal{
		unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGTSTP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2,
		unix.SIGWINCH, unix.SIGCONT, unix.SIGPIPE,
	} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c, func() { signal.Stop(c) }
}

func signalName(s os.Signal) string {
	if sig, ok := s.(syscall.Signal); ok {
		if name := unix.SignalName(sig); name != "" {
			return name
		}
		return "signal " + strconv.Itoa(int(sig))
	}
	return s.String()
}
