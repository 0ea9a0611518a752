package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var recordSeeds = []string{
	`{"session_id":"s-1-00000000000a","server_label":"s","seq":2,"ts":"2026-08-01T16:32:23.004120990Z","direction":"c2s","transport":"stdio","raw": {"id":1} }`,
	`{"direction":"s2c","ts":"2026-02-29T16:32:23+01:00","text":"\u0000","size":9,"eol":"crlf","truncated":true}`,
	`{"direction":"s2c","ts":"2026-08-01T16:32:23Z","bytes":"/w==","http":{"path":"/","content_length":0,"sse":{"id":"","retry":5},"mapped":[{"what":"a"}],"session":{"len":3,"ascii":true}},"auth":{"present":true,"jwt":{"aud":["a","b"],"exp":-1}}}`,
	`{"direction":"end","raw":{"exit_code":0}}`,
	`{"direction":"c2s","mcp_param_headers":[{"name":"a","value":"b","redacted":true}],"auth_challenge":["a"],"status":4e2,"seq":-1,"dropped":1.5}`,
	`{"direction":1}`, `{"bytes":"!"}`, `[]`, ``, `{"direction":"c2s"}x`,
	`{"t":"2026-05-13T15:30:00.000Z","dir":"out","raw":[{"id":1},2],"_mcpsnoop":[{"direction":"c2s","seq":4}]}`,
	`{"v":1,"type":"meta","command":["x"],"_mcpsnoop":{"direction":"meta","raw":{}}}`,
}

// What can be read can be written, and is then read as the same.
func FuzzParseRecord(f *testing.F) {
	for _, s := range recordSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again Record
		if ParseRecord(b, &r) != nil {
			return
		}
		ParseMeta(r.Raw)
		ParseEnd(r.Raw)
		if r.Direction == DirUnknown || bytes.IndexByte(b, '\n') >= 0 || r.TS.Year() < 0 || r.TS.Year() > 9999 {
			return
		}
		line := AppendRecord(nil, &r)
		if err := ParseRecord(line, &again); err != nil {
			t.Fatalf("%q is written as %q: %v", b, line, err)
		}
		if line2 := AppendRecord(nil, &again); !bytes.Equal(line, line2) {
			t.Errorf("%q is written as %q, then as %q", b, line, line2)
		}
	})
}

// No file makes the reader panic or loop, places are right, and a tailer that
// gets the file in two parts gives the same records.
func FuzzReader(f *testing.F) {
	log := testLog(2)
	whole := strings.Join(log, "")
	f.Add([]byte(whole), 100)
	f.Add([]byte(strings.Join(recordSeeds, "\n")), 5)
	f.Add([]byte(log[0][:50]+log[1]+"\x00\x00\n"+log[0]+log[2][:100]+log[1]), 200)
	f.Add([]byte(strings.TrimSpace(log[0])+strings.TrimSpace(log[1])+log[2]), 9)
	f.Add([]byte(strings.Join(tapeLines, "")+tapeLines[1]), 90)
	f.Add([]byte(strings.ReplaceAll(whole, "\n", "\r\n\n")), 300)
	f.Add([]byte(compress(f, whole)), 3)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		packed := bytes.HasPrefix(b, []byte(zstdMagic))
		bodies := NewBodies(OS{})
		defer bodies.Close()
		writeFile(t, path, string(b))
		read, err := fuzzRead(t, bodies, path, b, packed)
		if packed || err != nil && !errors.Is(err, ErrNotLog) && !errors.Is(err, ErrEmpty) {
			return
		}
		cut = max(0, min(cut, len(b)))
		must(t, os.Remove(path))
		tl := NewTailer(OS{}, path, TailOptions{Budget: 700})
		defer tl.Close()
		var tailed []string
		for _, part := range []string{string(b[:cut]), string(b[cut:]), "\n"} { // the last one ends what is open
			appendFile(t, path, part)
			for more := true; more; {
				_, more, _ = tl.Poll(context.Background(), func(it *Item) error {
					if it.Problem == nil {
						tailed = append(tailed, show(it))
					}
					return nil
				})
			}
		}
		if len(read) > 0 && fmt.Sprint(read) != fmt.Sprint(tailed) {
			t.Errorf("read %q\ntailed %q", read, tailed)
		}
	})
}

