package sink

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Bounds, unless Options say otherwise.
const (
	DefaultQueue    = 65536
	DefaultFlush    = 5 * time.Second
	DefaultInterval = time.Second
	batchSize       = 512
	metricsEvery    = 30 * time.Second
	longestPause    = 15 * time.Second // between two tries to reach a collector
	maxInstances    = 200              // servers with metrics of their own
)

// Options say where to send what.
type Options struct {
	Endpoint Endpoint
	Headers  map[string]string
	Env      Env
	Logs     bool          // frames as well
	Instance string        // what tells this exporter's metrics from those of others
	Version  string        // of this program
	Queue    int           // operations that wait at most, and frames; 0 means DefaultQueue
	Interval time.Duration // between two batches, so that they are worth it; 0 means DefaultInterval
	Flush    time.Duration // for what is left when Run is told to end; 0 means DefaultFlush
	Now      func() time.Time
	Warn     func(string) // told once of each kind of trouble
}

// Delivery is what became of the data of one kind.
type Delivery struct {
	Kind             string // operations, frames
	Sent, Lost, Left uint64 // Left waits
}

// Sink sends what its followers queue. Run does the work.
type Sink struct {
	opts   Options
	out    exporters
	meters *meters
	ending <-chan struct{} // closed when Run is told to end; nil once that was noticed

	mu     sync.Mutex
	queues [kinds]queue
	ended  []ended // sessions to be counted
	silent bool    // a collector that does not answer was complained about
	why    string  // the newest reason for a loss
	said   map[string]bool
}

// kind is what a queue holds.
type kind uint8

const (
	operations kind = iota
	frames
	kinds
)

func (k kind) String() string { return [...]string{"operations", "frames"}[k] }

// place is what is queued: an operation or a frame of a session.
type place struct {
	f *Follower
	i uint32
}

// queue is what waits of one kind. Guarded by Sink.mu.
type queue struct {
	list       []place
	sent, lost uint64
}

// New makes a Sink. No data is sent before Run.
func New(ctx context.Context, o Options) (*Sink, error) {
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Flush <= 0 {
		o.Flush = DefaultFlush
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	k := &Sink{opts: o, said: map[string]bool{}}
	var err error
	if k.out, err = newExporters(ctx, &k.opts); err != nil {
		return nil, fmt.Errorf("set up the exporters for %s: %w", o.Endpoint, err)
	}
	if k.out.metrics != nil {
		k.meters = newMeters(&k.opts)
	}
	return k, nil
}

// push queues a place, or counts it as lost.
func (k *Sink) push(what kind, p place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	q := &k.queues[what]
	if len(q.list) >= k.opts.Queue {
		q.lost++
		k.why = "the queue was full"
		return
	}
	q.list = append(q.list, p)
}

// peek is the next batch of a kind, which stays queued.
func (k *Sink) peek(what kind) []place {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.queues[what].list
	return list[:min(len(list), batchSize):min(len(list), batchSize)]
}

// settle takes the first n places off the queue: all but lost were sent.
func (k *Sink) settle(what kind, n int, lost uint64, why string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	q := &k.queues[what]
	if q.list = q.list[n:]; len(q.list) == 0 {
		q.list = nil
	}
	lost = min(lost, uint64(n))
	q.sent += uint64(n) - lost
	q.lost += lost
	if why != "" {
		k.why = why
	}
}

// Deliveries says what became of all data so far.
func (k *Sink) Deliveries() []Delivery {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []Delivery
	for what := range kinds {
		if what == frames && k.out.logs == nil {
			continue
		}
		q := &k.queues[what]
		out = append(out, Delivery{what.String(), q.sent, q.lost, uint64(len(q.list))})
	}
	return out
}

// Run sends until ctx ends, and then, for the time to flush, what is left. It
// says what could not be sent.
func (k *Sink) Run(ctx context.Context) error {
	// A batch that is under way when ctx ends is not cut off: it would be sent twice.
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	release := context.AfterFunc(ctx, func() {
		flush := time.NewTimer(k.opts.Flush)
		defer flush.Stop()
		select {
		case <-flush.C:
			cancel()
		case <-work.Done():
		}
	})
	defer release()
	k.ending = ctx.Done()
	tick := time.NewTicker(k.opts.Interval)
	defer tick.Stop()
	told := k.opts.Now()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			k.deliver(work)
			if now := k.opts.Now(); now.Sub(told) >= metricsEvery {
				told = now
				k.tellMetrics(work)
			}
		}
	}
	k.deliver(work)
	k.tellMetrics(work)
	stop, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancelStop()
	err := k.out.stop(stop)
	k.giveUp()
	if err != nil {
		return fmt.Errorf("end the exporters: %w", err)
	}
	return nil
}

