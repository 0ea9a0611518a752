package checks

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// peer is what is known of the server across all client sessions.
type peer struct {
	modern   bool     // it answered as 2026-07-28 has it
	caps     *capset  // of server/discover
	legacy   *capset  // of the answers to initialize
	differ   bool     // which were not all the same
	versions []string // of server/discover
	refused  pos      // where it said that it has no server/discover
	told     bool     // that was reported
	rejected map[string]int64
}

// modernOnly reports whether the server says that it has no revision with a
// handshake.
func (p *peer) modernOnly() bool {
	for _, v := range p.versions {
		if r := mcp.Revision(v); !r.Known() || !r.Modern() {
			return false
		}
	}
	return len(p.versions) > 0
}

// refuse notes when a version was refused.
func (p *peer) refuse(c *ctx, version string) {
	if p.rejected == nil {
		p.rejected = map[string]int64{}
	}
	if _, ok := p.rejected[version]; !ok && len(p.rejected) < 64 {
		p.rejected[version] = c.ev.Frame.TS
	}
}

// serverCaps is what the server is known to offer in this session and
// revision, nil when that is not known.
func (c *ctx) serverCaps() *capset {
	if c.rev == R5 {
		return c.e.peer.caps
	}
	switch {
	case !c.rev.within(Legacy):
		return nil
	case c.cl.shake.done:
		return c.cl.server
	case c.http() && c.rec.MCPSession == "" && !c.e.peer.differ:
		return c.e.peer.legacy // without session ids a client may use several connections
	}
	return nil
}

// isStream reports whether the frame came as a server-sent event.
func (c *ctx) isStream() bool {
	if c.x == nil || c.c2s() {
		return false
	}
	return c.x.stream || c.facts().SSE != nil || strings.HasPrefix(media(c.facts().ContentType), "text/event-stream")
}

// isJSONAnswer reports whether the frame is the body of an HTTP response that
// is known to be JSON.
func (c *ctx) isJSONAnswer() bool {
	return c.rec.Status > 0 && media(c.facts().ContentType) == "application/json" && c.rec.Direction == capture.S2C
}
