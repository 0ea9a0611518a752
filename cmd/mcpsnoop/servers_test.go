package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	npmServers = "../../testdata/npm/node_modules"         // the published servers, from `make servers`
	npmSDK     = "../../testdata/conformance/node_modules" // the TypeScript SDK, likewise
	goSDK      = "github.com/modelcontextprotocol/go-sdk/"
)

// story is what a client does with a server over stdio.
type story struct {
	server   string
	needs    string // a folder without which the story is skipped
	argv     []string
	env      []string
	revision string // the client begins with it; "" for the newest, and the next one that the server has
	refused  int    // requests that the client sends to find out the revision, and that are refused
	beyond   string // tools that are not called, as they ask for what the client cannot read
	calls    []call // beside one call of each tool with arguments made up from its schema
}

// call is one tools/call of a story and how it must end.
type call struct {
	tool   string
	args   map[string]any
	failed bool
	guess  bool // the arguments are made up: it may fail
}

// stories are the published servers, and those on the two SDKs that speak
// several revisions, each with every revision.
func stories(t *testing.T, dir string) []story {
	published := func(name string, env []string, calls []call, args ...string) story {
		argv := append([]string{"node", filepath.Join(npmServers, "@modelcontextprotocol", name, "dist", "index.js")}, args...)
		return story{server: name, needs: npmServers, argv: argv, env: env, refused: 1, calls: calls}
	}
	out := []story{
		published("server-everything", nil, []call{
			{tool: "echo", args: map[string]any{"message": "hi"}},
			{tool: "get-sum", args: map[string]any{"a": 2, "b": 40}},
		}, "stdio"),
		published("server-filesystem", nil, []call{
			{tool: "read_text_file", args: map[string]any{"path": filepath.Join(dir, "a.txt")}},
			{tool: "read_text_file", args: map[string]any{"path": "/etc/passwd"}, failed: true},
		}, dir),
		published("server-memory", []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")}, nil),
		published("server-sequential-thinking", nil, nil),
	}
	everything, err := filepath.Abs("../../testdata/conformance/everything-server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, name := range []string{"conformance/everything-server", "examples/server/memory", "examples/server/sequentialthinking"} {
			out = append(out, story{server: "go-sdk " + name, argv: []string{built(t, goSDK+name)}, revision: revision})
		}
		out = append(out, story{server: "typescript-sdk everything", needs: npmSDK, argv: []string{"node", everything, "stdio"}, revision: revision,
			beyond: "test_input_required_result_list_roots test_input_required_result_multiple_inputs test_input_required_result_capabilities", // roots/list without params
		})
	}
	return out
}

// built compiles a command.
func built(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if pkg == "." {
		bin = filepath.Join(t.TempDir(), "mcpsnoop")
	}
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// TestServersOverStdio puts each server behind the shim, with the official
// client in front, and reads the recording with the commands: `check` may find
// nothing that fails a build.
func TestServersOverStdio(t *testing.T) {
	bin, known := built(t, "."), knownFaults(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, ran := stories(t, dir), 0
	for _, s := range all {
		t.Run(strings.TrimSpace(s.server+" "+s.revision), func(t *testing.T) {
			if _, err := os.Stat(s.needs); s.needs != "" && err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatalf("what the server runs on is missing: run make servers: %v", err)
				}
				t.Skip("what the server runs on is missing: run make servers")
			}
			ran++
			env := append(os.Environ(), "MCPSNOOP_HOME="+t.TempDir())
			cmd := exec.Command(bin, append([]string{"--"}, s.argv...)...)
			cmd.Env = append(env, s.env...)
			failed := useServer(t, cmd, s)
			judge(t, bin, env, s.server, s.refused+failed, known)
		})
	}
	for k, found := range known {
		if !found && ran == len(all) {
			t.Errorf("listed in findings.txt and no longer found: %s", k)
		}
	}
}

// knownFaults are the lines of findings.txt that are about servers over stdio,
// as "rule server".
func knownFaults(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile("../../testdata/conformance/findings.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for l := range strings.Lines(string(b)) {
		if part := strings.Split(l, " | "); len(part) == 4 {
			if server, ok := strings.CutPrefix(part[1], "stdio "); ok {
				known[part[0]+" "+server] = false
			}
		}
	}
	return known
}

