package capture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// disk is a file system with little room.
type disk struct {
	mu   sync.Mutex
	room int64
}

func (d *disk) set(room int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

func (d *disk) open(path string) (handle, error) {
	h, err := openLocked(path)
	if err != nil {
		return nil, err
	}
	return &diskFile{h, d}, nil
}

type diskFile struct {
	handle
	disk *disk
}

// Write takes what there is room for, as a full disk does.
func (f *diskFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	fits := min(int64(len(p)), f.disk.room)
	n, err := f.handle.Write(p[:fits])
	f.disk.room -= int64(n)
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

// warnings gathers what the user is told.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) add(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, s)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.said...)
}

// faulty makes options with a clock by hand and no patience.
func faulty(t *testing.T) (Options, *handClock, *warnings) {
	clock, told := newHandClock(), &warnings{}
	o := testOptions(t)
	o.Clock, o.File.Now = clock, clock.Now
	o.Warn, o.File.Warn = told.add, told.add
	return o, clock, told
}

func wantWarnings(t *testing.T, told *warnings, words ...string) {
	t.Helper()
	said := told.all()
	if len(said) != len(words) {
		t.Fatalf("warned %q; want %d warnings", said, len(words))
	}
	for i, w := range words {
		if !strings.Contains(said[i], w) {
			t.Errorf("warned %q; want %q in it", said[i], w)
		}
	}
}

func numbered(from, to int) (text string, want []string) {
	for i := from; i < to; i++ {
		want = append(want, fmt.Sprintf("frame %d", i))
		text += want[len(want)-1] + "\n"
	}
	return text, want
}

func (o *Options) logPath() string { return filepath.Join(o.File.Dir, o.File.SessionID+".jsonl") }

func written(path string, n int) func() bool {
	return func() bool {
		b, err := os.ReadFile(path)
		return err == nil && bytes.Count(b, []byte("\n")) >= n
	}
}

func TestFullDiskAndBack(t *testing.T) {
	o, _, told := faulty(t)
	d := &disk{room: 3000}
	o.File.open = d.open
	r := NewRecorder(o)
	s := r.Stream(S2C)
	text, want := numbered(0, 100)
	feed(s, text, 64) // several times what fits
	eventually(t, "a warning", func() bool { return len(told.all()) > 0 })
	if b, err := os.ReadFile(o.logPath()); err != nil || len(b) > 0 && b[len(b)-1] != '\n' {
		t.Errorf("a line is torn while the disk is full: %v, %.80q", err, b)
	}
	d.set(1 << 30)
	s.Close()
	if lost := r.Close(EndInfo{}); lost != 0 {
		t.Errorf("lost %d frames that the backlog had room for", lost)
	}
	if got := frameTexts(readRecords(t, o.logPath())); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("recorded %q; want %q", got, want)
	}
	wantWarnings(t, told, "no space left")
}

func TestDiskThatStaysFullCostsFramesNotTime(t *testing.T) {
	o, clock, told := faulty(t)
	d := &disk{room: 0}
	o.File.open, o.Backlog = d.open, 2000
	r := NewRecorder(o)
	s := r.Stream(S2C)
	eventually(t, "a warning", func() bool { return len(told.all()) > 0 })
	text, _ := numbered(0, 1)
	for r.queue.bytes.Load()+int64(len(text))+itemCost <= o.Backlog {
		feed(s, text, 64)
	}
	clock.advance(Stall)
	const lost = 50
	for range lost {
		feed(s, text, 64) // does not wait
	}
	d.set(1 << 30)
	eventually(t, "an empty backlog", func() bool { return r.queue.bytes.Load() == 0 })
	feed(s, "after\n", 64)
	s.Close()
	if n := r.Close(EndInfo{}); n != lost {
		t.Errorf("Close says %d lost; want %d", n, lost)
	}
	got := frameTexts(readRecords(t, o.logPath()))
	if last := got[len(got)-1]; last != fmt.Sprintf("(%d missing, %d dropped) after", lost, lost) {
		t.Errorf("last frame: %s", last)
	}
	wantWarnings(t, told, "no space left")
}

