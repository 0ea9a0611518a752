package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

const testSession = "s-1-00000000000a"

// logLine is line seq of a log of the test session.
func logLine(seq int, dir, body string) string {
	return fmt.Sprintf(`{"session_id":"%s","server_label":"s","seq":%d,"ts":"2026-08-01T16:32:23.%09dZ","direction":"%s","transport":"stdio",%s}`+"\n", testSession, seq, seq, dir, body)
}

// testLog is a whole log: a meta line, n frames, an end line.
func testLog(n int) []string {
	lines := []string{logLine(1, "meta", `"raw":{"command":["python","server.py"],"cwd":"/srv"}`)}
	for i := range n {
		lines = append(lines, logLine(i+2, "c2s", fmt.Sprintf(`"raw":{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i)))
	}
	return append(lines, logLine(n+2, "end", fmt.Sprintf(`"raw":{"exit_code":0,"frames":%d,"dropped":0}`, n)))
}

// show tells an item in one line.
func show(it *Item) string {
	if p := it.Problem; p != nil {
		return fmt.Sprintf("! %s", p)
	}
	r := &it.Record
	s := fmt.Sprintf("%d %s", r.Seq, r.Direction)
	if r.SessionID != testSession {
		s = r.SessionID + " " + s
	}
	if r.HasText {
		return s + " text " + r.Text
	}
	if r.Batch {
		s += fmt.Sprintf(" batch.%d", it.Ref.Sub)
	}
	return s + " " + string(r.Raw) + string(r.Bytes)
}

func readAll(t testing.TB, r *Reader) ([]string, error) {
	t.Helper()
	var got []string
	var it Item
	for {
		err := r.Next(&it)
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, show(&it))
	}
}

func TestReaderDamage(t *testing.T) {
	l := testLog(2) // lines 1 to 4
	whole := []string{
		`1 meta {"command":["python","server.py"],"cwd":"/srv"}`,
		`2 c2s {"jsonrpc":"2.0","id":0,"method":"tools/list"}`,
		`3 c2s {"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`4 end {"exit_code":0,"frames":2,"dropped":0}`,
	}
	all := strings.Join(l, "")
	half := l[2][:len(l[2])/2]
	other := strings.ReplaceAll(l[1], testSession, "t-2-00000000000b")
	tests := []struct {
		name, in string
		want     []string
	}{
		{"whole", all, whole},
		{"no newline at the end", strings.TrimSuffix(all, "\n"), whole},
		{"mark, blank lines and CRLF", "\xEF\xBB\xBF\n  \n" + strings.ReplaceAll(all, "\n", "\r\n") + "\r\n", whole},
		{"torn", all[:len(all)-25], append(whole[:3:3], "! line 4: incomplete: the log ends inside this line")},
		{"torn, then more", all[:len(all)-25] + "\n" + l[0], append(whole[:3:3],
			`! line 4: not JSON: want a member name at byte 157`, whole[0])},
		{"a record glued to half a line", l[0] + l[1] + half + l[3], append(whole[:2:2],
			fmt.Sprintf(`! line 3: no line end between records: %d bytes of a torn record before it are skipped`, len(half)), whole[3])},
		{"two records in a line", l[0] + strings.TrimSuffix(l[1], "\n") + l[2] + l[3], append(append(whole[:1:1],
			`! line 2: no line end between records`), whole[1:]...)},
		{"a record and half of another", l[0] + strings.TrimSuffix(l[1], "\n") + half + "\n" + l[3], append(append(whole[:1:1],
			`! line 2: two records woven into one line`), whole[1], whole[3])},
		{"woven", l[0] + half + l[1][:60] + l[2][len(half):] + l[1][60:] + l[3], append(whole[:1:1],
			`! line 2: two records woven into one line`, `! line 3: not JSON: want the end of the text at byte 4`, whole[3])},
		{"a glued record of elsewhere is no record", l[0] + half + other + l[3], append(whole[:1:1],
			`! line 2: two records woven into one line`, whole[3])},
		{"zero bytes behind", all + strings.Repeat("\x00", 512), append(whole[:4:4], "! line 5: filled with zero bytes (NUL)")},
		{"zero bytes in front of a line, said once", l[0] + "\x00\x00\n\x00\n" + "\x00\x00" + l[1], append(whole[:1:1],
			"! line 2: filled with zero bytes (NUL)", whole[1], "! line 4: filled with zero bytes (NUL)")},
		{"zero bytes in half a line", l[0] + half + "\x00\x00\n" + l[3], append(whole[:1:1],
			"! line 2: filled with zero bytes (NUL): not JSON: want a closing quote at byte 95", whole[3])},
		{"JSON, and no record", l[0] + "[1]\n{\"a\":1}\n" + l[1], append(whole[:1:1],
			"! line 2: not a record: array in place of an object", `! line 3: not a record: no log line: "direction" is missing`, whole[1])},
		{"damaged first line", "xyz\n" + l[0], []string{"! line 1: not JSON", whole[0]}},
		{"unknown members and directions", l[0] + logLine(2, "sideways", `"raw":1`) + logLine(3, "s2c", `"new":{"x":[1]},"text":"hi"`), append(whole[:1:1], "3 s2c text hi")},
		{"two sessions", l[0] + strings.ReplaceAll(l[0]+l[1], testSession, "t-2-00000000000b"), append(whole[:1:1],
			"t-2-00000000000b "+whole[0], "t-2-00000000000b "+whole[1])},
		{"cut in the first line", l[0][:9], []string{"! line 1: incomplete: the log ends inside this line"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := readAll(t, NewReader(strings.NewReader(test.in), "file"))
			if err != nil {
				t.Fatal(err)
			}
			if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
				t.Errorf("got:\n%s\nwant:\n%s", g, w)
			}
		})
	}
}

func TestReaderNoLog(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		want error
	}{
		"empty":       {"", ErrEmpty},
		"blank":       {"\n\r\n \n", ErrEmpty},
		"text":        {"hello\nworld\n", ErrNotLog},
		"JSON":        {`{"log":{"version":"1.2"}}`, ErrNotLog},
		"zero bytes":  {strings.Repeat("\x00", 100), ErrNotLog},
		"picture":     {"\x89PNG\r\n\x1a\n" + strings.Repeat("\x01\x02\xFF", 1<<20), ErrNotLog},
		"long text":   {strings.Repeat("some words\n", 1<<18), ErrNotLog},
		"a torn text": {"plain", ErrNotLog},
	} {
		if got, err := readAll(t, NewReader(strings.NewReader(test.in), "x")); !errors.Is(err, test.want) || len(got) > 0 {
			t.Errorf("%s: %v, %v; want %v", name, got, err, test.want)
		}
	}
}

// A log cut at any byte is readable up to the last whole line, and says once
// that it is torn.
func TestReaderCutAnywhere(t *testing.T) {
	lines := testLog(5)
	all := strings.Join(lines, "")
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.IntRange(1, len(all)).Draw(t, "cut")
		want := strings.Count(all[:cut], "\n")
		rest := all[strings.LastIndexByte(all[:cut], '\n')+1 : cut]
		if rest != "" && rest+"\n" == lines[want] { // only the line feed is gone
			want, rest = want+1, ""
		}
		r := NewReader(strings.NewReader(all[:cut]), "x")
		var it Item
		records, problems := 0, 0
		for r.Next(&it) == nil {
			if it.Problem != nil {
				problems++
				if it.Problem.Kind != Torn || it.Problem.Line != want+1 {
					t.Errorf("problem %v", it.Problem)
				}
				continue
			}
			records++
		}
		if records != want || problems > 1 || (problems == 1) != (rest != "") {
			t.Errorf("%d records and %d problems, want %d records; %d bytes behind them", records, problems, want, len(rest))
		}
	})
}

