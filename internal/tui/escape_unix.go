//go:build unix

package tui

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// escWait is how long the rest of a key's sequence may take after its ESC. A
// terminal writes a sequence at once, so that its bytes arrive together; a
// lone ESC is the key itself.
const escWait = 15 * time.Millisecond

// escKey is the key ESC in a spelling that begins no other key.
const escKey = "\x1b[27u"

// promptEsc makes a lone ESC from a terminal unmistakable. The input library
// waits 50 ms whether more follows, which is longer than a key may take here.
func promptEsc(in io.Reader) io.Reader {
	if f, ok := in.(*os.File); ok {
		return escFile{f}
	}
	return in
}

// escFile is a terminal whose lone ESC reads as escKey.
type escFile struct{ *os.File }

func (f escFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if n != 1 || err != nil || p[0] != escKey[0] || len(p) < len(escKey) || f.more() {
		return n, err
	}
	return copy(p, escKey), nil
}

// more reports whether bytes are there within escWait, or cannot be waited for.
func (f escFile) more() bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(escWait.Milliseconds()))
		if err != unix.EINTR {
			return n != 0 || err != nil
		}
	}
}
