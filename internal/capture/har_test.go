package capture

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateHAR = flag.Bool("update", false, "write what a HAR file gives")

// harRecords reads a HAR file to its end, and each record again by its place.
func harRecords(t *testing.T, path string) []Item {
	t.Helper()
	r, err := OpenSession(OS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	bodies := NewBodies(OS{})
	defer bodies.Close()
	var items []Item
	for {
		var it Item
		if err := r.Next(&it); errors.Is(err, io.EOF) {
			return items
		} else if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
		if it.Problem != nil || !it.Record.Direction.IsFrame() {
			continue
		}
		var again Record
		if _, err := bodies.Read(path, it.Ref, &again, nil); err != nil {
			t.Fatalf("read #%d again: %v", it.Record.Seq, err)
		}
		if !bytes.Equal(again.Body(), it.Record.Body()) || again.Direction != it.Record.Direction || again.Status != it.Record.Status {
			t.Errorf("#%d is %s the second time; want %s", it.Record.Seq, again.Body(), it.Record.Body())
		}
	}
}

func TestHAR(t *testing.T) {
	var got strings.Builder
	for _, it := range harRecords(t, filepath.Join("testdata", "browser.har")) {
		if it.Problem != nil {
			fmt.Fprintf(&got, "problem: %v\n", it.Problem)
			continue
		}
		got.Write(AppendRecord(nil, &it.Record))
	}
	golden := filepath.Join("testdata", "browser.har.jsonl")
	if *updateHAR {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
	for _, no := range []string{"NEVERTAKEN", "QUERYVALUE", "sess-1"} {
		if strings.Contains(got.String(), no) {
			t.Errorf("%s was taken", no)
		}
	}
}

func TestNoHAR(t *testing.T) {
	for in, want := range map[string]error{
		`{"log":{"version":"1.2","entries":[]}}`: ErrNoMCP,
		`{"log":{"entries":[{"request":{"url":"https://a/","method":"GET"},"response":{"content":{"text":"{\"a\":1}"}}}]}}`: ErrNoMCP,
		`{"log":{"version":"1.2"}}`: ErrNotLog,
		`{ "log" : [1]}`:            ErrNotLog,
	} {
		if _, err := readAll(t, NewReader(strings.NewReader(in), "x")); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", in, err, want)
		}
	}
	if _, err := readAll(t, NewReader(strings.NewReader(`{"log":{"entries":[`), "x")); err == nil || errors.Is(err, ErrNotLog) || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("a torn HAR file: %v", err)
	}
}

// A log that is still being written is not waited for.
func TestHARSniffWaitsForNothing(t *testing.T) {
	for _, line := range testLog(1) {
		head, isHAR, err := sniffHAR([]byte(line[:4]), readerThatMustNotBeRead{t})
		if isHAR || err != nil || string(head) != line[:4] {
			t.Errorf("sniffed %q, %v, %v", head, isHAR, err)
		}
	}
}

type readerThatMustNotBeRead struct{ t *testing.T }

func (r readerThatMustNotBeRead) Read([]byte) (int, error) {
	r.t.Error("was read")
	return 0, io.EOF
}

// Whatever stands in a HAR file: no panic, records that can be written, found
// again at their place, and in the order of time.
func FuzzHAR(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "browser.har"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"log":{"entries":[{"startedDateTime":"2026-08-01T10:00:00Z","time":1e300,"timings":{"wait":-1},"request":{"url":"stdio://x/","postData":{"text":"[{\"jsonrpc\":1}]"}},"_mcpsnoop":{"direction":"s2c","hops":[{"request":"{}","server_ms":1e9}]}}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b), "fuzz")
		last := map[string]int64{}
		for {
			var it Item
			if r.Next(&it) != nil {
				return
			}
			if r.Format() != "HAR" || it.Problem != nil {
				continue
			}
			rec := &it.Record
			if ts := rec.TS.UnixNano(); ts < last[rec.SessionID] {
				t.Errorf("#%d goes back in time", rec.Seq)
			} else {
				last[rec.SessionID] = ts
			}
			var again Record
			if err := ParseRecord(bytes.TrimSuffix(AppendRecord(nil, rec), []byte{'\n'}), &again); err != nil || bytes.IndexByte(AppendRecord(nil, rec), '\n') != len(AppendRecord(nil, rec))-1 {
				t.Errorf("#%d cannot be written: %v", rec.Seq, err)
			}
			if !rec.Direction.IsFrame() {
				continue
			}
			if err := ParseLine(b[it.Ref.Offset:it.Ref.Offset+int64(it.Ref.Length)], it.Ref.Sub, &again); err != nil || !bytes.Equal(again.Body(), rec.Body()) {
				t.Errorf("#%d is not found again: %v", rec.Seq, err)
			}
		}
	})
}
