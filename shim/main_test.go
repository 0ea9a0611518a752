//go:build unix

package shim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also every program that the tests start: called with
// roleArg and a name it is that server, called with GuardianArg the guardian.
const roleArg = "-shim-test-role"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == GuardianArg {
		// A program that is more than a test may have used the runtime's poller already.
		if r, w, err := os.Pipe(); err == nil {
			_, _ = r.Close(), w.Close()
		}
		os.Exit(GuardianMain())
	}
	if len(os.Args) > 2 && os.Args[1] == roleArg {
		os.Exit(roles()[os.Args[2]](os.Args[3:]))
	}
	// Programs under the race detector sleep before they exit unless told not to.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// roles are the servers. Each returns its exit code.
func roles() map[string]func(args []string) int {
	return map[string]func([]string) int{
		"echo":       roleEcho,
		"exit":       func(a []string) int { return number(a[0]) },
		"die":        roleDie,
		"see":        roleSee,
		"late":       roleLate,
		"deaf":       roleDeaf,
		"polite":     rolePolite,
		"talker":     roleTalker,
		"floodErr":   roleFloodErr,
		"leave":      roleLeave,
		"hangUp":     roleHangUp,
		"closeStdin": roleCloseStdin,
		"sleep":      roleSleep,
		"stubborn":   roleStubborn,
		"shim":       roleShim,
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// roleEcho gives every byte back until the end of its input.
func roleEcho([]string) int {
	_, _ = io.Copy(struct{ io.Writer }{os.Stdout}, os.Stdin) // a killed peer is part of the tests
	return 0
}

// roleDie ends itself by a signal.
func roleDie(a []string) int {
	p, _ := os.FindProcess(os.Getpid()) // never fails here
	_ = p.Signal(syscall.Signal(number(a[0])))
	time.Sleep(time.Minute)
	return 1
}

// sight is what a process sees of its surroundings.
type sight struct {
	Args, Env []string
	Dir       string
}

func roleSee(a []string) int {
	dir, _ := os.Getwd() // part of what is compared
	_ = json.NewEncoder(os.Stdout).Encode(sight{os.Args, os.Environ(), dir})
	return 0
}

// roleLate answers only when its input has ended.
func roleLate([]string) int {
	n, _ := io.Copy(io.Discard, os.Stdin) // the count is the answer
	time.Sleep(100 * time.Millisecond)
	fmt.Printf("{\"late\":%d}\n", n)
	return 0
}

// roleDeaf ends by nothing but SIGKILL.
func roleDeaf([]string) int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fmt.Println("ready")
	time.Sleep(time.Minute)
	return 1
}

// rolePolite says which signal it got and ends.
func rolePolite([]string) int {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	fmt.Println("ready")
	for s := range c {
		fmt.Println("got", s)
		if s != syscall.SIGUSR1 {
			break
		}
	}
	return 5
}

// roleTalker writes lines until it is ended.
func roleTalker([]string) int {
	for i := 0; ; i++ {
		fmt.Printf("{\"n\":%d}\n", i)
		time.Sleep(2 * time.Millisecond)
	}
}

// roleFloodErr writes lines of 64 bytes to standard error, then answers.
func roleFloodErr(a []string) int {
	w := bufio.NewWriter(os.Stderr)
	for i := range number(a[0]) {
		fmt.Fprintf(w, "%063d\n", i)
	}
	_ = w.Flush() // a broken standard error is part of the tests
	fmt.Println("done")
	return 0
}

// roleLeave starts another role, in this group or a session of its own, prints
// its process id and exits.
func roleLeave(a []string) int {
	self, _ := os.Executable() // it was just started
	c := exec.Command(self, append([]string{roleArg}, a[1:]...)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	ownSession(c, a[0] == "away")
	if err := c.Start(); err != nil {
		return 1
	}
	fmt.Println(c.Process.Pid)
	return 0
}

// roleHangUp closes its output and lives on until its input ends.
func roleHangUp([]string) int {
	_ = os.Stdout.Close()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// roleCloseStdin closes its input, says so, and lives on until it is ended.
func roleCloseStdin([]string) int {
	_ = os.Stdin.Close()
	fmt.Println("closed")
	time.Sleep(time.Minute)
	return 1
}

// roleStubborn gives every byte back and does not end when its input does.
func roleStubborn([]string) int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
	roleEcho(nil)
	time.Sleep(time.Minute)
	return 1
}

func roleSleep([]string) int {
	time.Sleep(time.Minute)
	return 1
}

func selfPath(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// role is the command line of a role.
func role(t testing.TB, words ...string) []string {
	t.Helper()
	return append([]string{selfPath(t), roleArg}, words...)
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }
