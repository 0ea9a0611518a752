package sshui

import (
	"context"
	"sync"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/tui"
)

// paced is a viewer's source. It is the hub's own, but for how often it tells
// of changes: at most once in limits.Redraw, and no sooner than what was drawn
// since the last time may have been sent by limits.BytesPerS. Keys are
// answered at once, as ever.
type paced struct {
	tui.Source
	ctx    context.Context
	limits Limits
	out    *screenWriter
}

// slowest is the longest that a viewer waits for a change: it is never far
// behind, however large its screen.
const slowest = time.Second

func newPaced(ctx context.Context, src tui.Source, l Limits, out *screenWriter) tui.Source {
	p := &paced{src, ctx, l, out}
	live, isLive := src.(tui.Liveness)
	findings, hasFindings := src.(tui.Findings)
	switch {
	case isLive && hasFindings:
		return struct {
			*paced
			tui.Liveness
			tui.Findings
		}{p, live, findings}
	case isLive:
		return struct {
			*paced
			tui.Liveness
		}{p, live}
	case hasFindings:
		return struct {
			*paced
			tui.Findings
		}{p, findings}
	}
	return p
}

// Subscribe is that of the source, paced. It ends with the viewer, too.
func (p *paced) Subscribe() (<-chan struct{}, func()) {
	in, unsubscribe := p.Source.Subscribe()
	out := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(p.ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer unsubscribe()
		for {
			select {
			case <-ctx.Done():
				return
			case <-in:
			}
			select {
			case out <- struct{}{}:
			default:
			}
			if !p.pause(ctx) {
				return
			}
		}
	})
	return out, func() {
		cancel()
		wg.Wait()
	}
}

// pause waits until the next change may be told.
func (p *paced) pause(ctx context.Context) bool {
	before := p.out.bytes.Load()
	if !sleep(ctx, p.limits.Redraw) {
		return false
	}
	cost := time.Duration(p.out.bytes.Load()-before) * time.Second / time.Duration(p.limits.BytesPerS)
	return cost <= p.limits.Redraw || sleep(ctx, min(cost, slowest)-p.limits.Redraw)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
