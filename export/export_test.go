package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// rows are "ms direction body", which stand for the records of a log.
func inputOf(t testing.TB, logs ...[]string) *Input {
	t.Helper()
	in := &Input{Bodies: capture.NewBodies(capture.OS{})}
	t.Cleanup(func() { in.Bodies.Close() })
	for n, rows := range logs {
		id := fmt.Sprintf("log-%d-00000000000a", n+1)
		var b []byte
		for i, row := range rows {
			var ms int
			var dir string
			if _, err := fmt.Sscan(row, &ms, &dir); err != nil {
				t.Fatal(err)
			}
			body := strings.SplitN(row, " ", 3)[2]
			rec := capture.Record{SessionID: id, Label: "log", Seq: uint64(i + 1), TS: time.Unix(1_800_000_000, int64(ms)*1e6).UTC(), Transport: capture.Stdio}
			for d := capture.C2S; d <= capture.End; d++ {
				if d.String() == dir {
					rec.Direction = d
				}
			}
			if strings.HasPrefix(body, "{") {
				rec.Raw = []byte(body)
			} else {
				rec.Text, rec.HasText = body, true
			}
			b = capture.AppendRecord(b, &rec)
		}
		path := filepath.Join(t.TempDir(), id+".jsonl")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		in.Logs = append(in.Logs, indexOf(t, path))
	}
	return in
}

func indexOf(t testing.TB, path string) Log {
	t.Helper()
	log := Log{Name: path, Open: func() (*capture.Reader, error) { return capture.OpenSession(capture.OS{}, path) }}
	r, err := log.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	s, a := store.NewSession(id, path, store.Limits{}, nil)
	for it := (capture.Item{}); ; {
		if err := r.Next(&it); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		a.Append(&it)
	}
	a.Publish()
	log.Sessions = []*Session{{Session: s, From: path}}
	return log
}

