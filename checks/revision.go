package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// The revision is a property of the frame, not of the connection: one process
// or endpoint may serve several at once (2026-07-28, basic/versioning). What
// is not known stays a set, and only rules that hold in all of it are run.

// revise works out the revision of the frame.
func (c *ctx) revise() {
	switch c.ev.Msg.Kind {
	case wire.Request:
		c.rev, c.sure = c.ofRequest()
	case wire.Result, wire.Error:
		c.rev, c.sure = c.ofResponse()
	case wire.Notification, wire.Other:
		c.rev, c.sure = c.ofNotification()
		if c.rev == AnyRev {
			c.ofAttempt()
		}
	}
}

// ofAttempt takes the revision of a refusal from the request that it answers,
// where a log without exchange numbers ties the two by their connection.
func (c *ctx) ofAttempt() {
	if t := c.ev.Attempt; t != nil && t.Stated != "" {
		c.rev, c.sure = revisionsOf(t.Stated), true
	}
}

func (c *ctx) ofRequest() (Revisions, bool) {
	if c.c2s() {
		if v := c.meta.get(mcp.MetaVersion); v.isString() {
			return R5, mcp.Revision(v.str()).Known()
		}
		if c.meta.get(mcp.MetaClientCaps).ok() {
			return R5, true
		}
		if r := c.ofHeader(); r != 0 {
			return r, true
		}
	} else if c.x != nil && c.x.rev != 0 && !c.x.guessed {
		return c.x.rev, c.x.sure
	}
	if c.method == mcp.Initialize {
		return c.ofOffer(), true
	}
	return c.ofClient()
}

// ofOffer is the set that an initialize request may belong to. Over HTTP a
// client that offers 2025-03-26 or later POSTs as those revisions have it.
func (c *ctx) ofOffer() Revisions {
	offer := mcp.Revision(c.params.get("protocolVersion").str())
	if c.http() && offer >= mcp.R2 && offer.Known() && !c.e.web.oldSSE {
		return Sessions
	}
	return Legacy
}

// ofHeader is what MCP-Protocol-Version says, 0 when it says nothing.
func (c *ctx) ofHeader() Revisions {
	if v := mcp.Revision(c.rec.MCPProtocolVersion); v.Known() {
		return revisionsOf(v)
	}
	return 0
}

// ofClient is what is known of the client session.
func (c *ctx) ofClient() (Revisions, bool) {
	cl := c.cl
	switch {
	case cl.negotiated != 0 && !(cl.modern && c.s2c()):
		return cl.negotiated, true
	case cl.legacy && !cl.modern:
		return Legacy, true
	case cl.modern && !cl.legacy && c.e.peer.modern:
		return R5, false // both sides speak it; a client that probes proves nothing of the server
	case c.rec.Transport == capture.HTTP && c.rec.MCPSession != "" && !cl.modern:
		return Sessions, false
	}
	return AnyRev, false
}

func (c *ctx) ofResponse() (Revisions, bool) {
	if c.req == nil {
		if c.c2s() {
			if r := c.ofHeader(); r != 0 {
				return r, true
			}
		}
		return c.ofClient()
	}
	if c.req.method == mcp.Initialize && c.result.ok() {
		if v := mcp.Revision(c.result.get("protocolVersion").str()); v.Known() && !v.Modern() {
			return revisionsOf(v), true
		}
	}
	return c.req.rev, c.req.sure
}

func (c *ctx) ofNotification() (Revisions, bool) {
	if c.c2s() {
		if r := c.ofHeader(); r != 0 {
			return r, true
		}
		if c.method == mcp.Initialized {
			if c.cl.negotiated != 0 {
				return c.cl.negotiated, true
			}
			return Legacy, true
		}
		return c.ofClient()
	}
	if c.meta.get(mcp.MetaSubscription).ok() {
		return R5, true
	}
	if c.x != nil && c.x.rev != 0 && !c.x.guessed {
		return c.x.rev, c.x.sure
	}
	if c.ev.Op != nil {
		if r := c.e.open[c.ev.OpIndex]; r != nil {
			return r.rev, r.sure
		}
	}
	return c.ofClient()
}
