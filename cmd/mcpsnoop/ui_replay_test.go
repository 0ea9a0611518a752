package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A real call of a real server is sent again, edited in the user's own editor,
// and given up, on a real terminal; nothing that was started for it is left.
func TestUIReplay(t *testing.T) {
	u := newUI(t)
	demo := exec.Command(u.bin, "demo", "--headless")
	demo.Env = u.env
	if out, err := demo.CombinedOutput(); err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	editor := filepath.Join(u.home, "my editor")
	script := "#!/bin/sh\nstat -c '%a %n' \"$1\" \"$(dirname \"$1\")\" >" + filepath.Join(u.home, "modes") + "\nsed -i s/Oslo/Bergen/ \"$1\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	u.env = append(u.env, "EDITOR='"+editor+"'", "VISUAL=", "TMPDIR="+u.home)
	u.start(130, 40, "open", "demo").wants("get_weather")

	u.keys(":", "=8", "Enter").wants("tools/call get_weather")
	u.keys("r").wants("demo-server? y/n", "a copy of the server").keys("y")
	u.wants("the same answer", "recorded", "now", "$ mcpsnoop replay --where seq:8", "stderr: demo-server")
	u.keys("E").wants("edited", "Bergen", "line").keys("Escape").lacks("recorded")

	u.keys(":", "=15", "Enter").wants("tools/call hang").keys("r").wants("esc gives up").keys("Escape").wants("given up")
	u.keys("r").wants("esc gives up") // and is left while the call is under way
	u.quits()

	modes, err := os.ReadFile(filepath.Join(u.home, "modes"))
	if err != nil || !strings.HasPrefix(string(modes), "600 ") || !strings.Contains(string(modes), "\n700 ") {
		t.Errorf("what was edited lay in %s, %v", modes, err)
	}
	if left, _ := filepath.Glob(filepath.Join(u.home, "mcpsnoop-edit-*")); len(left) != 0 {
		t.Errorf("left behind: %s", left)
	}
	if out, _ := exec.Command("pgrep", "-f", u.bin+" demo-server").Output(); len(out) != 0 {
		t.Errorf("servers are left: %s", out)
	}
}

// A call that was captured over HTTP goes to the address that was named, after
// asking; without one it is said what to start with.
func TestUIReplayHTTP(t *testing.T) {
	u := newUI(t)
	server := mcp.NewServer(&mcp.Implementation{Name: "adder", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct{ A, B int }) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(in.A + in.B)}}}, nil, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k3y" {
			w.Header().Set("WWW-Authenticate", `Bearer scope="add"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	defer srv.Close()
	const head = `{"session_id":"h-1-00000000000a","server_label":"h","ts":"2026-03-02T15:00:00Z","transport":"http","seq":`
	log := filepath.Join(u.home, "http.jsonl")
	lines := head + `1,"direction":"meta","raw":{"target":"https://api.example.com/mcp"}}
` + head + `2,"direction":"c2s","exchange":1,"mcp_protocol_version":"2025-11-25","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"A":1,"B":2}}}}
` + head + `3,"direction":"s2c","exchange":1,"status":200,"raw":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3"}]}}}
`
	if err := os.WriteFile(log, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	u.start(130, 40, "open", log).wants("tools/call add").keys("r").wants("captured over HTTP", "open --replay-target URL").quits()
	u.afresh().start(130, 40, "open", "--replay-target", srv.URL, log).wants("tools/call add")
	u.keys("r").wants("send it to " + srv.URL + "? y/n").keys("y").wants(`401 and demands Bearer scope="add"`).keys("Escape").lacks("recorded").quits()
	u.afresh().start(130, 40, "open", "--replay-target", srv.URL, "--replay-header", "'Authorization: Bearer k3y'", log).wants("tools/call add")
	u.keys("r").wants("y/n").keys("y").wants("the same answer", "--replay-header 'Authorization: ...'").lacks("k3y")
	u.quits()
}

// afresh leaves the terminal for a new one. A server of tmux that was told to
// end is there for a while, so the new one has another address.
func (u *ui) afresh() *ui {
	u.t.Helper()
	u.do("kill-server")
	u.tmux[1] += "x"
	return u
}
