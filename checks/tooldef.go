package checks

import (
	"bytes"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// toolDef is the newest definition of a tool: what calls and results of it are
// judged by.
type toolDef struct {
	name    string
	seq     uint64
	input   []byte // inputSchema; empty when it is too long to judge by
	output  []byte
	hasOut  bool
	outType string // type at the root of outputSchema
	headers []headerParam
	task    string // execution.taskSupport (2025-11-25)
	auth    string // who it was listed for, as far as that was recorded
	rev     Revisions
	hints   hints
	text    uint64 // hash of the description
	shape   uint64 // hash of the inputSchema as it stands
	fault   string // of its x-mcp-header annotations

	in, out *schema // made when they are needed first
}

// headerParam is a property that goes into a routing header (2026-07-28,
// transports/streamable-http#schema-extension).
type headerParam struct {
	name string // without Mcp-Param-
	path []string
	typ  string
}

// registry are the tools of the server, and who has read the list.
type registry struct {
	tools    map[string]*toolDef
	readers  map[uint64]bool
	complete bool // the newest walk went from the first page to the last
	walking  bool
	notices  int // tools/list_changed that came
	last     toolList
}

// reader tells clients apart that read a list: by what they say they are, else
// by their session.
func (c *ctx) reader() uint64 {
	if v := c.meta.get(mcp.MetaClientInfo); v.isObject() {
		return hashText(v.raw())
	}
	return uint64(c.ev.Client)
}

// authOf is the hash of the credential of a request, as far as it was recorded.
func (c *ctx) authOf() string {
	if c.rec.Auth != nil {
		return c.rec.Auth.SHA256
	}
	return ""
}

// learnTools takes the definitions of a tools/list result.
func (c *ctx) learnTools() {
	g := &c.e.reg
	if g.tools == nil {
		g.tools, g.readers = map[string]*toolDef{}, map[uint64]bool{}
	}
	first := c.req == nil || c.req.cursor == ""
	if first {
		g.walking = true
	}
	for _, t := range c.result.get("tools").each() {
		if n := t.get("name"); n.isString() && len(g.tools) < maxTools {
			d := define(t)
			d.seq = c.rec.Seq
			d.remember(c, t)
			if c.req != nil {
				d.auth = c.req.auth
			}
			g.tools[d.name] = d
		}
	}
	g.complete = g.walking && !c.result.get("nextCursor").ok()
	if g.complete {
		g.walking = false
	}
	if l := c.listOfTools(); l.ok {
		g.last = l
	}
	if c.req != nil && len(g.readers) < maxClients {
		g.readers[c.req.reader] = true
	}
	c.cl.toolsStale = false
}

func define(t val) *toolDef {
	d := &toolDef{name: clip(t.get("name").str(), maxSubjectLen)}
	in, out := t.get("inputSchema"), t.get("outputSchema")
	if in.isObject() && len(in.raw()) <= maxSchema {
		d.input = bytes.Clone(in.raw())
	}
	d.hasOut = out.isObject()
	if d.hasOut && len(out.raw()) <= maxSchema {
		d.output, d.outType = bytes.Clone(out.raw()), out.get("type").str()
	}
	d.headers = headerParams(in, nil, nil)
	return d
}

// inputFaults are the ways in which arguments do not fit.
func (d *toolDef) inputFaults(v val) []fault {
	if d.in == nil {
		d.in = compile(d.input)
	}
	return d.in.judge(v)
}

// outputFaults are the ways in which structured content does not fit.
func (d *toolDef) outputFaults(v val) []fault {
	if d.out == nil {
		d.out = compile(d.output)
	}
	return d.out.judge(v)
}

// headerParams collects the annotated properties that are reached through
// properties alone.
func headerParams(schema val, path []string, out []headerParam) []headerParam {
	if len(path) > 16 {
		return out
	}
	for _, p := range schema.get("properties").each() {
		at := append(append([]string(nil), path...), p.key())
		if h := p.get("x-mcp-header"); h.isString() && !h.is("") && len(out) < 64 {
			out = append(out, headerParam{h.str(), at, p.get("type").str()})
		}
		out = headerParams(p, at, out)
	}
	return out
}

// tool is the definition that holds for a call now, nil when it is not known
// for sure: the list was not read, or it has changed since.
func (c *ctx) toolDef(name string) *toolDef {
	d := c.e.reg.tools[name]
	if d == nil || c.cl.toolsStale || c.e.log.lossy {
		return nil
	}
	if a := c.authOf(); a != "" && d.auth != "" && a != d.auth {
		return nil
	}
	return d
}

// media is the media type of a Content-Type, lower case and without parameters.
func media(contentType string) string {
	m, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(m))
}
