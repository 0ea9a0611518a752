//go:build unix

package shim

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Times of the guardian after the shim has died, all of them below the 2 s
// that a client may wait before it looks for what was left behind.
const (
	eofChance  = 300 * time.Millisecond // the server has seen its standard input end
	termChance = time.Second            // and then SIGTERM
)

// guardian is the shim's side of it.
type guardian struct {
	proc  *os.Process
	hold  *os.File      // closing it, or dying, sets the guardian off
	ready chan struct{} // closed when it ignores signals
}

// startGuardian starts the guardian as the leader of a new process group, into
// which the server is then put. nil means that there is none.
func startGuardian(o *Options) *guardian {
	if o.Self == "" {
		return nil
	}
	g, err := newGuardian(o)
	if err != nil {
		o.Warn(fmt.Sprintf("cannot start the guardian (%v); a killed shim may leave the server running", err))
		return nil
	}
	return g
}

func newGuardian(o *Options) (*guardian, error) {
	holdR, holdW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer holdR.Close()
	readyR, readyW, err := os.Pipe()
	if err != nil {
		_ = holdW.Close() // unused
		return nil, err
	}
	defer readyW.Close()
	env := o.Env
	if env == nil {
		env = []string{}
	}
	give := keepFromGuardian()
	p, err := os.StartProcess(o.Self, []string{o.Self, GuardianArg}, &os.ProcAttr{
		Env: env, Files: []*os.File{holdR, readyW}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	give()
	if err != nil {
		_, _ = holdW.Close(), readyR.Close() // unused
		return nil, err
	}
	g := &guardian{proc: p, hold: holdW, ready: make(chan struct{})}
	go func() {
		defer close(g.ready)
		defer readyR.Close()
		var b [1]byte
		_, _ = readyR.Read(b[:]) // its end means the same: nothing to wait for
	}()
	return g, nil
}

func (g *guardian) pid() int {
	if g == nil {
		return 0
	}
	return g.proc.Pid
}

// awaitReady waits until the guardian survives signals to its group.
func (g *guardian) awaitReady() {
	if g == nil {
		return
	}
	t := time.NewTimer(readyTime)
	defer t.Stop()
	select {
	case <-g.ready:
	case <-t.C:
	}
}

// end kills the guardian and reaps it, in that order: until then its group's
// number is nobody else's.
func (g *guardian) end() {
	_ = g.proc.Kill()
	_, _ = g.proc.Wait()
	_ = g.hold.Close()
	<-g.ready
}

// GuardianMain is the guardian: a program whose first argument is GuardianArg
// calls it before anything else and exits with what it returns. It expects a
// pipe from the shim as standard input, waits for it to break, and ends its
// own process group, itself last.
func GuardianMain() int {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
		unix.SIGPIPE, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGWINCH, unix.SIGCONT, unix.SIGXCPU)
	pgid, pid := unix.Getpgrp(), unix.Getpid()
	if pgid != pid {
		return 2 // started by hand: this group is not ours to end
	}
	_ = unix.Chdir("/")               // staying is harmless
	_, _ = unix.Write(1, []byte{'r'}) // the shim may have gone already
	_ = unix.Close(1)
	var b [1]byte
	for {
		if _, err := unix.Read(0, b[:]); err != unix.EINTR {
			break
		}
	}
	if awaitAlone(pgid, pid, eofChance) {
		return 0
	}
	_ = unix.Kill(-pgid, unix.SIGTERM)
	if awaitAlone(pgid, pid, termChance) {
		return 0
	}
	_ = unix.Kill(-pgid, unix.SIGKILL)
	return 0
}

// keepFromGuardian marks the descriptors that the client gave us beyond the
// standard ones, so that the guardian does not get them: somebody may wait to
// see them closed. give takes that back, since the server is to have them.
func keepFromGuardian() (give func()) {
	var marked []int
	for _, fd := range openDescriptors() {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if fd <= 2 || err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		unix.CloseOnExec(fd)
		marked = append(marked, fd)
	}
	return func() {
		for _, fd := range marked {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0) // it was open a moment ago
		}
	}
}

// openDescriptors lists them, or the numbers that they usually have.
func openDescriptors() (fds []int) {
	dir, err := os.ReadDir("/dev/fd")
	if err != nil {
		for fd := range 256 {
			fds = append(fds, fd)
		}
		return fds
	}
	for _, e := range dir {
		if fd, err := strconv.Atoi(e.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

// awaitAlone reports whether the rest of the group ended within d.
func awaitAlone(pgid, self int, d time.Duration) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if n, ok := members(pgid, self); ok && n == 0 {
			return true
		}
	}
	return false
}
