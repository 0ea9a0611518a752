package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tail polls until there is nothing more and returns what came.
func tail(t testing.TB, tl *Tailer) []string {
	t.Helper()
	var got []string
	for {
		_, more, err := tl.Poll(context.Background(), func(it *Item) error {
			got = append(got, show(it))
			return nil
		})
		if err != nil {
			got = append(got, "error: "+err.Error())
		}
		if !more {
			return got
		}
	}
}

// brief shortens what tail gave to numbers and reports.
func brief(items []string) string {
	var out []string
	for _, s := range items {
		if n, _, ok := strings.Cut(s, " "); ok && n != "!" && n != "error:" {
			s = n
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func appendFile(t testing.TB, path, s string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Each step changes the log; want is what the polls after it give.
func TestTailer(t *testing.T) {
	l := testLog(20)
	seg2 := func(p string) string { return SegmentPath(p, 2) }
	type step struct {
		do   func(t *testing.T, p string)
		want string
	}
	add := func(s ...string) func(*testing.T, string) {
		return func(t *testing.T, p string) { appendFile(t, p, strings.Join(s, "")) }
	}
	replace := func(s ...string) func(*testing.T, string) {
		return func(t *testing.T, p string) {
			writeFile(t, p+".tmp", strings.Join(s, ""))
			must(t, os.Rename(p+".tmp", p))
		}
	}
	truncate := func(n int64) func(*testing.T, string) {
		return func(t *testing.T, p string) { must(t, os.Truncate(p, n)) }
	}
	remove := func(t *testing.T, p string) { must(t, os.Remove(p)) }
	both := func(a, b func(*testing.T, string)) func(*testing.T, string) {
		return func(t *testing.T, p string) { a(t, p); b(t, p) }
	}
	nothing := func(*testing.T, string) {}
	const cut, other, gone = "! the log was truncated", "! the log was replaced", "! the log was deleted"
	tests := []struct {
		name  string
		steps []step
	}{
		{"not there yet", []step{{nothing, ""}, {add(l[0]), "1"}, {nothing, ""}, {add(l[1:3]...), "2, 3"}}},
		{"half lines wait", []step{{add(l[0], l[1][:80]), "1"}, {add(l[1][80:100]), ""}, {add(l[1][100:]), "2"}}},
		{"a whole record without its line end", []step{
			{add(l[0], strings.TrimSuffix(l[1], "\n")), "1"}, {nothing, "2"}, {nothing, ""}, {add("\n" + l[2]), "3"}, {add("oops\n"), "! line 4: not JSON: want a value at byte 0"}}},
		{"rename, then a new file", []step{{add(l[:4]...), "1, 2, 3, 4"},
			{func(t *testing.T, p string) {
				appendFile(t, p, l[4]) // not read yet
				must(t, os.Rename(p, p+".1"))
				appendFile(t, p, l[5])
			}, "5, " + other + ", 6"}, {add(l[6]), "7"}}},
		{"cut and filled again", []step{{add(l[:4]...), "1, 2, 3, 4"}, {truncate(0), cut}, {add(l[4:6]...), "5, 6"}, {add(l[6]), "7"}}},
		{"cut and filled beyond the old place between two polls", []step{{add(l[:4]...), "1, 2, 3, 4"},
			{both(truncate(0), add(l[2:12]...)), cut + ", 5, 6, 7, 8, 9, 10, 11, 12"}}},
		{"half a line taken back", []step{{add(l[0], l[1][:50]), "1"}, {truncate(int64(len(l[0]))), ""}, {add(l[1]), "2"}}},
		{"half a line lost", []step{{add(l[0], l[1][:50]), "1"}, {replace(l[2]), other + ": 50 bytes of an unfinished line are lost, 3"}}},
		{"replaced by a longer copy", []step{{add(l[:4]...), "1, 2, 3, 4"}, {replace(l[:8]...), "5, 6, 7, 8"}}},
		{"replaced by another part", []step{{add(l[:4]...), "1, 2, 3, 4"}, {replace(l[3:8]...), other + ", 5, 6, 7, 8"}}},
		{"replaced by another session", []step{{add(l[:3]...), "1, 2, 3"},
			{replace(strings.ReplaceAll(l[0], testSession, "t-2-00000000000b")), other + ", t-2-00000000000b"}}},
		{"deleted and made again", []step{{add(l[:3]...), "1, 2, 3"}, {remove, gone}, {nothing, ""}, {add(l[0]), ""}, {add(l[3]), "4"}}},
		{"deleted with lines unread", []step{{add(l[:3]...), "1, 2, 3"}, {both(add(l[3]), remove), "4, " + gone}, {add(l[:5]...), "5"}}},
		{"the next segment", []step{{add(l[:3]...), "1, 2, 3"},
			{func(t *testing.T, p string) { appendFile(t, p, l[3]); appendFile(t, seg2(p), l[4]) }, "4, 5"},
			{func(t *testing.T, p string) { appendFile(t, seg2(p), l[5]) }, "6"},
			{func(t *testing.T, p string) { must(t, os.Remove(p)) }, ""}}},
		{"a torn segment", []step{{add(l[0], l[1][:50]), "1"},
			{func(t *testing.T, p string) { appendFile(t, seg2(p), l[2]) }, "! line 2: incomplete: the log ends inside this line, 3"}}},
		{"compressed meanwhile", []step{{add(l[:3]...), "1, 2, 3"},
			{func(t *testing.T, p string) {
				writeFile(t, p+".zst", compress(t, strings.Join(l[:3], "")))
				remove(t, p)
			}, ""},
			{func(t *testing.T, p string) { appendFile(t, seg2(p), l[3]) }, "4"}}},
		{"compressed from the beginning", []step{
			{func(t *testing.T, p string) { writeFile(t, p+".zst", compress(t, strings.Join(l[:3], ""))) }, "1, 2, 3"}, {nothing, ""}}},
		{"no log", []step{{add("hello\n", strings.Repeat("x", 2<<20)), "error: " + ErrNotLog.Error()}, {nothing, "error: " + ErrNotLog.Error()},
			{replace(l[:2]...), other + ", 1, 2"}}},
		{"zero bytes, then more", []step{{add(l[0], "\x00\x00\x00"), "1"}, {add(l[1]), "2, ! line 2: filled with zero bytes (NUL)"}}},
		{"a tape cut and filled again", []step{
			{add(tapeLines[:3]...), "1, 2, 3"}, {truncate(0), cut}, {add(tapeLines[1:5]...), "4, 5"},
			{replace(tapeLines...), other}}},
	}
	for _, test := range tests {
		for _, kind := range []string{"local", "remote"} {
			t.Run(test.name+", "+kind, func(t *testing.T) {
				var fsys FS = OS{}
				if kind == "remote" {
					fsys = noIdentity{}
				}
				path := filepath.Join(t.TempDir(), testSession+".jsonl")
				tl := NewTailer(fsys, path, TailOptions{})
				defer tl.Close()
				for i, s := range test.steps {
					s.do(t, path)
					if got := brief(tail(t, tl)); got != s.want {
						t.Fatalf("step %d: got %s; want %s", i+1, got, s.want)
					}
				}
			})
		}
	}
}

var tapeLines = func() []string {
	var l []string
	for i := range 5 {
		l = append(l, fmt.Sprintf(`{"t":"2026-05-13T15:30:0%d.000Z","dir":"in","raw":{"id":%d}}`+"\n", i, i))
	}
	return l
}()

// noIdentity is a file system that cannot tell two files of one name apart, as SFTP.
type noIdentity struct{ OS }

type plainInfo struct{ fs.FileInfo }

func (plainInfo) Sys() any { return nil }

func (noIdentity) Stat(name string) (fs.FileInfo, error) {
	i, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	return plainInfo{i}, nil
}

type plainFile struct{ File }

func (f plainFile) Stat() (fs.FileInfo, error) {
	i, err := f.File.Stat()
	return plainInfo{i}, err
}

func (noIdentity) Open(name string) (File, error) {
	f, err := OS{}.Open(name)
	if err != nil {
		return nil, err
	}
	return plainFile{f}, nil
}

func TestTailerResume(t *testing.T) {
	path, lines := segmented(t)
	tl := NewTailer(OS{}, path, TailOptions{Budget: 300})
	defer tl.Close()
	var at []Pos
	n := 0
	for more := true; more; {
		var k int
		var err error
		k, more, err = tl.Poll(context.Background(), func(*Item) error { return nil })
		must(t, err)
		n += k
		at = append(at, tl.Pos())
	}
	if n != len(lines) || tl.Pos().Segment != 3 {
		t.Fatalf("%d items of %d, then %+v", n, len(lines), tl.Pos())
	}
	appendFile(t, SegmentPath(path, 3), "bad\n"+logLine(99, "c2s", `"raw":1`))
	got := tail(t, NewTailer(OS{}, path, TailOptions{From: tl.Pos()}))
	if want := "! segment 3, line 5: not JSON: want a value at byte 0, 99"; brief(got) != want {
		t.Errorf("got %s; want %s", brief(got), want)
	}
	for _, p := range at {
		got := tail(t, NewTailer(OS{}, path, TailOptions{From: p}))
		if len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "99 ") {
			t.Errorf("from %+v: %s", p, brief(got))
		}
	}
	for _, p := range []Pos{{"other", 3, 100}, {testSession, 3, 50}, {testSession, 3, 1 << 30}, {testSession, 7, 5}} {
		if got := tail(t, NewTailer(OS{}, path, TailOptions{From: p})); len(got) < 5 {
			t.Errorf("from %+v: %s", p, brief(got))
		}
	}
}

// brokenFS fails while err is set.
type brokenFS struct {
	OS
	err *error
}

type brokenFile struct {
	File
	err *error
}

func (b brokenFS) Open(name string) (File, error) {
	f, err := b.OS.Open(name)
	if err != nil {
		return nil, err
	}
	return brokenFile{f, b.err}, nil
}

func (f brokenFile) ReadAt(p []byte, off int64) (int, error) {
	if *f.err != nil {
		return 0, *f.err
	}
	return f.File.ReadAt(p, off)
}

func TestTailerTriesAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	l := testLog(5)
	writeFile(t, path, l[0]+l[1])
	var fail error
	tl := NewTailer(brokenFS{err: &fail}, path, TailOptions{})
	defer tl.Close()
	if got := brief(tail(t, tl)); got != "1, 2" {
		t.Fatal(got)
	}
	fail = errors.New("input/output error")
	appendFile(t, path, l[2])
	for range 2 {
		if got := brief(tail(t, tl)); !strings.HasPrefix(got, "error: ") {
			t.Fatal(got)
		}
	}
	fail = nil
	if got := brief(tail(t, tl)); got != "3" {
		t.Fatal(got)
	}
	// An error of emit, and a context that is over, lose nothing.
	appendFile(t, path, l[3]+l[4])
	n, _, err := tl.Poll(context.Background(), func(*Item) error { return io.ErrClosedPipe })
	if n != 1 || !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(n, err)
	}
	if got := brief(tail(t, tl)); got != "5" {
		t.Fatal(got)
	}
	appendFile(t, path, l[5])
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if n, _, err := tl.Poll(ctx, func(*Item) error { return nil }); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatal(n, err)
	}
	if got := brief(tail(t, tl)); got != "6" {
		t.Fatal(got)
	}
}

