package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// testApp is a program that has nothing of this process: what SSH gives too.
type testApp struct {
	*App
	out, err bytes.Buffer
}

func newTestApp(t *testing.T, args ...string) *testApp {
	t.Helper()
	dir := t.TempDir()
	a := &testApp{App: &App{
		Args: args, Dir: dir, Clock: SystemClock{}, FS: capture.OS{}, OS: "linux", TempDir: t.TempDir(), ReadOnly: true,
		Env: []string{"MCPSNOOP_HOME=" + dir},
	}}
	a.Streams = Streams{In: strings.NewReader(""), Out: &a.out, Err: &a.err}
	return a
}

// addLog puts a log with n pings into the state folder.
func (a *testApp) addLog(t *testing.T, id string, n int) string {
	t.Helper()
	path := filepath.Join(a.Dir, sessionsDir, id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, logOf(id, n), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// logOf is a log with n pings and their answers.
func logOf(id string, n int) []byte {
	var b []byte
	rec := capture.Record{SessionID: id, Label: "l", TS: time.Unix(1_800_000_000, 0).UTC(), Direction: capture.Meta, Transport: capture.Stdio, Raw: []byte(`{"command":["x"]}`)}
	add := func(d capture.Direction, raw string) {
		rec.Seq++
		rec.TS = rec.TS.Add(time.Millisecond)
		rec.Direction, rec.Raw = d, []byte(raw)
		b = capture.AppendRecord(b, &rec)
	}
	add(capture.Meta, `{"command":["x"]}`)
	for i := range n {
		add(capture.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
		add(capture.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
	}
	add(capture.End, `{"exit_code":0}`)
	return b
}

// Commands need nothing but what App gives them: the same ones run over SSH.
func TestCommandsWithoutAProcess(t *testing.T) {
	for _, tt := range []struct {
		args   string
		code   int
		out    string
		stderr string
	}{
		{"sessions", 0, "l-1-00000000000a", ""},
		{"check", 0, "check passed", ""},
		{"check --expect-tool x", 1, "check failed: --expect-tool", ""},
		{"check nope", 2, "", "no session"},
		{"export -T text", 0, "session l-1-00000000000a", ""},
		{"export -T json -o x.json", 2, "", "nothing is written here"},
		{"tail", 0, "ping id=0", ""},
		{"help", 0, "Watch and judge", ""},
		{"chekc", 2, "", "check"},
		{"", 2, "", "nothing to do"},
		{"-- true", 2, "", "cannot run here"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			a := newTestApp(t, strings.Fields(tt.args)...)
			a.addLog(t, "l-1-00000000000a", 3)
			if code := a.Run(context.Background()); code != tt.code {
				t.Errorf("exit code %d; want %d; %s", code, tt.code, &a.err)
			}
			if !strings.Contains(a.out.String(), tt.out) || (tt.out == "") != (a.out.Len() == 0) {
				t.Errorf("standard output %q; want %q in it", &a.out, tt.out)
			}
			if !strings.Contains(a.err.String(), tt.stderr) {
				t.Errorf("standard error %q; want %q in it", &a.err, tt.stderr)
			}
		})
	}
}

// An error is one or two lines, and none of it acts on the terminal.
func TestErrorsAreShort(t *testing.T) {
	for _, args := range [][]string{
		{"chekc\x1b[2J"}, {"check", "a\nb"}, {"tail", "\x1b]0;x\a.jsonl"}, {"export", "-T", "\x1b[31m"}, {"check", "--\x1bx"}, {"--max-frame", "\x9b", "--", "x"},
	} {
		a := newTestApp(t, args...)
		if code := a.Run(context.Background()); code != 2 {
			t.Errorf("%q: exit code %d; want 2", args, code)
		}
		if n := strings.Count(a.err.String(), "\n"); n < 1 || n > 2 || strings.ContainsAny(a.err.String(), "\x1b\a") || a.out.Len() > 0 {
			t.Errorf("%q: says %q on standard error, %q on standard output", args, &a.err, &a.out)
		}
	}
}

// A command that is interrupted says nothing and ends as shells expect.
func TestInterrupt(t *testing.T) {
	for _, args := range []string{"check", "sessions", "export", "tail", "verify " + configName} {
		a := newTestApp(t, strings.Fields(args)...)
		a.addLog(t, "l-1-00000000000a", 3)
		if err := os.WriteFile(filepath.Join(a.Dir, configName), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(interrupted{os.Interrupt})
		if code := a.Run(ctx); code != 130 || a.err.Len() > 0 {
			t.Errorf("%s: exit code %d, says %q; want 130 and nothing", args, code, &a.err)
		}
	}
}
