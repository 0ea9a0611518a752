package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

func TestParseSize(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
	}{
		{"0", 0}, {"512", 512}, {"512B", 512}, {"64k", 64 << 10}, {"64KiB", 64 << 10}, {"64kB", 64000}, {"1.5MiB", 3 << 19},
		{"16 MiB", 16 << 20}, {"2G", 2 << 30}, {"1gb", 1e9},
		{"", -1}, {"k", -1}, {"-1", -1}, {"1e3", -1}, {"0x10", -1}, {"inf", -1}, {"nan", -1}, {"1 T", -1}, {"99999999999G", -1}, {"1_000", -1}, {"+5", 5},
	} {
		got, err := parseSize(tt.text)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("parseSize(%q) = %d; want %d", tt.text, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"check", "demo", "export", "sessions", "tail", "verify"}
	for _, tt := range []struct{ word, want string }{
		{"chekc", "check"}, {"chek", "check"}, {"Check", "check"}, {"tial", "tail"}, {"exprot", "export"}, {"session", "sessions"},
		{"foo", ""}, {"", ""}, {"x", ""}, {"fakeserver", ""},
	} {
		if got := nearest(tt.word, names); got != tt.want {
			t.Errorf("nearest(%q) = %q; want %q", tt.word, got, tt.want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err     error
		code    int
		message string
	}{
		{nil, 0, ""},
		{errFound, 1, ""},
		{fmt.Errorf("wrapped: %w", errFound), 1, ""},
		{usagef("--x %d", 1), 2, "--x 1"},
		{withHint(errors.New("a"), "b %d", 1), 2, "a; b 1"},
		{fmt.Errorf("c: %w", withHint(errors.New("a"), "b")), 2, "c: a; b"},
		{&fs.PathError{Op: "open", Path: "p", Err: fs.ErrNotExist}, 2, "open p: file does not exist"},
		{childExit(3), 3, ""},
		{childExit(137), 137, ""},
		{interrupted{syscall.SIGTERM}, signalCode(syscall.SIGTERM), ""},
	} {
		if got := exitCode(tt.err); got != tt.code {
			t.Errorf("exitCode(%v) = %d; want %d", tt.err, got, tt.code)
		}
		if got := message(tt.err); got != tt.message {
			t.Errorf("message(%v) = %q; want %q", tt.err, got, tt.message)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(interrupted{os.Interrupt})
	if err := cause(ctx, fmt.Errorf("read: %w", context.Canceled)); message(err) != "" || exitCode(err) != 130 {
		t.Errorf("an interrupt gives %v, exit code %d; want nothing to say, and 130", err, exitCode(err))
	}
}

func TestStateDir(t *testing.T) {
	for _, tt := range []struct {
		name, os string
		env      []string
		want     string
	}{
		{"own", "linux", []string{"MCPSNOOP_HOME=/own", "XDG_STATE_HOME=/xdg", "HOME=/h"}, "/own"},
		{"own, relative", "linux", []string{"MCPSNOOP_HOME=own"}, "/cwd/own"},
		{"xdg", "linux", []string{"XDG_STATE_HOME=/xdg", "HOME=/h"}, "/xdg/mcpsnoop"},
		{"xdg, relative", "linux", []string{"XDG_STATE_HOME=xdg", "HOME=/h"}, "/h/.local/state/mcpsnoop"},
		{"home", "linux", []string{"HOME=/h"}, "/h/.local/state/mcpsnoop"},
		{"the last one counts", "linux", []string{"HOME=/h", "HOME=/g"}, "/g/.local/state/mcpsnoop"},
		{"mac", "darwin", []string{"HOME=/h"}, "/h/Library/Application Support/mcpsnoop"},
		{"nothing", "linux", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := (&App{OS: tt.os, Env: tt.env, Dir: "/cwd"}).stateDir()
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	win := App{OS: "windows", Env: []string{"LocalAppData=C"}}
	if got := win.Getenv("LOCALAPPDATA"); got != "C" {
		t.Errorf("on Windows names are case-blind: got %q", got)
	}
}
