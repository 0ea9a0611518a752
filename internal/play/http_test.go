package play

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// seen keeps what a server was sent.
type seen struct {
	mu   sync.Mutex
	list []*http.Request
	body []string
}

func (s *seen) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.list, s.body = append(s.list, r.Clone(r.Context())), append(s.body, string(body))
		s.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		next.ServeHTTP(w, r)
	})
}

func serve(t *testing.T, h http.Handler) (string, *seen) {
	t.Helper()
	s := &seen{}
	srv := httptest.NewServer(s.handler(h))
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp", s
}

// A real server of the official SDK answers both eras, as JSON and as an event
// stream.
func TestOnceHTTP(t *testing.T) {
	for name, json := range map[string]bool{"events": false, "json": true} {
		for era, call := range map[string]func(*testing.T) *Call{"old": oldCall, "new": newCall} {
			t.Run(name+"/"+era, func(t *testing.T) {
				server := sdkServer()
				o := &sdk.StreamableHTTPOptions{JSONResponse: json, Stateless: era == "new"} // the SDK has 2026-07-28 without sessions only
				url, s := serve(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, o))
				a, err := Once(t.Context(), Target{URL: url, Header: header("X-Key", "k")}, call(t), options())
				if err != nil {
					t.Fatal(err)
				}
				if a.State != store.OK || text(a.Message) != "3" {
					t.Errorf("answered %s", a.Message)
				}
				s.check(t, era)
			})
		}
	}
}

// check looks at what a replay of add has to have sent.
func (s *seen) check(t *testing.T, era string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var did []string
	for i, r := range s.list {
		did = append(did, strings.TrimSpace(r.Method+" "+string(wire.ParseMessage([]byte(s.body[i])).Method)))
		if r.Header.Get("X-Key") != "k" {
			t.Errorf("%s has no X-Key", did[i])
		}
	}
	call := s.list[len(s.list)-1]
	want := "POST tools/call"
	if era == "old" {
		want = "POST initialize, POST notifications/initialized, POST tools/call, DELETE"
		call = s.list[len(s.list)-2]
		if v := call.Header.Get("Mcp-Session-Id"); v == "" {
			t.Error("the session was not kept")
		}
	}
	if got := strings.Join(did, ", "); got != want {
		t.Errorf("it sent %s; want %s", got, want)
	}
	headers := map[string]map[string]string{
		"old": {"Mcp-Protocol-Version": "2025-11-25", "Mcp-Method": "", "Mcp-Name": "", "Accept": accept},
		"new": {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "add", "Accept": accept, "Content-Type": "application/json"},
	}
	for k, v := range headers[era] {
		if got := call.Header.Get(k); got != v {
			t.Errorf("%s is %q; want %q", k, got, v)
		}
	}
}

// The headers are those of the body that is sent; captured ones are sent as
// they were, and only from the one family that a log may name.
func TestRoutingHeaders(t *testing.T) {
	const line = `{"direction":"c2s","transport":"http","exchange":1,"mcp_param_headers":[{"name":"Mcp-Param-Region","value":"=?base64?ZcO8?="},{"name":"Authorization","value":"Bearer stolen"},{"name":"zone","value":"1"}],"raw":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"größe","arguments":{},` + meta5 + `}}}`
	url, s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	sess, read := log(t, line)
	for _, edit := range []string{"", `{"name":"small",` + meta5 + `}`} {
		var params []byte
		if edit != "" {
			params = []byte(edit)
		}
		c, err := Prepare(sess, 0, read, params)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Once(t.Context(), Target{URL: url}, c, options()); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []map[string]string{
		{"Mcp-Name": "=?base64?Z3LDtsOfZQ==?=", "Mcp-Param-Region": "=?base64?ZcO8?=", "Mcp-Param-Zone": "1", "Authorization": ""},
		{"Mcp-Name": "small", "Mcp-Param-Region": "", "Authorization": ""},
	} {
		for k, v := range want {
			if got := s.list[i].Header.Get(k); got != v {
				t.Errorf("request %d: %s is %q; want %q", i, k, got, v)
			}
		}
	}
}

func TestHTTPFails(t *testing.T) {
	reply := func(status int, contentType, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for i := 0; i < len(headers); i += 2 {
				w.Header().Add(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for name, tt := range map[string]struct {
		h    http.HandlerFunc
		want []string
	}{
		"a redirect":                  {reply(307, "", "", "Location", "https://u:p@elsewhere.example/x"), []string{"answered 307 and points to https://elsewhere.example/x", "not followed"}},
		"a redirect on the same host": {reply(308, "", "", "Location", "/other"), []string{"/other"}},
		"401":                         {reply(401, "application/json", `{"error":"x"}`, "WWW-Authenticate", `Bearer scope="files:read", error="invalid_token"`), []string{`demands Bearer error="invalid_token" scope="files:read"`}},
		"401 of two schemes":          {reply(401, "", "", "WWW-Authenticate", `Basic realm="a", Bearer`), []string{`demands Basic realm="a", or Bearer`}},
		"401 without a challenge":     {reply(401, "", ""), []string{"does not say what it demands"}},
		"403 with a challenge":        {reply(403, "", "", "WWW-Authenticate", `Bearer error="insufficient_scope"`), []string{"403", "insufficient_scope"}},
		"404 of a web server":         {reply(404, "text/html", "<h1>not here</h1>"), []string{"not a Streamable HTTP endpoint of revision 2026-07-28", "not here"}},
		"400 in JSON of its own":      {reply(400, "application/json", `{"detail":"no"}`), []string{"not a Streamable HTTP endpoint"}},
		"500":                         {reply(500, "text/plain", "broken"), []string{"500 Internal Server Error", "broken"}},
		"200 with a page":             {reply(200, "text/html", "<html>"), []string{"without an answer in it (text/html)"}},
		"202":                         {reply(202, "", ""), []string{"without an answer"}},
		"a stream without the answer": {reply(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n"), []string{"ended the event stream before it answered"}},
		"too long":                    {reply(200, "application/json", `{"x":"`+strings.Repeat("x", 2000)+`"}`), []string{"longer than what is read"}},
		"too long an event":           {reply(200, "text/event-stream", `data: {"x":"`+strings.Repeat("x", 2000)+"\"}\n\n"), []string{"longer than what is read"}},
	} {
		t.Run(name, func(t *testing.T) {
			url, s := serve(t, tt.h)
			o := options()
			o.MaxAnswer = 1024
			_, err := Once(t.Context(), Target{URL: url}, newCall(t), o)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v; want one that says %q", err, want)
				}
			}
			if len(s.list) != 1 {
				t.Errorf("%d requests; want one", len(s.list))
			}
		})
	}
}

// An error of the protocol is an answer, whatever the status, and is explained.
func TestHTTPMismatch(t *testing.T) {
	url, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Mcp-Param-Region is missing"}}`)
	}))
	a, err := Once(t.Context(), Target{URL: url}, newCall(t), options())
	if err != nil {
		t.Fatal(err)
	}
	if a.State != store.Failed || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "headers against the body: -32020 Mcp-Param-Region is missing") {
		t.Errorf("answered %s, notes %q", a.State, a.Notes)
	}
}

