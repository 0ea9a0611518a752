package cli

import (
	"context"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// loadOptions say what else is done with a log while it is indexed.
type loadOptions struct {
	// Observer makes the observer of a session; nil for none.
	Observer func(id string) store.Observer
	// Edit changes an item before anybody sees it; nil for none.
	Edit func(*capture.Item)
}

// loadedSession is one session of a log, indexed.
type loadedSession struct {
	*store.Session
	Observer store.Observer

	appender *store.Appender
}

// How a log is handed from the goroutine that reads and parses it to the one
// that indexes and judges: a few batches go round, so that memory is bounded.
const (
	batchItems = 256
	batchBytes = 256 << 10
	batches    = 4

	publishEvery = 4096 // items
)

// batch is a piece of a log. The JSON of its items lies in bytes.
type batch struct {
	items []capture.Item
	n     int
	bytes []byte
	err   error // that ended the log, io.EOF included
}

// load reads a log to its end and indexes its sessions, in the order in which
// they begin. What was read before an error is indexed.
func (a *App) load(ctx context.Context, s source, o loadOptions) ([]*loadedSession, error) {
	r, err := a.open(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	l := &loader{source: s, options: o, byID: map[string]*loadedSession{}, tune: a.Tune}
	err = readError(s, l.run(ctx, r))
	for _, one := range l.list {
		one.appender.Publish()
	}
	return l.list, err
}

// An index grows all the time and becomes garbage never. Collecting when the
// heap has doubled, as Go does, would double the memory for nothing: here it is
// collected when it has grown by about headroom bytes.
const (
	headroom   = 5 << 20
	frameCost  = 160 // bytes of index a frame, with its share of a call and of what rules remember
	retuneAt   = 8192
	minPercent = 8
	maxPercent = 100

	hugeBatch   = 16 << 20 // bytes of one batch
	hugePercent = 20

	collectAt = 30 // percent, where an index grows for as long as somebody looks at it
)

// retune adapts the collector to the size of the index, each time it has
// doubled.
func (l *loader) retune() {
	if l.tune == nil || l.items < l.nextTune {
		return
	}
	l.nextTune = max(2*l.items, retuneAt)
	l.tune(min(max(100*headroom/max(l.nextTune*frameCost*3/4, 1), minPercent), maxPercent))
}

type loader struct {
	source  source
	options loadOptions
	list    []*loadedSession
	byID    map[string]*loadedSession
	last    *loadedSession
	early   []capture.Item // problems from before the first record

	tune            func(percent int)
	items, nextTune int
	nextPublish     int
}

// run passes batches from a reading goroutine to this one.
func (l *loader) run(ctx context.Context, r *capture.Reader) error {
	ctx, stop := context.WithCancel(ctx)
	free, full := make(chan *batch, batches), make(chan *batch, batches)
	for range batches {
		free <- &batch{items: make([]capture.Item, batchItems), bytes: make([]byte, 0, batchBytes)}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		read(ctx, r, l.options.Edit, free, full)
	}()
	defer func() { stop(); <-done }()
	for {
		select {
		case <-ctx.Done():
			return cause(ctx, ctx.Err())
		case b := <-full:
			l.items += b.n
			l.retune()
			if l.tune != nil && len(b.bytes) > hugeBatch {
				l.tune(hugePercent) // the frame itself is most of what there is
			}
			for i := range b.n {
				l.add(&b.items[i])
			}
			l.publish()
			if b.err != nil {
				return b.err
			}
			b.reset()
			free <- b
		}
	}
}

// publish lets go of what the appenders hold until it is published: each call
// that has changed since. Nobody reads yet, so seldom is often enough.
func (l *loader) publish() {
	if l.items < l.nextPublish {
		return
	}
	l.nextPublish = l.items + publishEvery
	for _, one := range l.list {
		one.appender.Publish()
	}
}

// read fills batches until the log ends, whose error the last one carries.
func read(ctx context.Context, r *capture.Reader, edit func(*capture.Item), free <-chan *batch, full chan<- *batch) {
	var held capture.Item // the first item of the next batch
	holds := false
	for {
		var b *batch
		select {
		case <-ctx.Done():
			return
		case b = <-free:
		}
		if holds {
			b.take(&held)
			holds = false
		}
		for b.n < batchItems && b.err == nil && !holds {
			it := &b.items[b.n]
			if b.err = r.Next(it); b.err != nil {
				break
			}
			if edit != nil {
				edit(it)
			}
			if b.n > 0 && len(b.bytes)+len(it.Record.Raw) > cap(b.bytes) {
				held, holds = *it, true
				break
			}
			b.keep(it)
		}
		full <- b // has room for all batches
		if b.err != nil {
			return
		}
	}
}

// take puts an item into an empty batch.
func (b *batch) take(it *capture.Item) {
	b.items[b.n] = *it
	b.keep(&b.items[b.n])
}

// keep copies the bytes of the item at n, which the reader will overwrite.
func (b *batch) keep(it *capture.Item) {
	if it.Problem == nil && it.Record.Raw != nil {
		start := len(b.bytes)
		b.bytes = append(b.bytes, it.Record.Raw...)
		it.Record.Raw = b.bytes[start:len(b.bytes):len(b.bytes)]
	}
	b.n++
}

func (b *batch) reset() {
	b.n, b.bytes = 0, b.bytes[:0]
	if cap(b.bytes) > 2*batchBytes { // after a huge frame
		b.bytes = make([]byte, 0, batchBytes)
	}
}

// add gives an item to the session it belongs to.
func (l *loader) add(it *capture.Item) {
	if it.Problem != nil {
		if l.last == nil {
			l.early = append(l.early, *it)
			return
		}
		l.last.appender.Append(it)
		return
	}
	if l.last == nil || l.last.ID != it.Record.SessionID {
		l.last = l.session(it.Record.SessionID)
	}
	for i := range l.early {
		l.last.appender.Append(&l.early[i])
	}
	l.early = nil
	l.last.appender.Append(it)
}

func (l *loader) session(id string) *loadedSession {
	if one := l.byID[id]; one != nil {
		return one
	}
	one := &loadedSession{}
	if l.options.Observer != nil {
		one.Observer = l.options.Observer(id)
	}
	one.Session, one.appender = store.NewSession(id, l.source.Log.Path, store.Limits{}, one.Observer)
	one.Session.Origin = l.source.Origin
	l.byID[id] = one
	l.list = append(l.list, one)
	return one
}
