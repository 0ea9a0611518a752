package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// timedItem is a request of session s at second ts.
func timedItem(s *Session, i int, ts int, tool string) *capture.Item {
	raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, i, tool)
	it := item(s, i, "> "+raw)
	it.Record.TS = time.Unix(int64(ts), 0)
	return it
}

func list(matches []Match) string {
	var out []string
	for _, m := range matches {
		out = append(out, fmt.Sprintf("%s%d", m.Session.ID, m.Frame))
	}
	return strings.Join(out, " ")
}

func TestMerged(t *testing.T) {
	st := New(Limits{})
	a, aa := st.Open("a", "", nil)
	b, ba := st.Open("b", "", nil)
	for i, ts := range []int{1, 4, 3, 9} { // the clock goes back once
		aa.Append(timedItem(a, i, ts, "alpha"))
	}
	for i, ts := range []int{2, 4, 8} {
		ba.Append(timedItem(b, i, ts, []string{"alpha", "beta"}[i%2]))
	}
	aa.Publish()
	ba.Publish()
	for _, tt := range []struct{ filter, want string }{
		{"", "a0 b0 a1 a2 b1 b2 a3"},
		{"tool:alpha", "a0 b0 a1 a2 b2 a3"},
		{"tool:none", ""},
	} {
		m := NewMerged(st.Sessions(), mustCompile(t, tt.filter), nil)
		if got := m.Fresh(); tt.filter != "" && len(got) > 0 {
			t.Errorf("%s: found %s before anything was matched", tt.filter, list(got))
		}
		p, err := m.Finish(t.Context())
		if err != nil || p.More {
			t.Fatalf("%s: %+v, %v", tt.filter, p, err)
		}
		if got := list(slices.Collect(m.All())); got != tt.want {
			t.Errorf("%s: got %s; want %s", tt.filter, got, tt.want)
		}
		if got := list(m.Fresh()); tt.filter != "" && got != tt.want {
			t.Errorf("%s: fresh %s; want %s", tt.filter, got, tt.want)
		}
		if got := m.Fresh(); len(got) > 0 {
			t.Errorf("%s: given twice: %s", tt.filter, list(got))
		}
		for range m.All() {
			break
		}
		m.Close()
	}
}

