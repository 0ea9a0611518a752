package clientconf

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

const self = `/opt/bin/mcpsnoop`

// wrapped wraps the server of a file and checks that unwrapping gives the file back.
func wrapped(t *testing.T, file, name, server string) []byte {
	t.Helper()
	q := Query{Name: server}
	e, err := Find([]byte(file), name, q)
	if err != nil {
		t.Fatal(err)
	}
	out := e.Wrap(self)
	again, err := Find(out, name, q)
	if err != nil {
		t.Fatalf("after wrap: %v\n%s", err, out)
	}
	if want := append([]string{self, "--"}, e.Command()...); !slices.Equal(again.Command(), want) {
		t.Errorf("command %q, want %q", again.Command(), want)
	}
	back, err := again.Unwrap()
	if err != nil || string(back) != file {
		t.Errorf("unwrap gives %v\n%s\nwant\n%s", err, back, file)
	}
	return out
}

func TestWrapAndBack(t *testing.T) {
	for _, tt := range []struct{ name, file, server string }{
		{"x.json", `{"mcpServers":{"a":{"command":"a-mcp","args":[]},"b":{"command":"b-mcp"}}}`, "a"},
		{"x.json", `{"mcpServers":{"a":{"command":"a-mcp","args":[]},"b":{"command":"b-mcp"}}}`, "b"},
		{"x.json", `{"mcpServers":{"a":{"args":[ "x" , 5e0 ],"command":"a\u002dmcp"}}}`, "a"},
		{"x.json", "\xef\xbb\xbf{\r\n\t\"servers\": { // all\r\n\t\"a\": {\"command\": \"C:\\\\x.exe\", /* c */ \"args\": [\r\n\t\"1\", // one\r\n\t],},},}\r\n", "a"},
		{"x.toml", "[mcp_servers.a]\ncommand = 'npx' # c\nargs = [ \"-y\", # d\n \"b\" ]\n", "a"},
		{"x.toml", "[mcp_servers.\"a b\"]\ncommand = \"npx\"\n[other]\nx = 1\n", "a b"},
		{"x.toml", "[mcp_servers.a]\nargs = []\ncommand = \"npx\"", "a"},
	} {
		out := wrapped(t, tt.file, tt.name, tt.server)
		if tt.name == "x.toml" {
			var v any
			if err := toml.Unmarshal(out, &v); err != nil {
				t.Errorf("no TOML any more: %v\n%s", err, out)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       error
	}{
		{"x.json", `{"mcpServers":{"a":{"url":"http://x"}}}`, ErrRemote},
		{"x.json", `{"mcpServers":{"b":{"command":"x"}}}`, ErrNoServer},
		{"x.json", `{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`, ErrAmbiguous},
		{"x.json", `{"mcpServers":{},"mcpServers":{}}`, ErrAmbiguous},
		{"x.json", `{"mcpServers":[]}`, nil},
		{"x.json", `{"mcpServers":{"a":{"command":7}}}`, nil},
		{"x.json", ``, nil},
		{"x.toml", "[mcp_servers.a]\nurl = \"http://x\"\n", ErrRemote},
		{"x.toml", "[mcp_servers.a\n", nil},
	} {
		_, err := Find([]byte(tt.file), tt.name, Query{Name: "a"})
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.file, err, tt.want)
		}
	}
}

func TestScopes(t *testing.T) {
	file := []byte(`{"mcpServers":{"db":{"command":"u"}},"projects":{"/p":{"mcpServers":{"db":{"command":"p"}}},"/q":{"mcpServers":{"db":{"command":"q"}}}}}`)
	for _, tt := range []struct{ scope, dir, want string }{
		{"", "/elsewhere", "u"}, {"user", "/p", "u"}, {"project", "/p", "p"}, {"project", "/q/", "q"}, {"", "/p", ""},
	} {
		e, err := Find(file, "x.json", Query{Name: "db", Scope: tt.scope, Dir: tt.dir})
		switch {
		case tt.want == "" && !errors.Is(err, ErrAmbiguous):
			t.Errorf("%+v: %v, want ambiguous", tt, err)
		case tt.want != "" && (err != nil || e.text != tt.want):
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","args":["y"]}}}`), false)
	f.Add([]byte("[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]\n"), true)
	f.Fuzz(func(t *testing.T, file []byte, isTOML bool) {
		name := "x.json"
		if isTOML {
			name = "x.toml"
		}
		e, err := Find(file, name, Query{Name: "a"})
		if err != nil || e.Wrapped(self) {
			return
		}
		out := e.Wrap(self)
		again, err := Find(out, name, Query{Name: "a"})
		if err != nil {
			t.Fatalf("after wrap: %v\n%q\n%q", err, file, out)
		}
		if back, err := again.Unwrap(); err != nil || !bytes.Equal(back, file) {
			t.Fatalf("unwrap: %v\n%q\n%q\n%q", err, file, out, back)
		}
		if json.Valid(file) && !json.Valid(out) {
			t.Fatalf("no JSON any more: %q", out)
		}
	})
}
