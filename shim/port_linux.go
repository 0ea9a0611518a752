package shim

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize holds a large frame, so that its parts need fewer turns of the scheduler.
const pipeSize = 1 << 20

// enlarge asks for a larger pipe. The kernel may refuse, and nothing depends on it.
func enlarge(f *os.File) {
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, pipeSize)
}

func replace(by, fd int) error {
	flags := unix.O_CLOEXEC
	if fd <= 2 {
		flags = 0
	}
	return unix.Dup3(by, fd, flags)
}
