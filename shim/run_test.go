//go:build unix

package shim

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestExitCodeIsTheServers(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		code int
		end  string
	}{
		{role(t, "exit", "0"), 0, `"exit_code":0,"reason":"server exited"`},
		{role(t, "exit", "3"), 3, `"exit_code":3,"reason":"server exited"`},
		{role(t, "exit", "255"), 255, `"exit_code":255`},
		{role(t, "die", itoa(int(syscall.SIGTERM))), 143, `"signal":"SIGTERM","reason":"server exited"`},
		{role(t, "die", itoa(int(syscall.SIGKILL))), 137, `"signal":"SIGKILL","reason":"server exited"`},
	} {
		s := begin(t, tt.argv)
		s.end(tt.code) // while the client holds all its ends open
		s.records(tt.end)
	}
}

func TestBytesPassBothWaysAndAreRecorded(t *testing.T) {
	s := begin(t, role(t, "echo"))
	text := "{\"id\":1}\r\nnot json\n\xff\xfe\n[1,\n{\"no\":\"end\"}"
	s.write(text)
	s.stdout.waitFor(t, text)
	_ = s.in.Close()
	s.end(0)
	if got := s.stdout.String(); got != text {
		t.Errorf("came back as %q; want %q", got, text)
	}
	want := []string{`{"id":1}`, "not json", "\xff\xfe", "[1,", `{"no":"end"}`}
	frames := s.records(`"reason":"client closed"`)
	for _, dir := range []capture.Direction{capture.C2S, capture.S2C} {
		if got := texts(frames, dir); !slices.Equal(got, want) {
			t.Errorf("recorded %v: %q; want %q", dir, got, want)
		}
	}
	for i, r := range frames[:2] {
		if r.Direction != capture.C2S && i == 0 {
			t.Errorf("an answer stands before its request: %v", frames[:2])
		}
	}
}

func TestServerSeesWhatItWouldSeeWithoutUs(t *testing.T) {
	t.Setenv("EMPTY", "")
	t.Setenv("UTF8", "ünï")
	argv := role(t, "see", "--flag", "-h", "two words", "", `q"uote`, "--", "寸止", "$HOME", "*")
	plain, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, argv)
	s.end(0)
	var want, got sight
	if json.Unmarshal(plain, &want) != nil || json.Unmarshal([]byte(s.stdout.String()), &got) != nil {
		t.Fatalf("got %q and %q", plain, s.stdout)
	}
	if !slices.Equal(got.Args, want.Args) || !slices.Equal(got.Env, want.Env) || got.Dir != want.Dir {
		t.Errorf("the server saw\n%q; want\n%q", got, want)
	}
}

func TestNothingIsRecordedWithoutRecorder(t *testing.T) {
	s := begin(t, role(t, "echo"), func(_ *session, o *Options) {
		o.Recorder.Close(capture.EndInfo{})
		o.Recorder = nil
	})
	s.write("hello\n")
	s.stdout.waitFor(t, "hello\n")
	_ = s.in.Close()
	s.end(0)
}

func TestOutputAfterEndOfInputArrives(t *testing.T) {
	s := begin(t, role(t, "late"))
	s.write("12345\n")
	_ = s.in.Close()
	s.end(0)
	if got := s.stdout.String(); got != "{\"late\":6}\n" {
		t.Errorf("got %q", got)
	}
	s.records(`"exit_code":0,"reason":"client closed"`)
}

func TestServerThatIgnoresEndOfInputIsEnded(t *testing.T) {
	s := begin(t, role(t, "deaf"), grace(100*time.Millisecond))
	s.stdout.waitFor(t, "ready")
	_ = s.in.Close()
	s.end(137)
	s.records(`"signal":"SIGKILL","reason":"client closed"`)
}

func TestServerThatKeepsTalkingIsEndedToo(t *testing.T) {
	s := begin(t, role(t, "talker"), grace(100*time.Millisecond))
	s.stdout.waitFor(t, `{"n":3}`)
	_ = s.in.Close()
	s.end(143)
	s.records(`"signal":"SIGTERM","reason":"client closed"`)
}

func TestSignalIsPassedOnOnce(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		s := begin(t, role(t, "polite"))
		s.stdout.waitFor(t, "ready")
		s.signals <- syscall.SIGUSR1 // passed on, and nothing follows
		s.stdout.waitFor(t, "got "+syscall.SIGUSR1.String())
		s.signals <- sig
		s.end(5)
		want := []string{"ready", "got " + syscall.SIGUSR1.String(), "got " + sig.String()}
		if got := lines(s.stdout.String()); !slices.Equal(got, want) {
			t.Errorf("the server says %q; want %q", got, want)
		}
		s.records(`"exit_code":5,"reason":"signal ` + unix.SignalName(sig) + `"`)
	}
}

func TestSignalKillsAfterGrace(t *testing.T) {
	s := begin(t, role(t, "deaf"), grace(100*time.Millisecond))
	s.stdout.waitFor(t, "ready")
	s.signals <- syscall.SIGTERM
	s.end(137)
	s.records(`"signal":"SIGKILL","reason":"signal SIGTERM"`)
}

func TestSecondSignalKillsAtOnce(t *testing.T) {
	s := begin(t, role(t, "deaf"), grace(time.Hour))
	s.stdout.waitFor(t, "ready")
	s.signals <- syscall.SIGTERM
	s.signals <- syscall.SIGINT
	s.end(137)
}

