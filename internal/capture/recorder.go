package capture

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Bounds of the recorder, in bytes and time.
const (
	DefaultMaxFrame = 16 << 20               // longest copy of a frame
	Backlog         = 32 << 20               // between passing on and writing
	Stall           = 250 * time.Millisecond // after which frames are lost, not traffic held up
)

// How the recorder's goroutine works: it writes at once when it was idle, then
// gathers for linger or until there is enough to be worth it, so that busy
// traffic is not disturbed by waking it for each frame. It goes idle after a
// few quiet rounds. Unless much is queued it lets others run after every burst:
// on a machine with few cores the next frame may be waiting for this one.
const (
	linger     = 10 * time.Millisecond
	enough     = 1 << 20 // bytes
	quietTurns = 5
	burst      = 16 << 10 // bytes
	flushSize  = 64 << 10 // bytes
)

// Options say what to record and where.
type Options struct {
	File      FileOptions
	Label     string
	Transport Transport
	Meta      MetaInfo
	MaxFrame  int // bytes of a frame that are kept; 0 means DefaultMaxFrame
	Redact    Redactor
	Backlog   int64         // 0 means Backlog
	Stall     time.Duration // 0 means Stall
	Clock     Clock
	Warn      func(string) // told once of each kind of trouble with the log; never nil
}

// Clock is where time comes from. Since is monotonic.
type Clock interface {
	Now() time.Time
	Since(time.Time) time.Duration
}

// Recorder writes one session to its log. Streams and Record are safe for
// concurrent use; a frame's place in the log is the order in which Took and
// Record were called. Memory is bounded: the backlog, one frame of MaxFrame
// bytes a stream, and one line.
type Recorder struct {
	opts   Options
	queue  *queue
	pool   slabPool
	start  time.Time
	closed chan struct{}
	work   sync.WaitGroup
	out    *recording

	mu  sync.Mutex
	end *EndInfo
}

// NewRecorder opens the log and starts the goroutine that writes it; Close
// ends both. A log that cannot be opened is no error: traffic must go on, so
// the recorder says so through Warn and tries again.
func NewRecorder(opts Options) *Recorder {
	if opts.MaxFrame == 0 {
		opts.MaxFrame = DefaultMaxFrame
	}
	if opts.Backlog == 0 {
		opts.Backlog = Backlog
	}
	if opts.Stall == 0 {
		opts.Stall = Stall
	}
	r := &Recorder{opts: opts, start: opts.Clock.Now(), closed: make(chan struct{})}
	r.pool.max = int(opts.Backlog/SlabSize) + idleSlabs
	r.queue = newQueue(opts.Backlog, opts.Stall, func() time.Duration { return opts.Clock.Since(r.start) })
	r.out = newRecording(r)
	r.work.Add(1)
	go r.run()
	return r
}

// SessionID is the id of the session.
func (r *Recorder) SessionID() string { return r.opts.File.SessionID }

// Path is where the log was to be written when the recorder started.
func (r *Recorder) Path() string { return r.out.file.path }

// Stream makes the way into the log for one direction of a byte stream.
func (r *Recorder) Stream(dir Direction) *Stream {
	return &Stream{dir: dir, queue: r.queue, pool: &r.pool, lines: wire.Splitter{Max: r.opts.MaxFrame}}
}

// Record takes a whole frame. It may wait while the backlog is full and
// moving; when the recorder stands still the frame is counted as lost.
func (r *Recorder) Record(d *Draft) {
	q := r.queue
	cost := int64(len(d.Body)) + itemCost
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.admit(cost) {
		q.lose(1)
		return
	}
	q.push(item{draft: d, event: evFrame}, cost)
}

// Close writes what is queued and the last line of the log, and waits for
// that as long as the log can be written. It returns how many frames the
// recorder lost.
func (r *Recorder) Close(end EndInfo) (lost uint64) {
	r.mu.Lock()
	first := r.end == nil
	if first {
		r.end = &end
	}
	r.mu.Unlock()
	if first {
		close(r.closed)
	}
	r.work.Wait()
	return r.queue.lost.Load()
}

