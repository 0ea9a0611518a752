package hub

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// DirectoryOptions say which folder is followed, and how.
type DirectoryOptions struct {
	FS           capture.FS
	Dir          string
	Origin       string // host that the logs come from, "" for this one
	HistoryLimit int    // newest logs that are loaded; 0 means all. Those that grow always are
	Workers      int    // logs read at the same time; 0 means one a processor, at most 4

	// Watch is where events of the file system come from; nil means fsnotify.
	Watch func(dir string) (*Events, error)
}

// Directory is a Source: the logs in a folder. It lists the folder again and
// again, reads the logs that have changed, and takes events of the file system
// as a reason to look at once. Without events it does the same, a little later.
type Directory struct {
	opts   DirectoryOptions
	agenda *agenda
	sink   Sink

	mu   sync.Mutex // guards logs, and what follow says
	logs map[string]*follow
	byID map[string]*follow // by log.ID: what file names begin with

	moved map[string]aside // by path: logs that are moved away, or back; guarded by mu

	want   atomic.Pointer[string]
	rescan chan struct{} // of one slot: the folder is to be listed now
	read   chan struct{} // of one slot: a log was read to its end for the first time
}

// NewDirectory follows a folder, which need not exist yet.
func NewDirectory(opts DirectoryOptions) *Directory {
	if opts.FS == nil {
		opts.FS = capture.OS{}
	}
	if opts.Watch == nil {
		opts.Watch = watchFolder
	}
	if opts.Workers <= 0 {
		opts.Workers = min(4, runtime.GOMAXPROCS(0))
	}
	return &Directory{
		opts: opts, agenda: newAgenda(opts.Workers), logs: map[string]*follow{}, byID: map[string]*follow{},
		moved: map[string]aside{}, rescan: make(chan struct{}, 1), read: make(chan struct{}, 1),
	}
}

// Run follows the folder until ctx ends.
func (d *Directory) Run(ctx context.Context, sink Sink) error {
	d.sink = sink
	g, ctx := errgroup.WithContext(ctx)
	for range d.opts.Workers {
		g.Go(func() error { return d.work(ctx) })
	}
	g.Go(func() error { return (&scanner{d: d}).run(ctx) })
	err := g.Wait()
	for _, f := range d.logs {
		f.release()
	}
	return err
}

// work reads logs in the order of the agenda.
func (d *Directory) work(ctx context.Context) error {
	for {
		f := d.agenda.next()
		if f == nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-d.agenda.wake:
			}
			continue
		}
		d.turn(ctx, f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// turn reads a part of one log.
func (d *Directory) turn(ctx context.Context, f *follow) {
	d.mu.Lock()
	log := f.log
	d.mu.Unlock()
	var more bool
	var err error
	if !f.shown {
		f.shown, more = true, true
		if err := f.preview(d.opts.FS, log); err == nil {
			d.hurry(f)
		}
	} else {
		was := f.loaded.Load()
		more, err = f.take(ctx, d.opts.FS, log, time.Now())
		if !was && f.loaded.Load() && !f.intake.ended() {
			select { // whether it runs is known at once, and not by the next listing
			case d.read <- struct{}{}:
			default:
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		d.sink.Notice(err.Error())
	}
	d.mu.Lock()
	f.retry = err != nil
	d.mu.Unlock()
	u := growing
	if !f.loaded.Load() {
		u = history
		if d.wants(f) {
			u = wanted
		}
	}
	if d.agenda.done(f, more && err == nil, u) {
		f.intake.Remove()
		f.release()
	}
}

// wants reports whether somebody looks at a session of the log.
func (d *Directory) wants(f *follow) bool {
	want := d.want.Load()
	return want != nil && f.intake.has(*want)
}

// hurry puts a log that was just shown ahead when its session is wanted.
func (d *Directory) hurry(f *follow) {
	if d.wants(f) {
		d.agenda.add(f, wanted)
	}
}

// Want says that somebody looks at a session: it is indexed next.
func (d *Directory) Want(id string) {
	d.want.Store(&id)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.logs {
		if !f.loaded.Load() && f.intake.has(id) {
			d.agenda.add(f, wanted)
		}
	}
}

// Progress says how many bytes of the logs that were there are indexed.
func (d *Directory) Progress() (done, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.logs {
		done += min(f.read.Load(), f.log.Size)
		total += f.log.Size
	}
	return done, total
}

// Live reports whether somebody writes the log of s.
func (d *Directory) Live(s *store.Session) bool {
	if s.Origin != d.opts.Origin || s.Summary().Ended {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.logs[s.Path]
	return f != nil && f.live.Load()
}

// follow begins to follow a log. Called with mu held.
func (d *Directory) follow(log capture.Log) *follow {
	f := &follow{log: log, found: log.ModTime, intake: d.sink.Log(log.ID, log.Path, d.opts.Origin)}
	d.logs[log.Path], d.byID[log.ID] = f, f
	d.agenda.add(f, listing)
	return f
}

// forget ends following a log that is gone. Called with mu held.
func (d *Directory) forget(f *follow) {
	delete(d.logs, f.log.Path)
	delete(d.byID, f.log.ID)
	if d.agenda.drop(f) {
		f.intake.Remove()
		f.release()
	}
}

// named finds the log that a file belongs to. Called with mu held.
func (d *Directory) named(file string) *follow {
	name := strings.TrimSuffix(strings.TrimSuffix(file, ".zst"), ".jsonl")
	if f := d.byID[name]; f != nil {
		return f
	}
	if k := strings.LastIndexByte(name, '.'); k > 0 {
		return d.byID[name[:k]]
	}
	return nil
}

func (d *Directory) noEvents(err error) {
	d.sink.Notice(fmt.Sprintf("watch %s: %v: no file events, looking for changes every %s", d.opts.Dir, err, pollEvery))
}
