package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const session = "follow-1-00000000000a"

// lines makes a log of n lines, the first of which is its meta line.
func lines(id string, n int) []string {
	out := make([]string, n)
	for i := range out {
		dir, raw := "c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"mark-%02d"}}`, i, i)
		if i == 0 {
			dir, raw = "meta", `{"command":["server"]}`
		}
		ts := time.Date(2026, 8, 1, 12, 0, 0, i*1e6, time.UTC).Format("2006-01-02T15:04:05.000000000Z")
		out[i] = fmt.Sprintf(`{"session_id":"%s","server_label":"follow","seq":%d,"ts":"%s","direction":"%s","transport":"stdio","raw":%s}`+"\n", id, i+1, ts, dir, raw)
	}
	return out
}

// endLine is the last line of a log of n lines before it.
func endLine(id string, n int) string {
	return strings.Replace(strings.Replace(lines(id, n+1)[n], `"c2s"`, `"end"`, 1), `"raw":{`, `"raw":{"exit_code":0,`, 1)
}

// noWatch stands for a system without events.
func noWatch(string) (*Events, error) { return nil, errors.New("too many open files") }

// silent is a watch that never says anything.
func silent(string) (*Events, error) { return &Events{C: make(chan string), Close: func() {}}, nil }

// watched is a watch that a test drives.
type watched struct{ names chan string }

func (w *watched) watch(string) (*Events, error) {
	w.names = make(chan string)
	return &Events{C: w.names, Close: func() {}}, nil
}

// run runs a hub over fsys until the test ends.
func run(t *testing.T, opts Options) (*Hub, func()) {
	t.Helper()
	opts.Dir = "logs"
	h := New(opts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Run(ctx) }()
	return h, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// seqs lists the numbers of the frames of a session.
func seqs(s *store.Session) string {
	var out []string
	for i := range s.Len() {
		out = append(out, fmt.Sprint(s.Frame(i).Seq))
	}
	return strings.Join(out, " ")
}

func one(t *testing.T, h *Hub) *store.Session {
	t.Helper()
	if ss := h.Sessions(); len(ss) != 1 {
		t.Fatalf("%d sessions; want 1", len(ss))
	}
	return h.Sessions()[0]
}

// Whatever happens to a log, each of its frames is there once.
func TestFollowing(t *testing.T) {
	l := lines(session, 24)
	join := func(from, to int) string { return strings.Join(l[from:to], "") }
	const name = "logs/" + session + ".jsonl"
	for _, tt := range []struct {
		name  string
		steps []func(*memFS)
		want  int // frames in the end, those of the log's first lines
	}{
		{"append", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 3)) },
			func(m *memFS) { m.append(name, join(3, 4)) },
			func(m *memFS) { m.append(name, join(4, 24)) },
		}, 23},
		{"half lines", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 2)+l[2][:40]) },
			func(m *memFS) { m.append(name, l[2][40:90]) },
			func(m *memFS) { m.append(name, l[2][90:]+l[3][:1]) },
			func(m *memFS) { m.append(name, l[3][1:len(l[3])-1]) },
			func(m *memFS) { m.append(name, "\n") },
		}, 3},
		{"rename and create", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 6)) },
			func(m *memFS) { m.rename(name, name+".1"); m.append(name, join(6, 12)) },
		}, 11},
		{"truncate", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 6)) },
			func(m *memFS) { m.truncate(name) },
			func(m *memFS) { m.append(name, join(6, 12)) },
		}, 11},
		{"truncate and write again", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 6)) },
			func(m *memFS) { m.truncate(name); m.append(name, join(4, 8)) },
		}, 7},
		{"atomic replacement", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 12)) },
			func(m *memFS) { m.write(name, join(6, 24)) },
		}, 23},
		{"delete and create", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 6)) },
			func(m *memFS) { m.remove(name) },
			func(m *memFS) { m.append(name, join(0, 1)) },
			func(m *memFS) { m.append(name, join(1, 9)) },
		}, 8},
		{"all of it", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 6)) },
			func(m *memFS) { m.rename(name, name+".1"); m.append(name, join(6, 12)) },
			func(m *memFS) { m.truncate(name) },
			func(m *memFS) { m.append(name, join(12, 18)) },
			func(m *memFS) { m.write(name, join(12, 24)) },
			func(m *memFS) { m.remove(name) },
			func(m *memFS) { m.append(name, join(0, 1)) },
		}, 23},
		{"after a pause", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 6)) },
			func(*memFS) { time.Sleep(time.Minute) }, // the file is closed meanwhile
			func(m *memFS) { m.append(name, join(6, 12)) },
			func(*memFS) { time.Sleep(time.Minute) },
			func(m *memFS) { m.write(name, join(3, 24)) },
		}, 23},
		{"segments", []func(*memFS){
			func(m *memFS) { m.append(name, join(0, 6)) },
			func(m *memFS) { m.append("logs/"+session+".0002.jsonl", join(6, 9)) },
			func(m *memFS) { m.append("logs/"+session+".0002.jsonl", join(9, 12)) },
		}, 11},
	} {
		for _, w := range []struct {
			name  string
			watch func(string) (*Events, error)
		}{{"polling", noWatch}, {"silent", silent}} {
			t.Run(tt.name+"/"+w.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := newMemFS()
					h, end := run(t, Options{FS: m, Watch: w.watch})
					defer end()
					for _, step := range tt.steps {
						step(m)
						time.Sleep(3 * time.Second)
						synctest.Wait()
					}
					want := make([]string, tt.want)
					for i := range want {
						want[i] = fmt.Sprint(i + 2)
					}
					if got := seqs(one(t, h)); got != strings.Join(want, " ") {
						t.Errorf("got frames %s; want %s", got, strings.Join(want, " "))
					}
					if n := len(h.Notices()); n > 1 {
						t.Errorf("%d notices: %q", n, h.Notices())
					}
				})
			})
		}
	}
}

func TestFallsBackToPollingAndSaysSoOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		m.write("logs/"+session+".jsonl", lines(session, 3)[0])
		h, end := run(t, Options{FS: m, Watch: noWatch})
		defer end()
		time.Sleep(10 * time.Minute)
		if n := h.Notices(); len(n) != 1 || !strings.Contains(n[0], "too many open files") || !strings.Contains(n[0], "every 1s") {
			t.Errorf("notices %q", n)
		}
		m.append("logs/"+session+".jsonl", lines(session, 3)[1])
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := seqs(one(t, h)); got != "2" {
			t.Errorf("got %q", got)
		}
	})
}

// An event makes the hub look at once; a lost one costs time only.
func TestEventsAreNudges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMemFS(), &watched{}
		l := lines(session, 4)
		m.write("logs/"+session+".jsonl", l[0]+l[1])
		h, end := run(t, Options{FS: m, Watch: w.watch})
		defer end()
		time.Sleep(10 * time.Millisecond)
		s := one(t, h)
		ch, done := h.Subscribe()
		defer done()
		m.append("logs/"+session+".jsonl", l[2])
		w.names <- session + ".jsonl"
		time.Sleep(50 * time.Millisecond)
		if got := seqs(s); got != "2 3" {
			t.Errorf("50 ms after the event: %q", got)
		}
		select {
		case <-ch:
		default:
			t.Error("subscribers were not told")
		}
		m.append("logs/"+session+".jsonl", l[3])
		time.Sleep(3 * time.Second)
		if got := seqs(s); got != "2 3 4" {
			t.Errorf("3 s after the lost event: %q", got)
		}
		m.write("logs/other-1-00000000000b.jsonl", lines("other-1-00000000000b", 2)[0])
		w.names <- "other-1-00000000000b.jsonl"
		time.Sleep(1100 * time.Millisecond)
		if n := len(h.Sessions()); n != 2 {
			t.Errorf("%d sessions after the event of a new log", n)
		}
		close(w.names) // the folder was replaced
		time.Sleep(time.Second)
		m.append("logs/"+session+".jsonl", strings.Replace(l[3], `"seq":4`, `"seq":5`, 1))
		w.names <- session + ".jsonl"
		time.Sleep(50 * time.Millisecond)
		if got := seqs(s); got != "2 3 4 5" {
			t.Errorf("after the folder was watched again: %q", got)
		}
		if len(h.Notices()) > 0 {
			t.Errorf("notices %q", h.Notices())
		}
	})
}