// However the bytes come, the lines are the same, long lines are left out, and
// memory stays bounded.
func TestLineSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n")), 0, 300).Draw(t, "in")
		bound := rapid.IntRange(1, 20).Draw(t, "bound")
		s := lineSource{src: &pieces{t, in}, max: bound}
		var want []string
		off := int64(0)
		for _, l := range bytes.SplitAfter(in, []byte("\n")) {
			line, ended := bytes.CutSuffix(l, []byte("\n"))
			if len(l) == 0 {
				continue
			}
			body := string(line)
			if len(line) > bound {
				body = "long"
			}
			want = append(want, fmt.Sprint(off, len(line), ended, body))
			off += int64(len(l))
		}
		var got []string
		for {
			l, err := s.next()
			if err != nil {
				if s.pending() == 0 {
					break
				}
				l = s.rest()
			}
			body := string(l.b)
			if l.long {
				body = "long"
			}
			got = append(got, fmt.Sprint(l.off, l.size, l.ended, body))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// pieces reads in pieces of random length.
type pieces struct {
	t *rapid.T
	b []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.b[:rapid.IntRange(1, len(p.b)).Draw(p.t, "n")])
	p.b = p.b[n:]
	return n, nil
}

func TestReaderLongLine(t *testing.T) {
	l := testLog(1)
	long := logLine(2, "c2s", `"raw":"`+strings.Repeat("x", MaxLine)+`"`)
	in := io.MultiReader(strings.NewReader(l[0]), strings.NewReader(long), strings.NewReader(l[2]))
	r := NewReader(in, "x")
	got, err := readAll(t, r)
	if err != nil || len(got) != 3 || got[1] != "! line 2: longer than the limit" {
		t.Errorf("%.200q, %v", got, err)
	}
	if len(r.lines.buf) > MaxLine+lineBuffer {
		t.Errorf("the buffer holds %d bytes", len(r.lines.buf))
	}
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func compress(t testing.TB, s string) string {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(e.EncodeAll([]byte(s), nil))
}

// segmented writes a log of three segments, the first compressed.
func segmented(t testing.TB) (path string, lines []string) {
	lines = testLog(7)
	path = filepath.Join(t.TempDir(), testSession+".jsonl")
	writeFile(t, path+".zst", compress(t, strings.Join(lines[:3], "")))
	writeFile(t, SegmentPath(path, 2), strings.Join(lines[3:5], ""))
	writeFile(t, SegmentPath(path, 3), strings.Join(lines[5:], ""))
	return path, lines
}

func TestOpenSessionSegments(t *testing.T) {
	path, lines := segmented(t)
	r, err := OpenSession(OS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := readAll(t, r)
	if err != nil || len(got) != len(lines) {
		t.Errorf("%d records, %v; want %d", len(got), err, len(lines))
	}
	for i, s := range got {
		if !strings.HasPrefix(s, fmt.Sprint(i+1, " ")) {
			t.Errorf("record %d is %s", i+1, s)
		}
	}
	if _, err := OpenSession(OS{}, path+"x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such log: %v", err)
	}
}

func TestBodies(t *testing.T) {
	path, _ := segmented(t)
	tape := filepath.Join(t.TempDir(), "t.jsonl")
	writeFile(t, tape, `{"t":"2026-05-13T15:30:00.000Z","dir":"in","raw":[{"id":1},{"id":2}]}`+"\n")
	b := NewBodies(OS{})
	for _, p := range []string{path, tape} {
		r, err := OpenSession(OS{}, p)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var it Item
		var buf []byte
		for r.Next(&it) == nil {
			var rec Record
			if buf, err = b.Read(p, it.Ref, &rec, buf); err != nil {
				t.Fatal(err)
			}
			if string(rec.Raw) != string(it.Record.Raw) || rec.Direction != it.Record.Direction || p == path && rec.Seq != it.Record.Seq {
				t.Errorf("%+v: got %v; want %v", it.Ref, rec, it.Record)
			}
		}
	}
	var rec Record
	for _, ref := range []Ref{{1, 3, 80, 0}, {1, 1 << 40, 3, 0}, {3, -1, 3, 0}, {3, 0, 1 << 30, 0}} {
		if _, err := b.Read(path, ref, &rec, nil); !errors.Is(err, ErrChanged) {
			t.Errorf("%+v: %v", ref, err)
		}
	}
	if _, err := b.Read(path, Ref{9, 0, 3, 0}, &rec, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such segment: %v", err)
	}
	b.Forget(path)
	if err := b.Close(); err != nil || b.order.Len() != 0 || len(b.files) != 0 || b.temps != 0 {
		t.Errorf("after Close: %d files, %d temporary, %v", b.order.Len(), b.temps, err)
	}
}

func TestBodiesBound(t *testing.T) {
	dir := t.TempDir()
	b := NewBodies(OS{})
	defer b.Close()
	for i := range maxOpenBodies + 20 {
		path := filepath.Join(dir, fmt.Sprintf("x-1-%012x.jsonl", i))
		content := testLog(1)[0]
		if i%2 == 0 {
			writeFile(t, path+".zst", compress(t, content))
		} else {
			writeFile(t, path, content)
		}
		var rec Record
		if _, err := b.Read(path, Ref{1, 0, len(content) - 1, 0}, &rec, nil); err != nil || rec.Seq != 1 {
			t.Fatal(err)
		}
		if b.order.Len() > maxOpenBodies || b.temps > maxTempBodies {
			t.Fatalf("%d files open, %d of them temporary", b.order.Len(), b.temps)
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i, name := range []string{
		"srv.py-12-00000000000a.jsonl", "srv.py-12-00000000000a.0002.jsonl", "srv.py-12-00000000000a.0003.jsonl",
		"b-3-0123456789ab.jsonl.zst", "b-3-0123456789ab.0002.jsonl", "c-4-0123456789ab.0002.jsonl",
		"mine.jsonl", "mine.jsonl.zst", "2026.0801.jsonl", "notes.txt", ".hidden.jsonl", ".jsonl",
	} {
		writeFile(t, filepath.Join(dir, name), strings.Repeat("x", i+1))
		at := now.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	logs, err := List(OS{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range logs {
		s := fmt.Sprintf("%s %s %d %d:", l.ID, l.Label, l.PID, l.Size)
		for _, seg := range l.Segments {
			s += fmt.Sprintf(" %d=%s", seg.Number, filepath.Base(seg.Path))
		}
		got = append(got, s)
	}
	want := []string{
		"2026.0801 2026.0801 0 9: 1=2026.0801.jsonl",
		"mine mine 0 7: 1=mine.jsonl",
		"c-4-0123456789ab c 4 6: 2=c-4-0123456789ab.0002.jsonl",
		"b-3-0123456789ab b 3 9: 1=b-3-0123456789ab.jsonl.zst 2=b-3-0123456789ab.0002.jsonl",
		"srv.py-12-00000000000a srv.py 12 6: 1=srv.py-12-00000000000a.jsonl 2=srv.py-12-00000000000a.0002.jsonl 3=srv.py-12-00000000000a.0003.jsonl",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got:\n%s\nwant:\n%s", g, w)
	}
	if _, err := List(OS{}, filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

func TestHeadAndLast(t *testing.T) {
	path, lines := segmented(t)
	long := filepath.Join(t.TempDir(), "long.jsonl")
	writeFile(t, long, lines[0]+logLine(2, "s2c", `"raw":"`+strings.Repeat("y", 3<<20)+`"`)+lines[1][:50])
	packed := filepath.Join(t.TempDir(), "packed.jsonl.zst")
	writeFile(t, packed, compress(t, strings.Join(lines, "")))
	for _, test := range []struct {
		path string
		last Direction
		seq  uint64
	}{{path, End, 9}, {long, S2C, 2}, {packed, End, 9}} {
		log, err := Locate(OS{}, test.path)
		if err != nil {
			t.Fatal(err)
		}
		head, err := Head(OS{}, log)
		if err != nil || head.Direction != Meta || head.Seq != 1 {
			t.Errorf("head of %s: %v, %v", test.path, head.Direction, err)
		}
		last, err := Last(OS{}, log)
		if err != nil || last.Direction != test.last || last.Seq != test.seq {
			t.Errorf("end of %s: %v %d, %v", test.path, last.Direction, last.Seq, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	writeFile(t, empty, "")
	log, _ := Locate(OS{}, empty)
	if _, err := Last(OS{}, log); !errors.Is(err, ErrEmpty) {
		t.Errorf("the end of nothing: %v", err)
	}
	if _, err := Head(OS{}, log); !errors.Is(err, ErrEmpty) {
		t.Errorf("the head of nothing: %v", err)
	}
}
