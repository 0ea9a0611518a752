package tui

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// million is a session of n frames, without bodies: calls and their answers.
func million(n int) (*fixture, *tape) {
	f := newFixture()
	t := f.session("large")
	for i := range n / 2 {
		t.bulk(capture.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool_%d"}}`, i, i%40))
		t.bulk(capture.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
	}
	t.a.Publish()
	return f, t
}

// bulk appends a frame whose body cannot be read again, without publishing it.
func (t *tape) bulk(dir capture.Direction, raw string) {
	t.seq++
	t.at = t.at.Add(time.Millisecond)
	t.a.Append(&capture.Item{Line: int(t.seq), Ref: capture.Ref{Segment: 1, Offset: 1 << 40, Length: len(raw)}, Record: capture.Record{
		SessionID: t.s.ID, Seq: t.seq, TS: t.at, Direction: dir, Transport: capture.Stdio, Raw: []byte(raw),
	}})
}

// BenchmarkKey is a key with a million frames: Update and the new screen.
func BenchmarkKey(b *testing.B) {
	f, t := million(1_000_000)
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		for _, key := range []string{"j", "G", "g", "ctrl+f", "n"} {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], key), func(b *testing.B) {
				d := sitDown(b, f, size[0], size[1], Options{Open: t.s.ID})
				d.keys("g")
				msg, ok := namedKeys[key]
				if !ok {
					msg = tea.KeyPressMsg{Code: rune(key[0]), Text: key}
				}
				for b.Loop() {
					_, cmd := d.m.Update(msg)
					d.run(cmd)
					d.m.View()
				}
				d.settle()
			})
		}
	}
}

// BenchmarkChange is what a change of the source costs while a million frames
// are shown.
func BenchmarkChange(b *testing.B) {
	f, t := million(1_000_000)
	d := sitDown(b, f, 200, 60, Options{Open: t.s.ID})
	for b.Loop() {
		t.bulk(capture.C2S, `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		t.a.Publish()
		d.send(done(func(m *Model) tea.Cmd { m.working++; return m.top().refresh() }))
		d.m.View()
	}
}

// BenchmarkScreens is the slowest key of each screen with two large sessions:
// until the new screen stands, or until one step of what the key began is done,
// whichever is longer. `make bench` reads it.
func BenchmarkScreens(b *testing.B) {
	n := 500_000
	if v, err := strconv.Atoi(os.Getenv("MCPSNOOP_BENCH_FRAMES")); err == nil {
		n = v
	}
	f := twoLarge(n)
	move := []string{"j", "k", "G", "g", "ctrl+f", "ctrl+b"}
	for range b.N {
		for _, s := range []struct {
			name        string
			enter, keys []string
		}{
			{"sessions", nil, []string{"/", "l", "a", "r", "esc", "esc"}},
			{"stream", []string{"enter"}, []string{"n", "D", "esc", "p", "p", "z", "z", "/", "t", "o", "o", "l", ":", "enter", "esc", "y"}},
			{"inspector", []string{"enter", "g", "enter"}, []string{"x", "x", "]", "[", "b", "b", "-", "+", "y"}},
			{"findings", []string{"enter", "w"}, []string{"C", "/", "x", "esc", "y"}},
			{"tools", []string{"enter", "s"}, []string{"C", "/", "5", "enter", "esc", "y"}},
			{"calls", []string{"enter", "i"}, []string{"L", "/", "5", "enter", "esc", "y", "i"}},
			{"capabilities", []string{"enter", "c"}, []string{"y"}},
			{"elicitations", []string{"enter", "l"}, []string{"y"}},
			{"merged", []string{"space", "space", "m"}, []string{"n", "D", "esc", "/", "t", "o", "o", "l", ":", "enter", "esc"}},
			{"compare", []string{"space", "space", "d"}, []string{"n", "N", "-", "+", "y"}},
			{"search", []string{"ctrl+s", "tool:tool_3", "enter"}, []string{"n", "y"}},
		} {
			d := sitDown(b, f, 160, 50, Options{})
			d.keys(s.enter...)
			d.most = 0
			for _, k := range append(move, s.keys...) {
				begin := time.Now()
				_, cmd := d.m.Update(namedKey(k))
				d.m.View()
				d.most = max(d.most, time.Since(begin))
				d.run(cmd)
				d.settle()
			}
			b.ReportMetric(float64(d.most)/1e6, s.name+"-ms")
		}
	}
	b.ReportMetric(float64(2*n), "frames")
}

// BenchmarkLargeBody is the first look at a frame of 16 MiB.
func BenchmarkLargeBody(b *testing.B) {
	body := []byte(`{"jsonrpc":"2.0","id":1,"result":{"rows":[` + strings.Repeat(`{"a":1,"b":"text"},`, 16<<20/19) + `0]}}`)
	m := New(context.Background(), newFixture(), Options{Env: utf8Env}).(*Model)
	for b.Loop() {
		p := inspector{m: m, width: 120, height: 40}
		p.set(capture.Record{Raw: body}, body, nil)
		p.drawJSON(120, 40, true)
	}
}

// A key is answered within 50 ms with a million frames and with a frame of
// 16 MiB open. The time is held to that with -timed alone (make nightly): the
// machine that ordinary tests run on has other things to do.
func TestKeysAreAnswered(t *testing.T) {
	f, tp := million(1_000_000)
	big := f.session("big")
	big.s2c(0, `{"jsonrpc":"2.0","id":1,"result":{"rows":[`+strings.Repeat(`{"a":1,"b":"text"},`, 16<<20/19)+`0]}}`)
	for _, tt := range []struct {
		session string
		keys    []string
	}{
		{tp.s.ID, []string{"j", "k", "G", "g", "ctrl+f", "n", "D", "esc", "y", "p", "p", "w", "s", "i", "g", "G", "i", "i", "L", "j", "esc"}},
		{big.s.ID, []string{"enter", "j", "G", "g", "-", "+", "b", "b", "G"}},
	} {
		d := sitDown(t, f, 160, 50, Options{Open: tt.session})
		for _, k := range tt.keys {
			msg, ok := namedKeys[k]
			if !ok {
				msg = tea.KeyPressMsg{Code: rune(k[0]), Text: k}
			}
			begin := time.Now()
			_, cmd := d.m.Update(msg)
			d.m.View()
			if took := time.Since(begin); *timed && took > 50*time.Millisecond*slower {
				t.Errorf("%s: %s takes %v", tt.session, k, took)
			}
			d.run(cmd)
			d.settle()
			for _, slow := range d.slow {
				t.Errorf("%s: after %s a step takes %v", tt.session, k, slow)
			}
		}
	}
}
