package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/play"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// oneSession loads a log for a test.
func oneSession(t *testing.T, a *testApp, log string) (*store.Session, play.ReadFunc) {
	t.Helper()
	path := filepath.Join(a.Dir, "log.jsonl")
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := a.sources([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := a.load(t.Context(), list[0], loadOptions{})
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	bodies := capture.NewBodies(a.FS)
	t.Cleanup(func() { _ = bodies.Close() })
	return sessions[0].Session, frameReader(bodies)
}

// stdioLog is a call to a server that answers with what it is asked, and keeps
// a secret to itself.
func stdioLog(command string) string {
	return strings.ReplaceAll(`{"session_id":"s-1-00000000000a","server_label":"s","seq":1,"ts":"2026-08-01T10:00:00Z","direction":"meta","transport":"stdio","raw":{"command":[COMMAND],"cwd":"/","host":"box"}}
{"session_id":"s-1-00000000000a","server_label":"s","seq":2,"ts":"2026-08-01T10:00:02Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}
{"session_id":"s-1-00000000000a","server_label":"s","seq":3,"ts":"2026-08-01T10:00:02.01Z","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"result":{"x":1}}}
`, "COMMAND", command)
}

// The command of the log is started, what it answers is redacted as the view
// is, and the command line that does the same is one that does.
func TestReplayerSends(t *testing.T) {
	a := newTestApp(t)
	a.Env = os.Environ()
	s, read := oneSession(t, a, stdioLog(`"sh","-c","read l; echo password=hunter2hunter2 >&2; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"password\":\"hunter2hunter2\"}}'"`))
	engine, err := redact.New(redact.Config{Secrets: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{app: a.App, read: read, engine: engine, name: "a log.jsonl"}
	p, err := r.Plan(s, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `cd / && mcpsnoop replay --where seq:2 'a log.jsonl' -- sh -c 'read l; `; !strings.HasPrefix(p.Command, want) || !p.Starts || p.Dir != "/" {
		t.Errorf("the plan says %q in %s", p.Command, p.Dir)
	}
	answer, err := r.Send(t.Context(), p)
	if err != nil || answer.State != store.OK {
		t.Fatal(err, answer)
	}
	if got := wire.GetString(answer.Message, "result", "password"); !redact.IsMark(got) {
		t.Errorf("the viewer sees %q of a secret", got)
	}
	if notes := strings.Join(answer.Notes, "\n"); strings.Contains(notes, "hunter2") {
		t.Errorf("the viewer sees the notes %q", notes)
	}
	a.Process.Host = "elsewhere"
	if p, err = r.Plan(s, 0, nil); err != nil || len(p.Notes) != 1 || p.Notes[0] != "the command was recorded on box, and this is elsewhere" {
		t.Errorf("of another machine: notes %q, %v", p.Notes, err)
	}
	if p, err = r.Plan(s, 0, []byte(`{"name":"two"}`)); err != nil || p.Command != "" || !p.Edited || p.Name != "two" {
		t.Errorf("an edited plan: %+v, %v", p, err)
	}
}

// What cannot be sent says why, and what to do.
func TestReplayerRefuses(t *testing.T) {
	a := newTestApp(t)
	s, read := oneSession(t, a, chain)
	far := a.newReplayer(read, true)
	if _, err := far.Plan(s, 0, nil); err == nil || !strings.Contains(err.Error(), "captured over HTTP") || !strings.Contains(err.Error(), "open --replay-target URL h-1-00000000000a") {
		t.Errorf("without a target: %v", err)
	}
	if p, err := far.Params(s, 0); err != nil || wire.GetString(p, "name") != "book" {
		t.Errorf("params %s, %v", p, err)
	}
	o := replayTo{Target: "https://api.example.com/mcp", Headers: []string{"Authorization: Bearer s3cret"}}
	target, err := o.parse()
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{app: a.App, read: read, target: target}
	p, err := r.Plan(s, 0, nil)
	if err != nil || p.Starts || p.Target != "https://api.example.com/mcp" {
		t.Fatalf("with a target: %+v, %v", p, err)
	}
	if want := `mcpsnoop replay --where seq:2 --target https://api.example.com/mcp --replay-header 'Authorization: ...' h-1-00000000000a`; p.Command != want {
		t.Errorf("the command is %q; want %q", p.Command, want)
	}
	for _, o := range []replayTo{{Headers: []string{"A: b"}}, {Target: "nowhere"}, {Target: "http://a/", Headers: []string{"Accept: s3cret"}}} {
		if _, err := o.parse(); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Over SSH what runs on the hub is the same, and no command line is shown.
func TestReplayerOfHub(t *testing.T) {
	a := newTestApp(t)
	s, read := oneSession(t, a, stdioLog(`"cat"`))
	p, err := a.newReplayer(read, true).Plan(s, 0, nil)
	if err != nil || p.Command != "" || p.Target != "cat" {
		t.Errorf("the plan is %+v, %v", p, err)
	}
}

func TestFileEditor(t *testing.T) {
	dir := t.TempDir()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	a := newTestApp(t)
	a.TempDir = dir
	a.In, a.InTTY = in, true
	if a.editor() != nil {
		t.Error("an editor without VISUAL and EDITOR")
	}
	a.Env = append(os.Environ(), "VISUAL=", "EDITOR=sed -i s/1/2/")
	e := a.editor()
	cmd, done, err := e.Open([]byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if b, err := done(); err != nil || string(b) != `{"a":2}` {
		t.Errorf("edited: %q, %v", b, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	a.Env = append(a.Env, "VISUAL=exit 3; true")
	if cmd, done, err = a.editor().Open(nil); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Run(); err == nil {
		t.Error("the editor that fails is VISUAL's; want it taken before EDITOR")
	}
	if b, err := done(); err != nil || len(b) != 0 {
		t.Errorf("%q, %v", b, err)
	}
}
