package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// memLog is a session with its log in memory.
type memLog struct {
	s *Session
	a *Appender

	mu   sync.Mutex
	b    []byte
	n    int
	read int // bytes that were read
}

func newMemLog() *memLog {
	l := &memLog{}
	l.s, l.a = NewSession("mem-1-00000000000a", "mem", Limits{}, nil)
	return l
}

func (l *memLog) Read(_ string, ref capture.Ref, rec *capture.Record, _ []byte) ([]byte, error) {
	buf := make([]byte, ref.Length)
	if _, err := l.Window("", ref.Segment, ref.Offset, buf); err != nil {
		return nil, err
	}
	return buf, capture.ParseLine(buf, ref.Sub, rec)
}

func (l *memLog) Window(_ string, _ int, off int64, buf []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := copy(buf, l.b[off:])
	l.read += n
	return n, nil
}

// add appends a frame, "> json" or "< json", to log and index, at milliseconds ms.
func (l *memLog) add(ms int, frame string) {
	dir := "s2c"
	if frame[0] == '>' {
		dir = "c2s"
	}
	l.n++
	ts := time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond).UTC().Format(time.RFC3339Nano)
	line := fmt.Sprintf(`{"session_id":"%s","server_label":"mem","seq":%d,"ts":"%s","direction":"%s","transport":"stdio","raw":%s}`, l.s.ID, l.n, ts, dir, frame[2:])
	it := capture.Item{Line: l.n, Ref: capture.Ref{Segment: 1, Offset: int64(len(l.b)), Length: len(line)}}
	if err := capture.ParseRecord([]byte(line), &it.Record); err != nil {
		panic(err)
	}
	l.mu.Lock()
	l.b = append(append(l.b, line...), '\n')
	l.mu.Unlock()
	l.a.Append(&it)
}

func mustCompile(t testing.TB, text string) *Query {
	t.Helper()
	q, err := Compile(text, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// scratch finds the frames by looking at each.
func scratch(s *Session, q *Query, b Bodies) []uint32 {
	out := []uint32{}
	for i := range s.Len() {
		if q.MatchFrame(s, i, NewBodyFunc(b)) {
			out = append(out, i)
		}
	}
	return out
}

func all(c *Cursor) []uint32 { return c.Rows([]uint32{}, 0, int(c.Len())) }

// filters are what viewers of the property test type, letter by letter.
var filters = []string{
	"tool:alpha", "status:pending", "status:ok", "status:error", "status:cancel OR status:late", "tool:al status:err",
	"needle", "need", "needle tool:beta", "kind:req -needle", "dur>5ms", "dur>=3ms status:pending", "dur<4ms", "dur=5ms", "signal:warn", "rule:some OR rule:other",
	"NOT status:pending", "(tool:alpha OR tool:beta) NOT (status:ok OR needle)", "method:progress", "id:3", "trips>1", "trips=1 status:ok", "/nee+dle/", "/eedle/", `"a/need"`, "é", `"aéb"`, `"\\u00"`, "size>90 needle", "kind:invalid OR status:warn",
}

// traffic is a random conversation that goes on.
type traffic struct {
	l    *memLog
	ms   int
	ids  int
	open []int
	asks []int // answered with a question
}

func (tr *traffic) step(t *rapid.T) {
	tr.ms += rapid.IntRange(0, 3).Draw(t, "ms")
	word := rapid.SampledFrom([]string{"", "Needle", `n\u0065edle`, "NEE", `x\ny`, `a\/needle`, "aÉb", `a\u00e9B`, `\\u0065`}).Draw(t, "word")
	pick := func(from []int) int { return rapid.SampledFrom(from).Draw(t, "id") }
	switch k := rapid.IntRange(0, 9).Draw(t, "step"); {
	case k < 3 || len(tr.open) == 0:
		tr.ids++
		tool := rapid.SampledFrom([]string{"alpha", "beta", "gamma"}).Draw(t, "tool")
		state := ""
		if len(tr.asks) > 0 && rapid.Bool().Draw(t, "retry") {
			state = fmt.Sprintf(`,"requestState":"s%d"`, pick(tr.asks))
		}
		tr.l.add(tr.ms, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"w":"%s"}%s,"_meta":{"progressToken":%d,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, tr.ids, tool, word, state, tr.ids))
		tr.open = append(tr.open, tr.ids)
	case k == 3:
		tr.l.add(tr.ms, fmt.Sprintf(`< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1,"message":"%s"}}`, pick(tr.open), word))
	case k == 4:
		tr.l.add(tr.ms, fmt.Sprintf(`< {"text":"%s"}`, word))
	case k == 5:
		tr.l.add(tr.ms, fmt.Sprintf(`> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, pick(tr.open)))
	case k == 6:
		id := pick(tr.open)
		tr.asks = append(tr.asks, id)
		tr.l.add(tr.ms, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","requestState":"s%d","inputRequests":{}}}`, id, id))
	case k == 7:
		tr.l.add(tr.ms, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"%s"}}`, pick(tr.open), word))
	default:
		id := pick(tr.open)
		tr.l.add(tr.ms, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"w":"%s"}}`, id, word))
		tr.open = slices.DeleteFunc(tr.open, func(o int) bool { return o == id })
	}
}