// However a log grows, is cut, replaced or deleted, no record is given twice,
// records of the last state are all given, and order is kept within it.
func TestTailerGivesEachOnce(t *testing.T) {
	lines := testLog(40)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "tailer")
		must(t, err)
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, testSession+".jsonl")
		tl := NewTailer(OS{}, path, TailOptions{Budget: rapid.IntRange(100, 5000).Draw(rt, "budget")})
		defer tl.Close()
		given := map[string]int{}
		poll := func() {
			for _, s := range tail(t, tl) {
				if !strings.HasPrefix(s, "!") {
					given[s]++
				}
			}
		}
		next := 0
		var state []string // lines of the file as it is
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			k := rapid.IntRange(0, 6).Draw(rt, "lines")
			more := lines[next:min(next+k, len(lines))]
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0, 1:
				appendFile(t, path, strings.Join(more, ""))
				state = append(state, more...)
				next += len(more)
			case 2:
				writeFile(t, path+".tmp", strings.Join(more, ""))
				must(t, os.Rename(path+".tmp", path))
				state = slices.Clone(more)
				next += len(more)
			case 3:
				appendFile(t, path, "")
				must(t, os.Truncate(path, 0))
				poll()
				state = nil
			case 4:
				appendFile(t, path, "")
				must(t, os.Remove(path))
				poll()
				appendFile(t, path, strings.Join(lines[:next], ""))
				state = slices.Clone(lines[:next])
			}
			if rapid.Bool().Draw(rt, "poll") {
				poll()
			}
		}
		poll()
		for s, n := range given {
			if n > 1 {
				rt.Errorf("given %d times: %s", n, s)
			}
		}
		for _, s := range state {
			var rec Record
			must(t, ParseRecord([]byte(strings.TrimSuffix(s, "\n")), &rec))
			if it := (Item{Record: rec}); given[show(&it)] != 1 {
				rt.Errorf("not given: %s", s)
			}
		}
	})
}