// A stream that asks back, is ended in between and taken up where it ended.
func TestStreamWithQuestions(t *testing.T) {
	var replied []string
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := wire.ParseMessage(body)
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "e2":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: e3\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\ndata: \"result\":{\"content\":[]}}\n\n")
		case string(m.Method) == "initialize":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s1")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
		case string(m.Method) == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": hello\nid: e1\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\nid: e2\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n")
		default:
			if m.Kind == wire.Result || m.Kind == wire.Error {
				replied = append(replied, string(body))
			}
			w.WriteHeader(http.StatusAccepted)
		}
	})
	url, _ := serve(t, mux)
	a, err := Once(t.Context(), Target{URL: url}, oldCall(t), options())
	if err != nil {
		t.Fatal(err)
	}
	if a.State != store.OK || len(replied) != 1 || replied[0] != `{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}` {
		t.Errorf("answered %s, replies %q", a.Message, replied)
	}
	notes := strings.Join(a.Notes, "\n")
	for _, want := range []string{"speaks revision 2025-06-18", "answered with no roots", "1 progress notification"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q; want %q", notes, want)
		}
	}
}

// Who gives up does not wait, and a server with sessions is told.
func TestHTTPGivenUp(t *testing.T) {
	hold := make(chan struct{})
	url, s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch string(wire.ParseMessage(body).Method) {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s1")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
		case "tools/call":
			<-hold
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	o := options()
	o.Timeout = 200 * time.Millisecond
	_, err := Once(t.Context(), Target{URL: url}, oldCall(t), o)
	close(hold)
	if err == nil || !strings.Contains(err.Error(), "no answer in time: waited 200ms") {
		t.Errorf("error %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.body, " "); !strings.Contains(got, `"notifications/cancelled","params":{"requestId":2`) {
		t.Errorf("the server was not told: %s", got)
	}
	if s.list[len(s.list)-1].Method != http.MethodDelete {
		t.Error("the session was not ended")
	}
}

// Whatever a server sends, reading ends, within its bounds, and an answer has
// the id that was asked for.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `[{"id":1,"result":{}}]`, "data: {\"id\":1,\"error\":{\"code\":1}}\n\n", "id: a\nretry: 9\n\ndata: {\"id\":2,\"method\":\"ping\"}\r\n\r\n", "[[[[", "\xff"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, events bool) {
		o := options()
		o.MaxAnswer = 256
		l := &httpLink{o: &o, url: "http://127.0.0.1:0/", peer: &Peer{}, client: &http.Client{Transport: nowhere{}}}
		var answer []byte
		if events {
			answer, _ = l.events(t.Context(), strings.NewReader(string(body)), &request{id: 1}, &talk{})
		} else if b, err := readBody(strings.NewReader(string(body)), o.MaxAnswer); err == nil {
			answer = answerIn(b, 1, &talk{})
		}
		if answer == nil {
			return
		}
		if len(answer) > o.MaxAnswer || !json.Valid(answer) {
			t.Fatalf("an answer of %d bytes: %s", len(answer), answer)
		}
		if s := StateOf(answer); s != store.OK && s != store.Failed {
			t.Fatalf("an answer in state %s: %s", s, answer)
		}
	})
}

// nowhere accepts all that is sent.
type nowhere struct{}

func (nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody, Request: r}, nil
}
