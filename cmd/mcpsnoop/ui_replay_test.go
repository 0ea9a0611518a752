package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
