package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// judgeParts runs the rules on parts of a message that stand in several
// places: metadata, capabilities, content blocks, tool definitions, questions.
func (c *ctx) judgeParts() {
	if c.meta.isObject() {
		c.item = c.meta
		c.run(onMeta)
	}
	c.judgeCaps()
	c.judgeQuestions()
	c.judgeTasks()
	if c.ev.Msg.Kind == wire.Result && c.s2c() {
		c.judgeResult()
	}
	c.item = val{}
}

// judgeCaps runs the rules on a capabilities object.
func (c *ctx) judgeCaps() {
	v := val{}
	switch {
	case c.ev.Msg.Kind == wire.Request && c.c2s() && c.method == mcp.Initialize:
		v = c.params.get("capabilities")
	case c.ev.Msg.Kind == wire.Request && c.c2s():
		v = c.meta.get(mcp.MetaClientCaps)
	case c.ev.Msg.Kind == wire.Result && c.s2c() && (c.method == mcp.Initialize || c.method == mcp.Discover):
		v = c.result.get("capabilities")
	}
	if v.isObject() {
		c.item = v
		c.run(onCaps)
	}
}

// capsOfClient reports whether the capabilities at hand are the client's.
func (c *ctx) capsOfClient() bool { return c.c2s() }

func (c *ctx) judgeResult() {
	switch c.method {
	case mcp.ToolsCall:
		c.judgeBlocks(c.result.get("content"))
	case mcp.PromptsGet:
		for _, m := range c.result.get("messages").each() {
			if b := m.get("content"); b.isObject() {
				c.item = b
				c.run(onBlock)
			}
		}
	case mcp.ToolsList:
		c.judgeTools()
	case mcp.PromptsList:
		c.judgeIcons(c.result.get("prompts"))
	case mcp.ResourcesList:
		c.judgeIcons(c.result.get("resources"))
	case mcp.TemplatesList:
		c.judgeIcons(c.result.get("resourceTemplates"))
	case mcp.Initialize:
		c.judgeIcon(c.result.get("serverInfo"))
	}
	for _, in := range c.result.get("inputRequests").each() {
		c.item = in
		c.run(onInput)
		c.judgeQuestion(in.get("method").str(), in.get("params"))
	}
}

func (c *ctx) judgeBlocks(list val) {
	for _, b := range list.each() {
		if b.isObject() {
			c.item = b
			c.run(onBlock)
		}
	}
}

// judgeTools runs the rules on each definition. Their subject is the tool, and
// paths count from its definition.
func (c *ctx) judgeTools() {
	for _, t := range c.result.get("tools").each() {
		c.judgeTool(t)
	}
}

func (c *ctx) judgeTool(t val) {
	tool, item := c.tool, c.item
	c.item, c.base, c.e.survey.done, c.e.odd.done, c.e.links = t, t, false, false, c.e.links[:0]
	c.tool = clip(t.get("name").str(), maxSubjectLen)
	c.run(onTool)
	c.tool, c.item, c.base = tool, item, val{}
}

// judgeHuge judges the definitions of a list that has more values than one
// tree takes, one at a time.
func (c *ctx) judgeHuge() {
	if c.root.ok() || c.rec.Truncated || c.rec.Raw == nil || !c.e.tree.full || c.method != mcp.ToolsList || c.ev.Msg.Kind != wire.Result || !c.s2c() {
		return
	}
	list := wire.Get(c.ev.Msg.Result, "tools")
	if wire.TypeOf(list) != wire.Array {
		return
	}
	t := &tree{}
	for el := wire.ElementsOf(list); el.Next(); {
		if t.parse(el.Value) {
			c.judgeTool(t.root())
		}
	}
}