func TestLogThatNeverWorksEndsAllTheSame(t *testing.T) {
	o, clock, told := faulty(t)
	o.File.open = func(string) (handle, error) {
		clock.advance(time.Second) // the last tries take time
		return nil, errors.New("broken")
	}
	r := NewRecorder(o)
	s := r.Stream(S2C)
	feed(s, "one\ntwo\n", 64)
	s.Close()
	if lost := r.Close(EndInfo{}); lost != 2 {
		t.Errorf("Close says %d lost; want 2", lost)
	}
	wantWarnings(t, told, "broken")
}

func TestFolderThatCannotBeMadeAndThenCan(t *testing.T) {
	o, _, told := faulty(t)
	if err := os.WriteFile(o.File.Dir, nil, 0o600); err != nil { // a file in the folder's place
		t.Fatal(err)
	}
	r := NewRecorder(o)
	s := r.Stream(S2C)
	text, want := numbered(0, 10)
	feed(s, text, 64)
	eventually(t, "a warning", func() bool { return len(told.all()) > 0 })
	if err := os.Remove(o.File.Dir); err != nil {
		t.Fatal(err)
	}
	s.Close()
	r.Close(EndInfo{})
	recs := readRecords(t, o.logPath())
	if got := frameTexts(recs); strings.Join(got, "|") != strings.Join(want, "|") || recs[0].Direction != Meta {
		t.Errorf("recorded %q behind %v; want %q", got, recs[0].Direction, want)
	}
	wantWarnings(t, told, "not a directory")
}

