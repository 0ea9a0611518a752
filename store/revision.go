package store

import (
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// RevisionSource says how the revision of a frame is known.
type RevisionSource uint8

// How a revision is known, the best evidence last.
const (
	RevUnknown    RevisionSource = iota
	RevInferred                  // a lower bound, from features that are used or from what servers are to assume
	RevNegotiated                // by the handshake of this client session
	RevStated                    // in the frame itself, its request, or its header
)

// String is the word for it.
func (s RevisionSource) String() string {
	return [...]string{"unknown", "inferred", "negotiated", "stated"}[s]
}

// revision packs a revision and its source into 32 bits: YYYYMMDD below, the
// source above.
type revision uint32

func packRevision(r mcp.Revision, how RevisionSource) revision {
	if !r.Known() {
		return 0
	}
	n := revision(0)
	for _, c := range []byte(r) {
		if c != '-' {
			n = n*10 + revision(c-'0')
		}
	}
	return n | revision(how)<<29
}

func (r revision) unpack() (mcp.Revision, RevisionSource) {
	n := r & (1<<29 - 1)
	if n == 0 {
		return "", RevUnknown
	}
	return mcp.Revision(fmt.Sprintf("%04d-%02d-%02d", n/10000, n/100%100, n%100)), RevisionSource(r >> 29)
}

// modern reports whether the revision is 2026-07-28 or later.
func (r revision) modern() bool { return r&(1<<29-1) >= 20260728 }

// Revision is the revision that the frame follows, and how that is known.
func (f *Frame) Revision() (mcp.Revision, RevisionSource) { return f.rev.unpack() }

// Revision is the revision of the operation's request, of initialize that of
// its answer.
func (o *Operation) Revision() (mcp.Revision, RevisionSource) { return o.rev.unpack() }

// Modern reports whether the operation follows 2026-07-28 or a later revision.
func (o *Operation) Modern() bool { return o.rev.modern() }

// revisionOf finds the revision of a frame that is no response: a revision
// belongs to the frame, not to the connection, since one process may serve
// clients of both eras (versioning#dual-era).
func (a *Appender) revisionOf(ev *Event, cl *client, x *exchange) revision {
	meta := wire.Get(ev.Msg.Params, "_meta")
	if ev.Frame.Kind == KindRequest {
		if v := wire.GetString(meta, mcp.MetaVersion); v != "" {
			return packRevision(mcp.Revision(v), RevStated)
		}
		if string(ev.Msg.Method) == mcp.Initialize {
			return packRevision(mcp.Revision(wire.GetString(ev.Msg.Params, "protocolVersion")), RevStated)
		}
	}
	if r := a.revisionByTie(ev, cl, x, meta); r != 0 {
		return r
	}
	if v := ev.Rec.MCPProtocolVersion; v != "" {
		return packRevision(mcp.Revision(v), RevStated)
	}
	if cl.negotiated != 0 {
		return cl.negotiated
	}
	return inferRevision(ev)
}

// revisionByTie takes the revision from the request that a notification of the
// server belongs to.
func (a *Appender) revisionByTie(ev *Event, cl *client, x *exchange, meta []byte) revision {
	if ev.Frame.Kind != KindNotification || ev.Rec.Direction != capture.S2C {
		return 0
	}
	if x != nil && x.rev != 0 {
		return x.rev
	}
	if id := wire.Get(meta, mcp.MetaSubscription); id != nil {
		if open := cl.open[opKey{true, wire.ParseID(id)}]; len(open) > 0 {
			return a.peek(open[0]).rev
		}
		return packRevision(mcp.R5, RevInferred)
	}
	if token := wire.Get(ev.Msg.Params, "progressToken"); token != nil {
		if i, ok := cl.token[tokenKey{true, wire.ParseID(token)}]; ok {
			return a.peek(i).rev
		}
	}
	return 0
}

// inferRevision gives a lower bound where the capture holds no handshake.
func inferRevision(ev *Event) revision {
	infer := func(r mcp.Revision) revision { return packRevision(r, RevInferred) }
	switch string(ev.Msg.Method) {
	case mcp.Discover, mcp.Listen, mcp.Acknowledged, mcp.TasksUpdate, mcp.TasksNote:
		return infer(mcp.R5)
	case mcp.TaskStatus, mcp.TasksResult, mcp.TasksList, mcp.ElicitComplete:
		return infer(mcp.R4)
	case mcp.Elicit:
		return infer(mcp.R3)
	}
	switch {
	case wire.Get(ev.Msg.Result, "resultType") != nil:
		return infer(mcp.R5)
	case wire.Get(ev.Msg.Result, "structuredContent") != nil:
		return infer(mcp.R3)
	case ev.Rec.Transport == capture.HTTP:
		return infer(mcp.R2) // what a server is to assume without the header (transports, 2025-06-18 and 2025-11-25)
	}
	return 0
}
