package tui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// start is when every made-up session begins.
var start = time.Date(2026, 3, 2, 15, 0, 5, 0, time.UTC)

// fixture is a Source over sessions in memory.
type fixture struct {
	mu      sync.Mutex
	list    []*store.Session
	logs    map[string][]byte // by path
	subs    map[chan struct{}]bool
	done    int64
	total   int64
	notices []string
	alive   map[string]bool
	words   map[string]string // of findings, by session, rule and frame
}

func newFixture() *fixture {
	return &fixture{logs: map[string][]byte{}, subs: map[chan struct{}]bool{}, alive: map[string]bool{}, words: map[string]string{}}
}

func (f *fixture) Sessions() []*store.Session { f.mu.Lock(); defer f.mu.Unlock(); return f.list }
func (f *fixture) Version() uint64            { return 0 }
func (f *fixture) Progress() (int64, int64)   { return f.done, f.total }
func (f *fixture) Notices() []string          { return f.notices }
func (f *fixture) Want(string)                {}
func (f *fixture) Live(s *store.Session) bool { f.mu.Lock(); defer f.mu.Unlock(); return f.alive[s.ID] }

func (f *fixture) Subscribe() (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ch := make(chan struct{}, 1)
	f.subs[ch] = true
	return ch, func() { f.mu.Lock(); defer f.mu.Unlock(); delete(f.subs, ch) }
}

func (f *fixture) Bodies() store.Bodies { return f }

func (f *fixture) Body(s *store.Session, i uint32) (capture.Record, error) {
	var rec capture.Record
	_, err := store.ReadFrame(s, i, f, &rec, nil)
	return rec, err
}

func (f *fixture) Read(path string, ref capture.Ref, rec *capture.Record, _ []byte) ([]byte, error) {
	buf := make([]byte, ref.Length)
	if _, err := f.Window(path, ref.Segment, ref.Offset, buf); err != nil {
		return nil, err
	}
	return buf, capture.ParseLine(buf, ref.Sub, rec)
}

func (f *fixture) Window(path string, _ int, off int64, buf []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.logs[path]
	if off > int64(len(b)) {
		return 0, capture.ErrChanged
	}
	return copy(buf, b[off:]), nil
}

// tape writes a session of a fixture.
type tape struct {
	f   *fixture
	s   *store.Session
	a   *store.Appender
	seq uint64
	at  time.Time
	tr  capture.Transport
}

// session begins a session that still runs.
func (f *fixture) session(label string) *tape {
	id := label + "-4821-7f3a1c9e2b0" + string(rune('a'+len(f.list)))
	s, a := store.NewSession(id, "/state/sessions/"+id+".jsonl", store.Limits{}, nil)
	return f.begin(label, s, a)
}

func (f *fixture) begin(label string, s *store.Session, a *store.Appender) *tape {
	t := &tape{f: f, s: s, a: a, at: start, tr: capture.Stdio}
	f.mu.Lock()
	f.list = append(f.list, s)
	f.alive[s.ID] = true
	f.mu.Unlock()
	t.add(capture.Record{Direction: capture.Meta, Label: label, Raw: []byte(`{"command":["node","server.js"],"pid":4821}`)}, 0)
	return t
}

// add appends a record, after some time.
func (t *tape) add(r capture.Record, after time.Duration) *tape {
	t.seq++
	t.at = t.at.Add(after)
	r.SessionID, r.Seq, r.TS, r.Transport = t.s.ID, t.seq, t.at, t.tr
	if r.Label == "" {
		r.Label = t.s.Summary().Label
	}
	line := capture.AppendRecord(nil, &r)
	line = bytes.TrimSuffix(line, []byte("\n"))
	t.f.mu.Lock()
	off := len(t.f.logs[t.s.Path])
	t.f.logs[t.s.Path] = append(append(t.f.logs[t.s.Path], line...), '\n')
	t.f.mu.Unlock()
	t.a.Append(&capture.Item{Line: int(t.seq), Ref: capture.Ref{Segment: 1, Offset: int64(off), Length: len(line)}, Record: r})
	t.a.Publish()
	return t
}

func (t *tape) c2s(after time.Duration, raw string) *tape {
	return t.add(capture.Record{Direction: capture.C2S, Raw: []byte(raw)}, after)
}

