//go:build unix

package shim

import (
	"os"

	"golang.org/x/sys/unix"
)

// canTake reports whether a short line can be written to f without waiting for
// a reader.
func canTake(f *os.File) bool {
	p := borrow(f)
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&(unix.POLLERR|unix.POLLNVAL|unix.POLLHUP) == 0
}
