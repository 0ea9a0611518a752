package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// steadyClock goes on by a second at each look.
type steadyClock struct{ now time.Time }

func (c *steadyClock) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}
func (c *steadyClock) Since(t time.Time) time.Duration      { return c.Now().Sub(t) }
func (c *steadyClock) After(time.Duration) <-chan time.Time { return nil }

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	app := &App{Streams: Streams{Err: &out}, Clock: &steadyClock{}}
	if p := app.newProgress("export", 100); p != nil {
		t.Error("there is a bar without a terminal")
	} else {
		p.add(50) // is nothing to do
		p.end()
	}
	app.ErrTTY = true
	p := app.newProgress("export", 4*barCheck)
	p.add(10)
	if out.Len() > 0 {
		t.Errorf("a few bytes drew %q", out.String())
	}
	p.add(2 * barCheck)
	if want := "export [###############               ]  50 %"; !strings.Contains(out.String(), want) {
		t.Errorf("drew %q; want %q", out.String(), want)
	}
	p.add(9 * barCheck) // more than there was to do
	if !strings.Contains(out.String(), "100 %") {
		t.Errorf("drew %q", out.String())
	}
	out.Reset()
	p.end()
	if s := out.String(); strings.Trim(s, "\r ") != "" || len(s) < barWidth {
		t.Errorf("the end drew %q", s)
	}
}
