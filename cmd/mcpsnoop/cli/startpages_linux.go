package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetStart gives back the pages of the program's code that only its start
// has needed, 10 MB of them: a shim runs beside every server, for hours. What
// is needed again comes back from the page cache. Where that cannot be done
// nothing is lost.
func forgetStart() {
	from, to, ok := ownCode("/proc/self/maps")
	if ok {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED) // advice
	}
}

// ownCode finds where the code of this program is mapped. It is never written
// to, so its pages are those of the file; nothing else is safe to forget.
func ownCode(maps string) (from, to uintptr, ok bool) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0, 0, false
	}
	f, err := os.Open(maps)
	if err != nil {
		return 0, 0, false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text()) // range, permissions, offset, device, inode, path
		if len(fields) < 6 || fields[1] != "r-xp" || fields[5] != self {
			continue
		}
		n, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to)
		return from, to, err == nil && n == 2 && from < to
	}
	return 0, 0, false
}
