package hub

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// When the folder is looked at.
const (
	scanEvery  = 2 * time.Second        // with events: for what they miss
	pollEvery  = time.Second            // without
	pollActive = 250 * time.Millisecond // without: logs that grew lately
	activeFor  = 10 * time.Second       // how long is lately
	gather     = 20 * time.Millisecond  // between two reads of a log that grows
	probeEvery = 10 * time.Second       // a log without an end: is it still written to?
	goneAfter  = 10 * time.Second       // a log that is not listed any more is forgotten
	rewatch    = time.Minute            // after watching failed
	costShare  = 250                    // a listing takes at most one part in so many of the time
	deafAfter  = 2                      // listings that find what no event told: there are none
)

var errSilent = errors.New("files change without an event")

// scanner is the goroutine that lists the folder and hears events. Nobody else
// touches it.
type scanner struct {
	d      *Directory
	events *Events
	watch  time.Time // when to try to watch again

	deaf  int  // listings in a row with changes that no event told of
	heard bool // an event came since the last listing
	first bool // the first listing is done

	missed error // why there are no events; nil when there are
	cost   time.Duration
	begun  time.Time
	dirty  map[*follow]bool // logs that events spoke of
	rescan bool             // events spoke of a file that is not known
}

// run looks at the folder until ctx ends.
func (c *scanner) run(ctx context.Context) error {
	c.begun, c.dirty = time.Now(), map[*follow]bool{}
	defer func() {
		if c.events != nil {
			c.events.Close()
		}
	}()
	scan := time.NewTimer(0)
	defer scan.Stop()
	nudge := time.NewTimer(time.Hour)
	defer nudge.Stop()
	armed, last := false, time.Time{}
	for {
		var names <-chan string
		if c.events != nil {
			names = c.events.C
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case name, ok := <-names:
			if !ok {
				c.events.Close()
				c.events, c.watch = nil, time.Time{}
				scan.Reset(0) // the folder is gone, or another one
				continue
			}
			c.hear(name)
			if !armed && (len(c.dirty) > 0 || c.rescan) {
				armed = true
				nudge.Reset(max(0, gather-time.Since(last)))
			}
		case <-nudge.C:
			armed, last = false, time.Now()
			c.dispatch()
			if c.rescan {
				c.rescan = false
				scan.Reset(min(c.cost*10, time.Second))
			}
		case <-c.d.rescan:
			scan.Reset(0)
		case <-c.d.read:
			c.pulse()
		case <-scan.C:
			c.look()
			scan.Reset(c.pause())
		}
	}
}

// hear takes an event.
func (c *scanner) hear(name string) {
	c.heard = true
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	f := c.d.named(name)
	if f == nil || name == "" {
		c.rescan = true
		return
	}
	f.nudged = true
	c.dirty[f] = true
}

// dispatch puts the logs that events spoke of on the agenda.
func (c *scanner) dispatch() {
	for f := range c.dirty {
		f.urge(c.d)
	}
	clear(c.dirty)
}

func (f *follow) urge(d *Directory) {
	if f.loaded.Load() {
		d.agenda.add(f, growing)
	} else {
		d.agenda.add(f, history)
	}
}

// pause is the time until the next listing.
func (c *scanner) pause() time.Duration {
	every := scanEvery
	if c.events == nil {
		every = pollEvery
		if c.missed != nil && c.active() {
			every = pollActive
		}
	}
	return max(every, min(c.cost*costShare, 30*time.Second))
}

// active reports whether a log grew lately.
func (c *scanner) active() bool {
	since := time.Now().Add(-activeFor).UnixNano()
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	for _, f := range c.d.logs {
		if f.lastRead.Load() > since && f.loaded.Load() && c.begun.UnixNano() < f.lastRead.Load() && f.live.Load() {
			return true
		}
	}
	return false
}

// look lists the folder and sees to what has changed.
func (c *scanner) look() {
	c.rewatch()
	start := time.Now()
	logs, err := capture.List(c.d.opts.FS, c.d.opts.Dir)
	c.cost = time.Since(start)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.d.sink.Notice(err.Error())
		return
	}
	c.d.mu.Lock()
	changed := c.compare(logs)
	c.d.mu.Unlock()
	c.judge(changed)
	c.first = true
	c.pulse()
}

