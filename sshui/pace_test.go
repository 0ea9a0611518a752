package sshui

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// told counts how often a viewer is told in ten seconds of a source that
// changes all the time, when each redraw costs so many bytes.
func told(t *testing.T, cost int64) (n int) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		src, out := newSource(), &screenWriter{}
		changes, end := newPaced(ctx, src, Limits{}.orDefault(), out).Subscribe()
		var changing sync.WaitGroup
		changing.Go(func() {
			for ctx.Err() == nil {
				src.change()
				time.Sleep(time.Millisecond)
			}
		})
		stop := time.After(10 * time.Second)
		for running := true; running; {
			select {
			case <-changes:
				n++
				out.bytes.Add(cost)
			case <-stop:
				running = false
			}
		}
		cancel()
		end()
		if src.viewers() != 0 {
			t.Error("the subscription did not end")
		}
		changing.Wait()
	})
	return n
}

func TestChangesAreTold(t *testing.T) {
	for _, tt := range []struct {
		name     string
		cost     int64
		min, max int
	}{
		{"small screens", 1 << 10, 49, 51},
		{"large screens", 8 << 10, 19, 21},
		{"huge ones: never more than a second late", 1 << 20, 10, 11},
	} {
		if n := told(t, tt.cost); n < tt.min || n > tt.max {
			t.Errorf("%s: told %d times in 10 s; want %d to %d", tt.name, n, tt.min, tt.max)
		}
	}
}
