//go:build unix

package shim

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// port is one end of a stream. Reading and writing are plain system calls in
// the calling thread: the runtime's poller would cost a round trip through the
// scheduler for each frame, and could not be used on descriptors whose mode is
// shared with the client.
type port struct {
	file *os.File // keeps the descriptor open
	fd   int
	ours bool // a pipe to the server
}

// borrow makes a port of one of the client's ends. SyscallConn gives the
// descriptor without changing its mode, which (*os.File).Fd may.
func borrow(f *os.File) port {
	p := port{file: f, fd: -1}
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { p.fd = int(fd) }) // -1 fails at the first use
	}
	return p
}

// own makes a port of an end of a pipe to the server, in blocking mode.
func own(f *os.File) port { return port{file: f, fd: int(f.Fd()), ours: true} }

// read waits for bytes. io.EOF is the end; other errors are final too.
func (p *port) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(p.fd, b)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			p.await(unix.POLLIN)
		default:
			return 0, err
		}
	}
}

// write writes all of b.
func (p *port) write(b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(p.fd, b)
		if n > 0 {
			b = b[n:]
		}
		switch err {
		case nil, unix.EINTR:
		case unix.EAGAIN:
			p.await(unix.POLLOUT)
		default:
			return err
		}
	}
	return nil
}

// await waits until a descriptor that somebody made non-blocking is ready.
func (p *port) await(events int16) {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: events}}
	_, _ = unix.Poll(fds, -1) // whatever is wrong, the next call says it
}

// close lets go of the end. A borrowed descriptor becomes the null device, so
// that the client sees it closed and nothing else gets its number.
func (p *port) close() {
	if p.ours {
		_ = p.file.Close() // a pipe: nothing is buffered
		return
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = replace(null, p.fd)
	_ = unix.Close(null)
}
