//go:build linux

package shim

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// zombie reports whether the process is dead and not yet reaped.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && dead(stat)
}

// marked lists the processes whose environment holds the mark and that are not dead.
func marked(mark string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, d := range dirs {
		pid := number(filepath.Base(d))
		env, err := os.ReadFile(d + "/environ")
		if err != nil || pid == os.Getpid() || !bytes.Contains(env, []byte(mark)) {
			continue
		}
		if stat, err := os.ReadFile(d + "/stat"); err == nil && !dead(stat) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestKilledAtAnyPoint kills the shim or the server while frames pass: the log
// is readable up to its last whole line, and nobody is left.
func TestKilledAtAnyPoint(t *testing.T) {
	runs := 12
	if s := os.Getenv("MCPSNOOP_KILLS"); s != "" {
		runs = number(s)
	}
	for i := range runs {
		victim := []string{"shim", "server"}[i%2]
		t.Run(fmt.Sprintf("%s%d", victim, i), func(t *testing.T) {
			killOnce(t, victim, time.Duration(rand.IntN(60_000))*time.Microsecond)
		})
	}
}

func killOnce(t *testing.T, victim string, after time.Duration) {
	t.Logf("killed after %v", after)
	mark := "SHIM_TEST_MARK=" + strconv.FormatUint(rand.Uint64(), 36)
	dir := filepath.Join(t.TempDir(), "sessions")
	// A wrapper that forwards no signals, and a child that only SIGKILL ends.
	argv := role(t, "shim", dir, "/bin/sh", "-c", `trap '' TERM INT; exec 3<&0; "$0" `+roleArg+` stubborn <&3 3<&- & wait`, selfPath(t))
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = append(os.Environ(), mark)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	echoed := make(chan int, 1)
	go func() { echoed <- countLines(out) }()
	go func() {
		line := append(bytes.Repeat([]byte("x"), 900), '\n')
		for range 20_000 {
			if _, err := in.Write(line); err != nil {
				return
			}
		}
	}()
	time.Sleep(after)
	if victim == "shim" {
		_ = c.Process.Kill() // it may have ended
	} else {
		killServer(mark, c.Process.Pid)
	}
	n := <-echoed
	_ = in.Close()
	err = c.Wait()
	eventually(t, "end of all processes", func() bool { return len(marked(mark)) == 0 })
	path := filepath.Join(dir, "test-1-0123456789ab.jsonl")
	if _, serr := os.Stat(path); serr != nil {
		return // killed before there was a log
	}
	if b, rerr := os.ReadFile(path); rerr == nil && !bytes.Contains(b, []byte("\n")) {
		return // or a first line
	}
	all := readLog(t, path)
	if victim == "server" && all[len(all)-1].Direction != capture.End {
		t.Errorf("%d lines came, %d are in the log, and the last is no end; the shim ended with %v", n, len(all), err)
	}
}

// killServer kills one process below the shim, whichever it finds first.
func killServer(mark string, shim int) {
	for range 400 {
		for _, pid := range marked(mark) {
			cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // gone is no server
			if pid != shim && len(cmd) > 0 && !bytes.Contains(cmd, []byte(GuardianArg)) && !bytes.Contains(cmd, []byte("\x00shim\x00")) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func countLines(r io.Reader) (n int) {
	b := bufio.NewReader(r)
	for {
		if _, err := b.ReadSlice('\n'); err != nil {
			return n
		}
		n++
	}
}

// guardianOf finds the guardian that this process has started.
func guardianOf(t *testing.T) string {
	t.Helper()
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, d := range dirs {
		cmd, _ := os.ReadFile(d + "/cmdline") // gone is no guardian
		stat, _ := os.ReadFile(d + "/stat")
		parent := fmt.Sprintf(" %d ", os.Getpid())
		if i := bytes.LastIndexByte(stat, ')'); i > 0 && bytes.HasPrefix(stat[i+3:], []byte(parent)) && bytes.HasSuffix(cmd, []byte("\x00"+GuardianArg+"\x00")) {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d guardians; want 1", len(found))
	}
	return found[0]
}

// The guardian must not hold what others wait to see closed: the client's
// streams, and what else the client gave the shim. The server gets that.
func TestGuardianHoldsNothing(t *testing.T) {
	extraR, extraW := pipe(t)
	if _, err := unix.FcntlInt(uintptr(borrow(extraW).fd), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	s := begin(t, role(t, "echo"))
	s.write("hello\n")
	s.stdout.waitFor(t, "hello\n")
	guardian := guardianOf(t)
	// Between fork and exec it has everything.
	eventually(t, "exec of the guardian", func() bool { return len(pipesOf(guardian)) <= 2 })
	mine := map[string]bool{}
	for _, f := range []*os.File{s.in, s.out, s.err, extraR} {
		link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", borrow(f).fd))
		if err != nil {
			t.Fatal(err)
		}
		mine[link] = true
	}
	for _, link := range pipesOf(guardian) {
		if mine[link] {
			t.Errorf("the guardian holds %s", link)
		}
	}
	_ = extraW.Close() // ours; the server has its own
	got := make(chan error, 1)
	go func() {
		_, err := extraR.Read(make([]byte, 1))
		got <- err
	}()
	select {
	case err := <-got:
		t.Errorf("the server did not get the further descriptor: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	_ = s.in.Close()
	s.end(0)
	<-got // it ends with the server
	if _, err := os.Stat(guardian); err == nil {
		t.Error("the guardian is left behind")
	}
}

// pipesOf lists the pipes that a process holds.
func pipesOf(proc string) (links []string) {
	fds, _ := os.ReadDir(proc + "/fd") // gone holds nothing
	for _, e := range fds {
		if link, err := os.Readlink(filepath.Join(proc, "fd", e.Name())); err == nil && strings.HasPrefix(link, "pipe:") {
			links = append(links, link)
		}
	}
	return links
}

// The guardian survives the signals that pass through its group, and is there
// until the end.
func TestGuardianStaysUntilTheEnd(t *testing.T) {
	s := begin(t, role(t, "deaf"), grace(time.Hour))
	s.stdout.waitFor(t, "ready")
	guardian := guardianOf(t)
	s.signals <- syscall.SIGWINCH
	s.signals <- syscall.SIGTERM
	time.Sleep(50 * time.Millisecond)
	if zombie(number(filepath.Base(guardian))) {
		t.Error("the guardian is dead")
	}
	s.signals <- syscall.SIGINT
	s.end(137)
}
