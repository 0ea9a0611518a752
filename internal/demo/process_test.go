package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// command returns options that start this test binary in a role.
func command(role string) Options {
	return Options{
		Command: []string{os.Args[0]},
		Env:     append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0"),
		Rounds:  1,
		Sleep:   noSleep,
	}
}

func TestRunClient(t *testing.T) {
	var log, stderr bytes.Buffer
	o := command("server")
	o.Log, o.Stderr = &log, &stderr
	if err := RunClient(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(log.String(), "closing       calls without an answer: 1\n") {
		t.Errorf("the story is %s; want it told to its end", log.String())
	}
	if !strings.HasSuffix(stderr.String(), "demo-server: bye\n") {
		t.Errorf("standard error is %q; want the server to leave by itself", stderr.String())
	}
}

func TestRunClientEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rounds int
		want   string
	}{
		{"endless", 0, ""},
		{"counted", 2, "demo: context canceled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := command("server")
			o.Rounds = tt.rounds
			o.Sleep = func(ctx context.Context, d time.Duration) error {
				if d == hangPause { // a call is open now
					cancel()
				}
				return ctx.Err()
			}
			if got := errText(RunClient(ctx, o)); got != tt.want {
				t.Errorf("err = %q; want %q", got, tt.want)
			}
		})
	}
}

func TestRunClientFails(t *testing.T) {
	nowhere := command("")
	nowhere.Command = []string{filepath.Join(t.TempDir(), "no-such-server")}
	deaf := command("deaf")
	deaf.Grace = 50 * time.Millisecond

	for _, tt := range []struct {
		name string
		o    Options
		want []string
	}{
		{"no command", Options{}, []string{"no command"}},
		{"not there", nowhere, []string{"cannot start", "no-such-server"}},
		{"dead", command("dead"), []string{"handshake", "exit status 3"}},
		{"deaf", deaf, []string{"ended with"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := RunClient(t.Context(), tt.o)
			for _, want := range tt.want {
				if !strings.Contains(errText(err), want) {
					t.Errorf("err = %v; want %q in it", err, want)
				}
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
