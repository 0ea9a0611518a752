package checks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Sessions of tests are written one frame a line:
//
//	> JSON                    a frame of the client over stdio; < of the server
//	>! TEXT                   a line that is not JSON; <! of the server, ! on stderr
//	POST 3 k=v -k :: JSON     the request of HTTP exchange 3; GET, DELETE and OPTIONS likewise
//	200 3 k=v :: JSON         its response, or the next message of it
//	SSE 3 k=v :: JSON         a server-sent event of it
//	END 3 server              the end of its event stream
//	wait 31s                  time passes
//	{"direction":...}         a line of the log as it is, seq, ts and ids filled in
//	meta {...}                members for the first line; "meta none" leaves it out
//	end {...}                 the last line
//	baseline {...}            what the definitions are compared with
//	unverified WHY            nothing is, although drift was asked for
//	@init REV SERVER CLIENT   the handshake over stdio: revision and capabilities
//	@http REV SERVER CLIENT   the same over HTTP, as exchanges 900 and 901
//
// In JSON, $J stands for "jsonrpc":"2.0" and $M for the metadata of 2026-07-28
// (as a member _meta), $M(X) for one with the client capabilities X.
type player struct {
	t     testing.TB
	s     *store.Session
	a     *store.Appender
	e     *Engine
	seq   uint64
	now   time.Time
	line  int
	verbs map[string]string
	rev   string // of HTTP requests, unless they say another
	conn  string
	sess  string
	meta  string
	begun bool
	http  bool
}

func newPlayer(t testing.TB, o Options) *player {
	e := NewEngine(o)
	s, a := store.NewSession("play-1-00000000000a", "play.jsonl", store.Limits{}, e)
	return &player{t: t, s: s, a: a, e: e, now: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), verbs: map[string]string{}, conn: "c1"}
}

// play runs a script and returns the finished engine.
func play(t testing.TB, o Options, script string) *player {
	t.Helper()
	p := newPlayer(t, o)
	for _, l := range strings.Split(script, "\n") {
		if l = strings.TrimRight(l, " \r"); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		p.do(l)
	}
	p.begin()
	p.a.Publish()
	p.e.Finish(p.s)
	return p
}

func (p *player) do(l string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(l, " ")
	switch {
	case word == "meta":
		p.meta = rest
	case word == "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		p.now = p.now.Add(d)
	case word == "baseline":
		p.e.opts.Definitions = true
		b, err := ParseBaseline([]byte(rest))
		if err != nil {
			p.t.Fatal(err)
		}
		p.e.SetBaseline(b, "", map[string]string{"search": "web"})
	case word == "unverified":
		p.e.SetBaseline(nil, rest, nil)
	case word == "conn":
		p.conn = rest
	case word == "session":
		p.sess = rest
	case word == "rev":
		p.rev = rest
	case word == "gap":
		p.begin()
		p.seq++
	case word == "cut":
		p.begin()
		p.put(map[string]any{"direction": dirOf(rest[:1]), "transport": "stdio", "text": macros(rest[2:]), "truncated": true, "size": 99999999})
	case word == "torn":
		p.begin()
		p.a.Append(&capture.Item{Problem: &capture.Problem{Kind: capture.Torn, Segment: 1, Line: p.line + 1}})
	case word == "bad":
		p.begin()
		p.line++
		p.seq++
		p.a.Append(&capture.Item{Problem: &capture.Problem{Kind: capture.NotJSON, Segment: 1, Line: p.line}})
	case word == "bytes":
		p.put(map[string]any{"direction": "s2c", "transport": "stdio", "bytes": rest})
	case word == "end":
		p.put(map[string]any{"direction": "end", "transport": "stdio", "raw": json.RawMessage(rest)})
	case word == ">" || word == "<":
		p.put(map[string]any{"direction": dirOf(word), "transport": "stdio", "raw": json.RawMessage(macros(rest))})
	case word == ">!" || word == "<!":
		p.put(map[string]any{"direction": dirOf(word), "transport": "stdio", "text": strings.ReplaceAll(macros(rest), `\uFEFF`, "\uFEFF")})
	case word == "!":
		p.put(map[string]any{"direction": "stderr", "transport": "stdio", "text": rest})
	case word[0] == '{':
		var m map[string]any
		d := json.NewDecoder(strings.NewReader(macros(l)))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			p.t.Fatalf("%v: %s", err, l)
		}
		p.put(m)
	case word == "@init" || word == "@http":
		p.handshake(word, strings.Fields(rest))
	default:
		p.exchange(word, rest)
	}
}

func dirOf(s string) string {
	if s[0] == '>' {
		return "c2s"
	}
	return "s2c"
}

