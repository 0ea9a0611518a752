package export

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/store"
)

var update = flag.Bool("update", false, "write what the formats give")

// judged indexes and judges the sessions of a log, as the command line does.
func judged(t *testing.T, path string, edit func(*capture.Record)) *Input {
	t.Helper()
	in := &Input{Bodies: capture.NewBodies(capture.OS{}), Version: "1.2.3", Redact: edit}
	t.Cleanup(func() { in.Bodies.Close() })
	log := Log{Name: path, Open: func() (*capture.Reader, error) { return capture.OpenSession(capture.OS{}, path) }}
	r, err := log.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var engines []*checks.Engine
	appenders := map[string]*store.Appender{}
	for it := (capture.Item{}); ; {
		if err := r.Next(&it); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if it.Problem != nil {
			continue
		}
		if edit != nil {
			edit(&it.Record)
		}
		id := it.Record.SessionID
		if appenders[id] == nil {
			e := checks.NewEngine(checks.Options{})
			s, a := store.NewSession(id, path, store.Limits{}, e)
			appenders[id], engines = a, append(engines, e)
			log.Sessions = append(log.Sessions, &Session{Session: s, From: filepath.ToSlash(path)})
		}
		appenders[id].Append(&it)
	}
	for i, s := range log.Sessions {
		appenders[s.ID].Publish()
		engines[i].Finish(s.Session)
		s.Findings = engines[i].Findings()
	}
	in.Logs = []Log{log}
	return in
}

// storyLog is a log with two sessions: calls with several round trips, forms,
// hostile text, lost frames, calls over HTTP that needed authorization.
var storyLog = filepath.Join("testdata", "story.jsonl")

func TestGoldens(t *testing.T) {
	for _, f := range Formats() {
		if f.Name == "html" {
			continue // the page is opened in a browser
		}
		t.Run(f.Name, func(t *testing.T) {
			got := write(t, f.Name, fewFindings(judged(t, storyLog, nil)))
			golden := filepath.Join("testdata", "story."+f.Name)
			if f.Name == "jsonl" {
				golden = storyLog
			} else if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if f.Name == "jsonl" { // merged by time: each session in its own order
				got, want = bySession(got), []byte(bySession(string(want)))
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// fewFindings leaves some findings: what rules there are is not the business
// of the formats.
func fewFindings(in *Input) *Input {
	for _, s := range in.Sessions() {
		s.Findings = slices.DeleteFunc(s.Findings, func(f *checks.Finding) bool {
			return !slices.Contains([]string{"dep-roots", "call-error", "js-root-composition"}, f.Rule.ID)
		})
	}
	return in
}

// bySession puts the lines of a log session by session.
func bySession(log string) string {
	lines := strings.SplitAfter(log, "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:min(len(a), 40)], b[:min(len(b), 40)]) })
	return strings.Join(lines, "")
}

// A log that becomes a tape and a log again is the same, line by line.
func TestTapeAndBack(t *testing.T) {
	want := write(t, "jsonl", judged(t, storyLog, nil))
	path := filepath.Join(t.TempDir(), "story.tape")
	if err := os.WriteFile(path, []byte(write(t, "tape", judged(t, storyLog, nil))), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := write(t, "jsonl", judged(t, path, nil)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// What a filter chooses is whole operations, in every format.
func TestWhere(t *testing.T) {
	for where, want := range map[string]string{
		"trips>1":           "book-1 book-2 book-3",
		"method:tools/list": "2",
		"kind:stderr":       "",
		"12A-typed":         "book-1 book-2 book-3", // stands in one frame of the chain
		"status:401":        "1",
	} {
		in := judged(t, storyLog, nil)
		var err error
		if in.Where, err = store.Compile(where, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if err := in.Select(context.Background()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range in.Sessions() {
			for i := range s.OpLen() {
				if s.hasOp(i) {
					got = append(got, strings.Trim(string(s.Op(i).ID), `"`))
				}
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s chooses %q; want %q", where, g, want)
		}
		for _, f := range Formats() {
			if out := write(t, f.Name, in); out == "" {
				t.Errorf("%s of %s is empty", f.Name, where)
			}
		}
		copied := filepath.Join(t.TempDir(), "part.jsonl")
		if err := os.WriteFile(copied, []byte(write(t, "jsonl", in)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, s := range judged(t, copied, nil).Sessions() {
			if sum := s.Summary(); !sum.Filtered || sum.Missing > 0 {
				t.Errorf("%s: the copy does not say that it is one: %+v", where, sum.Meta)
			}
		}
	}
}

// theSecret stands in a session in many forms and places.
const theSecret = "sk-test-9f8e7d6c5b4a39281706zz"

// No format holds a secret in any form once redaction is on.
func TestNoSecretInAnyFormat(t *testing.T) {
	rows := []string{
		`0 meta {"command":["srv","--api-key","` + theSecret + `"],"cwd":"/home/` + theSecret + `","target":"https://user:` + theSecret + `@h.example/mcp?key=` + theSecret + `"}`,
		`1 stderr before it is known: ` + theSecret,
		`2 c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + theSecret + `","arguments":{"api_key":"` + theSecret + `","headers":{"Authorization":"Bearer ` + theSecret + `"},"` + theSecret + `":1}}}`,
		`3 stderr Authorization: Basic dXNlcjpzay10ZXN0LTlmOGU3ZDZjNWI0YTM5MjgxNzA2eno=`,
		`4 s2c {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"inner\":\"` + theSecret + `\"} c2stdGVzdC05ZjhlN2Q2YzViNGEzOTI4MTcwNnp6 sk-test-9f8e7d6c5b4a39281706z\u007a"}]}}`,
		`5 c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"q":"https://u:` + theSecret + `@h/?t=` + theSecret + `"}}}`,
		`6 s2c {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"refused ` + theSecret + `"}}`,
		`7 s2c stray ` + theSecret,
	}
	engine, err := redact.New(redact.Config{Secrets: true, Values: []string{`sk-test-[0-9a-z]+`}})
	if err != nil {
		t.Fatal(err)
	}
	edit := Redactor(engine)
	plain := inputOf(t, rows)
	path := plain.Logs[0].Name
	judged(t, path, edit) // the first pass learns
	in := judged(t, path, edit)
	forms := []string{theSecret, "c2stdGVzdC05ZjhlN2Q2YzViNGEzOTI4MTcwNnp6", "dXNlcjpzay10ZXN0", "736b2d74657374", "sk%2Dtest"}
	for _, f := range Formats() {
		out := write(t, f.Name, in)
		for _, form := range forms {
			if strings.Contains(out, form) {
				k := strings.Index(out, form)
				t.Errorf("%s holds %s: …%s", f.Name, form, out[max(0, k-80):min(len(out), k+60)])
			}
		}
		for n, line := range bytes.Split([]byte(out), []byte("\n")) {
			for _, l := range engine.Leaks(line) {
				if l.Kind != redact.HighEntropy {
					t.Errorf("%s, line %d: %s is left: %s", f.Name, n+1, l.Kind, line[l.Offset:l.Offset+l.Length])
				}
			}
		}
		if out := write(t, f.Name, plain); !strings.Contains(out, theSecret) {
			t.Errorf("%s without redaction does not hold the secret at all: the test looks for nothing", f.Name)
		}
	}
	if found, err := plain.Suspects(context.Background()); err != nil || len(found) < suspectsMax {
		t.Errorf("suspects are %v, %v", found, err)
	}
	if found, err := in.Suspects(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("suspects after redaction are %v, %v", found, err)
	}
}