func fuzzRead(t *testing.T, bodies *Bodies, path string, b []byte, packed bool) (records []string, err error) {
	r, err := OpenSession(OS{}, path)
	must(t, err)
	defer r.Close()
	var it Item
	for {
		if err = r.Next(&it); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return records, err
		}
		if it.Problem != nil {
			if it.Problem.Error() == "" || it.Problem.Line < 1 {
				t.Errorf("problem %+v", it.Problem)
			}
			continue
		}
		records = append(records, show(&it))
		if !packed && (it.Ref.Offset+int64(it.Ref.Length) > int64(len(b)) || it.Ref.Length == 0) {
			t.Fatalf("%+v in a file of %d bytes", it.Ref, len(b))
		}
		want := it.Record
		var rec Record
		if _, err := bodies.Read(path, it.Ref, &rec, nil); err != nil {
			t.Fatalf("%+v: %v", it.Ref, err)
		}
		// What comes from earlier lines is not known again.
		rec.SessionID, rec.Label, rec.Seq = want.SessionID, want.Label, want.Seq
		if !reflect.DeepEqual(rec, want) {
			t.Errorf("%+v: read %+v; then %+v", it.Ref, want, rec)
		}
	}
}

// benchLog is a log of n calls with bodies of size bytes.
func benchLog(n, size int) []byte {
	var b []byte
	pad := strings.Repeat("x", size)
	for i := range n {
		seq := i*2 + 1
		b = append(b, logLine(seq, "c2s", fmt.Sprintf(`"raw":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool%d","arguments":{"n":%d,"pad":"%s"}}}`, i, i%20, i, pad))...)
		b = append(b, logLine(seq+1, "s2c", fmt.Sprintf(`"raw":{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`, i, pad))...)
	}
	return b
}

func BenchmarkParseRecord(b *testing.B) {
	for _, size := range []int{0, 200, 2000, 100000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			line := bytes.TrimSpace(benchLog(1, size)[:size+250])
			line = line[:bytes.IndexByte(benchLog(1, size), '\n')]
			var r Record
			var in interned
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if err := parseRecord(line, &r, &in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLineSource(b *testing.B) {
	log := benchLog(20000, 200)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		s := lineSource{src: bytes.NewReader(log), max: MaxLine}
		for {
			if _, err := s.next(); err != nil {
				break
			}
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{200, 10000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			log := benchLog(8<<20/(2*size+400), size)
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			var it Item
			for b.Loop() {
				r := NewReader(bytes.NewReader(log), "x")
				for r.Next(&it) == nil {
				}
			}
		})
	}
}

func BenchmarkTailer(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.jsonl")
	log := benchLog(40000, 200)
	writeFile(b, path, string(log))
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		tl := NewTailer(OS{}, path, TailOptions{})
		for more := true; more; {
			_, more, _ = tl.Poll(context.Background(), func(*Item) error { return nil })
		}
		tl.Close()
	}
}

func BenchmarkTailerIdle(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.jsonl")
	writeFile(b, path, string(benchLog(10, 200)))
	tl := NewTailer(OS{}, path, TailOptions{})
	defer tl.Close()
	for b.Loop() {
		tl.Poll(context.Background(), func(*Item) error { return nil })
	}
}

func BenchmarkTape(b *testing.B) {
	r := NewReader(bytes.NewReader(benchLog(20000, 200)), "x")
	var it Item
	var w TapeWriter
	var tape []byte
	for r.Next(&it) == nil {
		tape = w.Append(tape, &it.Record)
	}
	b.SetBytes(int64(len(tape)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(tape), "x")
		for r.Next(&it) == nil {
		}
	}
}