func (p *player) handshake(word string, args []string) {
	args = append(args, "{}", "{}")[:3]
	if args[1] == "{}" {
		args[1] = `{"tools":{}}`
	}
	ask := fmt.Sprintf(`{$J,"id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, args[0], args[2])
	tell := fmt.Sprintf(`{$J,"id":"init","result":{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"s","version":"1"}}}`, args[0], args[1])
	note := `{$J,"method":"notifications/initialized"}`
	if word == "@init" {
		p.do("> " + ask)
		p.do("< " + tell)
		p.do("> " + note)
		return
	}
	old := p.sess
	p.sess = ""
	p.do("POST 900 -mcp_protocol_version :: " + ask)
	p.sess = old
	p.do("200 900 :: " + tell)
	p.rev = args[0]
	p.do("POST 901 :: " + note)
	p.do("202 901")
}

// exchange plays a line of HTTP.
func (p *player) exchange(word, rest string) {
	p.http = true
	head, body, hasBody := strings.Cut(rest, "::")
	fields := strings.Fields(head)
	if len(fields) == 0 {
		p.t.Fatalf("no exchange in %q", word+" "+rest)
	}
	n := fields[0]
	facts := map[string]any{}
	m := map[string]any{"transport": "http", "direction": "s2c", "conn_id": p.conn, "exchange": json.Number(n)}
	if p.sess != "" {
		m["mcp_session"] = p.sess
	}
	body = macros(strings.TrimSpace(body))
	switch word {
	case "POST", "GET", "DELETE", "OPTIONS", "PUT":
		p.request(word, body, m, facts)
		p.verbs[n] = word
	case "SSE":
		facts["sse"] = map[string]any{}
	case "END":
		facts["end"] = fields[1]
		fields = fields[:1]
	default:
		status, err := strconv.Atoi(word)
		if err != nil {
			p.t.Fatalf("what is %q?", word+" "+rest)
		}
		m["status"] = status
		if hasBody {
			facts["content_type"] = "application/json"
		}
	}
	for _, f := range fields[1:] {
		set(m, facts, f)
	}
	if len(facts) > 0 {
		m["http"] = facts
	}
	if hasBody {
		if json.Valid([]byte(body)) {
			m["raw"] = json.RawMessage(body)
		} else {
			m["text"] = body
		}
	}
	p.put(m)
}

// request fills in what a right client sends.
func (p *player) request(verb, body string, m, facts map[string]any) {
	m["direction"] = "c2s"
	facts["method"], facts["path"] = verb, "/mcp"
	if p.rev != "" {
		m["mcp_protocol_version"] = p.rev
	}
	if verb == "GET" {
		facts["accept"] = "text/event-stream"
	}
	if verb != "POST" {
		return
	}
	facts["accept"], facts["content_type"] = "application/json, text/event-stream", "application/json"
	var msg struct {
		ID     any
		Method string
		Params struct {
			Name, URI, TaskID string
			Meta              map[string]any `json:"_meta"`
		}
	}
	_ = json.Unmarshal([]byte(body), &msg)
	if v, ok := msg.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string); ok {
		m["mcp_protocol_version"] = v
		m["mcp_method"] = msg.Method
		if name := msg.Params.Name + msg.Params.URI + msg.Params.TaskID; name != "" {
			m["mcp_name"] = name
		}
	}
}

// set takes k=v, -k, or http.k=v; the value is JSON or text, with + for a space.
func set(m, facts map[string]any, f string) {
	top := map[string]bool{
		"mcp_method": true, "mcp_name": true, "mcp_protocol_version": true, "mcp_param_headers": true, "status": true, "auth_challenge": true,
		"auth": true, "mcp_session": true, "conn_id": true, "batch": true, "eol": true, "redacted": true, "truncated": true, "size": true,
	}
	if k, ok := strings.CutPrefix(f, "-"); ok {
		delete(m, k)
		delete(facts, k)
		return
	}
	k, v, _ := strings.Cut(f, "=")
	to := facts
	if top[k] {
		to = m
	}
	v = strings.ReplaceAll(v, "+", " ")
	var j any
	if d := json.NewDecoder(strings.NewReader(v)); len(v) > 0 && strings.ContainsAny(v[:1], `{["0123456789tf`) {
		d.UseNumber()
		if d.Decode(&j) == nil && !d.More() {
			to[k] = j
			return
		}
	}
	to[k] = v
}

func macros(s string) string {
	s = strings.ReplaceAll(s, "$J", `"jsonrpc":"2.0"`)
	for {
		k := strings.Index(s, "$M")
		if k < 0 {
			return s
		}
		caps, rest := "{}", s[k+2:]
		if strings.HasPrefix(rest, "(") {
			end := strings.Index(rest, ")")
			caps, rest = rest[1:end], rest[end+1:]
		}
		s = s[:k] + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps +
			`,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}` + rest
	}
}

// begin writes the first line of the log.
func (p *player) begin() {
	if p.begun {
		return
	}
	p.begun = true
	if p.meta == "none" {
		p.seq = 100
		return
	}
	raw := p.meta
	if raw == "" {
		raw = `{"command":["server"],"version":"test"}`
	}
	tr := "stdio"
	if p.http {
		tr = "http"
	}
	p.put(map[string]any{"direction": "meta", "transport": tr, "raw": json.RawMessage(raw)})
}

// put appends a line to the log and gives it to the appender.
func (p *player) put(m map[string]any) {
	p.t.Helper()
	p.begin()
	p.line++
	if _, ok := m["seq"]; !ok {
		p.seq++
		m["seq"] = p.seq
	}
	if m["batch"] == nil {
		p.now = p.now.Add(10 * time.Millisecond)
	}
	m["session_id"], m["server_label"] = p.s.ID, "play"
	m["ts"] = p.now.Format(time.RFC3339Nano)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		p.t.Fatalf("%v: %v", err, m)
	}
	it := capture.Item{Line: p.line, Ref: capture.Ref{Segment: 1, Offset: int64(p.line) * 1000, Length: b.Len() - 1}}
	if err := capture.ParseRecord(bytes.TrimRight(b.Bytes(), "\n"), &it.Record); err != nil {
		p.t.Fatalf("%v: %s", err, b.String())
	}
	p.a.Append(&it)
}

// found lists the findings, one a line.
func (p *player) found() string {
	out := ""
	for _, f := range p.e.Findings() {
		out += fmt.Sprintf("%s %s #%d line %d %d× %s %s %s: %s\n", f.Signal, f.Rule.ID, f.Seq, f.Line, f.Count, f.Method, f.Tool, f.Path, f.Message)
	}
	return out
}