// deliver sends all that is queued. It ends early only with ctx.
func (k *Sink) deliver(ctx context.Context) {
	for what := range kinds {
		for batch := k.peek(what); len(batch) > 0; batch = k.peek(what) {
			var send func(context.Context) error
			if what == frames {
				send, batch = k.records(batch)
			} else {
				send = k.spans(batch)
			}
			lost, why, err := k.send(ctx, uint64(len(batch)), send)
			if err != nil {
				return
			}
			k.settle(what, len(batch), lost, why)
		}
	}
}

// send hands a batch over, until it was taken, refused, or ctx ended.
func (k *Sink) send(ctx context.Context, size uint64, upload func(context.Context) error) (lost uint64, why string, err error) {
	pause := &backoff.ExponentialBackOff{
		InitialInterval: firstRetry, RandomizationFactor: backoff.DefaultRandomizationFactor,
		Multiplier: backoff.DefaultMultiplier, MaxInterval: longestPause,
	}
	pause.Reset()
	for {
		err := upload(ctx)
		switch what, left := judge(err); {
		case what == taken && left == 0:
			k.reached()
			return 0, "", nil
		case what == taken:
			k.warn(fmt.Sprintf("the OTLP endpoint %s leaves out a part of what it gets: %s", k.opts.Endpoint, plain(err)))
			return left, plain(err), nil
		case what == refused:
			k.warn(fmt.Sprintf("the OTLP endpoint %s refuses what it gets, which is not sent again: %s", k.opts.Endpoint, plain(err)))
			return size, plain(err), nil
		}
		if ctx.Err() != nil {
			return 0, "", ctx.Err()
		}
		k.unreached(plain(err))
		wait := time.NewTimer(pause.NextBackOff())
		select {
		case <-ctx.Done():
			wait.Stop()
			return 0, "", ctx.Err()
		case <-k.ending: // there is little time left
			wait.Stop()
			k.ending = nil
			pause.Reset()
		case <-wait.C:
		}
	}
}

// reached notes that the collector answers.
func (k *Sink) reached() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.silent = false
}

// unreached says, once, that it does not.
func (k *Sink) unreached(why string) {
	k.mu.Lock()
	said := k.silent
	k.silent, k.why = true, why
	k.mu.Unlock()
	if !said {
		k.warn(fmt.Sprintf("the OTLP endpoint %s cannot be reached; it is tried again, and nothing waits for it: %s", k.opts.Endpoint, why))
	}
}

// maxWarnings bounds what is said while it goes on.
const maxWarnings = 20

// warn tells of trouble: the same once, and no more than a few.
func (k *Sink) warn(text string) {
	k.mu.Lock()
	fresh := !k.said[text] && len(k.said) < maxWarnings
	if fresh {
		k.said[text] = true
	}
	k.mu.Unlock()
	if fresh {
		k.opts.Warn(text)
	}
}

// giveUp counts what is left as lost, and says what was not sent.
func (k *Sink) giveUp() {
	k.mu.Lock()
	var lost [kinds]uint64
	for what := range kinds {
		q := &k.queues[what]
		q.lost += uint64(len(q.list))
		q.list = nil
		lost[what] = q.lost
	}
	why := k.why
	k.mu.Unlock()
	for what, n := range lost {
		if n > 0 {
			k.opts.Warn(fmt.Sprintf("%d %s were not sent to the OTLP endpoint %s (%s); the session log has them", n, kind(what), k.opts.Endpoint, why))
		}
	}
}

// tellMetrics sends the metrics, which are totals: what is missed is in the
// next.
func (k *Sink) tellMetrics(ctx context.Context) {
	if k.meters == nil {
		return
	}
	for _, e := range k.ends() {
		k.meters.over(e)
	}
	for _, rm := range k.meters.collect(ctx) {
		err := k.out.metrics.Export(ctx, rm)
		if what, _ := judge(err); what == refused {
			k.warn(fmt.Sprintf("the OTLP endpoint %s refuses metrics, which are not sent any more: %s", k.opts.Endpoint, plain(err)))
			k.meters = nil
			return
		}
	}
}
