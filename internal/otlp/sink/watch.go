package sink

import (
	"context"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// silentFor is how long nobody may have written a log that has no last line
// before its open calls are taken to stay without an answer: what recorded it
// was killed.
const silentFor = time.Minute

// Source is what many sessions come from: a hub.
type Source interface {
	Store() *store.Store
	Live(s *store.Session) bool // somebody writes its log
	Subscribe() (changed <-chan struct{}, end func())
}

// Watch follows all sessions of a source until ctx ends. What was asked before
// since is history and is not sent.
func (k *Sink) Watch(ctx context.Context, src Source, body otlp.Body, since time.Time) {
	changed, end := src.Subscribe()
	defer end()
	all := map[*store.Session]*Follower{}
	look := func() {
		now := k.opts.Now()
		here := map[*store.Session]bool{}
		for _, s := range src.Store().Sessions() {
			here[s] = true
			f := all[s]
			if f == nil {
				f = k.Follow(s, body, since)
				all[s] = f
			}
			switch sum := s.Summary(); {
			case sum.Ended:
				f.End(now)
			case !f.Idle() && now.Sub(sum.Newest) > silentFor && !src.Live(s):
				f.abandon(now)
			default:
				f.Look(now)
			}
		}
		for s, f := range all {
			if !here[s] {
				f.End(now) // its log is gone
				delete(all, s)
			}
		}
	}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			look()
			return
		case <-changed:
		case <-pause.C:
		}
		look()
		pause.Reset(k.opts.Interval)
		select {
		case <-ctx.Done():
		case <-pause.C:
			pause.Reset(lateFor)
		}
	}
}
