package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The published servers run from testdata/npm, which `make servers` fills.
const npmServers = "../../testdata/npm/node_modules/@modelcontextprotocol"

// call is one tools/call of a story and how it must end.
type call struct {
	tool   string
	args   map[string]any
	failed bool
}

// stories are what a client does with each published server.
func stories(dir string) []struct {
	server string
	args   []string
	env    []string
	calls  []call
} {
	return []struct {
		server string
		args   []string
		env    []string
		calls  []call
	}{
		{"server-everything", []string{"stdio"}, nil, []call{
			{"echo", map[string]any{"message": "hi"}, false},
			{"get-sum", map[string]any{"a": 2, "b": 40}, false},
		}},
		{"server-filesystem", []string{dir}, nil, []call{
			{"read_text_file", map[string]any{"path": filepath.Join(dir, "a.txt")}, false},
			{"read_text_file", map[string]any{"path": "/etc/passwd"}, true},
		}},
		{"server-memory", nil, []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")}, []call{
			{"read_graph", map[string]any{}, false},
		}},
		{"server-sequential-thinking", nil, nil, []call{
			{"sequentialthinking", map[string]any{"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}, false},
		}},
	}
}

// TestPublishedServers puts each published server behind the shim, with the
// official client in front, and reads the recording with the commands.
func TestPublishedServers(t *testing.T) {
	if _, err := os.Stat(npmServers); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the published servers are missing: run make servers: %v", err)
		}
		t.Skip("the published servers are missing: run make servers")
	}
	bin := filepath.Join(t.TempDir(), "mcpsnoop")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range stories(dir) {
		t.Run(s.server, func(t *testing.T) {
			env := append(os.Environ(), "MCPSNOOP_HOME="+t.TempDir())
			cmd := exec.Command(bin, append([]string{"--", "node", filepath.Join(npmServers, s.server, "dist", "index.js")}, s.args...)...)
			cmd.Env = append(env, s.env...)
			failed := useServer(t, cmd, s.calls)
			judge(t, bin, env, s.server, failed)
		})
	}
}

// useServer plays the calls and returns how many of them failed as they should.
func useServer(t *testing.T, cmd *exec.Cmd, calls []call) (failed int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "story", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("connect through the shim: %v", err)
	}
	defer session.Close()
	if _, err := session.ListTools(ctx, nil); err != nil {
		t.Fatalf("list tools: %v", err)
	}
	for _, c := range calls {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Fatalf("call %s: %v", c.tool, err)
		}
		if res.IsError != c.failed {
			t.Errorf("call %s: failed %v, want %v: %v", c.tool, res.IsError, c.failed, res.Content)
		}
		if c.failed {
			failed++
		}
	}
	return failed
}

// judge reads what was recorded, as a user would.
func judge(t *testing.T, bin string, env []string, server string, failed int) {
	run := func(args ...string) []byte {
		cmd := exec.Command(bin, args...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	var sessions struct {
		Sessions []struct {
			Label          string
			Ended          *string
			Calls, Pending int
		}
	}
	if err := json.Unmarshal(run("sessions", "--format", "json"), &sessions); err != nil {
		t.Fatal(err)
	}
	if len(sessions.Sessions) != 1 || sessions.Sessions[0].Ended == nil {
		t.Fatalf("sessions: %+v; want one, ended", sessions.Sessions)
	}
	if tail := run("tail"); !strings.Contains(string(tail), "tools/call") {
		t.Errorf("tail shows no call:\n%s", tail)
	}
	var report struct {
		Sessions []struct {
			Calls    struct{ Total, OK, Error, Pending int }
			Findings []struct{ Rule, Signal, Method, Message string }
		}
	}
	if err := json.Unmarshal(run("check", "--format", "json", "--fail-on", "none"), &report); err != nil {
		t.Fatal(err)
	}
	got := report.Sessions[0]
	if got.Calls.Error != failed+1 {
		t.Errorf("%s: calls %+v, want %d failed and the refused server/discover of a client of both eras", server, got.Calls, failed)
	}
	for _, f := range got.Findings {
		switch f.Signal {
		case "invalid", "warn", "mismatch":
			t.Errorf("%s: finding %s (%s): %s", server, f.Rule, f.Signal, f.Message)
		case "pending":
			if f.Method != "roots/list" { // asked at a moment of the server's own, which may be the client's last
				t.Errorf("%s: unanswered: %s", server, f.Message)
			}
		}
	}
}
