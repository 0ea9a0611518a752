package play

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Request is the message as it would be sent with that id. Beside the id and a
// progress token, which are new, and the metadata that the revision demands on
// each request, it is what the log holds.
func (c *Call) Request(id int64) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), strconv.FormatInt(id, 10)...)
	b = append(b, `,"method":`...)
	b = wire.AppendString(b, c.Method)
	if p := c.sentParams(id); p != nil {
		b = append(b, `,"params":`...)
		b = append(b, p...)
	}
	return append(b, '}')
}

// Resume gives the call the requestState of an answer of this replay, in place
// of that of the recorded one (2026-07-28, basic/patterns/mrtr).
func (c *Call) Resume(state []byte) {
	if wire.TypeOf(c.Params) != wire.Object || wire.Get(c.Params, "requestState") == nil {
		return
	}
	c.Params = setMember(c.Params, "requestState", state)
	c.Notes = slices.DeleteFunc(c.Notes, func(n string) bool { return n == oldState })
}

func (c *Call) sentParams(id int64) []byte {
	p := c.Params
	if wire.TypeOf(p) != wire.Object {
		if p != nil || !c.Peer.Revision.Modern() {
			return p
		}
		p = []byte("{}")
	}
	meta := wire.Get(p, "_meta")
	next := meta
	if wire.TypeOf(meta) == wire.Object && wire.Get(meta, "progressToken") != nil {
		next = setMember(next, "progressToken", wire.AppendString(nil, "replay-"+strconv.FormatInt(id, 10)))
	}
	if c.Peer.Revision.Modern() && (meta == nil || !c.Edited && wire.TypeOf(meta) == wire.Object) {
		next = c.modernMeta(next)
	}
	if bytes.Equal(next, meta) {
		return p
	}
	return setMember(p, "_meta", next)
}

// modernMeta adds what every request has to carry from 2026-07-28 on
// (basic/index#_meta) and the captured one lacks.
func (c *Call) modernMeta(meta []byte) []byte {
	if meta == nil {
		meta = []byte("{}")
	}
	info := wire.AppendString([]byte(`{"name":`), c.Peer.Name)
	info = wire.AppendString(append(info, `,"version":`...), c.Peer.Version)
	for _, m := range []struct {
		name  string
		value []byte
	}{
		{mcp.MetaVersion, wire.AppendString(nil, string(c.Peer.Revision))},
		{mcp.MetaClientInfo, append(info, '}')},
		{mcp.MetaClientCaps, c.Peer.Capabilities},
	} {
		if wire.Get(meta, m.name) == nil {
			meta = setMember(meta, m.name, m.value)
		}
	}
	return meta
}

// setMember gives a copy of an object in which the member has that value; every
// other byte stays.
func setMember(object []byte, name string, value []byte) []byte {
	var out []byte
	from, found := 0, false
	m := wire.MembersOf(object)
	empty := true
	for m.Next() {
		empty = false
		if string(m.Key) != name {
			continue
		}
		found = true
		out = append(append(out, object[from:m.Start]...), value...)
		from = m.Start + len(m.Value)
	}
	if found {
		return append(out, object[from:]...)
	}
	end := bytes.LastIndexByte(object, '}')
	out = append(out, object[:end]...)
	if !empty {
		out = append(out, ',')
	}
	out = append(wire.AppendString(out, name), ':')
	return append(append(out, value...), object[end:]...)
}

// initialize is the request that opens a connection up to 2025-11-25
// (basic/lifecycle#initialization).
func (p *Peer) initialize(id int64) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), strconv.FormatInt(id, 10)...)
	b = append(b, `,"method":"initialize","params":{"protocolVersion":`...)
	b = append(wire.AppendString(b, string(p.Revision)), `,"capabilities":`...)
	b = append(append(b, p.Capabilities...), `,"clientInfo":{"name":`...)
	b = append(wire.AppendString(b, p.Name), `,"version":`...)
	return append(wire.AppendString(b, p.Version), "}}}"...)
}

var initialized = []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)

// cancelled tells a server that nobody waits any more.
func cancelled(id int64) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), strconv.FormatInt(id, 10)...)
	return append(b, `,"reason":"the replay was given up"}}`...)
}
