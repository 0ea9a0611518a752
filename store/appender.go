package store

import (
	"hash/maphash"
	"math"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Event is a record with all that the appender made of it, for an Observer.
// It is valid during the call.
type Event struct {
	Session *Session
	Item    *capture.Item
	Rec     *capture.Record // of Item
	Msg     *wire.Message   // zero when the record holds no message
	Frame   *Frame          // nil for meta and end lines
	Index   uint32          // of Frame
	Op      *Operation
	OpIndex OpIndex    // of Op, when Op is not nil
	Retries *Operation // what Op retries, when that is sure
	Task    *Operation // the call whose task the frame is about
	Failed  *FailedTask
	Client  int        // index of the client session
	Twin    *Operation // a request of the same id that is in flight, else nil
	Ladder  *Ladder    // that the answer belongs to, with it
	Attempt *Attempt   // the answer as part of Ladder
}

// Observer sees each record once, in the order of the log.
type Observer interface{ Observe(*Event) }

// Appender builds the index of one session. One goroutine uses it.
type Appender struct {
	s       *Session
	limits  Limits
	clients *clients
	sum     Summary
	observe Observer
	lastSeq uint64
	gap     bool                   // numbers are missing before the next frame
	peak    int64                  // the latest time of a frame
	dirty   map[OpIndex]*Operation // changed since the last Publish
	cursors map[OpIndex]string     // of list requests that go on with a page
	auth    authState
	args    map[OpIndex]uint64 // hashes of the arguments of open calls that may be retried
	seed    maphash.Seed
	scratch []byte

	dirtyElicits map[uint32]*Elicitation
	dirtyTools   map[uint32]*ToolStats
	marked       []Mark // since the last Publish
	fresh        bool   // there is something to publish

	event Event // of the record that is being appended
	msg   wire.Message
}

// NewSession makes the session whose log begins at path, and the one Appender
// that may fill it. observe may be nil.
func NewSession(id, path string, l Limits, observe Observer) (*Session, *Appender) {
	l = l.withDefaults()
	s := &Session{ID: id, Path: path, names: newNames(l), connIDs: newNames(l)}
	s.marks.rules = newNames(l)
	a := &Appender{
		s: s, limits: l, clients: newClients(l), observe: observe, seed: maphash.MakeSeed(),
		dirty: map[OpIndex]*Operation{}, cursors: map[OpIndex]string{}, args: map[OpIndex]uint64{}, dirtyElicits: map[uint32]*Elicitation{},
		dirtyTools: map[uint32]*ToolStats{}, fresh: true,
	}
	a.Publish()
	return s, a
}

// Append adds the next record of the log, or notes the problem that stands in
// its place. Records that are no frames (meta, end) change the summary only.
// Nothing is seen by readers before Publish.
func (a *Appender) Append(it *capture.Item) {
	a.fresh = true
	if it.Problem != nil {
		a.problem(it.Problem)
		return
	}
	rec := &it.Record
	a.note(rec, it)
	ev := &a.event // reused: an Observer may not keep it
	a.msg = wire.Message{}
	*ev = Event{Session: a.s, Item: it, Rec: rec, Msg: &a.msg}
	switch rec.Direction {
	case capture.Meta:
		a.meta(rec)
	case capture.End:
		a.sum.Ended = true
		a.sum.End = capture.ParseEnd(rec.Raw)
	case capture.C2S, capture.S2C, capture.Stderr:
		a.frame(ev)
	case capture.DirUnknown:
		return
	}
	if a.observe != nil {
		a.observe.Observe(ev)
	}
}

// problem keeps a line of the log that cannot be read.
func (a *Appender) problem(p *capture.Problem) {
	if p.Kind == capture.Torn {
		a.sum.Torn = true
	}
	a.sum.ProblemCount++
	if len(a.sum.Problems) < a.limits.Problems {
		a.sum.Problems = append(a.sum.Problems, *p)
	}
}

// note keeps the summary's clock, its gaps and its size.
func (a *Appender) note(rec *capture.Record, it *capture.Item) {
	if a.sum.Started.IsZero() {
		a.sum.Started, a.sum.Label, a.sum.Transport = rec.TS, rec.Label, rec.Transport
	}
	if rec.TS.After(a.sum.Newest) {
		a.sum.Newest = rec.TS
	}
	a.sum.Activity.add(rec.TS)
	a.sum.Frames[rec.Direction]++
	a.sum.Size += int64(it.Ref.Length) + 1
	if rec.Seq > a.lastSeq {
		if a.lastSeq > 0 || rec.Direction != capture.Meta && rec.Seq > 1 && a.sum.SawMeta {
			a.sum.Missing += rec.Seq - a.lastSeq - 1
			a.gap = a.gap || rec.Seq > a.lastSeq+1
		}
		a.lastSeq = rec.Seq
	}
	a.sum.Dropped += rec.Dropped
}

func (a *Appender) meta(rec *capture.Record) {
	if a.sum.SawMeta {
		return // of a later segment
	}
	a.sum.SawMeta = true
	a.sum.Meta = capture.ParseMeta(rec.Raw)
	a.sum.Filtered = a.sum.Meta.Filter != ""
}

// frame adds the row of a frame and ties it to its operation.
func (a *Appender) frame(ev *Event) {
	rec := ev.Rec
	if rec.Raw != nil && rec.Direction != capture.Stderr {
		*ev.Msg = wire.ParseMessage(rec.Raw)
	} else if rec.Truncated && rec.HasText && rec.Direction != capture.Stderr {
		*ev.Msg = wire.ParseMessage([]byte(rec.Text))
	}
	cl, x := a.clients.of(rec)
	ev.Client = int(cl.index)
	i, f := a.s.frames.grow()
	ev.Frame, ev.Index = f, i
	*f = Frame{
		Offset: ev.Item.Ref.Offset, TS: rec.TS.UnixNano(), Seq: rec.Seq,
		Length: uint32(ev.Item.Ref.Length), Size: clamp32(rec.WireSize()), Line: uint32(ev.Item.Line),
		exchange: uint32(rec.Exchange), Status: uint16(rec.Status), segment: uint16(ev.Item.Ref.Segment),
		sub: uint16(ev.Item.Ref.Sub), client: cl.index, Kind: kindOf(rec, ev.Msg), dir: rec.Direction, Flags: flagsOf(rec),
	}
	if a.gap {
		a.gap = false
		f.Flags |= Gap
	}
	a.peaked(i, f.TS)
	f.rev = a.revisionOf(ev, cl, x)
	kind := f.Kind
	if a.replayed(ev, cl, x) {
		f.Flags |= Replayed // it was seen when it came first
		kind = KindNone
	}
	switch kind {
	case KindRequest:
		a.request(ev, cl, x)
	case KindNotification:
		a.notification(ev, cl)
	case KindResult, KindError:
		a.response(ev, cl, x)
	case KindNone:
		if f.Has(StreamEnd) {
			a.streamEnd(ev, x)
		}
	case KindInvalid, KindStderr, KindBody:
	}
	a.elicitations(ev, cl)
	if ev.Op != nil {
		f.op = uint32(ev.OpIndex) + 1
		if a.name(ev.Op.method) == mcp.ToolsCall {
			f.Flags |= IsTool
		}
	}
	a.repeats(i, f)
	a.authorize(ev, x)
	a.tie(ev, x)
}

// repeats marks a notification that is one more of a kind.
func (a *Appender) repeats(i uint32, f *Frame) {
	if i == 0 || f.Kind != KindNotification {
		return
	}
	if p := a.s.frames.at(i - 1); p.Kind == f.Kind && p.method == f.method && p.op == f.op && p.dir == f.dir && p.client == f.client {
		f.Flags |= Repeat
		a.sum.Repeats++
	}
}

func (a *Appender) name(i uint32) string { return *a.s.names.list.at(i) }

func clamp32(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

func flagsOf(rec *capture.Record) Flags {
	var fl Flags
	set := func(f Flags, on bool) {
		if on {
			fl |= f
		}
	}
	set(Truncated, rec.Truncated)
	set(Redacted, rec.Redacted)
	set(Batch, rec.Batch)
	set(Gap, rec.Dropped > 0)
	set(NoEOL, rec.EOL == "none")
	set(Blank, rec.HasText && rec.Text == "" && !rec.Truncated)
	if rec.HTTP != nil {
		set(StreamEnd, rec.HTTP.End != "")
		set(StreamHead, rec.Direction == capture.S2C && !rec.HasBody() && rec.HTTP.End == "" && rec.Status > 0 && rec.Status < 300)
	}
	return fl
}
