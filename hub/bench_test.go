package hub

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// The benchmarks measure a hub over the logs in MCPSNOOP_BENCH_LOGS, with the
// rules running as in the product. They are made for -benchtime=1x, each in a
// process of its own: memory is that of the process. testdata/bench runs them.

func benchFolder(b *testing.B) string {
	dir := os.Getenv("MCPSNOOP_BENCH_LOGS")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			b.Fatal("MCPSNOOP_BENCH_LOGS names no folder of logs")
		}
		b.Skip("MCPSNOOP_BENCH_LOGS names no folder of logs")
	}
	return dir
}

func judge(*store.Session, *store.Appender) store.Observer { return checks.NewEngine(checks.Options{}) }

// start runs a hub until the benchmark ends.
func start(b *testing.B, dir string) *Hub {
	h := New(Options{Dir: dir, Observe: judge})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- h.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return h
}

// wait waits for the hub to show something.
func wait(b *testing.B, h *Hub, ok func() bool) time.Duration {
	ch, end := h.Subscribe()
	defer end()
	begun := time.Now()
	for !ok() {
		select {
		case <-ch:
		case <-time.After(10 * time.Millisecond):
		}
		if time.Since(begun) > time.Minute {
			b.Fatal("a minute has passed")
		}
	}
	return time.Since(begun)
}

func loaded(h *Hub, logs int) func() bool {
	return func() bool {
		ss := h.Sessions()
		for _, s := range ss {
			if !s.Summary().Loaded {
				return false
			}
		}
		return len(ss) == logs
	}
}

// memory is the peak of the process in MiB.
func memory(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kib) / 1024
}

// processor is how much of the processor the process has used.
func processor() time.Duration {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// BenchmarkHistory measures the start over saved logs.
func BenchmarkHistory(b *testing.B) {
	dir := benchFolder(b)
	logs, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(logs) == 0 {
		b.Fatal("no logs")
	}
	for b.Loop() {
		h := start(b, dir)
		list := wait(b, h, func() bool {
			shown := 0
			for _, s := range h.Sessions() {
				if !s.Summary().Started.IsZero() {
					shown++
				}
			}
			return shown == len(logs)
		})
		rest := wait(b, h, loaded(h, len(logs)))
		frames := 0
		for _, s := range h.Sessions() {
			frames += int(s.Len())
		}
		before := processor()
		time.Sleep(10 * time.Second)
		b.ReportMetric(float64(processor()-before)/float64(10*time.Second)*100, "idle-%")
		b.ReportMetric(list.Seconds()*1000, "list-ms")
		b.ReportMetric((list+rest).Seconds()*1000, "indexed-ms")
		b.ReportMetric(float64(frames), "frames")
		b.ReportMetric(memory(b), "MiB")
	}
}

// BenchmarkFilter measures how long the first page of a new filter takes on
// the first session, and on the keystrokes after it.
func BenchmarkFilter(b *testing.B) {
	dir := benchFolder(b)
	const page = 50
	for b.Loop() {
		h := start(b, dir)
		wait(b, h, loaded(h, 1))
		s := h.Sessions()[0]
		worst, narrow := time.Duration(0), time.Duration(0)
		for _, texts := range [][]string{
			{"boom", "boom tool:tool0"}, {"status:error"}, {"tool:tool7", "tool:tool7 status:ok"}, {"dur>4ms"}, {"kind:stderr"}, {"line log", "line log server"},
			{"status:pending"}, {"tool:nothere"}, {"size>10MB"}, {"NOT (kind:req OR kind:resp)"}, {"/b[o]om/"},
		} {
			c, first := firstPage(b, h, s, texts[0], nil, page)
			worst = max(worst, first)
			b.Logf("%-30s %8.1f ms", texts[0], first.Seconds()*1000)
			if len(texts) > 1 {
				if _, err := c.Finish(context.Background()); err != nil {
					b.Fatal(err)
				}
				d, again := firstPage(b, h, s, texts[1], c, page)
				narrow = max(narrow, again)
				d.Close()
			}
			c.Close()
		}
		b.ReportMetric(worst.Seconds()*1000, "first-page-ms")
		b.ReportMetric(narrow.Seconds()*1000, "keystroke-ms")
		b.ReportMetric(float64(s.Len()), "frames")
	}
}

func firstPage(b *testing.B, h *Hub, s *store.Session, text string, from *store.Cursor, page uint32) (*store.Cursor, time.Duration) {
	begun := time.Now()
	q, err := store.Compile(text, begun)
	if err != nil {
		b.Fatal(err)
	}
	var c *store.Cursor
	if from != nil {
		c = from.Refine(q)
	} else {
		c = store.NewCursor(s, q, h.Bodies())
	}
	for {
		p, err := c.Advance(context.Background(), 10*time.Millisecond)
		if err != nil {
			b.Fatal(err)
		}
		if p.Matched >= page || !p.More {
			return c, time.Since(begun)
		}
	}
}

// BenchmarkLive measures a hub while 5,000 frames a second arrive for as many
// seconds as MCPSNOOP_BENCH_SECONDS says. The time is that of all that the
// process does, writing the log included.
func BenchmarkLive(b *testing.B) {
	const rate, every = 5000, 10 * time.Millisecond
	seconds, err := strconv.Atoi(os.Getenv("MCPSNOOP_BENCH_SECONDS"))
	if err != nil {
		seconds = 3
	}
	text := make([]string, rate*seconds+1)
	copy(text, lines(session, len(text)))
	for b.Loop() {
		dir := b.TempDir()
		h := start(b, dir)
		f, err := os.Create(filepath.Join(dir, session+".jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		before, begun := processor(), time.Now()
		for at := 0; at < len(text); time.Sleep(every) {
			to := min(len(text), int(time.Since(begun)*rate/time.Second)+1)
			if _, err := f.WriteString(strings.Join(text[at:to], "")); err != nil {
				b.Fatal(err)
			}
			at = to
		}
		if n := h.Notices(); len(n) > 0 {
			b.Fatalf("notices %q", n)
		}
		share := float64(processor()-before) / float64(time.Since(begun))
		lag := wait(b, h, func() bool {
			ss := h.Sessions()
			return len(ss) == 1 && int(ss[0].Len()) == rate*seconds
		})
		for i := range h.Sessions()[0].Len() {
			if seq := h.Sessions()[0].Frame(i).Seq; seq != uint64(i)+2 {
				b.Fatal(fmt.Errorf("frame %d has the number %d", i, seq))
			}
		}
		b.ReportMetric(share*100, "cpu-%")
		b.ReportMetric(lag.Seconds()*1000, "lag-ms")
		b.ReportMetric(float64(h.Sessions()[0].Len()), "frames")
	}
}
