package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var walksTo = flag.String("walks", "", "folder that the walks are written to, each screen below the keys that led there")

// walk is a question that somebody comes with, and the keys to its answer.
type walk struct {
	name  string
	set   func(u *ui) // what has happened before
	open  []string    // arguments of the program
	first []string    // what stands on the first screen
	steps []walkStep
}

// walkStep is one press of keys, and what it has to show on a terminal of any size.
type walkStep struct {
	keys, wants []string
	wide        []string // wanted where the terminal has two panes
}

// The questions that people come with at night, key by key, on a small and on
// a large terminal.
func TestUIWalks(t *testing.T) {
	for _, w := range walks {
		for _, size := range [][2]int{{80, 24}, {160, 45}} {
			t.Run(fmt.Sprintf("%s %dx%d", w.name, size[0], size[1]), func(t *testing.T) {
				u := newUI(t)
				w.set(u)
				w.run(u, size[0], size[1])
			})
		}
	}
}

func (w walk) run(u *ui, width, height int) {
	u.t.Helper()
	var told strings.Builder
	u.start(width, height, w.open...).wants(w.first...)
	fmt.Fprintf(&told, "$ mcpsnoop\n%s", u.screen())
	for _, s := range w.steps {
		u.keys(s.keys...).wants(s.wants...)
		if width >= 120 {
			u.wants(s.wide...)
		}
		fmt.Fprintf(&told, "\nkeys: %s\n%s", strings.Join(s.keys, " "), u.screen())
	}
	if *walksTo != "" {
		name := fmt.Sprintf("%s-%dx%d.txt", strings.ReplaceAll(w.name, " ", "-"), width, height)
		if err := os.WriteFile(filepath.Join(*walksTo, name), []byte(told.String()), 0o644); err != nil {
			u.t.Fatal(err)
		}
	}
}

var walks = []walk{
	{
		name: "my call hangs", set: hangs, first: []string{"● 1 live", "reports"},
		steps: []walkStep{
			{keys: []string{"Enter"}, wants: []string{"tools/call read_report", "◔"}},
			{keys: []string{"n"}, wants: []string{"the call that waits longest"}, wide: []string{"turn server"}},
			{keys: []string{"Enter"}, wants: []string{"no answer for", "turn server", "2 progress messages", "/mnt/slow/report.csv"}},
		},
	},
	{
		name: "my tool is never called", set: neverCalled, first: []string{"search"},
		steps: []walkStep{
			{keys: []string{"s"}, wants: []string{"find", "no root", "never"}},
			{keys: []string{"w"}, wants: []string{"1 rule", "tool-input-root-type"}},
			{keys: []string{"Enter"}, wants: []string{`"inputSchema"`}},
		},
	},
	{
		name: "it was slow yesterday", set: slowYesterday, first: []string{"travel"},
		steps: []walkStep{
			{keys: []string{"i"}, wants: []string{"book_flight", "SERVER", "USER", "38"}},
			{keys: []string{"L", "g"}, wants: []string{"TOTAL▾", "38.4s", "1.24s", "37.1s"}, wide: []string{"after 37"}},
			{keys: []string{"s"}, wants: []string{"P95", "search_flights"}},
		},
	},
	{
		name: "which server sends this stray line", set: strays, first: []string{"3 sessions"},
		steps: []walkStep{
			{keys: []string{"C-s"}, wants: []string{"search all:"}},
			{keys: []string{"=kind:invalid", "Enter"}, wants: []string{"1 frame in 1 session", "chatty", "loading model"}},
			{keys: []string{"Enter"}, wants: []string{"stdio-stdout-not-json", "stderr"}},
		},
	},
	{
		name: "why does OAuth loop", set: oauthLoops, first: []string{"127"},
		steps: []walkStep{
			{keys: []string{"a"}, wants: []string{"401", "files:write"}},
		},
	},
}

