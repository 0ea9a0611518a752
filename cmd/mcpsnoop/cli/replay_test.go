package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// stillClock stands still, so that reports are the same each time.
type stillClock struct{}

func (stillClock) Now() time.Time                       { return time.Unix(1_800_000_000, 0) }
func (stillClock) Since(time.Time) time.Duration        { return 12 * time.Millisecond }
func (stillClock) After(time.Duration) <-chan time.Time { return nil }

// chain is a call that asked for input and was retried, over HTTP.
const chain = `{"session_id":"h-1-00000000000a","server_label":"h","seq":1,"ts":"2026-08-01T10:00:00Z","direction":"meta","transport":"http","raw":{"target":"https://api.example.com/mcp"}}
{"session_id":"h-1-00000000000a","server_label":"h","seq":2,"ts":"2026-08-01T10:00:01Z","direction":"c2s","transport":"http","exchange":1,"conn_id":"c","mcp_param_headers":[{"name":"Mcp-Param-Region","value":"eu"}],"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{"to":"Rome"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}}
{"session_id":"h-1-00000000000a","server_label":"h","seq":3,"ts":"2026-08-01T10:00:01.5Z","direction":"s2c","transport":"http","exchange":1,"conn_id":"c","status":200,"raw":{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"old","inputRequests":{"seat":{"method":"elicitation/create","params":{"message":"Which seat?","requestedSchema":{"type":"object"}}}}}}}
{"session_id":"h-1-00000000000a","server_label":"h","seq":4,"ts":"2026-08-01T10:00:02Z","direction":"c2s","transport":"http","exchange":2,"conn_id":"c","raw":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book","arguments":{"to":"Rome"},"requestState":"old","inputResponses":{"seat":{"action":"accept","content":{"seat":"4A"}}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}}
{"session_id":"h-1-00000000000a","server_label":"h","seq":5,"ts":"2026-08-01T10:00:03Z","direction":"s2c","transport":"http","exchange":2,"conn_id":"c","status":200,"raw":{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"booked 4A at 10:00"}]}}}
{"session_id":"h-1-00000000000a","server_label":"h","seq":6,"ts":"2026-08-01T10:00:04Z","direction":"c2s","transport":"http","exchange":3,"conn_id":"c","raw":{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"cancel","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}
{"session_id":"h-1-00000000000a","server_label":"h","seq":7,"ts":"2026-08-01T10:00:05Z","direction":"s2c","transport":"http","exchange":3,"conn_id":"c","status":200,"raw":{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","content":[]}}}
`

// booking is a server that keeps state over the requests of one call.
func booking(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := wire.ParseMessage(body)
		answer := `"error":{"code":-32602,"message":"unknown requestState"}`
		switch state := wire.GetString(m.Params, "requestState"); {
		case wire.GetString(m.Params, "name") == "cancel":
			answer = `"error":{"code":-32020,"message":"Mcp-Param-Order is missing"}`
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
		case state == "" && r.Header.Get("Mcp-Param-Region") == "eu":
			answer = `"result":{"resultType":"input_required","requestState":"new","inputRequests":{"seat":{"method":"elicitation/create","params":{"message":"Which seat?","requestedSchema":{"type":"object"}}}}}`
		case state == "new":
			answer = `"result":{"resultType":"complete","content":[{"type":"text","text":"booked 4A at 11:00"}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer k3y" || r.Header.Get("Mcp-Method") != "tools/call" {
			t.Errorf("the server got the header %v", r.Header)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestReplayReport(t *testing.T) {
	s := booking(t)
	for _, format := range []string{"text", "json"} {
		a := newTestApp(t, "replay", "--target", s.URL+"/mcp", "--replay-header", "Authorization: Bearer k3y", "--format", format, "log.jsonl")
		a.Clock = stillClock{}
		if err := os.WriteFile(filepath.Join(a.Dir, "log.jsonl"), []byte(chain), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := a.Run(t.Context()); code != exitFound {
			t.Errorf("exit code %d, standard error %s; want 1", code, &a.err)
		}
		got := strings.ReplaceAll(a.out.String(), s.URL, "http://server")
		path := filepath.Join("testdata", "replay", "report."+format)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
	}
}

func TestIgnoredPaths(t *testing.T) {
	for _, tt := range []struct{ paths, covers, leaves string }{
		{"$.result.content[0].text", "/result/content/0/text /result/content/0/text/x", "/result/content/1/text /result/content/0 /result/contents/0/text"},
		{"$.result.content[*].text", "/result/content/7/text", "/result/content/7"},
		{"$..time", "/time /result/a/0/time /result/time/zone", "/result/times"},
		{"$.a..b['x/y',3]", "/a/b/x~1y /a/c/d/b/3", "/b/3 /a/b/4"},
		{"/result/content", "/result/content /result/content/0", "/result"},
		{"/a $.b", "/a /b/c", "/c"},
	} {
		g, err := parseIgnored(strings.Fields(tt.paths))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range strings.Fields(tt.covers) {
			if !g.covers(p) {
				t.Errorf("%s does not cover %s", tt.paths, p)
			}
		}
		for _, p := range strings.Fields(tt.leaves) {
			if g.covers(p) {
				t.Errorf("%s covers %s", tt.paths, p)
			}
		}
	}
}
