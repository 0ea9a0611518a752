package sink

import (
	"net/http"
	"strconv"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// maxLives bounds the MCP sessions of one log that are followed at a time;
// those that begin when there are more are not measured.
const maxLives = 10000

// maxEnded bounds the ends of sessions that wait to be counted.
const maxEnded = 10000

// life is an MCP session that was seen to begin.
type life struct {
	start    int64
	revision string
}

// ended is an MCP session that was seen to end.
type ended struct {
	s       *store.Session
	took    time.Duration
	attrs   []*commonpb.KeyValue
	failure string // why it ended, when that was an error
}

// lives finds out how long MCP sessions take: over stdio it is one, from the
// start of the server to its end. Over HTTP it goes from initialize to the
// answer to DELETE, or to the 404 that says it is gone; one that the proxy
// outlived without either has no end that could be told. Since 2026-07-28 there
// are no sessions over HTTP.
type lives struct {
	spoke   bool  // over stdio: a request was seen
	start   int64 // over stdio
	told    bool
	open    map[string]life   // over HTTP, by the hash of the session id
	closing map[uint64]string // exchanges that ask to end one

	op    store.OpIndex
	frame uint32
	inits []store.OpIndex // handshakes without an answer
}

func newLives() *lives {
	return &lives{open: map[string]life{}, closing: map[uint64]string{}}
}

// skip leaves out what a new index holds so far.
func (l *lives) skip(s *store.Session) { l.op, l.frame, l.inits = s.OpLen(), s.Len(), nil }

// look takes in what is new in the session of f, and notes what ended.
func (l *lives) look(f *Follower) {
	sum := f.s.Summary()
	if l.start == 0 {
		l.start = sum.Started.UnixNano()
	}
	if sum.Transport != capture.HTTP {
		l.spoke = l.spoke || f.s.OpLen() > 0
		if sum.Ended && l.spoke && !l.told {
			l.told = true
			l.end(f, life{l.start, revision(sum)}, sum.Newest.UnixNano(), failure(&sum.End))
		}
		return
	}
	for ; l.op < f.s.OpLen(); l.op++ {
		if o := f.s.Op(l.op); o.Client && f.s.OpMethod(o) == mcp.Initialize && len(l.inits) < maxLives {
			l.inits = append(l.inits, l.op)
		}
	}
	waiting := l.inits[:0]
	for _, i := range l.inits {
		if !l.begin(f, f.s.Op(i)) {
			waiting = append(waiting, i)
		}
	}
	l.inits = waiting
	for ; l.frame < f.s.Len(); l.frame++ {
		l.take(f, f.s.Frame(l.frame), l.frame)
	}
}

// begin notes the session that a handshake began. It reports whether there is
// nothing more to wait for.
func (l *lives) begin(f *Follower, o *store.Operation) bool {
	i, ok := o.Answer()
	if !ok {
		return o.State != store.Pending
	}
	rec, err := f.body(f.s, i)
	if err != nil || rec.MCPSession == "" || o.State != store.OK || len(l.open) >= maxLives {
		return true // it has no session id, or nobody can tell
	}
	rev, _ := o.Revision()
	l.open[rec.MCPSession] = life{o.Start, string(rev)}
	return true
}

// take looks for what ends a session: a DELETE that was taken, or a 404.
func (l *lives) take(f *Follower, fr *store.Frame, i uint32) {
	if len(l.open) == 0 {
		return
	}
	switch {
	case fr.Direction() == capture.C2S && fr.Kind == store.KindNone:
		rec, err := f.body(f.s, i)
		if err == nil && rec.HTTP != nil && rec.HTTP.Method == http.MethodDelete && rec.MCPSession != "" && len(l.closing) < maxLives {
			l.closing[fr.Exchange()] = rec.MCPSession
		}
	case fr.Direction() != capture.S2C || fr.Status == 0:
	case l.closing[fr.Exchange()] != "":
		if fr.Status < http.StatusMultipleChoices || fr.Status == http.StatusNotFound {
			l.close(f, l.closing[fr.Exchange()], fr.TS, "")
		}
		delete(l.closing, fr.Exchange())
	case fr.Status == http.StatusNotFound:
		if op, ok := fr.Op(); ok {
			if rec, err := f.body(f.s, f.s.Op(op).Request); err == nil {
				l.close(f, rec.MCPSession, fr.TS, "404")
			}
		}
	}
}

func (l *lives) close(f *Follower, session string, at int64, failure string) {
	if begun, ok := l.open[session]; ok {
		delete(l.open, session)
		l.end(f, begun, at, failure)
	}
}

// end queues an end to be counted, unless it is history.
func (l *lives) end(f *Follower, begun life, at int64, failure string) {
	if at < f.since || at < begun.start {
		return
	}
	attrs := otlp.Network(f.s)
	if begun.revision != "" {
		attrs = append(attrs, otlp.Text("mcp.protocol.version", begun.revision))
	}
	f.k.over(ended{f.s, time.Duration(at - begun.start), attrs, failure})
}

// over queues the end of a session.
func (k *Sink) over(e ended) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.meters != nil && len(k.ended) < maxEnded {
		k.ended = append(k.ended, e)
	}
}

// ends takes the ends that are queued.
func (k *Sink) ends() []ended {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := k.ended
	k.ended = nil
	return out
}

func revision(sum *store.Summary) string {
	if len(sum.Clients) == 0 {
		return ""
	}
	return sum.Clients[0].Revision
}

// failure is the error.type of a session over stdio: the server ended by
// itself, and not well. How it ends when it is told to is no failure.
func failure(end *capture.EndInfo) string {
	switch {
	case end.Reason != "server exited":
		return ""
	case end.Signal != "":
		return end.Signal
	case end.ExitCode != nil && *end.ExitCode != 0:
		return "exit_" + strconv.Itoa(*end.ExitCode)
	}
	return ""
}
