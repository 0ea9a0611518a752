package tui

import (
	"fmt"
	"testing"
	"time"
)

// flooded is a session in which a call reports its progress again and again,
// with a stray line in between.
func flooded(f *fixture) *tape {
	t := filesystem(f)
	for i := range 60 {
		if i == 40 {
			t.stray(time.Millisecond, "half way")
		}
		t.s2c(time.Millisecond, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p1","progress":%d}}`, i+3))
	}
	t.s2c(time.Millisecond, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"done"}}`)
	return t
}

// Runs fold into their first row, which says how many there are; what is
// sought and what comes is found all the same.
func TestFoldRuns(t *testing.T) {
	f := newFixture()
	tp := flooded(f)
	for _, open := range []func(d *desk){func(d *desk) { d.keys("enter") }, func(d *desk) { d.keys("m") }} {
		d := sitDown(t, f, 100, 30, Options{})
		open(d)
		d.want("59 repeats, z folds them", "77 frames")
		d.keys("z", "g").want("notifications/progress x41", "half way", "notifications/progress x20", "notifications/message", "59 repeats folded")
		d.keys("/", "method:progress", "enter").want("2 of 7", "x41").keys("esc", "esc")
		if n := len(d.m.stack); n > 1 {
			d.keys("z").wantNot("x41").want("z folds them")
		}
	}
	d := sitDown(t, f, 100, 30, Options{Open: tp.s.ID})
	d.keys("z", "G")
	before := d.m.top().(*stream).list.n
	tp.s2c(time.Millisecond, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"more"}}`)
	d.arrives().want("notifications/message x2")
	if s := d.m.top().(*stream); s.list.n != before {
		t.Errorf("%d rows; there were %d before one more of a kind came", s.list.n, before)
	}
	tp.c2s(time.Millisecond, `{"jsonrpc":"2.0","id":90,"method":"ping"}`)
	d.arrives().wantSelected("ping")
	d.keys(":", "40", "enter").wantSelected("progress").want("z folds them") // a frame that is folded away
}

func TestFoldScreens(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			f := newFixture()
			flooded(f)
			s := boot(t, f, size[0], size[1], Options{Open: f.list[0].ID})
			s.keys("z")
			golden(t, fmt.Sprintf("screens/stream-folded-%dx%d.txt", size[0], size[1]), s.text())
		})
	}
}
