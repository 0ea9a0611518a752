package sshui

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// refusedAt reports whether the server ends a connection before it says a word.
func refusedAt(t *testing.T, addr string) bool {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var b [4]byte
	_, err = io.ReadFull(c, b[:])
	return err != nil
}

func TestLimitOfConnections(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.Conns = 2 })
	a := r.client(r.viewer)
	r.client(r.viewer)
	if !refusedAt(t, r.addr) {
		t.Error("a third connection is taken")
	}
	_ = a.Close()
	eventually(t, "there is room again", func() bool { return !refusedAt(t, r.addr) })
	if !strings.Contains(r.log.String(), "too many connections") {
		t.Errorf("the log does not say so:\n%s", r.log)
	}
}

func TestLimitOfRate(t *testing.T) {
	now := time.Unix(1e9, 0) // stands still: no new connection is earned
	r := newRig(t, func(c *Config) { c.Limits.ConnBurst, c.Now = 3, func() time.Time { return now } })
	for i := range 5 {
		if got, want := refusedAt(t, r.addr), i >= 3; got != want {
			t.Errorf("connection %d: refused %v; want %v", i+1, got, want)
		}
	}
	if !strings.Contains(r.log.String(), "in a short time") {
		t.Errorf("the log does not say so:\n%s", r.log)
	}
}

func TestLimitOfSessions(t *testing.T) {
	for what, limits := range map[string]Limits{"your key has as many": {SessionsPerKey: 2}, "the hub has as many": {Sessions: 2}} {
		r := newRig(t, func(c *Config) { c.Limits = limits })
		var waiting []*gossh.Session
		for range 2 {
			s := r.session(r.client(r.viewer))
			out := &syncBuffer{}
			s.Stdout = out
			if err := s.Start("wait"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it runs", func() bool { return out.String() != "" })
			waiting = append(waiting, s)
		}
		over := func(signer gossh.Signer) (int, string) {
			s := r.session(r.client(signer))
			said := &syncBuffer{}
			s.Stderr = said
			return exitOf(s.Run("who")), said.String()
		}
		if code, said := over(r.viewer); code != exitNotRun || !strings.Contains(said, what) {
			t.Errorf("%s: exit %d, %q", what, code, said)
		}
		others := 0 // of other keys: a limit of a key is not theirs
		if limits.Sessions > 0 {
			others = exitNotRun
		}
		if code, _ := over(r.operator); code != others {
			t.Errorf("%s: another key: exit %d; want %d", what, code, others)
		}
		_ = waiting[0].Close()
		eventually(t, "there is room again", func() bool { code, _ := over(r.viewer); return code == 0 })
	}
}

// A client may try some keys, and no more.
func TestLimitOfAttempts(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.AuthTries = 3 })
	for _, tt := range []struct {
		wrong int
		in    bool
	}{{2, true}, {6, false}} {
		var signers []gossh.Signer
		for range tt.wrong {
			signers = append(signers, newKey(t))
		}
		c, err := r.dial(append(signers, r.viewer)...)
		if (err == nil) != tt.in {
			t.Errorf("%d wrong keys first: %v", tt.wrong, err)
		}
		if err == nil {
			c.Close()
		}
	}
	eventually(t, "the log says why, and what to do", func() bool {
		return strings.Contains(r.log.String(), "too many keys were tried") && strings.Contains(r.log.String(), "IdentitiesOnly")
	})
}

// Who connects and never logs in is cut off.
func TestLimitOfTheHandshake(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.Handshake = 50 * time.Millisecond })
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "SSH-2.0-slow\r\n")
	_, _ = io.Copy(io.Discard, c) // ends when the server has had enough
	eventually(t, "the log says so", func() bool { return strings.Contains(r.log.String(), "ended before the login") })
}
