package store

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// handshake keeps who talks to whom and in which revision: from initialize and
// its answer, or from the metadata of each request and result.
func (a *Appender) handshake(ev *Event, cl *client) {
	info := &cl.info
	switch {
	case ev.Msg.Kind == wire.Request && string(ev.Msg.Method) == mcp.Initialize:
		info.SawStart = true
		info.Client, info.ClientVersion = implementation(wire.Get(ev.Msg.Params, "clientInfo"), info.Client, info.ClientVersion)
		a.clientCaps(info, ev, wire.Get(ev.Msg.Params, "capabilities"))
	case ev.Msg.Kind == wire.Request:
		meta := wire.Get(ev.Msg.Params, "_meta")
		v := wire.GetString(meta, mcp.MetaVersion)
		if v == "" {
			return
		}
		info.Revision, info.SawStart = v, true // there is no handshake to miss
		info.Client, info.ClientVersion = implementation(wire.Get(meta, mcp.MetaClientInfo), info.Client, info.ClientVersion)
		a.clientCaps(info, ev, wire.Get(meta, mcp.MetaClientCaps))
	case ev.Msg.Kind == wire.Result && a.name(ev.Op.method) == mcp.Initialize:
		if v := wire.GetString(ev.Msg.Result, "protocolVersion"); v != "" {
			info.Revision = v
			cl.negotiated = packRevision(mcp.Revision(v), RevNegotiated)
			ev.Op.rev, ev.Frame.rev = cl.negotiated, cl.negotiated
		}
		info.Server, info.ServerVersion = implementation(wire.Get(ev.Msg.Result, "serverInfo"), info.Server, info.ServerVersion)
		a.serverCaps(info, ev, wire.Get(ev.Msg.Result, "capabilities"))
	case ev.Msg.Kind == wire.Result:
		if a.name(ev.Op.method) == mcp.Discover {
			a.serverCaps(info, ev, wire.Get(ev.Msg.Result, "capabilities"))
		}
		if info.Server == "" {
			info.Server, info.ServerVersion = implementation(wire.Get(ev.Msg.Result, "_meta", mcp.MetaServerInfo), "", "")
		}
	}
}

// maxCaps bounds what is kept of a capabilities object, in bytes.
const maxCaps = 16 << 10

func (a *Appender) clientCaps(info *ClientInfo, ev *Event, caps []byte) {
	if caps == nil || len(caps) > maxCaps || string(caps) == info.ClientCaps {
		return
	}
	info.ClientCaps, info.ClientFrame = string(caps), ev.Index+1
}

func (a *Appender) serverCaps(info *ClientInfo, ev *Event, caps []byte) {
	if caps == nil || len(caps) > maxCaps || string(caps) == info.ServerCaps {
		return
	}
	info.ServerCaps, info.ServerFrame = string(caps), ev.Index+1
}

// implementation reads name and version of an Implementation object; what is
// missing stays as it was.
func implementation(v []byte, name, version string) (string, string) {
	if n := wire.GetString(v, "name"); n != "" {
		return n, wire.GetString(v, "version")
	}
	return name, version
}