// What cursors find step by step is what a look at every frame finds, whatever
// was appended, changed and refined meanwhile and however small the slices were.
func TestCursorIsIncremental(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := &traffic{l: newMemLog()}
		s := tr.l.s
		var cursors []*Cursor
		defer func() {
			for _, c := range cursors {
				c.Close()
			}
		}()
		filter := func() *Query {
			text := rapid.SampledFrom(filters).Draw(t, "filter")
			if rapid.Bool().Draw(t, "both") {
				text = "(" + text + ") " + rapid.SampledFrom(filters[:20]).Draw(t, "filter")
			}
			q, err := Compile(text, testNow)
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0, 1:
				for range rapid.IntRange(1, 12).Draw(t, "frames") {
					tr.step(t)
				}
				tr.l.a.Publish()
			case 2:
				if n := s.Len(); n > 0 {
					rule := rapid.SampledFrom([]string{"some-rule", "other-rule"}).Draw(t, "rule")
					tr.l.a.Mark(rapid.Uint32Range(0, n-1).Draw(t, "frame"), rule, rapid.SampledFrom(Signals()).Draw(t, "signal"))
				}
				tr.l.a.Publish()
			case 3:
				cursors = append(cursors, NewCursor(s, filter(), tr.l))
			case 4:
				if len(cursors) > 0 {
					c := rapid.SampledFrom(cursors).Draw(t, "cursor")
					q := filter()
					if rapid.Bool().Draw(t, "narrow") && c.Query() != nil {
						q, _ = Compile("("+c.Query().String()+") "+q.String(), testNow)
					}
					cursors = append(cursors, c.Refine(q))
				}
			case 5:
				s.Pulse(time.Unix(1000, 0).Add(time.Duration(tr.ms+rapid.IntRange(0, 9).Draw(t, "pulse")) * time.Millisecond))
			default:
				if len(cursors) > 0 {
					c, left := rapid.SampledFrom(cursors).Draw(t, "cursor"), rapid.IntRange(0, 3).Draw(t, "slice")
					if _, err := c.advance(context.Background(), func() bool { left--; return left < 0 }); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for _, c := range cursors {
			p, err := c.Finish(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			want := scratch(s, c.Query(), tr.l)
			if got := all(c); !slices.Equal(got, want) || p.More || p.Matched != uint32(len(want)) || p.Seen != s.Len() {
				t.Fatalf("%s: got %v, %+v; want %v", c.Query(), got, p, want)
			}
			checkRanks(t, c, want, s.Len())
		}
	})
}

func checkRanks(t *rapid.T, c *Cursor, want []uint32, n uint32) {
	for i := range n + 2 {
		row, found := c.Rank(i)
		at, ok := slices.BinarySearch(want, i)
		if row != uint32(at) || found != ok {
			t.Fatalf("rank of %d: %d, %v; want %d, %v", i, row, found, at, ok)
		}
	}
	for row := range want {
		if got := c.Rows(nil, uint32(row), 3); !slices.Equal(got, want[row:min(row+3, len(want))]) {
			t.Fatalf("rows from %d: %v; want those of %v", row, got, want)
		}
	}
}

// expr is an expression over leaves, with what it means.
type expr struct {
	text string
	eval func(func(leaf string) bool) bool
}

func drawExpr(t *rapid.T, depth int) expr {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 4).Draw(t, "kind")
	}
	switch kind {
	case 1:
		x := drawExpr(t, depth-1)
		not := rapid.SampledFrom([]string{"-", "NOT "}).Draw(t, "not")
		return expr{not + "(" + x.text + ")", func(leaf func(string) bool) bool { return !x.eval(leaf) }}
	case 2, 3:
		x, y := drawExpr(t, depth-1), drawExpr(t, depth-1)
		return expr{"(" + x.text + ") (" + y.text + ")", func(leaf func(string) bool) bool { return x.eval(leaf) && y.eval(leaf) }}
	case 4:
		x, y := drawExpr(t, depth-1), drawExpr(t, depth-1)
		return expr{"(" + x.text + " OR " + y.text + ")", func(leaf func(string) bool) bool { return x.eval(leaf) || y.eval(leaf) }}
	}
	l := rapid.SampledFrom([]string{"tool:alpha", "kind:req", "needle", "status:ok", "dir:c2s", "seq<10", "/x/"}).Draw(t, "leaf")
	return expr{l, func(leaf func(string) bool) bool { return leaf(l) }}
}

