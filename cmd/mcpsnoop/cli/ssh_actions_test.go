//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/sshui"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// logs are the files in a folder of the hub's state.
func (r *sshRig) logs(folder string) []string {
	r.t.Helper()
	found, err := filepath.Glob(filepath.Join(r.state, folder, "*.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// A viewer's key deletes nothing; an operator's does after confirming, can take
// it back, and the hub writes down who it was.
func TestSSHOperatorsDelete(t *testing.T) {
	needTools(t, "ssh-keygen")
	pre := &sshRig{t: t, work: t.TempDir(), home: t.TempDir()}
	viewer, operator := pre.keygen("viewer"), pre.keygen("operator")
	r := newSSHRig(t, "--authorized-keys", viewer+".pub", "--operators", operator+".pub")
	print := func(key string) string {
		return strings.Fields(r.must(r.cmd("ssh-keygen", "-lf", key+".pub")))[1]
	}

	r.key = viewer
	s := r.terminal([]string{"TERM=xterm"}, "-tt", "127.0.0.1")
	r.until("the list", s.has("files"))
	fmt.Fprint(s.tty, "\x04") // ctrl-d deletes
	r.until("it says why not", s.has("operators only; this key is a viewer's"))
	fmt.Fprint(s.tty, "y")
	fmt.Fprint(s.tty, "\r")
	r.until("the session is there", s.has("tools/call"))
	if len(r.logs("sessions")) != 1 || len(r.logs("trash")) != 0 {
		t.Error("a viewer has deleted")
	}

	r.key = operator
	s = r.terminal([]string{"TERM=xterm"}, "-tt", "127.0.0.1")
	r.until("the list", s.has("files"))
	fmt.Fprint(s.tty, "\x04")
	r.until("it asks", s.has("to the trash? y/n"))
	fmt.Fprint(s.tty, "n")
	fmt.Fprint(s.tty, "\x04")
	if len(r.logs("sessions")) != 1 {
		t.Error("it deleted without a yes")
	}
	fmt.Fprint(s.tty, "y")
	r.until("it is in the trash", func() bool { return len(r.logs("sessions")) == 0 && len(r.logs("trash")) == 1 })
	r.until("the list is empty", s.has("no sessions yet"))
	fmt.Fprint(s.tty, "u")
	r.until("it is back", func() bool { return len(r.logs("sessions")) == 1 && len(r.logs("trash")) == 0 })
	fmt.Fprint(s.tty, "q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("q: %v", err)
	}
	for _, what := range []string{"delete", `"bring back"`} {
		r.until("the log names the operator: "+what, func() bool {
			for l := range strings.Lines(r.said.String()) {
				if strings.Contains(l, "msg="+what+" ") && strings.Contains(l, print(operator)) && strings.Contains(l, "addr=127.0.0.1:") && strings.Contains(l, "session=files-") {
					return true
				}
			}
			return false
		})
	}
	if strings.Contains(r.said.String(), "msg=delete key="+print(viewer)) {
		t.Errorf("the viewer deleted:\n%s", r.said)
	}
}

// A viewer's key sends nothing again; an operator's does after confirming.
func TestSSHOperatorsReplay(t *testing.T) {
	needTools(t, "ssh-keygen")
	pre := &sshRig{t: t, work: t.TempDir(), home: t.TempDir()}
	viewer, operator := pre.keygen("viewer"), pre.keygen("operator")
	r := newSSHRig(t, "--authorized-keys", viewer+".pub", "--operators", operator+".pub")
	runs := filepath.Join(r.work, "runs")
	server := `read l; echo run >>'` + runs + `'; echo '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done so often"}]}}'`
	c := r.cmd("mcpsnoop", "--label", "again", "--", "sh", "-c", server)
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n")
	r.must(c)
	times := func() int { return strings.Count(readAll(t, runs), "run") }
	if times() != 1 {
		t.Fatalf("the server ran %d times", times())
	}
	open := func(key string) *sshTerminal {
		r.key = key
		s := r.terminal([]string{"TERM=xterm"}, "-tt", "127.0.0.1")
		r.until("the list", s.has("again"))
		fmt.Fprint(s.tty, "g\r") // the newest is the first
		r.until("the stream", s.has("count"))
		fmt.Fprint(s.tty, "gr")
		return s
	}
	s := open(viewer)
	r.until("it says why not", s.has("operators only; this key is a viewer's"))
	fmt.Fprint(s.tty, "yq")
	_ = s.cmd.Wait()

	s = open(operator)
	asked := func() bool { return fills(s.out.String(), 80, 24, "run sh -c") }
	r.until("it asks", asked)
	fmt.Fprint(s.tty, "n")
	r.until("it is answered", func() bool { return !asked() })
	fmt.Fprint(s.tty, "r")
	r.until("it asks again", asked)
	if times() != 1 {
		t.Errorf("the server ran %d times without a yes", times())
	}
	fmt.Fprint(s.tty, "y")
	r.until("it is sent again", func() bool { return times() == 2 })
	r.until("the answer is shown", func() bool { return fills(s.out.String(), 80, 24, "done so often") })
	r.until("the log names the operator", func() bool {
		for l := range strings.Lines(r.said.String()) {
			if strings.Contains(l, "msg=replay ") && strings.Contains(l, "role=operator") && strings.Contains(l, "addr=127.0.0.1:") && strings.Contains(l, "session=again-") {
				return true
			}
		}
		return false
	})
	if n := strings.Count(r.said.String(), "msg=replay "); n != 1 {
		t.Errorf("the log has %d replays; want 1:\n%s", n, r.said)
	}
}

// A hub without sessions says what to run, and where: nothing of that is run
// through SSH.
func TestSSHEmptyList(t *testing.T) {
	r := newSSHRig(t)
	r.stop()
	for _, path := range r.logs("sessions") {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	r.said = &lockedBuffer{}
	r.start()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s := r.terminal([]string{"TERM=xterm"}, "-tt", "127.0.0.1")
	r.until("it says what to do, and where", func() bool {
		return s.has("  mcpsnoop -- node")() && s.has("configuration on "+host)() && s.has(": mcpsnoop demo")()
	})
	if s.has("-- node")() && s.has("ssh -p "+r.port)() {
		t.Errorf("what is to be run cannot be run: %q", s.out)
	}
}

// sender is a Replayer that fails as it is told to.
type sender struct {
	tui.Replayer
	sent int
	err  error
}

func (s *sender) Send(context.Context, tui.ReplayPlan) (tui.ReplayAnswer, error) {
	s.sent++
	return tui.ReplayAnswer{}, s.err
}

func TestHubActionsByRole(t *testing.T) {
	var out strings.Builder
	logs := slog.New(slog.NewTextHandler(&out, nil))
	replay := &sender{}
	visitor := func(role sshui.Role) sshui.Visitor {
		return sshui.Visitor{Grant: sshui.Grant{Role: role, Fingerprint: "SHA256:abc"}, Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 9}}
	}
	trash := &uiTrash{}
	a := hubActions(visitor(sshui.Viewer), logs, trash, replay)
	if a.Replay != nil || a.Trash != nil || a.Export != nil || a.Editor != nil || a.Denied == "" {
		t.Errorf("a viewer has %+v", a)
	}
	a = hubActions(visitor(sshui.Operator), logs, trash, replay)
	if a.Replay == nil || a.Trash == nil || a.Export != nil || a.Editor != nil || a.Denied == "" {
		t.Errorf("an operator has %+v", a)
	}
	s, _ := store.NewSession("files-1-000000000001", filepath.Join(os.TempDir(), "none.jsonl"), store.Limits{}, nil)
	for _, err := range []error{nil, errors.New("the server is gone")} {
		replay.err = err
		out.Reset()
		if _, got := a.Replay.Send(t.Context(), tui.ReplayPlan{Session: s, Op: 3}); !errors.Is(got, err) {
			t.Errorf("%v; want %v", got, err)
		}
		for _, want := range []string{"msg=replay", "key=SHA256:abc", "role=operator", "addr=192.0.2.7:9", "session=files-1-000000000001", "operation=3"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the log lacks %s: %s", want, &out)
			}
		}
		if err != nil && !strings.Contains(out.String(), `failed="the server is gone"`) {
			t.Errorf("the log does not say that it failed: %s", &out)
		}
	}
	far, _ := store.New(store.Limits{}).OpenAt(store.Place{ID: "far-1-000000000001", Path: "/far.jsonl", Origin: "box"}, nil)
	if _, err := a.Replay.Plan(far, 0, nil); err == nil || !strings.Contains(err.Error(), "copy from box") {
		t.Errorf("a copy from another machine: %v", err)
	}
	if replay.sent != 2 {
		t.Errorf("sent %d times; want 2", replay.sent)
	}
}