// A log that is taken away while it is written begins anew, with a first line
// of its own and numbers that go on.
func TestLogTakenAwayWhileItIsWritten(t *testing.T) {
	for name, take := range map[string]func(o *Options) error{
		"deleted":     func(o *Options) error { return os.Remove(o.logPath()) },
		"folder gone": func(o *Options) error { return os.RemoveAll(o.File.Dir) },
		"moved":       func(o *Options) error { return os.Rename(o.logPath(), o.logPath()+".old") },
		"replaced": func(o *Options) error {
			return errors.Join(os.Rename(o.logPath(), o.logPath()+".old"), os.WriteFile(o.logPath(), nil, 0o600))
		},
		"emptied": func(o *Options) error { return os.Truncate(o.logPath(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			o, clock, told := faulty(t)
			r := NewRecorder(o)
			s := r.Stream(S2C)
			before, _ := numbered(0, 10)
			feed(s, before, 64)
			eventually(t, "a written log", written(o.logPath(), 11))
			if err := take(&o); err != nil {
				t.Fatal(err)
			}
			clock.advance(checkEvery)
			after, want := numbered(10, 20)
			feed(s, after, 64)
			s.Close()
			r.Close(EndInfo{})
			recs := readRecords(t, o.logPath())
			if recs[0].Direction != Meta || recs[0].Seq != 11 {
				t.Errorf("begins with %v %d; want meta 11", recs[0].Direction, recs[0].Seq)
			}
			if got := frameTexts(recs[1:]); !strings.HasSuffix(strings.Join(got, "|"), strings.Join(want, "|")[5:]) || len(got) != 10 {
				t.Errorf("recorded %q; want %q", got, want)
			}
			if recs[1].Seq != 12 {
				t.Errorf("first frame has number %d; want 12", recs[1].Seq)
			}
			wantWarnings(t, told)
		})
	}
}

// A log that somebody cut inside a line goes on with a line of its own.
func TestLogCutInsideALineGoesOnBehindIt(t *testing.T) {
	o, clock, _ := faulty(t)
	r := NewRecorder(o)
	s := r.Stream(S2C)
	before, _ := numbered(0, 10)
	feed(s, before, 64)
	eventually(t, "a written log", written(o.logPath(), 11))
	if err := os.Truncate(o.logPath(), 300); err != nil {
		t.Fatal(err)
	}
	clock.advance(checkEvery)
	feed(s, "after\n", 64)
	s.Close()
	r.Close(EndInfo{})
	b, err := os.ReadFile(o.logPath())
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	var rec Record
	if err := ParseRecord([]byte(all[len(all)-2]), &rec); err != nil || rec.Text != "after" {
		t.Errorf("the line behind the cut: %v, %q", err, all[len(all)-2])
	}
}

func TestTraceFileIsAppendedTo(t *testing.T) {
	o := testOptions(t)
	o.File.TraceFile = filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(o.File.TraceFile, []byte("{\"torn\":"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one-1-000000000001", "two-2-000000000002"} {
		o.File.SessionID = id
		r := NewRecorder(o)
		s := r.Stream(S2C)
		feed(s, id+"\n", 64)
		s.Close()
		r.Close(EndInfo{})
	}
	b, err := os.ReadFile(o.File.TraceFile)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(got) != 7 || got[0] != "{\"torn\":" {
		t.Fatalf("%d lines, the first %q; want a torn one and two sessions of three", len(got), got[0])
	}
	for i, want := range []Direction{Meta, S2C, End, Meta, S2C, End} {
		var r Record
		if err := ParseRecord([]byte(got[i+1]), &r); err != nil || r.Direction != want || r.Seq != uint64(i%3+1) {
			t.Errorf("line %d: %v %v %d; want %v %d", i+2, err, r.Direction, r.Seq, want, i%3+1)
		}
	}
}

// While another process writes a trace file, the record goes to the sessions
// folder, and that is said once.
func TestTraceFileThatAnotherWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	held, err := openLocked(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	o, _, told := faulty(t)
	o.File.TraceFile = path
	r := NewRecorder(o)
	s := r.Stream(S2C)
	feed(s, "here\n", 64)
	s.Close()
	r.Close(EndInfo{})
	if got := frameTexts(readRecords(t, o.logPath())); len(got) != 1 || got[0] != "here" {
		t.Errorf("recorded %q in the sessions folder", got)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the held file: %v, %v", info, err)
	}
	wantWarnings(t, told, path)
}

func TestSegments(t *testing.T) {
	o := testOptions(t)
	o.File.MaxSize = 4096
	r := NewRecorder(o)
	s := r.Stream(S2C)
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("%d %s", i, strings.Repeat("x", 100)))
		feed(s, want[i]+"\n", 1<<20)
	}
	s.Close()
	r.Close(EndInfo{})
	paths, err := filepath.Glob(filepath.Join(o.File.Dir, "*.jsonl"))
	if err != nil || len(paths) < 3 {
		t.Fatalf("%v, %v; want several segments", paths, err)
	}
	var got []string
	next := uint64(1)
	for n := range paths {
		path := o.logPath()
		if n > 0 {
			path = fmt.Sprintf("%s.%04d.jsonl", strings.TrimSuffix(path, ".jsonl"), n+1)
		}
		recs := readRecords(t, path)
		if info, err := os.Stat(path); err != nil || info.Size() > o.File.MaxSize+1024 {
			t.Errorf("%s: %v, %d bytes; want about %d at most", path, err, info.Size(), o.File.MaxSize)
		}
		if recs[0].Direction != Meta || n > 0 && !strings.Contains(string(recs[0].Raw), fmt.Sprintf(`"segment":%d`, n+1)) {
			t.Errorf("%s begins with %v %s", path, recs[0].Direction, recs[0].Raw)
		}
		for _, rec := range recs {
			if rec.Seq != next {
				t.Errorf("%s: number %d; want %d", path, rec.Seq, next)
			}
			next = rec.Seq + 1
			if rec.Direction == S2C {
				got = append(got, rec.Text)
			}
		}
		if last := recs[len(recs)-1].Direction; (last == End) != (n == len(paths)-1) {
			t.Errorf("%s ends with %v", path, last)
		}
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%d frames in the segments, %d were recorded", len(got), len(want))
	}
}

func TestModesOfFolderAndFile(t *testing.T) {
	r := NewRecorder(testOptions(t))
	r.Close(EndInfo{})
	for path, want := range map[string]os.FileMode{r.Path(): 0o600, filepath.Dir(r.Path()): 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); os.PathSeparator == '/' && got != want {
			t.Errorf("%s has mode %o; want %o", path, got, want)
		}
	}
}