func TestOperatorsMeanWhatTheySay(t *testing.T) {
	tr := &traffic{l: newMemLog()}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			tr.step(t)
		}
		tr.l.a.Publish()
		x := drawExpr(t, 4)
		q, err := Compile(x.text, testNow)
		if err != nil {
			t.Fatal(err)
		}
		body := NewBodyFunc(tr.l)
		for i := max(0, int(tr.l.s.Len())-40); i < int(tr.l.s.Len()); i++ {
			want := x.eval(func(leaf string) bool {
				lq, err := Compile(leaf, testNow)
				return err == nil && lq.MatchFrame(tr.l.s, uint32(i), body)
			})
			if got := q.MatchFrame(tr.l.s, uint32(i), body); got != want {
				t.Fatalf("%s (%s), frame %d: %v", x.text, q, i, got)
			}
		}
	})
}

// A filter that gets one letter more reads only what the shorter one had found.
func TestRefinementDoesNotReadAgain(t *testing.T) {
	l := newMemLog()
	for i := range 5000 {
		word := "hay"
		if i%1000 == 0 {
			word = "needle"
		}
		l.add(i, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"ping","params":{"w":"%s%s"}}`, i, strings.Repeat("x", 300), word))
	}
	l.a.Publish()
	c := NewCursor(l.s, mustCompile(t, "nee"), l)
	defer c.Close()
	if p, _ := c.Finish(t.Context()); p.Matched != 5 {
		t.Fatalf("found %d; want 5", p.Matched)
	}
	l.read = 0
	d := c.Refine(mustCompile(t, "need"))
	defer d.Close()
	if p, _ := d.Finish(t.Context()); p.Matched != 5 || p.More {
		t.Fatalf("found %+v; want 5", p)
	}
	if l.read > 5*minWindow {
		t.Errorf("%d bytes were read for 5 frames", l.read)
	}
	l.read = 0
	e := NewCursor(l.s, mustCompile(t, "nee"), l)
	defer e.Close()
	if p, _ := e.Finish(t.Context()); p.Matched != 5 || l.read != 0 {
		t.Errorf("a second viewer finds %d and reads %d bytes", p.Matched, l.read)
	}
}

// The newest matches are there before history has been looked at.
func TestNewestFirst(t *testing.T) {
	l := newMemLog()
	for i := range 10000 {
		l.add(i, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
	}
	l.a.Publish()
	c := NewCursor(l.s, mustCompile(t, "ping"), l)
	defer c.Close()
	left := 3
	p, err := c.advance(t.Context(), func() bool { left--; return left < 0 })
	if err != nil || !p.More || p.Matched == 0 || p.Matched > 3*checkEvery {
		t.Fatalf("got %+v, %v", p, err)
	}
	if rows := c.Rows(nil, 0, 1); rows[0] != 10000-p.Matched {
		t.Errorf("the first match is %d; want the newest", rows[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Advance(ctx, time.Hour); err == nil {
		t.Error("no error after the context ended")
	}
}

// Readers go on while the appender does.
func TestCursorsRace(t *testing.T) {
	l := newMemLog()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for _, f := range []string{"status:pending", "needle", "signal:warn OR dur>1ms", ""} {
		for range 2 {
			wg.Go(func() {
				q, _ := Compile(f, testNow)
				c := NewCursor(l.s, q, l)
				defer c.Close()
				var rows []uint32
				for {
					p, _ := c.Advance(context.Background(), time.Millisecond)
					rows = c.Rows(rows[:0], 0, 50)
					for _, i := range rows {
						if l.s.Frame(i).Seq != uint64(i+1) {
							t.Error("another frame")
						}
						if op, ok := l.s.Frame(i).Op(); ok {
							l.s.OpFrames(l.s.Op(op), func(at uint32) bool { return l.s.Frame(at).Seq > 0 })
						}
					}
					select {
					case <-stop:
						if !p.More {
							return
						}
					default:
					}
				}
			})
		}
	}
	for i := range 2000 {
		l.add(i, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t%d","arguments":{"w":"needle"}}}`, i, i%7))
		if i%3 > 0 {
			l.add(i, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		}
		if i%5 == 0 {
			l.a.Mark(uint32(i), "some-rule", SignalWarn)
		}
		if i%10 == 0 {
			l.a.Publish()
		}
	}
	l.a.Publish()
	close(stop)
	wg.Wait()
}
