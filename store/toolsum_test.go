package store

import (
	"testing"
	"time"
)

func TestSumTools(t *testing.T) {
	a, b := &ToolStats{Name: "x", Calls: Counts{Total: 3, OK: 3}}, &ToolStats{Name: "x", Calls: Counts{Total: 1, Failed: 1}, ResultMax: 9}
	for _, d := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond} {
		a.ended(d, 0)
	}
	b.ended(time.Second, 0)
	sum := SumTools(a, b)
	if sum.Calls != (Counts{Total: 4, OK: 3, Failed: 1}) || sum.Ended != 4 || sum.Longest != time.Second || sum.ResultMax != 9 {
		t.Errorf("%+v", sum)
	}
	if p := sum.Quantile(0.99); p != time.Second {
		t.Errorf("p99 %v", p)
	}
	if p := sum.Quantile(0.5); p < 2*time.Millisecond || p > 3*time.Millisecond {
		t.Errorf("p50 %v", p)
	}
	if a.Ended != 3 || len(a.hist) >= len(sum.hist) {
		t.Error("the sum changed what it was made of")
	}
}