func TestMergedFollows(t *testing.T) {
	st := New(Limits{})
	a, aa := st.Open("a", "", nil)
	m := NewMerged(nil, mustCompile(t, "status:ok"), nil)
	defer m.Close()
	m.Add(a)
	fresh := func() string {
		t.Helper()
		if _, err := m.Advance(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		return list(m.Fresh())
	}
	aa.Append(timedItem(a, 0, 1, "alpha"))
	aa.Publish()
	if got := fresh(); got != "" {
		t.Errorf("pending: %s", got)
	}
	aa.Append(item(a, 1, `< {"jsonrpc":"2.0","id":0,"result":{}}`))
	aa.Publish()
	if got := fresh(); got != "a0 a1" {
		t.Errorf("answered: %s", got)
	}
	if got := fresh(); got != "" {
		t.Errorf("again: %s", got)
	}
	m.Remove(a)
	if p, _ := m.Finish(t.Context()); p.Total != 0 {
		t.Errorf("removed: %+v", p)
	}
}

func TestStore(t *testing.T) {
	st := New(Limits{})
	a, aa := st.Open("a", "", nil)
	b, ba := st.OpenAt(Place{ID: "b", Origin: "host"}, func(s *Session, ap *Appender) Observer {
		if s.ID != "b" || s.Origin != "host" || ap == nil {
			t.Errorf("observer of %+v", s)
		}
		return nil
	})
	v := st.Version()
	aa.Publish()
	if st.Version() != v || a.Version() != 1 {
		t.Errorf("a publish of nothing: version %d then %d, session %d", v, st.Version(), a.Version())
	}
	aa.Append(timedItem(a, 0, 5, "alpha"))
	ba.Append(timedItem(b, 0, 7, "alpha"))
	aa.Publish()
	ba.Publish()
	if st.Version() != v+2 || st.Get("a") != a || st.Get("c") != nil {
		t.Errorf("version %d then %d", v, st.Version())
	}
	found := ""
	for hit, err := range st.Search(t.Context(), mustCompile(t, "tool:alpha"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		found += hit.Session.ID + fmt.Sprint(hit.Cursor.Len())
	}
	if found != "b1a1" {
		t.Errorf("search finds %s; want the newest first", found)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range st.Search(ctx, mustCompile(t, "tool:alpha"), nil) {
		if err == nil {
			t.Error("a search goes on after its context ended")
		}
	}
	snapshot := st.Sessions()
	st.Remove(a)
	st.Remove(a)
	if len(st.Sessions()) != 1 || len(snapshot) != 2 || st.Get("a") != nil {
		t.Errorf("removed: %d sessions, snapshot of %d", len(st.Sessions()), len(snapshot))
	}
}

func TestToolStats(t *testing.T) {
	s, a := NewSession("s", "", Limits{ToolStats: 2}, nil)
	at := func(i, ms int, l string) {
		it := item(s, i, l)
		it.Record.TS = time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond)
		a.Append(it)
		a.Publish()
	}
	n := 0
	for i := range 100 {
		at(n, 1000*i, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"alpha"}}`, i))
		at(n+1, 1000*i+i+1, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"isError":%v}}`, i, i%10 == 0))
		n += 2
	}
	at(n, 200000, `> {"jsonrpc":"2.0","id":500,"method":"tools/call","params":{"name":"alpha"}}`)
	for k, name := range []string{"beta", "gamma", "delta"} {
		at(n+1+k, 200000, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, 600+k, name))
	}
	got := s.Tools()
	if len(got) != 3 || got[1].Name != "beta" || got[2].Name != "(other)" || got[2].Calls.Pending != 2 {
		t.Fatalf("tools %+v", got)
	}
	st := got[0]
	if st.Calls != (Counts{Total: 101, OK: 90, Failed: 10, Pending: 1}) || st.Ended != 100 || st.Longest != 100*time.Millisecond || st.Slowest != 99 {
		t.Errorf("got %+v", st)
	}
	for _, q := range []struct {
		share float64
		want  time.Duration
	}{{0.5, 50 * time.Millisecond}, {0.95, 95 * time.Millisecond}, {0.99, 99 * time.Millisecond}, {1, 100 * time.Millisecond}, {0, time.Millisecond}} {
		if d := st.Quantile(q.share); d < q.want || float64(d) > 1.07*float64(q.want) {
			t.Errorf("quantile %v: %v; want %v and at most 7 %% more", q.share, d, q.want)
		}
	}
	if sum := s.Summary(); sum.Calls.Total != 104 {
		t.Errorf("summary %+v", sum.Calls)
	}
	for i := range 2000 {
		v := uint64(i * i * 7)
		if k := step(v); top(k) < v || k > 0 && top(k-1) >= v {
			t.Fatalf("%d falls into step %d, from %d to %d", v, k, top(k-1)+1, top(k))
		}
	}
}

func TestActivity(t *testing.T) {
	var b Activity
	start := time.Unix(1000, 0)
	for i := range 1000 {
		b.add(start.Add(time.Duration(i) * time.Second))
	}
	b.add(start.Add(-time.Hour)) // a clock that went back
	sum := uint32(0)
	for _, c := range b.Counts {
		sum += c
	}
	if sum != 1001 || b.Width != 16*time.Second || b.Used != 63 || b.Counts[1] != 16 {
		t.Errorf("%d lines in %+v", sum, b)
	}
	b.add(start.Add(200 * 365 * 24 * time.Hour))
	if b.Used > ActivityBuckets {
		t.Errorf("%+v", b)
	}
}