func (t *tape) s2c(after time.Duration, raw string) *tape {
	return t.add(capture.Record{Direction: capture.S2C, Raw: []byte(raw)}, after)
}

func (t *tape) stray(after time.Duration, text string) *tape {
	return t.add(capture.Record{Direction: capture.S2C, Text: text, HasText: true}, after)
}

func (t *tape) stderr(after time.Duration, text string) *tape {
	return t.add(capture.Record{Direction: capture.Stderr, Text: text, HasText: true}, after)
}

func (t *tape) end(code int) *tape {
	t.f.mu.Lock()
	t.f.alive[t.s.ID] = false
	t.f.mu.Unlock()
	return t.add(capture.Record{Direction: capture.End, Raw: []byte(`{"exit_code":` + string(count(code)) + `,"frames":1,"dropped":0}`)}, time.Second)
}

// filesystem is the session that most screens are drawn of: a handshake, quick
// calls, a stray line, an error, and a call that never gets its answer.
func filesystem(f *fixture) *tape {
	t := f.session("filesystem")
	t.c2s(0, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"claude-code","version":"2.1"}}}`)
	t.s2c(120*time.Millisecond, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"secure-filesystem","version":"0.6"}}}`)
	t.c2s(2*time.Millisecond, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	t.stderr(30*time.Millisecond, "Secure MCP Filesystem Server running on stdio")
	t.c2s(300*time.Millisecond, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	t.s2c(8*time.Millisecond, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read_text_file","description":"Read a file\nas text","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},{"name":"list_directory","inputSchema":{"type":"object"}}]}}`)
	t.c2s(2500*time.Millisecond, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"/srv/app/README.md"}}}`)
	t.s2c(120*time.Millisecond, `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"# App\n\nA small server.\nRun it with make."}]}}`)
	t.stray(700*time.Millisecond, "loading model…")
	t.c2s(2600*time.Millisecond, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"/etc/shadow"}}}`)
	t.s2c(20*time.Millisecond, `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"Access denied"}],"isError":true}}`)
	t.c2s(900*time.Millisecond, `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"raed_file","arguments":{}}}`)
	t.s2c(3*time.Millisecond, `{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"Tool raed_file not found"}}`)
	t.c2s(2400*time.Millisecond, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"/mnt/slow/report.csv"},"_meta":{"progressToken":"p1"}}}`)
	t.s2c(200*time.Millisecond, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p1","progress":2,"total":5,"message":"reading"}}`)
	return t
}

// several are the sessions of the list: one that runs and some that ended.
func several() *fixture {
	f := newFixture()
	filesystem(f)
	t := f.session("github")
	t.c2s(0, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"cursor","version":"1.7.33"}}}`)
	t.s2c(80*time.Millisecond, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"github-mcp-server","version":"0.13"}}}`)
	for i := range 30 {
		id := string(count(i + 1))
		t.c2s(time.Duration(i)*time.Second, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"search_issues","arguments":{"q":"bug"}}}`)
		t.s2c(350*time.Millisecond, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[]}}`)
	}
	t.end(0)
	t = f.session("weather-server-with-a-long-name")
	t.c2s(0, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"vscode","version":"1.101"}}}`)
	t.stderr(time.Second, "Traceback (most recent call last):")
	t.end(1)
	return f
}

// exchange makes a session of a case's exchange file.
func (f *fixture) exchange(t testing.TB, path string) *tape {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := f.session(strings.ToLower(filepath.Base(filepath.Dir(path))))
	r := bufio.NewReader(file)
	for {
		l, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(l)) > 0 {
			out.step(l)
		}
		if err != nil {
			break
		}
	}
	return out.end(0)
}

// step takes a line of an exchange file: what is said there, byte for byte
// where it is text.
func (t *tape) step(l []byte) {
	var s struct{ Dir, Text, B64 string }
	if json.Unmarshal(l, &s) != nil || s.Dir == "" {
		return
	}
	dir := map[string]capture.Direction{"c2s": capture.C2S, "s2c": capture.S2C, "err": capture.Stderr}[s.Dir]
	if dir == capture.DirUnknown {
		return
	}
	r := capture.Record{Direction: dir, Text: s.Text, HasText: true}
	if dir != capture.Stderr && json.Valid([]byte(s.Text)) {
		r.Raw, r.Text, r.HasText = []byte(s.Text), "", false
	}
	t.add(r, 10*time.Millisecond)
}