// Many sessions are followed at once: one that is quiet costs little.
func TestTailerMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	tl := NewTailer(OS{}, path, TailOptions{})
	defer tl.Close()
	want := 0
	for i := range 40 {
		s := logLine(i+1, "c2s", fmt.Sprintf(`"raw":"%s"`, strings.Repeat("x", []int{5, 300, 20000, 6 << 20}[min(i%10, 3)/(1+i%2)])))
		appendFile(t, path, s)
		want++
		got := tail(t, tl)
		if len(got) != 1 || !strings.HasPrefix(got[0], fmt.Sprint(want, " ")) || len(tl.lines.buf) > restBuffer {
			t.Fatalf("record %d: %.100q; %d bytes held", want, got, len(tl.lines.buf))
		}
	}
}

func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s spans
		have := map[uint64]bool{}
		for _, n := range rapid.SliceOf(rapid.Uint64Range(1, 60)).Draw(t, "numbers") {
			if got := s.add(n); got != have[n] {
				t.Fatalf("%d was there: %v; want %v; %v", n, got, have[n], s.runs)
			}
			have[n] = true
		}
		for i := 1; i < len(s.runs); i++ {
			if s.runs[i].lo <= s.runs[i-1].hi+1 {
				t.Fatalf("runs touch: %v", s.runs)
			}
		}
	})
}