func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		ids := []string{}
		for i := range 10 {
			id := fmt.Sprintf("old-%d-%012x", i+1, i)
			ids = append(ids, id)
			m.write("logs/"+id+".jsonl", strings.Join(lines(id, 5), "")+endLine(id, 5))
			time.Sleep(time.Hour)
		}
		h, end := run(t, Options{FS: m, Watch: silent, HistoryLimit: 4})
		defer end()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		got := []string{}
		for _, s := range h.Sessions() {
			got = append(got, s.ID)
			if sum := s.Summary(); !sum.Loaded || !sum.Ended || s.Len() != 4 || sum.Total == 0 || sum.Size != sum.Total {
				t.Errorf("%s: %d frames, %+v", s.ID, s.Len(), sum)
			}
			if h.Live(s) {
				t.Errorf("%s is live", s.ID)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(slices.Values(ids[6:]))) {
			t.Errorf("got %q; want the newest four", got)
		}
		done, total := h.Progress()
		if done != total || total == 0 {
			t.Errorf("progress %d of %d", done, total)
		}
		m.append("logs/"+ids[0]+".jsonl", lines(ids[0], 8)[7]) // an old one grows
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if h.Store().Get(ids[0]) == nil {
			t.Error("a log beyond the limit that grows is not followed")
		}
		m.remove("logs/" + ids[9] + ".jsonl")
		s := h.Store().Get(ids[9])
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if h.Store().Get(ids[9]) != nil || len(h.Sessions()) != 4 {
			t.Errorf("a deleted log is still there: %d sessions", len(h.Sessions()))
		}
		if s.Len() != 4 {
			t.Error("whoever held the session cannot read it any more")
		}
		if _, err := h.Body(s, 0); err == nil {
			t.Error("a body of a deleted log was read")
		}
	})
}

// The list is complete from the ends of the logs before any is indexed, and a
// session that somebody looks at is indexed first.
func TestPreviewAndWant(t *testing.T) {
	m := newMemFS()
	d := NewDirectory(DirectoryOptions{FS: m, Dir: "logs", Watch: silent, Workers: 1})
	h := New(Options{FS: m, Sources: []Source{d}})
	d.sink = h
	for i := range 5 {
		id := fmt.Sprintf("s-%d-%012x", i+1, i)
		m.write("logs/"+id+".jsonl", strings.Join(lines(id, 5), "")+endLine(id, 5))
		m.files["logs/"+id+".jsonl"].mod = time.Unix(int64(1000*i), 0)
	}
	logs, err := capture.List(m, "logs")
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	for _, log := range logs {
		d.follow(log)
	}
	d.mu.Unlock()
	for range logs {
		d.turn(t.Context(), d.agenda.next())
	}
	for _, s := range h.Sessions() {
		if sum := s.Summary(); s.Len() > 0 || sum.Label != "follow" || !sum.Ended || sum.Meta.Command[0] != "server" || sum.Loaded || sum.Newest.Sub(sum.Started) != 5*time.Millisecond {
			t.Errorf("preview of %s: %d frames, %+v", s.ID, s.Len(), sum)
		}
	}
	if n := len(h.Sessions()); n != 5 {
		t.Fatalf("%d sessions are shown; want 5", n)
	}
	h.Want("s-1-000000000000")
	for _, want := range []string{"s-1-000000000000", "s-5-000000000004", "s-4-000000000003"} {
		f := d.agenda.next()
		if f.log.ID != want {
			t.Errorf("%s is read; want %s", f.log.ID, want)
		}
		d.turn(t.Context(), f)
		if s := h.Store().Get(want); s.Len() != 4 || !s.Summary().Loaded {
			t.Errorf("%s: %d frames", want, s.Len())
		}
	}
	if err := h.bodies.Close(); err != nil {
		t.Error(err)
	}
	for _, f := range d.logs {
		f.release()
	}
}

func TestOddLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		a, b := lines("a-1-00000000000a", 4), lines("b-1-00000000000b", 3)
		m.write("logs/two-1-00000000000c.jsonl", strings.Join(a, "")+strings.Join(b, ""))
		m.write("logs/copy.jsonl", strings.Join(a, ""))
		m.write("logs/alien.jsonl", strings.Repeat("no log\n", 200000))
		m.write("logs/empty.jsonl", "")
		m.write("logs/torn-1-00000000000d.jsonl", strings.Join(lines("torn-1-00000000000d", 3), "")+`{"session_id":"torn-1-0`)
		h, end := run(t, Options{FS: m, Watch: silent})
		defer end()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		got := []string{}
		for _, s := range h.Sessions() {
			got = append(got, fmt.Sprintf("%s:%d", s.Path, s.Len()))
			if s.Len() > 0 {
				if rec, err := h.Body(s, 0); err != nil || len(rec.Raw) == 0 {
					t.Errorf("body of %s: %v", s.ID, err)
				}
			}
			if torn := strings.HasPrefix(s.ID, "torn"); s.Summary().Torn != torn {
				t.Errorf("%s: torn is %v", s.ID, !torn)
			}
		}
		slices.Sort(got)
		want := []string{"logs/copy.jsonl:3", "logs/torn-1-00000000000d.jsonl:2", "logs/two-1-00000000000c.jsonl:2", "logs/two-1-00000000000c.jsonl:3"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q; want %q", got, want)
		}
		if n := h.Notices(); len(n) != 1 || !strings.Contains(n[0], "alien.jsonl") {
			t.Errorf("notices %q", n)
		}
	})
}

func TestFolderComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		m.gone = true
		h, end := run(t, Options{FS: m, Watch: silent})
		defer end()
		time.Sleep(time.Minute)
		if len(h.Notices()) > 0 {
			t.Errorf("notices %q", h.Notices())
		}
		m.mu.Lock()
		m.gone = false
		m.mu.Unlock()
		m.write("logs/"+session+".jsonl", strings.Join(lines(session, 3), ""))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := seqs(one(t, h)); got != "2 3" {
			t.Errorf("got %q", got)
		}
	})
}

// What fails is tried again, and told once.
func TestErrorsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		m.write("logs/"+session+".jsonl", strings.Join(lines(session, 3), ""))
		m.fail = errors.New("stale handle")
		h, end := run(t, Options{FS: m, Watch: silent})
		defer end()
		time.Sleep(time.Minute)
		if n := h.Notices(); len(n) != 1 || !strings.Contains(n[0], "stale handle") {
			t.Errorf("notices %q", n)
		}
		m.mu.Lock()
		m.fail = nil
		m.mu.Unlock()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := seqs(one(t, h)); got != "2 3" {
			t.Errorf("got %q", got)
		}
	})
}

// A hub that has nothing to do reads nothing.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		for i := range 20 {
			id := fmt.Sprintf("s-%d-%012x", i+1, i)
			m.write("logs/"+id+".jsonl", strings.Join(lines(id, 5), ""))
		}
		h, end := run(t, Options{FS: m, Watch: silent})
		defer end()
		time.Sleep(time.Minute)
		synctest.Wait()
		m.mu.Lock()
		before := m.reads
		m.mu.Unlock()
		ch, done := h.Subscribe()
		defer done()
		version := h.Version()
		time.Sleep(time.Hour)
		synctest.Wait()
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.reads != before || h.Version() != version || len(ch) > 0 {
			t.Errorf("%d reads, version %d then %d, %d signals in an idle hour", m.reads-before, version, h.Version(), len(ch))
		}
	})
}

// A call without an answer grows old while its session is written to.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		l := lines(session, 3)
		now := time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z")
		m.write("logs/"+session+".jsonl", strings.NewReplacer("2026-08-01T12:00:00.000000000Z", now, "2026-08-01T12:00:00.001000000Z", now).Replace(l[0]+l[1]))
		h, end := run(t, Options{FS: m, Watch: silent})
		defer end()
		q, err := store.Compile("dur>5s status:pending", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		c := store.NewCursor(one(t, h), q, h.Bodies())
		defer c.Close()
		if p, _ := c.Finish(t.Context()); p.Matched != 0 {
			t.Error("found too early")
		}
		time.Sleep(8 * time.Second)
		if p, _ := c.Finish(t.Context()); p.Matched != 1 {
			t.Error("a call that has been waiting for 9 s is not found")
		}
	})
}
