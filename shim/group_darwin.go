package shim

import "golang.org/x/sys/unix"

const unreaped = 5 // SZOMB of <sys/proc.h>

// members counts the processes of a group that are not dead, except one. ok is
// false when it cannot be told.
func members(pgid, except int) (n int, ok bool) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", pgid)
	if err != nil {
		return 0, false
	}
	for _, p := range procs {
		if int(p.Proc.P_pid) != except && p.Proc.P_stat != unreaped {
			n++
		}
	}
	return n, true
}
