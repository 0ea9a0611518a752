package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// jumpy makes sessions whose clocks stand still, go back and leap.
func jumpy(t *testing.T, r *rand.Rand, sessions, most int) *Store {
	t.Helper()
	st := New(Limits{})
	for k := range sessions {
		s, a := st.Open(fmt.Sprint("s", k), "", nil)
		at := time.Unix(1000, 0)
		for i := range r.IntN(most) {
			switch r.IntN(20) {
			case 0:
				at = at.Add(-time.Duration(r.IntN(int(30 * time.Second))))
			case 1:
				at = at.Add(time.Duration(r.IntN(int(time.Minute))))
			case 2, 3, 4, 5, 6: // stands still
			default:
				at = at.Add(time.Duration(r.IntN(int(time.Second))))
			}
			it := timedItem(s, i, 0, []string{"alpha", "beta", "rare"}[min(r.IntN(40), 2)*r.IntN(2)])
			it.Record.TS = at
			a.Append(it)
		}
		a.Publish()
	}
	return st
}

// Rows and Rank agree with the walk over all, for every row.
func TestMergedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for range 12 {
		st := jumpy(t, r, 1+r.IntN(5), 4000)
		for _, filter := range []string{"", "tool:beta", "tool:rare", "tool:none"} {
			m := NewMerged(st.Sessions(), mustCompile(t, filter), nil)
			if _, err := m.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := slices.Collect(m.All())
			if m.Len() != len(want) {
				t.Fatalf("%q: %d rows; want %d", filter, m.Len(), len(want))
			}
			if got := m.Rows(nil, 0, len(want)+10); !slices.Equal(got, want) {
				t.Fatalf("%q: all rows at once differ from the walk", filter)
			}
			for k := 0; k < len(want); k += 1 + r.IntN(50) {
				n := 1 + r.IntN(60)
				if got := m.Rows(nil, k, n); !slices.Equal(got, want[k:min(k+n, len(want))]) {
					t.Fatalf("%q: %d rows from %d on: %s\nwant %s", filter, n, k, list(got), list(want[k:min(k+n, len(want))]))
				}
				if row, found := m.Rank(want[k]); row != k || !found {
					t.Fatalf("%q: rank of row %d is %d, %v", filter, k, row, found)
				}
			}
			for k := range want { // the order by time is the order of each log
				if k > 0 && want[k].Session.peak(want[k].Frame) < want[k-1].Session.peak(want[k-1].Frame) {
					t.Fatalf("%q: row %d is of an earlier time than the row before", filter, k)
				}
			}
			if got := m.Rows(nil, len(want), 5); len(got) > 0 {
				t.Errorf("%q: %d rows after the last", filter, len(got))
			}
			m.Close()
		}
	}
}

// What comes while the rows are held is not shown, and not lost either.
func TestMergedHold(t *testing.T) {
	st := New(Limits{})
	a, aa := st.Open("a", "", nil)
	b, ba := st.Open("b", "", nil)
	aa.Append(timedItem(a, 0, 1, "alpha"))
	ba.Append(timedItem(b, 0, 2, "alpha"))
	aa.Publish()
	ba.Publish()
	m := NewMerged(st.Sessions(), mustCompile(t, ""), nil)
	defer m.Close()
	m.Hold(true)
	aa.Append(timedItem(a, 1, 3, "alpha"))
	aa.Publish()
	if got := list(m.Rows(nil, 0, 9)); got != "a0 b0" || m.Len() != 2 || m.Held() != 1 {
		t.Errorf("held: %s, %d rows, %d held back", got, m.Len(), m.Held())
	}
	if row, found := m.Rank(Match{a, 1}); row != 2 || found {
		t.Errorf("held: rank %d, %v", row, found)
	}
	c, ca := st.Open("c", "", nil)
	ca.Append(timedItem(c, 0, 1, "alpha"))
	ca.Publish()
	m.Add(c)
	if got := list(m.Rows(nil, 0, 9)); got != "a0 b0" {
		t.Errorf("a session that came while held: %s", got)
	}
	m.Hold(false)
	if got := list(m.Rows(nil, 0, 9)); got != "a0 c0 b0 a1" || m.Held() != 0 {
		t.Errorf("let in: %s", got)
	}
}

// Since finds the first frame that reaches a time, whatever the clock did.
func TestSince(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		s := jumpy(t, r, 1, 9000).Sessions()[0]
		n := s.Len()
		for range 300 {
			ts := time.Unix(1000, 0).Add(time.Duration(r.IntN(int(time.Hour)))).UnixNano()
			want := uint32(0)
			for want < n && s.Frame(want).TS < ts {
				want++
			}
			if got := s.Since(ts); got != want {
				t.Fatalf("since %d: frame %d of %d; want %d", ts, got, n, want)
			}
		}
		if n > 0 && (s.Since(0) != 0 || s.Since(1<<62) != n) {
			t.Error("the ends are not found")
		}
	}
}

// BenchmarkMergedRows is a screen of rows out of the middle of ten sessions.
func BenchmarkMergedRows(b *testing.B) {
	st := New(Limits{})
	for k := range 10 {
		s, a := st.Open(fmt.Sprint("s", k), "", nil)
		for i := range 50_000 {
			a.Append(timedItem(s, i, i, "alpha"))
		}
		a.Publish()
	}
	m := NewMerged(st.Sessions(), nil, nil)
	var rows []Match
	for b.Loop() {
		rows = m.Rows(rows[:0], m.Len()/2, 60)
		m.Rank(rows[0])
	}
}