// useServer plays the story and returns how many of its requests have failed.
func useServer(t *testing.T, cmd *exec.Cmd, s story) (failed int) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "story", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) { //nolint:staticcheck // deprecated, and servers still ask
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "x"}}, nil //nolint:staticcheck // likewise
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			schema, _ := r.Params.RequestedSchema.(map[string]any)
			return &mcp.ElicitResult{Action: "accept", Content: made(schema)}, nil
		},
	})
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: s.revision})
	if err != nil {
		t.Fatalf("connect through the shim: %v", err)
	}
	defer session.Close()
	note := func(what string, err error) bool {
		var refused *jsonrpc.Error
		switch {
		case errors.As(err, &refused):
			failed++
			return false
		case err != nil:
			t.Errorf("%s: %v", what, err)
		}
		return err == nil
	}
	for i, c := range slices.Concat(s.calls, eachTool(ctx, t, session)) {
		if strings.Contains(s.beyond, c.tool) {
			continue
		}
		params := &mcp.CallToolParams{Name: c.tool, Arguments: c.args}
		params.SetProgressToken(i)
		res, err := session.CallTool(ctx, params)
		if ok := note(c.tool, err); ok && res.IsError {
			failed++
		}
		if !c.guess && (err != nil || res.IsError != c.failed) {
			t.Errorf("call %s: %v, %+v; want failed %v", c.tool, err, res, c.failed)
		}
	}
	can := session.InitializeResult().Capabilities
	if can.Resources != nil {
		for r, err := range session.Resources(ctx, nil) {
			if note("resources/list", err) {
				_, err = session.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI})
				note("read "+r.URI, err)
			}
		}
	}
	if can.Prompts != nil {
		for p, err := range session.Prompts(ctx, nil) {
			if note("prompts/list", err) {
				_, err = session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: argumentsOf(p)})
				note("prompt "+p.Name, err)
			}
		}
	}
	return failed
}

func argumentsOf(p *mcp.Prompt) map[string]string {
	args := map[string]string{}
	for _, a := range p.Arguments {
		args[a.Name] = "x"
	}
	return args
}

// eachTool is one call of each tool that the server lists.
func eachTool(ctx context.Context, t *testing.T, session *mcp.ClientSession) (calls []call) {
	t.Helper()
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatalf("list tools: %v", err)
		}
		schema, _ := tool.InputSchema.(map[string]any)
		calls = append(calls, call{tool: tool.Name, args: made(schema), guess: true})
	}
	return calls
}

// made makes what a schema requires.
func made(schema map[string]any) map[string]any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range required(schema) {
		property, _ := properties[name].(map[string]any)
		out[name] = sample(property)
	}
	return out
}

// required are the members that a schema wants, with those of its parts.
func required(schema map[string]any) (names []string) {
	list, _ := schema["required"].([]any)
	for _, r := range list {
		name, _ := r.(string)
		names = append(names, name)
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[k].([]any)
		for _, p := range parts {
			part, _ := p.(map[string]any)
			names = append(names, required(part)...)
		}
	}
	if part, ok := schema["else"].(map[string]any); ok {
		names = append(names, required(part)...)
	}
	return names
}

func sample(schema map[string]any) any {
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	kind := schema["type"]
	if kinds, ok := kind.([]any); ok && len(kinds) > 0 {
		kind = kinds[len(kinds)-1] // null comes first
	}
	switch kind {
	case "number", "integer":
		return 1
	case "boolean":
		return false
	case "array":
		least, _ := schema["minItems"].(float64)
		items, _ := schema["items"].(map[string]any)
		return slices.Repeat([]any{sample(items)}, int(least))
	case "object":
		return made(schema)
	}
	return "x"
}

// judge reads what was recorded, as a user would.
func judge(t *testing.T, bin string, env []string, server string, failed int, known map[string]bool) {
	t.Helper()
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
			Findings []struct {
				Rule, Signal, Method, Message string
				Count                         int
			}
		}
	}
	if err := json.Unmarshal(run("check", "--format", "json", "--fail-on", "none"), &report); err != nil {
		t.Fatal(err)
	}
	got := report.Sessions[0]
	byClient := got.Calls.Error
	for _, f := range got.Findings {
		if f.Method == "elicitation/create" && f.Signal == "error" { // what the client has refused
			byClient -= f.Count
		}
		switch f.Signal {
		case "invalid", "warn", "mismatch":
			k := f.Rule + " " + server
			if _, ok := known[k]; !ok {
				t.Errorf("%s: finding %s (%s): %s", server, f.Rule, f.Signal, f.Message)
			} else {
				known[k] = true
			}
		case "pending":
			if f.Method != "roots/list" { // asked at a moment of the server's own, which may be the client's last
				t.Errorf("%s: unanswered: %s", server, f.Message)
			}
		}
	}
	if byClient != failed {
		t.Errorf("%s: calls %+v, want %d failed", server, got.Calls, failed)
	}
}
