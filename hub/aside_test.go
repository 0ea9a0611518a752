package hub

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A log that is put aside is gone at once and without a word, stays away while
// its file is still there, and comes back whatever the limit of the history.
func TestAside(t *testing.T) {
	for _, w := range []struct {
		name  string
		watch func(string) (*Events, error)
	}{{"polling", noWatch}, {"silent", silent}} {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemFS()
				const name, away = "logs/" + session + ".jsonl", "trash/" + session + ".jsonl"
				m.write(name, strings.Join(lines(session, 4), "")+endLine(session, 4))
				h, end := run(t, Options{FS: m, Watch: w.watch, HistoryLimit: 1})
				defer end()
				time.Sleep(3 * time.Second)
				synctest.Wait()
				one(t, h)
				before := len(h.Notices())
				if h.Aside("logs/nothing.jsonl") || !h.Aside(name) {
					t.Error("what was put aside was not known, or the other way round")
				}
				if n := len(h.Sessions()); n != 0 {
					t.Errorf("%d sessions right after", n)
				}
				time.Sleep(5 * time.Second)
				if n := len(h.Sessions()); n != 0 {
					t.Errorf("%d sessions while the file is still there", n)
				}
				m.rename(name, away)
				time.Sleep(time.Minute)
				m.write("logs/newer-1-00000000000b.jsonl", strings.Join(lines("newer-1-00000000000b", 2), ""))
				time.Sleep(3 * time.Second)
				m.rename(away, name)
				h.Back(name)
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				if n := len(h.Sessions()); n != 2 {
					t.Errorf("%d sessions after it came back; want 2", n)
				}
				if n := len(h.Notices()); n != before {
					t.Errorf("notices %q", h.Notices())
				}
				h.Back(name) // never away
				time.Sleep(3 * time.Second)
				if n := len(h.Sessions()); n != 2 {
					t.Errorf("%d sessions after nothing", n)
				}
			})
		})
	}
}

// A session that runs is known to as soon as its log is read, and not by the
// next listing: who opens it follows it.
func TestLiveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		m.write("logs/"+session+".jsonl", strings.Join(lines(session, 4), ""))
		h, end := run(t, Options{FS: m, Watch: silent})
		defer end()
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if s := one(t, h); !h.Live(s) {
			t.Error("50 ms after the start, a log that was just written to does not run")
		}
	})
}
