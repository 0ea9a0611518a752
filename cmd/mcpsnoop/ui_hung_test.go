package main

import (
	"io"
	"os/exec"
	"testing"
)

// A call hangs while its session is watched: it ages in place, and says what
// is known of it. Then the server ends, and nothing ages any more.
func TestUIHungCall(t *testing.T) {
	u := newUI(t)
	shim := exec.Command(u.bin, "--label", "slow", "--", "sh", "-c", "cat >/dev/null")
	shim.Env = u.env
	in, err := shim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shim.Start(); err != nil {
		t.Fatal(err)
	}
	defer shim.Process.Kill()
	u.start(120, 30).wants("● 1 live")
	u.keys("Enter").wants("follow")
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"book"}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	u.wants("tools/call book", "◔ 3s")
	u.keys("g").wants("turn server, no sign of life since")
	u.wants("◔ 5s")
	in.Close()
	u.wants("no answer", "exit 0").lacks("⇣ follow", "◔")
	u.quits()
	if err := shim.Wait(); err != nil {
		t.Error(err)
	}
}
