package capture

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// handClock goes on only when it is told to.
type handClock struct {
	start time.Time
	since atomic.Int64
}

func newHandClock() *handClock { return &handClock{start: time.Unix(1_790_000_000, 0)} }

func (c *handClock) Now() time.Time                  { return c.start.Add(time.Duration(c.since.Load())) }
func (c *handClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c *handClock) advance(d time.Duration)         { c.since.Add(int64(d)) }

// gate is a redactor that changes nothing and holds the recorder up while it
// is shut.
type gate struct {
	shut   sync.Mutex
	inside atomic.Int32
}

func (g *gate) wait() {
	g.inside.Add(1)
	g.shut.Lock()
	g.shut.Unlock() //nolint:staticcheck // passing through is the point
	g.inside.Add(-1)
}

func (g *gate) Payload(dst, raw []byte) ([]byte, bool) { g.wait(); return append(dst, raw...), false }
func (g *gate) Text(s string) (string, bool)           { g.wait(); return s, false }
func (g *gate) Header(_, v string) (string, bool)      { return v, false }

func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// frameTexts is what the frames of a log hold, with marks for what is missing
// before them.
func frameTexts(recs []Record) (out []string) {
	next := uint64(1)
	for _, r := range recs {
		if r.Direction.IsFrame() || r.Direction == End && r.Seq != next {
			s := string(r.Raw) + r.Text
			if r.Direction == End {
				s = "end"
			}
			if r.Seq != next || r.Dropped > 0 {
				s = fmt.Sprintf("(%d missing, %d dropped) ", r.Seq-next, r.Dropped) + s
			}
			out = append(out, s)
		}
		next = r.Seq + 1
	}
	return out
}

// A backlog that is full and moving makes traffic wait and loses nothing.
func TestFullBacklogThatMovesLosesNothing(t *testing.T) {
	o := testOptions(t)
	o.Backlog, o.Stall = 32<<10, time.Hour
	r := NewRecorder(o)
	const each = 3000
	var work sync.WaitGroup
	for _, dir := range []Direction{C2S, S2C, Stderr} {
		work.Go(func() {
			s := r.Stream(dir)
			for i := range each {
				feed(s, fmt.Sprintf("{\"n\":%d,\"pad\":%q}\n", i, strings.Repeat("x", 500)), 1<<20)
			}
			s.Close()
		})
	}
	work.Wait()
	if lost := r.Close(EndInfo{}); lost != 0 {
		t.Fatalf("lost %d frames", lost)
	}
	var counts [End + 1]int
	for i, rec := range readRecords(t, r.Path()) {
		if rec.Seq != uint64(i+1) {
			t.Fatalf("line %d has seq %d", i+1, rec.Seq)
		}
		if rec.Direction.IsFrame() {
			if want := fmt.Sprintf(`{"n":%d,`, counts[rec.Direction]); !strings.HasPrefix(string(rec.Raw), want) {
				t.Fatalf("line %d: %.20s; want %s", i+1, rec.Raw, want)
			}
			counts[rec.Direction]++
		}
	}
	if counts[C2S] != each || counts[S2C] != each || counts[Stderr] != each {
		t.Errorf("recorded %v; want %d of each", counts, each)
	}
}

// A recorder that stands still costs frames and no time; the log says which.
func TestStalledRecorderDropsAndCounts(t *testing.T) {
	clock := newHandClock()
	var g gate
	o := testOptions(t)
	o.Clock, o.File.Now, o.Redact = clock, clock.Now, &g
	o.Backlog = 4 * (10 + itemCost)
	r := NewRecorder(o)
	s := r.Stream(S2C)
	g.shut.Lock()
	feed(s, "first----\n", 64)
	eventually(t, "the recorder to stand still", func() bool { return g.inside.Load() > 0 })
	for i := range 3 { // fills the backlog
		feed(s, fmt.Sprintf("queued--%d\n", i), 64)
	}
	clock.advance(Stall)
	for i := range 5 { // none of these waits
		feed(s, fmt.Sprintf("dropped-%d\n", i), 64)
	}
	g.shut.Unlock()
	eventually(t, "an empty backlog", func() bool { return r.queue.bytes.Load() == 0 })
	feed(s, "after----\n", 64)
	s.Close()
	if lost := r.Close(EndInfo{}); lost != 5 {
		t.Errorf("Close says %d lost; want 5", lost)
	}
	recs := readRecords(t, r.Path())
	want := []string{"first----", "queued--0", "queued--1", "queued--2", "(5 missing, 5 dropped) after----"}
	if got := frameTexts(recs); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("recorded %q; want %q", got, want)
	}
	if end := string(recs[len(recs)-1].Raw); !strings.Contains(end, `"frames":5,"dropped":5`) {
		t.Errorf("end %s; want 5 frames, 5 dropped", end)
	}
}

