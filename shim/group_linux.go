package shim

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// members counts the processes of a group that are not dead, except one. ok is
// false when it cannot be told.
func members(pgid, except int) (n int, ok bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, false
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return 0, false
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == except {
			continue
		}
		if g, err := unix.Getpgid(pid); err != nil || g != pgid {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err == nil && !dead(stat) {
			n++
		}
	}
	return n, true
}

// dead reports whether /proc/PID/stat describes a process that only waits to
// be reaped. The state stands behind the name, which may hold anything.
func dead(stat []byte) bool {
	i := bytes.LastIndexByte(stat, ')')
	return i < 0 || i+2 >= len(stat) || stat[i+2] == 'Z' || stat[i+2] == 'X'
}