// run is the recorder's goroutine.
func (r *Recorder) run() {
	defer r.work.Done()
	w := r.out
	w.begin()
	var items []item
	quiet := 0
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for {
		items = r.queue.take(items)
		w.write(items)
		clear(items)
		if len(items) > 0 {
			quiet = 0
		} else {
			quiet++
		}
		if quiet > quietTurns && r.queue.sleep() {
			r.pool.trim()
			select {
			case <-r.queue.work:
				quiet = 0
				continue // the first frame after a pause is written at once
			case <-r.closed:
			}
		} else if r.queue.gather() {
			timer.Reset(linger)
			select {
			case <-timer.C:
				continue
			case <-r.queue.work:
				continue
			case <-r.closed:
			}
		} else {
			continue
		}
		w.write(r.queue.take(nil))
		w.finish(r.end, r.queue.trailing())
		return
	}
}

// recording is the recorder's side of the queue: it turns items into lines.
type recording struct {
	r       *Recorder
	queue   *queue
	file    *logFile
	redact  Redactor
	scratch []byte // reused by the redactor

	buf     []byte // whole lines, not yet written
	records uint64 // frames in buf
	seq     uint64 // of the newest line
	written uint64 // of the newest line that is in the file
	ts      time.Duration
	dropped uint64 // lost, and not yet said on a line
	frames  uint64 // c2s, s2c and stderr lines so far
	warned  bool
}

func newRecording(r *Recorder) *recording {
	return &recording{r: r, queue: r.queue, file: newLogFile(r.opts.File), redact: r.opts.Redact}
}

// begin writes the first line of the log.
func (w *recording) begin() {
	w.meta()
	w.flush()
}

func (w *recording) meta() {
	info := w.r.opts.Meta
	info.Segment = w.file.segment
	w.emit(&Record{Direction: Meta, Raw: info.appendJSON(nil)})
}

func (w *recording) write(items []item) {
	done := 0
	for i := range items {
		w.item(&items[i])
		if done += len(items[i].data) + itemCost; done >= burst {
			done = 0
			if w.queue.bytes.Load() < enough {
				yield()
			}
		}
		if len(w.buf) >= flushSize {
			w.flush()
		}
	}
	w.flush()
}

func (w *recording) item(it *item) {
	w.ts = it.ts
	w.seq += it.dropped
	w.dropped += it.dropped
	switch it.event {
	case evChunk:
		it.stream.lines.Feed(it.data, func(l wire.Line) { w.line(it.stream, l) })
		it.slab.release()
	case evClose:
		it.stream.lines.Close(func(l wire.Line) { w.line(it.stream, l) })
	case evAbort:
		it.stream.lines.Drop()
	case evFrame:
		w.draft(it.draft)
	}
	cost := int64(len(it.data)) + itemCost
	if it.draft != nil {
		cost += int64(len(it.draft.Body))
	}
	w.queue.done(cost)
}

func (w *recording) line(s *Stream, l wire.Line) {
	rec := Record{Direction: s.dir}
	if l.EOL != wire.LF {
		rec.EOL = l.EOL.String()
	}
	w.frame(&rec, l.Bytes, l.Size, false)
}

func (w *recording) draft(d *Draft) {
	rec := d.Record
	if w.redact != nil {
		w.redactFacts(&rec)
	}
	if d.Body == nil {
		w.emit(&rec)
		return
	}
	size := max(d.Size, int64(len(d.Body)))
	body := d.Body[:min(len(d.Body), w.r.opts.MaxFrame)]
	w.frame(&rec, body, size, d.AllowFlow)
}

