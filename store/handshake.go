package store

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Metadata keys of a request from 2026-07-28 on (basic/index#_meta).
const (
	metaVersion    = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo = "io.modelcontextprotocol/clientInfo"
	metaServerInfo = "io.modelcontextprotocol/serverInfo"
)

// handshake keeps who talks to whom and in which revision: from initialize and
// its answer, or from the metadata of each request and result.
func (a *Appender) handshake(ev *Event, cl *client) {
	info := &cl.info
	switch {
	case ev.Msg.Kind == wire.Request && string(ev.Msg.Method) == mcp.Initialize:
		info.SawStart = true
		info.Client, info.ClientVersion = implementation(wire.Get(ev.Msg.Params, "clientInfo"), info.Client, info.ClientVersion)
	case ev.Msg.Kind == wire.Request:
		meta := wire.Get(ev.Msg.Params, "_meta")
		if meta == nil {
			return
		}
		if v := wire.GetString(meta, metaVersion); v != "" {
			info.Revision = v
		}
		info.Client, info.ClientVersion = implementation(wire.Get(meta, metaClientInfo), info.Client, info.ClientVersion)
	case ev.Msg.Kind == wire.Result && a.name(ev.Op.method) == mcp.Initialize:
		if v := wire.GetString(ev.Msg.Result, "protocolVersion"); v != "" {
			info.Revision = v
		}
		info.Server, info.ServerVersion = implementation(wire.Get(ev.Msg.Result, "serverInfo"), info.Server, info.ServerVersion)
	case ev.Msg.Kind == wire.Result && info.Server == "":
		info.Server, info.ServerVersion = implementation(wire.Get(ev.Msg.Result, "_meta", metaServerInfo), "", "")
	}
}

// implementation reads name and version of an Implementation object; what is
// missing stays as it was.
func implementation(v []byte, name, version string) (string, string) {
	if n := wire.GetString(v, "name"); n != "" {
		return n, wire.GetString(v, "version")
	}
	return name, version
}
