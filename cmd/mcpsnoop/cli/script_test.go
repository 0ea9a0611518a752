package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

var update = flag.Bool("update", false, "write what commands print into the scripts")

// TestMain makes the test binary the program and a server for it as well, so
// that scripts run what is tested.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcpsnoop":   func() { os.Exit(Main(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)) },
		"fakeserver": fakeServer,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"append": appendFile,
			"shows":  shows,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("MCPSNOOP_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("USER", "someone")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // each command would wait a second

			return nil
		},
	})
}

// exits N CMD [ARG...] runs a program that must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N CMD [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d; want %d", got, want)
	}
}

// append TO FROM puts one file at the end of another.
func appendFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append TO FROM")
	}
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	ts.Check(err)
	_, err = f.Write(b)
	ts.Check(errors.Join(err, f.Close()))
}

// shows FILE TEXT waits until the file holds the text.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shows FILE TEXT")
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		b, _ := os.ReadFile(ts.MkAbs(args[0]))
		if strings.Contains(string(b), args[1]) {
			return
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("%s does not hold %q; it holds:\n%s", args[0], args[1], b)
		case <-tick.C:
		}
	}
}

// fakeServer answers each request with its own params. A method "boom" fails,
// "hang" is not answered, "stray" prints something else first. With an
// argument it ends with that exit code when its input ends.
func fakeServer() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		m := wire.ParseMessage(in.Bytes())
		if m.Kind != wire.Request {
			continue
		}
		name := wire.GetString(m.Params, "name")
		switch name {
		case "boom":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"boom"}}`+"\n", m.ID)
			continue
		case "hang":
			continue
		case "stray":
			fmt.Println("listening \x1b[31mred")
			fmt.Fprintln(os.Stderr, "on standard error")
		}
		params := m.Params
		if params == nil {
			params = []byte("{}")
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, params)
	}
	if len(os.Args) > 1 {
		code, _ := strconv.Atoi(os.Args[1])
		os.Exit(code)
	}
}