// hangs leaves a live server that says how far it is and never answers.
func hangs(u *ui) {
	const server = `read line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"reports","version":"1"}}}'
read line; read line
echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":5}}'
echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2,"total":5}}'
exec cat >/dev/null`
	shim := exec.Command(u.bin, "--label", "reports", "--", "sh", "-c", server)
	shim.Env = u.env
	in, err := shim.StdinPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	out, err := shim.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := shim.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _, _ = in.Close(), shim.Wait() })
	answers := bufio.NewScanner(out)
	for i, line := range []string{
		files[0][2:],
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_report","arguments":{"path":"/mnt/slow/report.csv"},"_meta":{"progressToken":"p"}}}`,
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			u.t.Fatal(err)
		}
		if i == 0 && !answers.Scan() {
			u.t.Fatalf("no answer to initialize: %v", answers.Err())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// neverCalled records a tool that clients drop, and a client that calls another.
func neverCalled(u *ui) {
	u.record("search", files[0], files[1], `> {"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`< {"jsonrpc":"2.0","id":1,"result":{"tools":[`+
			`{"name":"find","description":"Find documents","inputSchema":{"properties":{"q":{"type":"string"}}}},`+
			`{"name":"open","description":"Open a document","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}]}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"open","arguments":{"id":"7"}}}`,
		`< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"…"}]}}`)
}

// slowYesterday records quick calls, and one whose server asked the user first.
func slowYesterday(u *ui) {
	const (
		meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
		call = `> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`
	)
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf(call, 10+i, "search_flights", fmt.Sprintf(`{"day":%d}`, i), meta),
			fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[{"type":"text","text":"9 flights"}]}}`, 10+i))
	}
	u.record("travel", append(lines,
		fmt.Sprintf(call, 40, "book_flight", `{"flight":"LH 400"}`, meta),
		`+1s`,
		`< {"jsonrpc":"2.0","id":40,"result":{"resultType":"input_required","requestState":"s1","inputRequests":{"ok":{"method":"elicitation/create","params":{"mode":"form","message":"Pay 412 EUR?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}}}}`,
		`+37s`,
		fmt.Sprintf(call, 41, "book_flight", `{"flight":"LH 400"}`, `"requestState":"s1","inputResponses":{"ok":{"action":"accept","content":{"ok":true}}},`+meta),
		`< {"jsonrpc":"2.0","id":41,"result":{"resultType":"complete","content":[{"type":"text","text":"booked"}]}}`)...)
}

// strays records three servers, of which one prints a banner where only
// messages may stand.
func strays(u *ui) {
	u.record("files", files...)
	u.record("search", files[:4]...)
	const server = `read line; echo loading model; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"chatty","version":"1"}}}'`
	shim := exec.Command(u.bin, "--label", "chatty", "--", "sh", "-c", server)
	shim.Env, shim.Stdin = u.env, strings.NewReader(files[0][2:]+"\n")
	if out, err := shim.CombinedOutput(); err != nil {
		u.t.Fatalf("record chatty: %v\n%s", err, out)
	}
}

// oauthLoops records a client that brings ever new tokens, none with the scope.
func oauthLoops(u *ui) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+server.URL+`/.well-known/oauth-protected-resource/mcp", scope="files:write"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="files:write"`)
		w.WriteHeader(http.StatusForbidden)
	}))
	u.t.Cleanup(server.Close)
	proxy := exec.Command(u.bin, "http", "--target", server.URL+"/mcp", "--listen", "127.0.0.1:0", "--observe-auth")
	proxy.Env = u.env
	said, err := proxy.StderrPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _, _ = proxy.Process.Signal(os.Interrupt), proxy.Wait() })
	address := addressIn(u.t, said)
	for i := range 4 {
		req, err := http.NewRequestWithContext(u.t.Context(), http.MethodPost, address, strings.NewReader(files[0][2:]))
		if err != nil {
			u.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if i > 0 {
			req.Header.Set("Authorization", fmt.Sprintf("Bearer token-%d", i))
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			u.t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}

// addressIn reads from what the proxy says at its start where it listens, and
// lets it say the rest.
func addressIn(t *testing.T, said io.Reader) string {
	t.Helper()
	buf := make([]byte, 4096)
	var all strings.Builder
	for {
		n, err := said.Read(buf)
		all.Write(buf[:n])
		if i := strings.Index(all.String(), "http://127.0.0.1:"); i >= 0 && strings.Contains(all.String()[i:], "\n") {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return strings.TrimSuffix(strings.Fields(all.String()[i:])[0], ",")
		}
		if err != nil {
			t.Fatalf("the proxy says no address: %v\n%s", err, all.String())
		}
	}
}