func write(t *testing.T, format string, in *Input) string {
	t.Helper()
	f, ok := ByName(format)
	if !ok {
		t.Fatalf("no format %s", format)
	}
	var out bytes.Buffer
	if err := f.Write(context.Background(), &out, in); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var story = []string{
	`0 meta {"command":["x"]}`,
	`1 c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
	`2 c2s {"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"b"}}`,
	`3 s2c {"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"no \u001b[31m"}}`,
	`21 s2c {"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890.10}}`,
	`22 s2c stray`,
	`23 c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}`,
	`24 end {"exit_code":0}`,
}

func TestJSON(t *testing.T) {
	out := write(t, "json", inputOf(t, story))
	if !strings.Contains(out, `"raw":{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890.10}}`) {
		t.Errorf("a number lost its spelling: %s", out)
	}
	var doc struct {
		Version  int
		Sessions []struct {
			Frames        int
			MissingFrames int `json:"missing_frames"`
		}
		Summary struct {
			Calls struct{ Total, OK, Error, Pending int }
			Tools []struct {
				Name          string
				Calls, Errors int
				P50           float64 `json:"p50_ms"`
			}
			Slowest []struct{ Seq int }
		}
		Calls []struct {
			Seq      int
			ID       json.RawMessage
			Status   string
			Name     string
			Duration *float64 `json:"duration_ms"`
			Answer   int
			Why      string
			Error    *struct {
				Code    int
				Message string
			}
		}
		Events []struct {
			Seq, Request int
			Kind         string
			ID           json.RawMessage
			Text         string
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(doc.Version, doc.Sessions, doc.Summary.Calls, doc.Summary.Tools, doc.Summary.Slowest)
	if want := "1 [{6 0}] {3 1 1 1} [{a 2 0 20} {b 1 1 1}] [{2} {3}]"; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	calls := ""
	for _, c := range doc.Calls {
		calls += fmt.Sprintf("%d %s %s %s %d;", c.Seq, c.ID, c.Name, c.Status, c.Answer)
	}
	if want := `2 1 a ok 5;3 "1" b error 4;7 2 a pending 0;`; calls != want {
		t.Errorf("got %s; want %s", calls, want)
	}
	if e := doc.Calls[1].Error; e == nil || e.Code != -32603 || doc.Calls[2].Duration != nil || doc.Calls[2].Why == "" {
		t.Errorf("got %+v", doc.Calls)
	}
	events := ""
	for _, e := range doc.Events {
		events += fmt.Sprintf("%d %s %s %d %s;", e.Seq, e.Kind, e.ID, e.Request, e.Text)
	}
	if want := `2 request 1 0 ;3 request "1" 0 ;4 response "1" 3 ;5 response 1 2 ;6 invalid  0 stray;7 request 2 0 ;`; events != want {
		t.Errorf("got %s; want %s", events, want)
	}
}

// Logs are merged by time, each in its own order.
func TestRecordsMerge(t *testing.T) {
	in := inputOf(t, []string{`0 meta {}`, `10 stderr a`, `30 stderr b`, `20 stderr c`}, []string{`5 meta {}`, `15 stderr d`, `30 stderr e`})
	var got []string
	err := in.Records(context.Background(), func(e *Entry) error {
		if e.Frame != nil {
			got = append(got, e.Rec.Text)
			if e.Frame.Seq != e.Rec.Seq {
				t.Errorf("%s stands with the row of #%d", e.Rec.Text, e.Frame.Seq)
			}
		}
		return nil
	})
	if want := []string{"a", "d", "b", "c", "e"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// What comes after the index was made is left out, so that counts and events agree.
func TestRecordsOfAGrowingLog(t *testing.T) {
	in := inputOf(t, []string{`0 meta {}`, `10 stderr a`})
	path := in.Logs[0].Name
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:]
	if err := os.WriteFile(path, append(b, last...), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(write(t, "jsonl", in), "\n"); n != 2 {
		t.Errorf("%d lines; want 2", n)
	}
}

func TestRedactor(t *testing.T) {
	engine, err := redact.New(redact.Config{Keys: []string{"token"}})
	if err != nil {
		t.Fatal(err)
	}
	const secret = "sw0rdfish-9921-kraken"
	edit := Redactor(engine)
	for range 2 { // the first pass learns
		for _, rec := range []capture.Record{
			{Direction: capture.Stderr, Text: "with " + secret, HasText: true},
			{Direction: capture.C2S, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"token":"` + secret + `"}}`), MCPName: secret, MCPParamHeaders: []capture.ParamHeader{{Name: "Mcp-Param-x", Value: secret}}},
			{Direction: capture.Meta, Raw: []byte(`{"pid":1,"command":["x","--token","` + secret + `"],"target":"http://u:p@h/?k=v"}`)},
			{Direction: capture.S2C, Status: 401, AuthChallenge: []string{"Bearer x=" + secret}},
		} {
			size := len(rec.Body())
			edit(&rec)
			if rec.HasBody() && rec.Direction != capture.Meta && rec.Redacted && rec.WireSize() != int64(size) {
				t.Errorf("%s: size on the wire is %d; want %d", rec.Body(), rec.WireSize(), size)
			}
			if engine.Remembered() > 0 && strings.Contains(fmt.Sprintf("%s %+v", rec.Body(), rec), secret) && rec.Direction != capture.Stderr {
				t.Errorf("the secret is left in %s %+v", rec.Body(), rec)
			}
		}
	}
	rec := capture.Record{Direction: capture.Stderr, Text: "with " + secret, HasText: true}
	if edit(&rec); strings.Contains(rec.Text, secret) || !rec.Redacted {
		t.Errorf("the secret is left in %s", rec.Text)
	}
	if Redactor(nil) != nil {
		t.Error("an engine that looks for nothing gives a redactor; want nil")
	}
}

func TestPercentile(t *testing.T) {
	ms := func(n ...int) []time.Duration {
		var out []time.Duration
		for _, v := range n {
			out = append(out, time.Duration(v))
		}
		return out
	}
	for _, tt := range []struct {
		list []time.Duration
		p    int
		want time.Duration
	}{
		{ms(7), 50, 7}, {ms(7), 99, 7}, {ms(1, 2), 50, 1}, {ms(1, 2, 3), 50, 2}, {ms(1, 2, 3, 4), 95, 4}, {ms(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 50, 5},
	} {
		if got := percentile(tt.list, tt.p); got != tt.want {
			t.Errorf("p%d of %v = %d; want %d", tt.p, tt.list, got, tt.want)
		}
	}
}