// A frame of which some bytes are lost is lost as a whole, once, whatever part
// of it that was, and its neighbours are not touched.
func TestFrameLostInPartIsLostOnce(t *testing.T) {
	clock := newHandClock()
	var g gate
	o := testOptions(t)
	o.Clock, o.File.Now, o.Redact = clock, clock.Now, &g
	o.Backlog = 2 * (10 + itemCost)
	r := NewRecorder(o)
	s := r.Stream(C2S)
	stalled := func(f func()) {
		t.Helper()
		eventually(t, "an empty backlog", func() bool { return r.queue.bytes.Load() == 0 })
		g.shut.Lock()
		feed(s, "whole----\n", 64)
		eventually(t, "the recorder to stand still", func() bool { return g.inside.Load() > 0 })
		f()
		g.shut.Unlock()
		eventually(t, "an empty backlog", func() bool { return r.queue.bytes.Load() == 0 })
	}
	stalled(func() { // the middle of a frame is lost
		feed(s, "begun", 64)
		clock.advance(Stall)
		feed(s, "-lost-and-", 64)
		feed(s, "more", 64)
	})
	feed(s, "-its-end\nnext\n", 64)
	stalled(func() { // its end, and the beginning of another
		feed(s, "begun", 64)
		clock.advance(Stall)
		feed(s, "-lost\n1\n2\nhalf", 64)
	})
	feed(s, "-rest\nlast", 64)
	stalled(func() { // two whole frames at the very end
		clock.advance(Stall)
		feed(s, strings.Repeat("x", 300)+"\n"+strings.Repeat("y", 300)+"\n", 1024)
	})
	s.Close()
	r.Close(EndInfo{})
	want := []string{
		"whole----", "(1 missing, 1 dropped) next",
		"whole----", "(4 missing, 4 dropped) lastwhole----",
		"(2 missing, 2 dropped) end",
	}
	recs := readRecords(t, r.Path())
	if got := frameTexts(recs); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("recorded\n%q; want\n%q", got, want)
	}
	if end := string(recs[len(recs)-1].Raw); !strings.Contains(end, `"dropped":7`) {
		t.Errorf("end %s; want 7 dropped", end)
	}
}

// Whoever reads a frame first has the lower number: an answer never stands
// before its request, and time never goes back.
func TestOrderIsThatOfReading(t *testing.T) {
	o := testOptions(t)
	r := NewRecorder(o)
	const trips = 5000
	requests, answers := make(chan int), make(chan int)
	var work sync.WaitGroup
	work.Go(func() {
		s := r.Stream(C2S)
		for i := range trips {
			feed(s, fmt.Sprintf("{\"id\":%d}\n", i), 5) // its last byte is taken before it is passed on
			requests <- i
			<-answers
		}
		s.Close()
		close(requests)
	})
	work.Go(func() {
		s := r.Stream(S2C)
		for i := range requests {
			feed(s, fmt.Sprintf("{\"id\":%d}\n", i), 64)
			answers <- i
		}
		s.Close()
	})
	work.Go(func() {
		s := r.Stream(Stderr)
		for range trips {
			feed(s, "noise\n", 64)
		}
		s.Close()
	})
	work.Wait()
	r.Close(EndInfo{})
	var last time.Time
	id, dir := 0, C2S
	for i, rec := range readRecords(t, r.Path()) {
		if rec.TS.Before(last) {
			t.Fatalf("line %d: time goes back from %v to %v", i+1, last, rec.TS)
		}
		last = rec.TS
		if rec.Direction != C2S && rec.Direction != S2C {
			continue
		}
		if want := fmt.Sprintf(`{"id":%d}`, id); rec.Direction != dir || string(rec.Raw) != want {
			t.Fatalf("line %d: %v %s; want %v %s", i+1, rec.Direction, rec.Raw, dir, want)
		}
		if dir == S2C {
			id++
		}
		dir = C2S + S2C - dir
	}
	if id != trips {
		t.Errorf("%d trips recorded; want %d", id, trips)
	}
}

func TestLongFramesAreCutAndCounted(t *testing.T) {
	const most = 1000
	for _, chunk := range []int{7, 64, 999, 1 << 20} {
		o := testOptions(t)
		o.MaxFrame = most
		r := NewRecorder(o)
		s := r.Stream(S2C)
		lengths := []int{most - 1, most, most + 1, 10*most + 3, 3}
		for _, n := range lengths {
			feed(s, strings.Repeat("x", n)+"\n", chunk)
		}
		feed(s, strings.Repeat("ü", most)+"\r\n", chunk) // cut inside a character, or not
		s.Close()
		r.Close(EndInfo{})
		recs := readRecords(t, r.Path())
		for i, n := range lengths {
			rec := recs[i+1]
			kept, size := min(n, most), int64(0)
			if n > most {
				size = int64(n)
			}
			if len(rec.Text) != kept || rec.Size != size || rec.Truncated != (n > most) {
				t.Errorf("chunk %d: frame of %d: kept %d, size %d, truncated %v", chunk, n, len(rec.Text), rec.Size, rec.Truncated)
			}
		}
		if rec := recs[len(lengths)+1]; !rec.Truncated || rec.Size != 2*most || rec.EOL != "crlf" || strings.Trim(rec.Text, "ü") != "" {
			t.Errorf("chunk %d: %d bytes kept, size %d, eol %q", chunk, len(rec.Text), rec.Size, rec.EOL)
		}
	}
}

// What Took gets after Close is passed on and not recorded, and closing twice
// is closing once.
func TestStreamEndsOnce(t *testing.T) {
	r := NewRecorder(testOptions(t))
	s := r.Stream(S2C)
	feed(s, "half", 64)
	s.Close()
	s.Close()
	if p := s.Took(copy(s.Room(), "more\n")); string(p) != "more\n" {
		t.Errorf("Took gave %q back", p)
	}
	r.Close(EndInfo{})
	if got := frameTexts(readRecords(t, r.Path())); len(got) != 1 || got[0] != "half" {
		t.Errorf("recorded %q; want half", got)
	}
}

// Buffers of busy times are given back when it is quiet.
func TestQuietRecorderKeepsFewSlabs(t *testing.T) {
	r := NewRecorder(testOptions(t))
	s := r.Stream(S2C)
	feed(s, strings.Repeat(strings.Repeat("x", 1<<16)+"\n", 200), 1<<20)
	eventually(t, "few slabs", func() bool {
		r.pool.mu.Lock()
		defer r.pool.mu.Unlock()
		return r.queue.bytes.Load() == 0 && len(r.pool.free) <= idleSlabs
	})
	s.Close()
	r.Close(EndInfo{})
}
