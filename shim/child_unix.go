//go:build unix

package shim

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// child is the server's process and the group it leads or was put into.
type child struct {
	stdin, stdout, stderr port

	proc  *os.Process
	guard *guardian // nil when there is none
	pgid  int
}

func startChild(o *Options) (*child, error) {
	if len(o.Argv) == 0 {
		return nil, &StartError{Code: ExitNotFound, Err: errors.New("no command"), Hint: "put the server's command after --"}
	}
	path, err := lookup(o)
	if err != nil {
		return nil, err
	}
	var near [3]*os.File // our ends
	var far [3]*os.File  // the server's
	defer func() {
		closeFiles(far[:])
		if err != nil {
			closeFiles(near[:])
		}
	}()
	for i := range near {
		r, w, perr := os.Pipe()
		if perr != nil {
			err = fmt.Errorf("make the pipes to the server: %w", perr)
			return nil, err
		}
		if i == 0 {
			far[i], near[i] = r, w
		} else {
			near[i], far[i] = r, w
		}
		if i < 2 {
			enlarge(near[i])
		}
	}
	c := &child{guard: startGuardian(o)}
	if err = c.exec(o, path, far[:]); err != nil {
		c.release()
		return nil, err
	}
	c.stdin, c.stdout, c.stderr = own(near[0]), own(near[1]), own(near[2])
	return c, nil
}

func closeFiles(fs []*os.File) {
	for _, f := range fs {
		if f != nil {
			_ = f.Close() // a pipe without anything in it
		}
	}
}

// exec starts the program in the guardian's process group, or as the leader of
// its own.
func (c *child) exec(o *Options, path string, files []*os.File) error {
	attr := &os.ProcAttr{Dir: o.Dir, Env: o.Env, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true}}
	if attr.Env == nil {
		attr.Env = []string{} // nil would mean our own
	}
	if c.guard != nil {
		attr.Sys.Pgid = c.guard.proc.Pid
	}
	p, err := os.StartProcess(path, o.Argv, attr)
	if errors.Is(err, unix.ENOEXEC) && isText(inDir(o.Dir, path)) {
		// execvp(3) leaves a script without a first line to the shell.
		p, err = os.StartProcess("/bin/sh", append([]string{o.Argv[0], path}, o.Argv[1:]...), attr)
	}
	if err != nil {
		return execError(o, o.Argv[0], path, err)
	}
	c.proc, c.pgid = p, attr.Sys.Pgid
	if c.pgid == 0 {
		c.pgid = p.Pid
	}
	return nil
}

// wait waits for the server itself to end, and reaps it.
func (c *child) wait() exit {
	st, err := c.proc.Wait()
	if err != nil { // somebody else has reaped it
		return exit{code: 1}
	}
	ws, ok := st.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return exit{code: st.ExitCode()}
	}
	return exit{code: 128 + int(ws.Signal()), signal: signalName(ws.Signal())}
}

// signal sends s to the server's group. The guardian, which is in it, must
// have come so far as to ignore it.
func (c *child) signal(s os.Signal) {
	sig, ok := s.(syscall.Signal)
	if !ok {
		return
	}
	c.guard.awaitReady()
	_ = unix.Kill(-c.pgid, sig) // nobody left is fine
}

// kill ends the whole group, the guardian with it.
func (c *child) kill() {
	_ = unix.Kill(-c.pgid, unix.SIGKILL) // nobody left is fine
}

// alone reports whether nothing that could run is left of the group. Where
// that cannot be told it says no, and the group gets its time.
func (c *child) alone() bool {
	n, ok := members(c.pgid, c.guard.pid())
	return ok && n == 0
}

// release kills what is left of the group and ends the guardian. Without one
// the group's number is not held by anybody once the server has been reaped:
// then it is used only if there are members.
func (c *child) release() {
	if c.guard == nil {
		if n, ok := members(c.pgid, 0); c.pgid != 0 && ok && n > 0 {
			c.kill()
		}
		return
	}
	if c.pgid != 0 {
		c.kill()
	}
	c.guard.end()
}

// stopSelf does to the shim what Ctrl-Z does to a program that handles no signals.
func stopSelf() {
	_ = unix.Kill(unix.Getpid(), unix.SIGSTOP) // nothing follows from a failure
}

// readyTime bounds the wait for a guardian that has just been started.
const readyTime = 500 * time.Millisecond
