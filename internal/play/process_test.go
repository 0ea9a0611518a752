package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// A real server answers a call of each era as it did when it was captured.
func TestOnceStdio(t *testing.T) {
	for name, call := range map[string]func(*testing.T) *Call{"old": oldCall, "new": newCall} {
		t.Run(name, func(t *testing.T) {
			c := call(t)
			a, err := Once(t.Context(), role("sdk"), c, options())
			if err != nil {
				t.Fatal(err, a.Notes)
			}
			if a.State != store.OK || text(a.Message) != "3" {
				t.Errorf("answered %s: %s", a.State, a.Message)
			}
			if a.Took != 3*time.Millisecond {
				t.Errorf("took %s by the clock that was given", a.Took)
			}
		})
	}
}

func text(message []byte) string {
	e := wire.ElementsOf(wire.Get(message, "result", "content"))
	if !e.Next() {
		return ""
	}
	return wire.GetString(e.Value, "text")
}

// Several calls on one connection, with ids of their own.
func TestSendSeveral(t *testing.T) {
	c := oldCall(t)
	conn, err := Dial(t.Context(), role("sdk"), c.Peer, options())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ids := map[string]bool{}
	for range 3 {
		a, err := conn.Send(t.Context(), c)
		if err != nil || text(a.Message) != "3" {
			t.Fatal(err, string(a.Message))
		}
		ids[string(wire.Get(a.Message, "id"))] = true
	}
	if len(ids) != 3 {
		t.Errorf("the ids are %v; want three", ids)
	}
}

func TestStdioFails(t *testing.T) {
	gone := role("sdk")
	gone.Dir = "/nonexistent/folder"
	for name, tt := range map[string]struct {
		target Target
		want   []string
	}{
		"it dies":        {role("dies"), []string{"ended (exit status 3) before it answered", "cannot open the data base"}},
		"no program":     {Target{Command: []string{"mcpsnoop-no-such-program"}}, []string{"start mcpsnoop-no-such-program", "not found"}},
		"no folder":      {gone, []string{"/nonexistent/folder is not there"}},
		"a long line":    {role("huge"), []string{"longer than what is read"}},
		"no answer":      {role("silent"), []string{"no answer in time"}},
		"nothing to run": {Target{}, []string{"no command"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.MaxAnswer = 1024
			if name == "no answer" {
				o.Timeout = 50 * time.Millisecond
			}
			_, err := Once(t.Context(), tt.target, oldCall(t), o)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v; want one that says %q", err, want)
				}
			}
		})
	}
}

// Whatever a server asks is answered, and said.
func TestServerAsks(t *testing.T) {
	c := newCall(t) // without a handshake: what is asked is all that there is
	a, err := Once(t.Context(), role("asks"), c, options())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e := wire.ElementsOf(wire.Get(a.Message, "result", "replies")); e.Next(); {
		got = append(got, string(e.Value))
	}
	for i, want := range []string{`"result":{}`, `"result":{"roots":[]}`, `"code":-1,`, `"code":-1,`, `"code":-32601`} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("replies %q; want %s at %d", got, want, i)
		}
	}
	notes := strings.Join(a.Notes, "\n")
	for _, want := range []string{"asked roots/list, which was answered with no roots", "asked sampling/createMessage, which was answered with an error", "asked x/own"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q; want %q", notes, want)
		}
	}
}

// Giving up ends the server, also one that listens to nothing, and what it has
// started itself.
func TestGivenUp(t *testing.T) {
	c := newCall(t)
	o := options()
	o.Grace = 50 * time.Millisecond
	conn, err := Dial(t.Context(), role("deaf"), c.Peer, o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := conn.Send(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(wire.Get(a.Message, "result", "pid")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("given up")
	time.AfterFunc(20*time.Millisecond, func() { stop(why) })
	if _, err := conn.Send(ctx, c); !errors.Is(err, why) {
		t.Errorf("error %v; want %v", err, why)
	}
	if !conn.Broken() {
		t.Error("the connection counts as whole after a call that was given up")
	}
	conn.Close()
	for range 100 { // the kernel takes its time to end what was killed
		if alive(pid) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d processes of the group of the server still run", alive(pid))
}

// alive counts what runs in a group of processes, as far as there is a /proc
// that tells. What has ended and was not fetched by its parent does not run.
func alive(group int) int {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	n := 0
	for _, f := range files {
		b, _ := os.ReadFile(f) //nolint:gosec // it is of the kernel
		_, after, _ := strings.Cut(string(b), ") ")
		if v := strings.Fields(after); len(v) > 2 && v[0] != "Z" && v[2] == strconv.Itoa(group) {
			n++
		}
	}
	return n
}

// A handshake that ends in an error says what the server said.
func TestHandshakeRefused(t *testing.T) {
	dir := t.TempDir()
	script := dir + "/server"
	reply := `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"too old","data":{"supported":["2026-07-28"]}}}`
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nread line\necho '%s'\nread line\n", reply), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	_, err := Once(t.Context(), Target{Command: []string{script}}, oldCall(t), options())
	if err == nil || !strings.Contains(err.Error(), "refused revision 2025-11-25: -32022 too old") {
		t.Errorf("error %v", err)
	}
}
