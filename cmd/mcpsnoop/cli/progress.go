package cli

import (
	"fmt"
	"strings"
	"time"
)

// progress is a bar on the standard error while something long is done: only
// on a terminal, and only once it has taken a while.
type progress struct {
	app         *App
	what        string
	total, done int64
	began, last time.Time
	drawn       bool
}

// How soon a bar shows up, how often it is drawn, and how wide it is.
const (
	barDelay = 500 * time.Millisecond
	barEvery = 100 * time.Millisecond
	barWidth = 30
	barCheck = 1 << 18 // bytes between looks at the clock
)

// newProgress makes a bar for total bytes; nil where nobody would see it.
func (a *App) newProgress(what string, total int64) *progress {
	if !a.ErrTTY || total <= 0 {
		return nil
	}
	now := a.Clock.Now()
	return &progress{app: a, what: what, total: total, began: now, last: now}
}

// add counts bytes. A nil bar counts nothing.
func (p *progress) add(n int) {
	if p == nil {
		return
	}
	before := p.done
	if p.done += int64(n); before/barCheck == p.done/barCheck {
		return
	}
	now := p.app.Clock.Now()
	if now.Sub(p.began) < barDelay || now.Sub(p.last) < barEvery {
		return
	}
	p.last, p.drawn = now, true
	share := min(float64(p.done)/float64(p.total), 1)
	full := int(share * barWidth)
	fmt.Fprintf(p.app.Err, "\r%s [%s%s] %3.0f %%", p.what, strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), share*100)
}

// end takes the bar away.
func (p *progress) end() {
	if p != nil && p.drawn {
		fmt.Fprintf(p.app.Err, "\r%s\r", strings.Repeat(" ", len(p.what)+barWidth+9))
		p.drawn = false
	}
}
