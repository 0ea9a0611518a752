package play

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

func TestPrepare(t *testing.T) {
	c := oldCall(t)
	if c.Method != mcp.ToolsCall || c.Name() != "add" || c.Seq != 3 || c.ID != "7" {
		t.Errorf("prepared %s %s #%d id %s", c.Method, c.Name(), c.Seq, c.ID)
	}
	if p := c.Peer; p.Revision != mcp.R4 || p.Name != "editor" || p.Version != "9" || string(p.Capabilities) != `{"roots":{}}` {
		t.Errorf("the peer is %+v", p)
	}
	if r := c.Recorded; r.State != store.OK || r.Took != time.Second || wire.GetString(r.Message, "jsonrpc") != "2.0" {
		t.Errorf("recorded %s in %s: %s", r.State, r.Took, r.Message)
	}
}

// What is sent differs from what was captured in the id, the progress token and
// what the revision demands, and in nothing else.
func TestRequest(t *testing.T) {
	for name, tt := range map[string]struct{ lines, want string }{
		"old": {oldHello + "\n" + oldAnswer + "\n" + `c2s {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{ "arguments":{"a":1.0,"\u0062":"\/"},"name":"add","_meta":{"x":1, "progressToken":4}}}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{ "arguments":{"a":1.0,"\u0062":"\/"},"name":"add","_meta":{"x":1, "progressToken":"replay-5"}}}`},
		"without params": {oldHello + "\n" + oldAnswer + "\n" + `c2s {"jsonrpc":"2.0","id":"x","method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`},
		"new": {`c2s {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{` + meta5 + `}}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{` + meta5 + `}}`},
		"new without capabilities": {`c2s {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcpsnoop","version":"replay"},"io.modelcontextprotocol/clientCapabilities":{}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := last(t, strings.Split(tt.lines, "\n")...)
			if got := string(c.Request(5)); got != tt.want {
				t.Errorf("it would send\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestPrepareRefuses(t *testing.T) {
	const call = `"raw":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"login","arguments":{"user/name":"a","keys":["x","[REDACTED:1f2e]"]}}}`
	for name, tt := range map[string]struct{ line, want string }{
		"a mark in the body":    {`{"direction":"c2s","transport":"stdio",` + call + `}`, "redaction hid a value at params/arguments/keys/1"},
		"cut":                   {`{"direction":"c2s","transport":"stdio","size":99999999,"truncated":true,"raw":{"jsonrpc":"2.0","id":7,"method":"tools/list"}}`, "was recorded cut"},
		"a scrubbed header":     {`{"direction":"c2s","transport":"http","exchange":1,"mcp_param_headers":[{"name":"Mcp-Param-Region","value":"[REDACTED:1f2e]","redacted":true}],"raw":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}}`, "the header Mcp-Param-Region"},
		"initialize":            {oldHello, "makes its own handshake"},
		"a request of a server": {`s2c {"jsonrpc":"2.0","id":7,"method":"roots/list"}`, "the server asked this"},
		"a poll of a task":      {`c2s {"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":"t"}}`, "belongs to the recorded run"},
		"a subscription":        {`c2s {"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{` + meta5 + `,"notifications":{}}}`, "no answer to compare"},
	} {
		t.Run(name, func(t *testing.T) {
			s, read := log(t, tt.line)
			_, err := Prepare(s, s.OpLen()-1, read, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one that says %q", err, tt.want)
			}
		})
	}
}

func TestPrepareEdited(t *testing.T) {
	s, read := log(t, `{"direction":"c2s","transport":"http","exchange":1,"mcp_param_headers":[{"name":"Mcp-Param-Region","value":"eu"}],"raw":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"login","arguments":{"key":"[REDACTED:1f2e]"},`+meta5+`}}}`)
	c, err := Prepare(s, 0, read, []byte("{\n \"name\": \"logout\",\n "+meta5+"}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.Request(1)); strings.Contains(got, "\n") || !strings.Contains(got, `"name":"logout"`) {
		t.Errorf("it would send %s; want one line with the new name", got)
	}
	if c.Name() != "logout" || len(c.Headers) != 0 || !c.Edited {
		t.Errorf("name %s, headers %v: want those of the edited body", c.Name(), c.Headers)
	}
	for params, want := range map[string]string{`{"a":}`: "no JSON", `[1]`: "an array", `{"a":"[REDACTED]"}`: "params/a"} {
		if _, err := Prepare(s, 0, read, []byte(params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one that says %q", params, err, want)
		}
	}
}

func TestStateOf(t *testing.T) {
	for message, want := range map[string]store.State{
		`{"id":1,"result":{}}`:                              store.OK,
		`{"id":1,"result":{"isError":true}}`:                store.Failed,
		`{"id":1,"result":{"isError":"true"}}`:              store.OK,
		`{"id":1,"error":{"code":-1,"message":"x"}}`:        store.Failed,
		`{"id":1,"result":{"resultType":"input_required"}}`: store.OK,
		`{}`: store.Pending,
	} {
		if got := StateOf([]byte(message)); got != want {
			t.Errorf("%s is %s; want %s", message, got, want)
		}
	}
}

func TestRecorded(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"stdio":    {`{"direction":"meta","transport":"stdio","raw":{"command":["node","a.js"],"cwd":"/srv"}}`, "node a.js"},
		"http":     {`{"direction":"meta","transport":"http","raw":{"target":"https://a/mcp"}}`, "captured over HTTP"},
		"redacted": {`{"direction":"meta","transport":"stdio","raw":{"command":["node","--token","[REDACTED:12ab]"]}}`, "redaction hid an argument"},
		"nothing":  {`{"direction":"meta","transport":"stdio","raw":{}}`, "names no command"},
	} {
		s, _ := log(t, tt.line)
		target, err := Recorded(s)
		got := target.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q; want %q", name, got, tt.want)
		}
	}
}

func TestCheckTarget(t *testing.T) {
	for target, ok := range map[string]bool{
		"https://api.example.com/mcp?x=1": true, "http://127.0.0.1:9/": true,
		"https://u:p@api.example.com/": false, "ftp://a/": false, "api.example.com": false, "http://": false, "http://a b/": false,
	} {
		if err := CheckURL(target); (err == nil) != ok {
			t.Errorf("%s: %v", target, err)
		}
	}
	for name, ok := range map[string]bool{"Authorization": true, "X-Key": true, "mcp-method": false, "Mcp-Param-Region": false, "Accept": false, "MCP-Session-Id": false} {
		if err := CheckHeader(name); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
