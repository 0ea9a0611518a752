package shim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// This file is all of Windows. It compiles and is vetted; nobody has run it.

// port is one end of a stream.
type port struct {
	file *os.File
	ours bool // a pipe to the server
}

func borrow(f *os.File) port { return port{file: f} }

func (p *port) read(b []byte) (int, error) {
	n, err := p.file.Read(b)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (p *port) write(b []byte) error {
	_, err := p.file.Write(b)
	return err
}

func (p *port) close() { _ = p.file.Close() } // a pipe: nothing is buffered

// child is the server's process, in a job with all that it starts. The job
// ends with its last handle, and so with the shim, whatever ends the shim.
type child struct {
	stdin, stdout, stderr port

	proc *os.Process
	job  windows.Handle
}

func startChild(o *Options) (*child, error) {
	if len(o.Argv) == 0 || o.Argv[0] == "" {
		return nil, &StartError{Code: ExitNotFound, Err: errors.New("no command"), Hint: "put the server's command after --"}
	}
	path, err := exec.LookPath(o.Argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) { // cmd.exe runs what lies in the working directory
		e := &StartError{Name: o.Argv[0], Code: ExitNotFound, Err: err, Hint: "install it, or give its full path"}
		if errors.Is(err, os.ErrPermission) {
			e.Code, e.Hint = ExitNotExecutable, "it is no program; name it with its interpreter"
		}
		return nil, e
	}
	var near, far [3]*os.File
	for i := range near {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("make the pipes to the server: %w", err)
		}
		if i == 0 {
			far[i], near[i] = r, w
		} else {
			near[i], far[i] = r, w
		}
	}
	p, err := os.StartProcess(path, o.Argv, &os.ProcAttr{Dir: o.Dir, Env: o.Env, Files: far[:]})
	for _, f := range far {
		_ = f.Close() // the server has its own
	}
	if err != nil {
		return nil, &StartError{Name: o.Argv[0], Path: path, Code: ExitNotExecutable, Err: err,
			Hint: "try the command without mcpsnoop in front of it"}
	}
	c := &child{proc: p, stdin: port{near[0], true}, stdout: port{near[1], true}, stderr: port{near[2], true}}
	if err := c.enclose(); err != nil {
		o.Warn(fmt.Sprintf("cannot put the server into a job (%v); what it starts may outlive it", err))
	}
	return c, nil
}

// enclose puts the server into a job. What it has started in the meantime is
// not in it.
func (c *child) enclose() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		var h windows.Handle
		h, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.proc.Pid))
		if err == nil {
			err = windows.AssignProcessToJobObject(job, h)
			_ = windows.CloseHandle(h) // ours
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job) // unused
		return err
	}
	c.job = job
	return nil
}

func (c *child) wait() exit {
	st, err := c.proc.Wait()
	if err != nil {
		return exit{code: 1}
	}
	return exit{code: st.ExitCode()}
}

// signal does nothing for Ctrl-C, which the console gives to the server too.
// There is no way to ask a process to end: what asks elsewhere kills here.
func (c *child) signal(s os.Signal) {
	if s != os.Interrupt {
		c.kill()
	}
}

func (c *child) kill() {
	if c.job != 0 {
		_ = windows.TerminateJobObject(c.job, 1) // nobody left is fine
	}
	_ = c.proc.Kill()
}

// alone says that nothing is left to wait for: the end of the job ends the rest.
func (c *child) alone() bool { return true }

func (c *child) release() {
	if c.job != 0 {
		_ = windows.CloseHandle(c.job) // and with it what is left in the job
	}
}

func stopSelf() {}

const sigTerm = syscall.SIGTERM

func classify(s os.Signal) class {
	if s == os.Interrupt || s == sigTerm {
		return endsIt
	}
	return ignore
}

// Notify asks for the signals that Run has to know of. stop undoes it.
func Notify() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 16)
	signal.Notify(c, os.Interrupt, sigTerm)
	return c, func() { signal.Stop(c) }
}

func signalName(s os.Signal) string { return strings.ToUpper(s.String()) }

func canTake(*os.File) bool { return true }

// GuardianMain has nothing to do here: the job object does its work.
func GuardianMain() int { return 2 }