// compare follows what is new, urges what has changed, and forgets what is
// gone. It reports whether it found what no event spoke of. Called with mu held.
func (c *scanner) compare(logs []capture.Log) (untold bool) {
	now := time.Now()
	listed := make(map[string]bool, len(logs))
	for i, log := range logs {
		listed[log.Path] = true
		f, moved := c.d.logs[log.Path], c.d.moved[log.Path]
		if f == nil {
			limit := c.d.opts.HistoryLimit
			if moved != asideGone && (limit <= 0 || i < limit || moved == asideBack || c.first && log.ModTime.After(c.begun)) {
				delete(c.d.moved, log.Path)
				c.d.follow(log)
				untold = untold || c.first && !c.heard && moved == 0
			}
			continue
		}
		f.missing = 0
		if changed(f.log, log) {
			untold = untold || !f.nudged && c.first
			f.log = log
			f.urge(c.d)
		} else if f.retry || f.loaded.Load() && !f.settled.Load() && now.Sub(log.ModTime) > settleAfter {
			f.urge(c.d)
		}
		f.nudged = false
	}
	for path, state := range c.d.moved {
		if state == asideGone && !listed[path] {
			delete(c.d.moved, path)
		}
	}
	for path, f := range c.d.logs {
		if listed[path] {
			continue
		}
		if f.missing++; f.missing == 1 {
			f.goneAt = now
			f.urge(c.d) // it says so itself
		} else if now.Sub(f.goneAt) > goneAfter {
			delete(c.dirty, f)
			c.d.forget(f)
		}
	}
	return untold
}

func changed(a, b capture.Log) bool {
	return a.Size != b.Size || !a.ModTime.Equal(b.ModTime) || !slices.EqualFunc(a.Segments, b.Segments, func(x, y capture.Segment) bool {
		return x.Path == y.Path && x.Size == y.Size
	})
}

// judge finds out whether events come at all.
func (c *scanner) judge(untold bool) {
	switch {
	case c.events == nil || c.heard:
		c.deaf = 0
	case untold:
		if c.deaf++; c.deaf >= deafAfter {
			c.events.Close()
			c.events, c.missed = nil, errSilent
			c.watch = time.Now().Add(365 * 24 * time.Hour)
			c.d.noEvents(errSilent)
		}
	}
	c.heard = false
}

// rewatch sees to it that the folder is watched, once it is there.
func (c *scanner) rewatch() {
	if c.events != nil || time.Now().Before(c.watch) {
		return
	}
	if _, err := c.d.opts.FS.Stat(c.d.opts.Dir); err != nil {
		return // it may come
	}
	events, err := c.d.opts.Watch(c.d.opts.Dir)
	if err != nil {
		c.watch = time.Now().Add(rewatch)
		if c.missed == nil {
			c.missed = err
			c.d.noEvents(err)
		}
		return
	}
	c.events, c.missed, c.deaf = events, nil, 0
}

// pulse tells sessions that are written to how late it is, so that calls
// without an answer grow old.
func (c *scanner) pulse() {
	now := time.Now()
	_, local := c.d.opts.FS.(capture.OS)
	c.d.mu.Lock()
	follows := make([]*follow, 0, len(c.d.logs))
	for _, f := range c.d.logs {
		if f.loaded.Load() {
			follows = append(follows, f)
		}
	}
	c.d.mu.Unlock()
	for _, f := range follows {
		c.probe(f, now, local)
		if f.live.Load() {
			f.intake.each(func(s *store.Session) {
				if sum := s.Summary(); !sum.Ended && sum.Calls.Pending > 0 {
					s.Pulse(now)
				}
			})
		}
	}
}

// probe finds out whether a log is written to. A log that grows is; of one
// that stands still, its writer's lock tells.
func (c *scanner) probe(f *follow, now time.Time, local bool) {
	if f.intake.ended() {
		f.live.Store(false)
		return
	}
	if now.Sub(f.log.ModTime) < activeFor {
		f.live.Store(true)
		return
	}
	if now.Sub(f.probed) < probeEvery {
		return
	}
	f.probed = now
	held := local && len(f.log.Segments) > 0 && capture.Locked(f.log.Segments[len(f.log.Segments)-1].Path)
	if f.live.Swap(held) != held {
		c.d.sink.Changed()
	}
}
