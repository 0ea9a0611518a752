package capture

import (
	"sync"
	"sync/atomic"
	"time"
)

// item is one thing on its way from the data path to the recorder.
type item struct {
	ts      time.Duration // since the recorder's start
	stream  *Stream       // for bytes of a stream
	data    []byte        // a chunk of it
	slab    *slab         // what data lies in; nil when data is owned
	draft   *Draft        // a whole frame
	event   event
	dropped uint64 // frames lost just before this item
}

type event uint8

const (
	evChunk event = iota
	evFrame
	evAbort // the frame that the stream has begun was lost in part: forget it
	evClose // the stream has ended
)

// itemCost is what an item counts against the backlog beside its bytes.
const itemCost = 128

// queue is the backlog between passing on and writing: bounded in bytes, in
// the order in which frames were read. Producers are the data path, the one
// consumer is the recorder's goroutine.
type queue struct {
	limit int64
	stall time.Duration
	now   func() time.Duration

	mu      sync.Mutex
	space   sync.Cond     // signalled when the consumer has moved
	work    chan struct{} // wakes an idle consumer; one slot
	items   []item
	wakeAt  int64         // bytes queued at which a waiting consumer is woken; 0 while it works
	last    time.Duration // ts of the newest item: ts never goes back
	dropped uint64        // lost since the newest item

	bytes   atomic.Int64
	moved   atomic.Int64 // when the consumer last moved, as a Duration
	waiting atomic.Int32
	lost    atomic.Uint64 // frames lost in all
}

func newQueue(limit int64, stall time.Duration, now func() time.Duration) *queue {
	q := &queue{limit: limit, stall: stall, now: now, work: make(chan struct{}, 1), wakeAt: 1}
	q.space.L = &q.mu
	return q
}

// push appends an item; called with the lock held.
func (q *queue) push(it item, cost int64) {
	q.last = max(q.last, q.now())
	it.ts = q.last
	it.dropped, q.dropped = q.dropped, 0
	q.items = append(q.items, it)
	queued := q.bytes.Add(cost)
	if queued == cost {
		q.moved.Store(int64(q.last)) // an empty backlog cannot have stood still
	}
	if q.wakeAt > 0 && queued >= q.wakeAt {
		q.wakeAt = 0
		select {
		case q.work <- struct{}{}:
		default:
		}
	}
}

// admit waits until there is room for cost more bytes and reports whether
// there is: false when the consumer has stood still for too long, and the
// frame is lost. Called with the lock held.
func (q *queue) admit(cost int64) bool {
	for q.bytes.Load() > 0 && q.bytes.Load()+cost > q.limit {
		still := q.now() - time.Duration(q.moved.Load())
		if still >= q.stall {
			return false
		}
		q.waiting.Add(1)
		t := time.AfterFunc(q.stall-still, q.wake)
		q.space.Wait()
		t.Stop()
		q.waiting.Add(-1)
	}
	return true
}

func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.space.Broadcast()
}

// lose counts frames that will never be written. Called with the lock held.
func (q *queue) lose(n uint64) {
	q.dropped += n
	q.lost.Add(n)
}

// take gives the consumer all that is queued, in exchange for an empty slice.
func (q *queue) take(empty []item) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = empty[:0]
	q.wakeAt = 0
	return items
}

// sleep tells producers to wake the consumer for whatever comes, unless there
// is something to do already.
func (q *queue) sleep() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) > 0 {
		return false
	}
	q.wakeAt = 1
	return true
}

// gather tells producers to wake the consumer when there is enough to do,
// unless there is already.
func (q *queue) gather() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes.Load() >= enough {
		return false
	}
	q.wakeAt = enough
	return true
}

// done is called by the consumer when it is through with cost bytes.
func (q *queue) done(cost int64) {
	q.bytes.Add(-cost)
	q.progress()
}

// progress notes that the consumer is moving.
func (q *queue) progress() {
	q.moved.Store(int64(q.now()))
	if q.waiting.Load() > 0 {
		q.wake()
	}
}

// trailing takes what was lost after the last item.
func (q *queue) trailing() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.dropped
	q.dropped = 0
	return n
}
