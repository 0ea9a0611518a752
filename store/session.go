package store

import (
	"sync/atomic"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// Session is the index of one session log. Its methods may be called from any
// goroutine while its Appender goes on.
type Session struct {
	ID     string
	Path   string // of the first segment of its log
	Origin string // host that the log comes from, "" for this one

	recorded string // its id in the log, where that is not ID

	frames  vector[Frame]
	peaks   vector[int64] // of each chunk of frames: the latest time before it
	ops     vector[atomic.Pointer[Operation]]
	elicits vector[atomic.Pointer[Elicitation]]
	links   vector[uint32] // of each frame: index + 1 of the frame before it of the same operation
	conns   vector[uint32] // of each frame: its connection; HTTP only
	changes vector[OpIndex]
	marks   marks
	tools   tools
	names   *names
	connIDs *names
	sum     atomic.Pointer[Summary]

	results results      // of viewers' queries
	pulse   atomic.Int64 // a time at which the session was still going on, nanoseconds since 1970

	version atomic.Uint64
	store   *atomic.Uint64 // version of the Store that the session is in; nil for none
}

// Summary is what is known of a session as a whole. A published one never
// changes.
type Summary struct {
	Label     string
	Transport capture.Transport
	Started   time.Time // of the first line
	Newest    time.Time // of the newest line
	Activity  Activity
	Meta      capture.MetaInfo
	SawMeta   bool
	Ended     bool // the log has its last line
	End       capture.EndInfo
	Clients   []ClientInfo
	Listings  []Listing // the newest whole walk of each list method
	Ladders   []*Ladder // attempts to get authorization, in the order in which they began

	Frames  [capture.End + 1]uint64 // lines by direction
	Calls   Counts
	Repeats uint64 // frames with the flag Repeat
	Size    int64  // bytes of the log that were read
	Total   int64  // bytes of the log on disk before it was indexed; 0 when not known
	Loaded  bool   // all there was of the log has been read; only a hub says so
	Missing uint64
	Dropped uint64 // of Missing, what the recorder says it lost

	MoreQuestions uint64 // that the ledger of elicitations had no room for

	Problems     []capture.Problem // log lines that cannot be read, the first ones
	ProblemCount int
	Torn         bool // the log ends inside a line
	Filtered     bool // a filtered copy: rules that need completeness are silent
}

// Counts are the operations of a session by state. A late answer leaves an
// operation cancelled.
type Counts struct{ Total, OK, Failed, Cancelled, Pending uint64 }

// Peers are the clients, for showing: those without a session that say the same
// of themselves are one. Since 2026-07-28 each request may come on a connection
// of its own, and a connection is all that tells such clients apart.
func (s *Summary) Peers() []ClientInfo {
	type says struct{ name, version, caps, revision string }
	var out []ClientInfo
	first := map[says]int{}
	for i := range s.Clients {
		c := &s.Clients[i]
		same := says{c.Client, c.ClientVersion, c.ClientCaps, c.Revision}
		k, known := first[same]
		if !c.Session && !known {
			first[same] = len(out)
		}
		switch {
		case c.Session || !known:
			out = append(out, *c)
		case out[k].ServerFrame == 0 && c.ServerFrame > 0:
			out[k].Server, out[k].ServerVersion, out[k].ServerCaps, out[k].ServerFrame = c.Server, c.ServerVersion, c.ServerCaps, c.ServerFrame
		case out[k].Server == "":
			out[k].Server, out[k].ServerVersion = c.Server, c.ServerVersion
		}
	}
	return out
}

// FrameTotal is the number of lines that hold or stand for what crossed the wire.
func (s *Summary) FrameTotal() uint64 {
	return s.Frames[capture.C2S] + s.Frames[capture.S2C] + s.Frames[capture.Stderr]
}

// Summary returns the newest summary; it is never nil.
func (s *Session) Summary() *Summary { return s.sum.Load() }

// Version changes with every publish that holds something new.
func (s *Session) Version() uint64 { return s.version.Load() }

// Len is the number of frames.
func (s *Session) Len() uint32 { return s.frames.Len() }

// Frame returns a row; the caller does not change it.
func (s *Session) Frame(i uint32) *Frame { return s.frames.read(i) }

// OpLen is the number of operations.
func (s *Session) OpLen() OpIndex { return OpIndex(s.ops.Len()) }

// Op returns the newest version of an operation; the caller does not change it.
func (s *Session) Op(i OpIndex) *Operation { return s.ops.read(uint32(i)).Load() }

// Method is the name of the frame's method; of a response, that of the request
// it was paired with.
func (s *Session) Method(f *Frame) string { return *s.names.list.read(f.method) }

// OpMethod is the method of an operation.
func (s *Session) OpMethod(o *Operation) string { return *s.names.list.read(o.method) }

// OpName is what the operation addresses: a tool, a prompt, a resource.
func (s *Session) OpName(o *Operation) string { return *s.names.list.read(o.name) }

// Ref is where in the log the frame stands: with Path, what capture.Bodies
// needs to read it again.
func (s *Session) Ref(f *Frame) capture.Ref {
	return capture.Ref{Segment: int(f.segment), Offset: f.Offset, Length: int(f.Length), Sub: int(f.sub)}
}