func TestWrapperLeavesNobody(t *testing.T) {
	for name, options := range map[string][]option{"guarded": nil, "unguarded": {unguarded()}} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, role(t, "leave", "here", "deaf"), append(options, grace(100*time.Millisecond))...)
			s.end(0) // though nobody closed anything
			pid := number(lines(strings.ReplaceAll(s.stdout.String(), "ready\n", ""))[0])
			eventually(t, "end of the grandchild", func() bool { return gone(pid) })
		})
	}
}

func TestSignalReachesWhatAWrapperStarted(t *testing.T) {
	script := `trap '' TERM; "$1" ` + roleArg + ` sleep & echo $!; wait`
	s := begin(t, []string{"/bin/sh", "-c", script, "sh", selfPath(t)}, grace(200*time.Millisecond))
	s.stdout.waitFor(t, "\n")
	pid := number(lines(s.stdout.String())[0])
	s.signals <- syscall.SIGTERM
	select {
	case <-s.done:
	case <-time.After(30 * time.Second):
		t.Fatal("does not end")
	}
	eventually(t, "end of the grandchild", func() bool { return gone(pid) })
}

func TestWhatLeftTheGroupDoesNotHoldUsUp(t *testing.T) {
	s := begin(t, role(t, "leave", "away", "deaf"), grace(100*time.Millisecond), unread())
	s.stdout = newOutput()
	go s.stdout.gather(s.out)
	s.stdout.waitFor(t, "ready\n")
	<-s.done
	pid := number(lines(strings.ReplaceAll(s.stdout.String(), "ready\n", ""))[0])
	if gone(pid) {
		t.Error("a process in a session of its own was ended")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil { // lets the abandoned reads end
		t.Fatal(err)
	}
}

func TestClientThatStopsReadingBreaksTheServersPipe(t *testing.T) {
	s := begin(t, role(t, "talker"), unread(), grace(time.Hour))
	_ = s.out.Close()
	s.end(141) // SIGPIPE, as without us
	s.records(`"signal":"SIGPIPE","reason":"client closed"`)
}

func TestBrokenStandardErrorHoldsNobodyUp(t *testing.T) {
	s := begin(t, role(t, "floodErr", "40000"))
	_ = s.err.Close()
	s.end(0)
	if got := s.stdout.String(); got != "done\n" {
		t.Errorf("got %q", got)
	}
	if got := texts(s.records(`"exit_code":0`), capture.Stderr); len(got) != 40000 {
		t.Errorf("%d lines recorded; want 40000", len(got))
	}
}

func TestStandardErrorPasses(t *testing.T) {
	s := begin(t, role(t, "floodErr", "5000"))
	s.end(0)
	want := lines(s.stderr.String())
	if len(want) != 5000 {
		t.Errorf("%d lines came; want 5000", len(want))
	}
	if got := texts(s.records(`"exit_code":0`), capture.Stderr); !slices.Equal(got, want) {
		t.Errorf("%d lines recorded, and not those that passed", len(got))
	}
}

func TestClientSeesTheEndOfOutputWhileTheServerLives(t *testing.T) {
	s := begin(t, role(t, "hangUp"))
	<-s.stdout.end
	select {
	case <-s.done:
		t.Fatal("the run ended; want it to go on")
	default:
	}
	_ = s.in.Close()
	s.end(0)
}

func TestClientSeesTheServersInputClosed(t *testing.T) {
	s := begin(t, role(t, "closeStdin"), grace(100*time.Millisecond))
	s.stdout.waitFor(t, "closed")
	eventually(t, "a broken pipe", func() bool {
		_, err := s.in.WriteString("hello\n")
		return errors.Is(err, unix.EPIPE)
	})
	s.signals <- syscall.SIGTERM
	s.end(143)
}

func TestModeOfTheClientsStreamsIsNeverChanged(t *testing.T) {
	var in, out *os.File
	modes := func() (m [2]int) {
		for i, f := range []*os.File{in, out} {
			p := borrow(f)
			flags, err := unix.FcntlInt(uintptr(p.fd), unix.F_GETFL, 0)
			if err != nil {
				t.Fatal(err)
			}
			m[i] = flags & unix.O_NONBLOCK
		}
		return m
	}
	var before [2]int
	s := begin(t, role(t, "echo"), func(_ *session, o *Options) {
		in, out = o.Stdin, o.Stdout
		before = modes()
	})
	s.write("hello\n")
	s.stdout.waitFor(t, "hello\n")
	if got := modes(); got != before {
		t.Errorf("O_NONBLOCK of stdin and stdout is %v; was %v", got, before)
	}
	_ = s.in.Close()
	s.end(0)
}

func TestSlowReaderOfTheLastOutputGetsAllOfIt(t *testing.T) {
	s := begin(t, []string{"/bin/sh", "-c", "head -c 400000 /dev/zero"}, unread())
	time.Sleep(700 * time.Millisecond) // longer than what quiet leftovers get
	s.stdout = newOutput()
	go s.stdout.gather(s.out)
	s.end(0)
	if got := len(s.stdout.String()); got != 400000 {
		t.Errorf("%d bytes came; want 400000", got)
	}
}
