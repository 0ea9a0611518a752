package checks

import (
	"regexp"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// What lints that count compare with, where no client has another limit.
const (
	maxListBytes   = 100_000
	maxSchemaBytes = 16_000
	maxNameChars   = 64
	maxCursorChars = 60
	maxToolCount   = 128
	maxDescChars   = 1024
)

func lintSize(c *ctx) {
	if !c.item.ok() {
		if list := c.result.get("tools"); list.isArray() && len(list.raw()) > maxListBytes {
			if n := wire.CompactLen(list.raw()); n > maxListBytes {
				c.hitAt("/result/tools", "the definitions are %d bytes without white space", n)
			}
		}
		return
	}
	for _, k := range [...]string{"inputSchema", "outputSchema"} {
		if s := c.item.get(k); s.isObject() && len(s.raw()) > maxSchemaBytes {
			if n := wire.CompactLen(s.raw()); n > maxSchemaBytes {
				c.hit(s, "%s is %d bytes without white space", k, n)
			}
		}
	}
}

var (
	portableName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	letterFirst  = regexp.MustCompile(`^[a-zA-Z_]`)
)

func lintNameChars(c *ctx) {
	v := c.item.get("name")
	if !v.isString() || v.is("") || marked(v) {
		return
	}
	switch s := v.str(); {
	case !portableName.MatchString(s):
		c.hit(v, "the name is %s", show(v))
	case c.e.lettersFirst() && !letterFirst.MatchString(s):
		c.hit(v, "the name %s does not begin with a letter", show(v))
	}
}

func lintNameLength(c *ctx) {
	if v := c.item.get("name"); v.isString() && !marked(v) {
		if n, limit := utf8.RuneCountInString(v.str()), c.e.limit(c.rule, maxNameChars); n > limit {
			c.hit(v, "the name has %d characters; at most %d are taken, less what a client puts in front", n, limit)
		}
	}
}

// lintNameCursor takes the label for the server's name in the configuration:
// it is where somebody gave both the same, and else about as long.
func lintNameCursor(c *ctx) {
	v := c.item.get("name")
	if !v.isString() || marked(v) {
		return
	}
	tool, server := utf8.RuneCountInString(v.str()), utf8.RuneCountInString(c.rec.Label)
	if n := tool + server + 1; n > maxCursorChars {
		c.hit(v, "with a server called %s the name has %d characters", quote(c.rec.Label), n)
	}
}

// lintCount counts the tools of a listing over its pages.
func lintCount(c *ctx) {
	list := c.result.get("tools")
	if !c.complete() || !list.isArray() || c.req == nil {
		return
	}
	if c.req.cursor == "" {
		c.cl.toolCount = 0
	}
	c.cl.toolCount += list.len()
	if n, limit := c.cl.toolCount, c.e.limit(c.rule, maxToolCount); n > limit && !c.result.get("nextCursor").ok() {
		c.hitAt("/result/tools", "%d tools; at most %d are taken, from all servers together", n, limit)
	}
}

func lintDescription(c *ctx) {
	if v := c.item.get("description"); v.isString() && len(v.raw()) > maxDescChars {
		if n, limit := utf8.RuneCountInString(v.str()), c.e.limit(c.rule, maxDescChars); n > limit {
			c.hit(v, "the description has %d characters; at most %d are taken", n, limit)
		}
	}
}

func lintErrorOutput(c *ctx) {
	v := c.result.get("structuredContent")
	if c.req == nil || c.req.def == nil || !v.ok() || !c.result.get("isError").isTrue() || marked(v) {
		return
	}
	for _, f := range c.req.def.outputFaults(v) {
		c.hitAt("/result/structuredContent"+f.path, "%s%s (schema of #%d)", atPath(f.path), f.text, c.req.def.seq)
	}
}

func lintNonObject(c *ctx) {
	if c.method == mcp.ToolsCall {
		if v := c.result.get("structuredContent"); v.ok() && !v.isObject() {
			c.hit(v, "structuredContent is %s", show(v))
		}
		return
	}
	if t := c.item.get("outputSchema").get("type"); t.ok() && !t.is("object") {
		c.hit(t, "the type of outputSchema is %s", show(t))
	}
}
