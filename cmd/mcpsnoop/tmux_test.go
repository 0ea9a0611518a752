package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ui is the program on a real terminal: keys go in, the screen comes out.
type ui struct {
	t    *testing.T
	bin  string
	home string
	tmux []string
	env  []string
}

// newUI builds the program and gives it an empty state folder.
func newUI(t *testing.T) *ui {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is missing: the user interface cannot be tried on a real terminal")
		}
		t.Skip("tmux is missing: skipped: the user interface on a real terminal")
	}
	home := t.TempDir()
	u := &ui{t: t, bin: filepath.Join(home, "mcpsnoop"), home: home, tmux: []string{"-S", filepath.Join(home, "tmux"), "-f", os.DevNull}}
	if out, err := exec.Command("go", "build", "-o", u.bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	u.env = append(os.Environ(), "MCPSNOOP_HOME="+home, "HOME="+home, "TZ=UTC", "LC_ALL=C.UTF-8", "TMUX=", "NO_COLOR=")
	t.Cleanup(func() { _ = u.command("kill-server").Run() })
	return u
}

func (u *ui) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append(append([]string{}, u.tmux...), args...)...)
	cmd.Env = u.env
	return cmd
}

func (u *ui) do(args ...string) string {
	u.t.Helper()
	out, err := u.command(args...).CombinedOutput()
	if err != nil {
		u.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start runs the program on a terminal of w by h cells.
func (u *ui) start(w, h int, args ...string) *ui {
	u.t.Helper()
	line := u.bin + " " + strings.Join(args, " ") + "; echo left with $?; exec cat"
	u.do("new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), line)
	return u
}

// keys presses keys: the names of tmux, or text with a leading equals sign.
func (u *ui) keys(keys ...string) *ui {
	u.t.Helper()
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, "="); ok {
			u.do("send-keys", "-l", text)
		} else {
			u.do("send-keys", k)
		}
	}
	return u
}

// screen is what stands on the terminal.
func (u *ui) screen() string { return u.do("capture-pane", "-p") }

// wants waits until all texts stand on the screen.
func (u *ui) wants(texts ...string) *ui {
	u.t.Helper()
	u.until(func(s string) string {
		for _, t := range texts {
			if !strings.Contains(s, t) {
				return "no " + t
			}
		}
		return ""
	})
	return u
}

// lacks waits until none of the texts stands on the screen.
func (u *ui) lacks(texts ...string) *ui {
	u.t.Helper()
	u.until(func(s string) string {
		for _, t := range texts {
			if strings.Contains(s, t) {
				return t
			}
		}
		return ""
	})
	return u
}

func (u *ui) until(wrong func(screen string) string) {
	u.t.Helper()
	last := ""
	for range 200 {
		last = u.screen()
		if wrong(last) == "" {
			return
		}
		time.Sleep(50 * time.Millisecond) // the terminal tells nobody when it has changed
	}
	u.t.Fatalf("%s on the screen:\n%s", wrong(last), last)
}

// resize changes the size of the terminal.
func (u *ui) resize(w, h int) *ui {
	u.t.Helper()
	u.do("resize-window", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h))
	return u
}

// quits presses q and waits for the end.
func (u *ui) quits() {
	u.t.Helper()
	u.keys("q").wants("left with 0")
}

// record writes the log of a session that has ended, from lines like
// "> json" and "< json"; "+37s" lets time pass.
func (u *ui) record(label string, lines ...string) {
	u.t.Helper()
	dir := filepath.Join(u.home, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		u.t.Fatal(err)
	}
	id := label + "-4821-7f3a1c9e2b04"
	var b strings.Builder
	at := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	add := func(direction, raw string) {
		fmt.Fprintf(&b, `{"session_id":%q,"server_label":%q,"seq":%d,"ts":%q,"direction":%q,"transport":"stdio","raw":%s}`+"\n",
			id, label, strings.Count(b.String(), "\n")+1, at.Format(time.RFC3339Nano), direction, raw)
		at = at.Add(120 * time.Millisecond)
	}
	add("meta", `{"command":["node","server.js"]}`)
	for _, l := range lines {
		if wait, err := time.ParseDuration(l); err == nil {
			at = at.Add(wait)
			continue
		}
		add(map[byte]string{'>': "c2s", '<': "s2c"}[l[0]], l[2:])
	}
	add("end", `{"exit_code":3,"frames":1,"dropped":0}`)
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(b.String()), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

var files = []string{
	`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1"}}}`,
	`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}}`,
	`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"/a"}}}`,
	`< {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"größe 🎉"}]}}`,
	`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write","arguments":{"path":"/b"}}}`,
	`< {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"disk full"}}`,
	`> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{"path":"/mnt/slow"}}}`,
}
