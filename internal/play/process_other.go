//go:build !unix

package play

import (
	"os"
	"os/exec"
)

// There is no group of processes here: what the server has started by itself
// has to notice that its input has ended.
func ownGroup(*exec.Cmd) {}

func terminate(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended meanwhile

// howEnded says how a process ended.
func howEnded(st *os.ProcessState) string { return st.String() }
