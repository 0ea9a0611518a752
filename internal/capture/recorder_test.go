package capture

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// systemClock is the real clock.
type systemClock struct{}

func (systemClock) Now() time.Time                  { return time.Now() }
func (systemClock) Since(t time.Time) time.Duration { return time.Since(t) }

func testOptions(t testing.TB) Options {
	t.Helper()
	id, err := NewSessionID("test", 7, strings.NewReader("abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	warn := func(s string) { t.Logf("warned: %s", s) }
	return Options{
		File:  FileOptions{Dir: filepath.Join(t.TempDir(), "sessions"), SessionID: id, Now: time.Now, Warn: warn},
		Label: "test", Transport: Stdio, Clock: systemClock{}, Warn: warn,
	}
}

// feed passes text through a stream in chunks of n bytes.
func feed(s *Stream, text string, n int) {
	for len(text) > 0 {
		k := copy(s.Room(), text[:min(n, len(text))])
		s.Took(k)
		text = text[k:]
	}
}

func readRecords(t testing.TB, path string) []Record {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []Record
	for i, line := range bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) {
		var r Record
		if err := ParseRecord(line, &r); err != nil {
			t.Fatalf("line %d: %v: %s", i+1, err, line)
		}
		out = append(out, r)
	}
	return out
}

func TestRecorderKeepsWhatCrossedTheWire(t *testing.T) {
	for _, chunk := range []int{1, 3, 7, 64, 1 << 20} {
		o := testOptions(t)
		r := NewRecorder(o)
		s := r.Stream(S2C)
		feed(s, "banner\n\r\n{ \"id\" : 1.0 }\r\n[{\"a\":1}, {\"b\":\"x\"}]\n\xff\xfe\n{\"tail\":", chunk)
		s.Close()
		if lost := r.Close(EndInfo{Reason: "test"}); lost != 0 {
			t.Fatalf("lost %d frames", lost)
		}
		recs := readRecords(t, r.Path())
		var got []string
		for i, rec := range recs {
			if rec.Seq != uint64(i+1) {
				t.Errorf("line %d has seq %d", i+1, rec.Seq)
			}
			got = append(got, fmt.Sprintf("%v %q %q eol=%s batch=%v", rec.Direction, rec.Raw, rec.Text+string(rec.Bytes), rec.EOL, rec.Batch))
		}
		want := []string{
			`s2c "" "banner" eol= batch=false`,
			`s2c "" "" eol=crlf batch=false`,
			`s2c "{ \"id\" : 1.0 }" "" eol=crlf batch=false`,
			`s2c "{\"a\":1}" "" eol= batch=true`,
			`s2c "{\"b\":\"x\"}" "" eol= batch=true`,
			`s2c "" "\xff\xfe" eol= batch=false`,
			`s2c "" "{\"tail\":" eol=none batch=false`,
		}
		if len(got) != len(want)+2 {
			t.Fatalf("chunk %d: %d lines, want %d", chunk, len(got), len(want)+2)
		}
		for i, w := range want {
			if got[i+1] != w {
				t.Errorf("chunk %d, line %d:\n got %s\nwant %s", chunk, i+2, got[i+1], w)
			}
		}
	}
}

func BenchmarkRecorderSmall(b *testing.B) { benchRecorder(b, 1024) }
func BenchmarkRecorderMiB(b *testing.B)   { benchRecorder(b, 1<<20) }

func benchRecorder(b *testing.B, size int) {
	o := testOptions(b)
	r := NewRecorder(o)
	s := r.Stream(C2S)
	line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"pad":"`
	line += strings.Repeat("x", size-len(line)-5) + `"}}}` + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		feed(s, line, 64<<10)
	}
	s.Close()
	r.Close(EndInfo{})
	b.StopTimer()
	if r.queue.lost.Load() > 0 {
		b.Fatalf("lost %d", r.queue.lost.Load())
	}
	_ = io.Discard
}
