//go:build unix

package play

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts the process into a group of its own, so that all that npx, uvx
// or sh -c start with it ends with it, and no key of the terminal reaches it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the group to end; kill ends it. The number of a group stays
// taken while one member is left; of a group without members nobody is reached.
func terminate(cmd *exec.Cmd) { _ = unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }

// howEnded says how a process ended.
func howEnded(st *os.ProcessState) string {
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return "by " + unix.SignalName(ws.Signal())
	}
	return st.String()
}
