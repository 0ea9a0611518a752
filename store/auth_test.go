package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// playLog appends lines of a log as they stand in a file.
func playLog(t testing.TB, l Limits, lines string) *Session {
	t.Helper()
	s, a := NewSession("play-1-00000000000a", "", l, nil)
	for i, l := range strings.Split(strings.TrimSpace(lines), "\n") {
		it := capture.Item{Line: i + 1, Ref: capture.Ref{Segment: 1, Offset: int64(i), Length: len(l)}}
		if err := capture.ParseRecord([]byte(l), &it.Record); err != nil {
			t.Fatalf("%v: %s", err, l)
		}
		a.Append(&it)
		if i%2 == 0 {
			a.Publish()
		}
	}
	a.Publish()
	return s
}

// ladders writes ladders, one a line: operation, attempts, statuses with the
// scopes that were demanded, whether it succeeded.
func ladders(s *Session) string {
	out := ""
	for _, l := range s.Summary().Ladders {
		out += fmt.Sprintf("%s x%d:", l.Operation, l.Count)
		for i := range l.Attempts {
			t := &l.Attempts[i]
			out += fmt.Sprintf(" #%d %d", t.Seq, t.Status)
			if b := t.Bearer(); b != nil {
				out += "(" + strings.Join(b.Scopes(), " ") + ")"
			}
			for _, d := range t.Demands {
				if d.Fault != "" {
					out += "(unread)"
				}
			}
		}
		if l.Succeeded {
			out += " ok"
		}
		out += "\n"
	}
	return out
}

// A server that asks for one scope after the other, as a log without exchange
// numbers has it.
const stepUp = `
{"session_id":"p-1-b6a2913d7ecc","seq":1,"direction":"c2s","transport":"http","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files.read","arguments":{"path":"/etc/hosts"}}},"mcp_method":"tools/call","mcp_name":"files.read","mcp_protocol_version":"2026-07-28","conn_id":"127.0.0.1:61836"}
{"session_id":"p-1-b6a2913d7ecc","seq":2,"direction":"s2c","transport":"http","conn_id":"127.0.0.1:61836","status":401,"auth_challenge":"Bearer resource_metadata=\"https://auth.example/.well-known/oauth-protected-resource\""}
{"session_id":"p-1-b6a2913d7ecc","seq":3,"direction":"c2s","transport":"http","raw":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"files.read","arguments":{"path":"/etc/hosts"}}},"mcp_method":"tools/call","mcp_name":"files.read","mcp_protocol_version":"2026-07-28","conn_id":"127.0.0.1:61839"}
{"session_id":"p-1-b6a2913d7ecc","seq":4,"direction":"s2c","transport":"http","conn_id":"127.0.0.1:61839","status":403,"auth_challenge":"Bearer error=\"insufficient_scope\", scope=\"files:read\", resource_metadata=\"https://auth.example/.well-known/oauth-protected-resource\", error_description=\"Read permission required\""}
{"session_id":"p-1-b6a2913d7ecc","seq":5,"direction":"c2s","transport":"http","raw":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"files.read","arguments":{"path":"/etc/hosts"}}},"mcp_method":"tools/call","mcp_name":"files.read","mcp_protocol_version":"2026-07-28","conn_id":"127.0.0.1:61840"}
{"session_id":"p-1-b6a2913d7ecc","seq":6,"direction":"s2c","transport":"http","conn_id":"127.0.0.1:61840","status":403,"auth_challenge":"Bearer error=\"insufficient_scope\", scope=\"files:write\", resource_metadata=\"https://auth.example/.well-known/oauth-protected-resource\""}
{"session_id":"p-1-b6a2913d7ecc","seq":7,"direction":"c2s","transport":"http","raw":{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"files.read","arguments":{"path":"/etc/hosts"}}},"mcp_method":"tools/call","mcp_name":"files.read","mcp_protocol_version":"2026-07-28","conn_id":"127.0.0.1:61841"}
{"session_id":"p-1-b6a2913d7ecc","seq":8,"direction":"s2c","transport":"http","raw":{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"ok"}]}},"conn_id":"127.0.0.1:61841","status":200}
`

