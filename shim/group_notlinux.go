//go:build unix && !linux

package shim

import "golang.org/x/sys/unix"

// closeFrom closes all descriptors from first on.
func closeFrom(first int) {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return
	}
	for fd := first; fd < int(min(lim.Cur, 4096)); fd++ {
		_ = unix.Close(fd) // most are not open
	}
}
