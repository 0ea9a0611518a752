package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// climbed is a session over HTTP in which an operation was refused three times.
func climbed(f *fixture) *tape {
	s, a := store.NewSession("protected-1-7f3a1c9e2b0a", "/state/sessions/protected.jsonl", store.Limits{}, nil)
	t := &tape{f: f, s: s, a: a, at: start, tr: capture.HTTP}
	f.list = append(f.list, s)
	t.add(capture.Record{Direction: capture.Meta, Label: "protected", Raw: []byte(`{"target":"http://localhost:3999/mcp"}`)}, 0)
	wants := []string{
		`Bearer resource_metadata="http://localhost:3999/.well-known/oauth-protected-resource"`,
		`Bearer error="insufficient_scope", scope="files:read", error_description="Read permission required"`,
		"Bearer scope=a b",
		"",
	}
	for i, w := range wants {
		n := uint64(i + 1)
		ask := capture.Record{Direction: capture.C2S, Exchange: n, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files.read"}}`), HTTP: &capture.HTTPFacts{Method: "POST", Path: "/mcp"}}
		if i > 0 {
			ask.Auth = &capture.AuthFacts{Present: true, Scheme: "Bearer", SHA256: "98d45ada4f6af56c", JWT: &capture.JWTFacts{Aud: []string{"https://wrong.example/mcp"}, Scope: "files", Exp: 1772000000}}
		}
		t.add(ask, time.Second)
		answer := capture.Record{Direction: capture.S2C, Exchange: n, Status: []int{401, 403, 403, 200}[i]}
		if w != "" {
			answer.AuthChallenge = []string{w}
		} else {
			answer.Raw = []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		}
		t.add(answer, 20*time.Millisecond)
	}
	return t
}

func TestAuthScreen(t *testing.T) {
	f := newFixture()
	climbed(f)
	d := sitDown(t, f, 100, 30, Options{Open: f.list[0].ID})
	defer d.m.stop()
	d.keys("a")
	screen := d.screen()
	for _, want := range []string{
		"authorization", "1 operation was refused", "tools/call files.read", "4 attempts", "let through",
		"the client sends a token again that was refused", "wants Bearer error insufficient_scope scope files:read error_description Read",
		"token says (unverified) aud https://wrong.example/mcp scope files exp 2026-02-25", "cannot be read: no comma", "Bearer 98d45ada4f6af56c",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen:\n%s", want, screen)
		}
	}
	d.keys("G", "enter")
	if s, ok := d.m.top().(*stream); !ok || s.s == nil {
		t.Errorf("enter leads to %T", d.m.top())
	}
	for _, size := range sizesToTry() {
		d.keys("a")
		d.at(size[0], size[1])
		d.check("authorization")
		d.at(100, 30)
		d.keys("esc")
		if t.Failed() {
			return
		}
	}
}

// There is no such screen for stdio, and none of these keys leads nowhere.
func TestAuthScreenOfStdio(t *testing.T) {
	f := newFixture()
	filesystem(f)
	d := sitDown(t, f, 100, 30, Options{Open: f.list[0].ID})
	defer d.m.stop()
	d.keys("a")
	if _, ok := d.m.top().(*auth); ok || !strings.Contains(d.screen(), "no authorization over stdio") {
		t.Errorf("the screen is\n%s", d.screen())
	}
}