func TestLadderOfStepUp(t *testing.T) {
	s := playLog(t, Limits{}, stepUp)
	if got, want := ladders(s), "tools/call files.read x4: #2 401() #4 403(files:read) #6 403(files:write) #8 200 ok\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	d := s.Summary().Ladders[0].Attempts[1].Demands[0]
	if d.Raw != `Bearer error="insufficient_scope", scope="files:read", resource_metadata="https://auth.example/.well-known/oauth-protected-resource", error_description="Read permission required"` {
		t.Errorf("the field was kept as %s", d.Raw)
	}
}

func TestLadders(t *testing.T) {
	const (
		call   = `{"session_id":"p","seq":%d,"direction":"c2s","transport":"http","exchange":%d,"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}},"http":{"method":"POST","path":"/mcp","user_agent":"%s"}}`
		answer = `{"session_id":"p","seq":%d,"direction":"s2c","transport":"http","exchange":%d,"status":%d,"auth_challenge":%q}`
		plain  = `{"session_id":"p","seq":%d,"direction":"s2c","transport":"http","exchange":%d,"status":%d}`
		get    = `{"session_id":"p","seq":%d,"direction":"c2s","transport":"http","exchange":%d,"http":{"method":"GET","path":"/mcp","accept":"text/event-stream"}}`
		form   = `{"session_id":"p","seq":%d,"direction":"c2s","transport":"http","exchange":%d,"http":{"method":"POST","path":"/token"}}`
	)
	for _, tt := range []struct {
		name  string
		limit Limits
		lines []string
		want  string
	}{
		{"a denial without a challenge is none", Limits{}, []string{fmt.Sprintf(call, 1, 1, "a", ""), fmt.Sprintf(plain, 2, 1, 403)}, ""},
		{"a 401 without a challenge is one", Limits{}, []string{fmt.Sprintf(call, 1, 1, "a", ""), fmt.Sprintf(plain, 2, 1, 401)}, "tools/call a x1: #2 401\n"},
		{"a challenge that cannot be read stays", Limits{}, []string{fmt.Sprintf(call, 1, 1, "a", ""), fmt.Sprintf(answer, 2, 1, 401, "Bearer scope=a b")}, "tools/call a x1: #2 401(unread)\n"},
		{
			"two clients, two ladders", Limits{},
			[]string{fmt.Sprintf(call, 1, 1, "a", "x"), fmt.Sprintf(call, 2, 2, "a", "y"), fmt.Sprintf(answer, 3, 1, 401, "Bearer"), fmt.Sprintf(answer, 4, 2, 401, "Bearer")},
			"tools/call a x1: #3 401()\ntools/call a x1: #4 401()\n",
		},
		{
			"what fails otherwise is an attempt; after the success a new ladder begins", Limits{},
			[]string{
				fmt.Sprintf(call, 1, 1, "a", ""), fmt.Sprintf(answer, 2, 1, 401, "Bearer"), fmt.Sprintf(call, 3, 2, "a", ""), fmt.Sprintf(plain, 4, 2, 500),
				fmt.Sprintf(call, 5, 3, "a", ""), fmt.Sprintf(plain, 6, 3, 202), fmt.Sprintf(call, 7, 4, "a", ""), fmt.Sprintf(answer, 8, 4, 401, "Bearer"),
			},
			"tools/call a x3: #2 401() #4 500 #6 202 ok\ntools/call a x1: #8 401()\n",
		},
		{"the stream of GET", Limits{}, []string{fmt.Sprintf(get, 1, 1), fmt.Sprintf(answer, 2, 1, 401, "Bearer")}, "GET /mcp x1: #2 401()\n"},
		{"what goes to the authorization server is none", Limits{}, []string{fmt.Sprintf(form, 1, 1), fmt.Sprintf(answer, 2, 1, 401, "Basic")}, ""},
		{
			"bounds", Limits{Ladders: 1, Attempts: 1},
			[]string{
				fmt.Sprintf(call, 1, 1, "a", ""), fmt.Sprintf(answer, 2, 1, 401, "Bearer"), fmt.Sprintf(call, 3, 2, "b", ""), fmt.Sprintf(answer, 4, 2, 401, "Bearer"),
				fmt.Sprintf(call, 5, 3, "a", ""), fmt.Sprintf(answer, 6, 3, 401, "Bearer"),
			},
			"tools/call a x2: #2 401()\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ladders(playLog(t, tt.limit, strings.Join(tt.lines, "\n"))); got != tt.want {
				t.Errorf("got  %swant %s", got, tt.want)
			}
		})
	}
}