// redactFacts takes secrets out of the routing headers, which mirror the body.
func (w *recording) redactFacts(rec *Record) {
	if out, changed := w.redact.Header("Mcp-Name", rec.MCPName); changed {
		rec.MCPName, rec.Redacted = out, true
	}
	for i, h := range rec.MCPParamHeaders {
		if out, changed := w.redact.Header(h.Name, h.Value); changed {
			rec.MCPParamHeaders[i] = ParamHeader{h.Name, out, true}
			rec.Redacted = true
		}
	}
	if rec.Auth != nil && rec.Auth.JWT != nil {
		w.redactClaims(rec)
	}
}

// redactClaims takes secrets out of what is known of a token.
func (w *recording) redactClaims(rec *Record) {
	r, ok := w.redact.(ClaimRedactor)
	if !ok {
		return
	}
	j := rec.Auth.JWT
	claim := func(name string, v *string) {
		if out, changed := r.Claim(name, *v); changed {
			*v, rec.Redacted = out, true
		}
	}
	claim("iss", &j.Iss)
	claim("scope", &j.Scope)
	claim("sub", &j.Sub)
	for i := range j.Aud {
		claim("aud", &j.Aud[i])
	}
}

// emit numbers a record and appends its line to the buffer.
func (w *recording) emit(rec *Record) {
	if rec.Direction.IsFrame() {
		if w.file.full(len(w.buf)) {
			w.flush()
			if w.file.next() {
				w.meta()
			}
		}
		w.frames++
		w.records++
		rec.Dropped, w.dropped = w.dropped, 0
	}
	w.seq++
	rec.SessionID, rec.Label, rec.Transport = w.r.opts.File.SessionID, w.r.opts.Label, w.r.opts.Transport
	rec.Seq = w.seq
	rec.TS = w.r.start.Add(w.ts)
	w.buf = AppendRecord(w.buf, rec)
}

// flush writes the buffer and stays with it while the log cannot be written:
// the backlog takes what comes meanwhile, up to its bound.
func (w *recording) flush() {
	if len(w.buf) == 0 {
		return
	}
	headed := false
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		fresh, err := w.file.write(w.buf)
		if fresh {
			if !headed {
				headed = true
				w.restart()
			}
			continue
		}
		if err == nil {
			break
		}
		if !w.warned {
			w.warned = true
			w.r.opts.Warn(fmt.Sprintf("cannot write the session log: %v; traffic goes on, recording is taken up again when it works", err))
		}
		if !w.pause(wait) {
			w.queue.lost.Add(w.records)
			w.dropped += w.records
			break
		}
	}
	w.buf, w.records, w.written = w.buf[:0], 0, w.seq
	if cap(w.buf) > 4<<20 {
		w.buf = nil
	}
	w.queue.progress()
}

// restart puts a meta line in front of what is to be written: the log was
// taken away, and a new file begins. The line takes the number before the
// first of the buffer, which went with the old file, so that numbers rise.
func (w *recording) restart() {
	lines, last := w.buf, w.seq
	w.buf, w.seq = nil, w.written
	if w.seq > 0 {
		w.seq--
	}
	w.meta()
	w.buf, w.seq = append(w.buf, lines...), last
}

// lastTries bounds how long Close waits for a log that cannot be written.
const lastTries = 2 * time.Second

// pause waits before the next try and reports whether there is to be one.
func (w *recording) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.r.closed:
	}
	if w.file.giveUp.IsZero() {
		w.file.giveUp = w.r.opts.Clock.Now().Add(lastTries)
	}
	if w.r.opts.Clock.Now().After(w.file.giveUp) {
		return false
	}
	<-t.C
	return true
}

// finish writes the last line and closes the file.
func (w *recording) finish(end *EndInfo, dropped uint64) {
	w.seq += dropped
	w.dropped += dropped
	w.ts = max(w.ts, w.queue.now())
	info := *end
	info.Frames, info.Dropped = w.frames, w.queue.lost.Load()
	w.emit(&Record{Direction: End, Raw: info.appendJSON(nil), Dropped: w.dropped})
	w.flush()
	w.file.close()
}
