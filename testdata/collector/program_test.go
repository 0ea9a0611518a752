package collector

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program is the path of mcpsnoop.
var program = os.Getenv("MCPSNOOP")

// TestMain makes the test binary the server behind a shim as well, and builds
// mcpsnoop unless the environment names one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "echo" {
		echo()
		return
	}
	dir, err := os.MkdirTemp("", "collector")
	if err == nil && program == "" {
		program = filepath.Join(dir, "mcpsnoop")
		build := exec.Command("go", "build", "-o", program, "./cmd/mcpsnoop")
		build.Dir, build.Stderr = filepath.Join("..", ".."), os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// echo is an MCP server that answers each request.
func echo() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(in.Bytes(), &q) == nil && q.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", q.ID)
		}
	}
}

// shim is mcpsnoop in front of the server.
type shim struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer
	n    int
}

// command is mcpsnoop with a home of its own and no variables but env.
func command(home string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append([]string{"MCPSNOOP_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}

func startShim(t *testing.T, home string, env []string, flags ...string) *shim {
	t.Helper()
	s := &shim{t: t, cmd: command(home, env, append(append([]string{"--label", "echo"}, flags...), "--", os.Args[0], "echo")...)}
	s.cmd.Stderr = &s.said
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	return s
}

// calls makes n quick calls, one after the other.
func (s *shim) calls(n int) {
	s.t.Helper()
	for range n {
		s.n++
		fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`+"\n", s.n)
		if _, err := s.out.ReadString('\n'); err != nil {
			s.t.Fatal(err)
		}
	}
}

// leave closes the client's end and gives what the shim said.
func (s *shim) leave() string {
	s.t.Helper()
	_ = s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the shim ended with %v\n%s", err, s.said.String())
	}
	return s.said.String()
}

// hub is a hub of home; end ends it and gives what it said.
func startHub(t *testing.T, home string, args ...string) (end func() string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	cmd := command(home, nil, append([]string{"hub", "--metrics-listen", "127.0.0.1:0"}, args...)...)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(errs)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "metrics on") {
		t.Fatalf("the hub says %q, %v", line, err)
	}
	return func() string {
		_ = cmd.Process.Signal(os.Interrupt)
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the hub ended with %v\n%s", err, rest)
		}
		return string(rest)
	}
}
