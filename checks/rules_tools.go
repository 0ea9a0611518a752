package checks

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Definitions of tools (server/tools, Tool). Paths count from the definition.
var toolRules = []Rule{
	{
		ID: "tool-shape", Signal: Invalid, Level: Must, on: onTool | onResult, methods: []string{mcp.ToolsList}, check: toolShape,
		Title: "The definition of a tool lacks its name or its inputSchema",
		Help:  "Clients drop the tool; some drop the whole list.",
		Fix:   `Send both; {"type":"object"} is the schema of a tool without arguments.`,
		Spec:  "2026-07-28/schema#tool",
	},
	{
		ID: "tool-input-root-type", Signal: Invalid, Level: Must, on: onTool, methods: []string{mcp.ToolsList}, check: toolRootType,
		Title: `The inputSchema of a tool has no "type":"object" at its root`,
		Help:  "Clients drop the tool, and APIs of model providers refuse the whole request. A root of only $ref or anyOf is the usual cause.",
		Fix:   `Write "type":"object" at the root, beside whatever else stands there.`,
		Spec:  "2026-07-28/schema#tool",
	},
	{
		ID: "tool-input-null", Signal: Invalid, Level: Must, on: onTool, methods: []string{mcp.ToolsList}, check: toolNull,
		Title: "The inputSchema of a tool is null or a boolean",
		Help:  "It has to be an object, also for tools without arguments.",
		Fix:   `Send {"type":"object"}.`,
		Spec:  "2026-07-28/server/tools#tool",
	},
	{
		ID: "tool-required-shape", Signal: Warn, Level: Should, on: onTool, methods: []string{mcp.ToolsList}, check: toolRequired,
		Title: "required of an inputSchema is malformed, or names what is not there",
		Help:  "It is an array of different strings, each one a property.",
		Fix:   "Correct the list; required: true on a property is not JSON Schema.",
		Spec:  "https://json-schema.org/draft/2020-12/json-schema-validation#section-6.5.3",
	},
	{
		ID: "tool-name-length", Signal: Warn, Level: Should, Revisions: R4Up, on: onTool, methods: []string{mcp.ToolsList}, check: toolNameLength,
		Title: "The name of a tool is empty or longer than 128 characters",
		Help:  "Clients and model providers refuse such names.",
		Fix:   "Use 1 to 128 characters; below 64 all known clients take it.",
		Spec:  "2026-07-28/server/tools#tool-names",
	},
	{
		ID: "tool-name-charset", Signal: Warn, Level: Should, Revisions: R4Up, on: onTool, methods: []string{mcp.ToolsList}, check: toolNameChars,
		Title: "The name of a tool has other characters than letters, digits, dots, - and _",
		Help:  "Clients and model providers refuse such names.",
		Fix:   "Use letters, digits, _ and -.",
		Spec:  "2026-07-28/server/tools#tool-names",
	},
	{
		ID: "tool-name-duplicate", Signal: Warn, Level: Should, on: onResult, methods: []string{mcp.ToolsList}, check: toolTwice,
		Title: "Two tools have the same name",
		Help:  "Which one is called nobody knows.",
		Fix:   "Give each tool a name of its own.",
		Spec:  "2026-07-28/server/tools#tool-names",
	},
	{
		ID: "schema-ref-unresolved", Signal: Warn, Level: Must, Revisions: R4Up, on: onTool, methods: []string{mcp.ToolsList}, check: refUnresolved,
		Title: "A $ref of a schema points to nothing",
		Help:  "The schema cannot be used; some clients drop all tools of the server for it.",
		Fix:   "Add the definition, or correct the pointer.",
		Spec:  "2026-07-28/basic/index#ref-resolution",
	},
	{
		ID: "schema-ref-network", Signal: Warn, Level: Must, Revisions: R4Up, on: onTool, methods: []string{mcp.ToolsList}, check: refNetwork,
		Title: "A $ref of a schema points out of the document",
		Help:  "Clients must not fetch it by themselves, so the schema is not complete.",
		Fix:   "Put the definition under $defs.",
		Spec:  "2026-07-28/basic/index#ref-resolution",
	},
	{
		ID: "xmcp-value", Signal: Warn, Level: Must, Revisions: R5, on: onTool, methods: []string{mcp.ToolsList}, check: xmcpValue,
		Title: "x-mcp-header is not a legal header name",
		Help:  "Clients over HTTP have to drop the tool.",
		Fix:   "Use letters, digits and -.",
		Spec:  "2026-07-28/basic/transports/streamable-http#schema-extension",
	},
	{
		ID: "xmcp-duplicate", Signal: Warn, Level: Must, Revisions: R5, on: onTool, methods: []string{mcp.ToolsList}, check: xmcpDuplicate,
		Title: "Two properties of a tool go into the same header",
		Help:  "Names of headers have no case, so two values differ in case only are the same. Clients over HTTP have to drop the tool.",
		Fix:   "Give each property a header of its own.",
		Spec:  "2026-07-28/basic/transports/streamable-http#schema-extension",
	},
	{
		ID: "xmcp-type", Signal: Warn, Level: Must, Revisions: R5, on: onTool, methods: []string{mcp.ToolsList}, check: xmcpType,
		Title: "A property with x-mcp-header is no string, integer or boolean",
		Help:  "Other types have no form as a header. Clients over HTTP have to drop the tool.",
		Fix:   "Use one of the three types; integer instead of number.",
		Spec:  "2026-07-28/basic/transports/streamable-http#schema-extension",
	},
	{
		ID: "xmcp-position", Signal: Warn, Level: Must, Revisions: R5, on: onTool, methods: []string{mcp.ToolsList}, check: xmcpPosition,
		Title: "x-mcp-header stands where it cannot be reached through properties",
		Help:  "Below items, compositions or $defs nobody can tell whether the value is there. Clients over HTTP have to drop the tool.",
		Fix:   "Annotate properties that are reached from the root through properties alone.",
		Spec:  "2026-07-28/basic/transports/streamable-http#schema-extension",
	},
	{
		ID: "js-root-composition", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: jsRootComposition,
		Title: "oneOf, anyOf or allOf at the root of an inputSchema",
		Help:  "It is legal MCP. The APIs of Anthropic and OpenAI refuse it at the root, and clients then drop the tool or the request.",
		Fix:   "Move the alternatives into one property, or describe them in the text.",
	},
	{
		ID: "js-array-no-items", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: jsArrayNoItems,
		Title: "An array in an inputSchema does not say what it holds",
		Help:  "It is legal MCP. VS Code and Gemini refuse the tool.",
		Fix:   "Add items with a type.",
	},
	{
		ID: "js-property-key", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: jsPropertyKey,
		Title: "A property has a name that model providers refuse",
		Help:  "It is legal MCP. Anthropic takes A-Z a-z 0-9 _ . - and at most 64 characters, Gemini less.",
		Fix:   "Rename the property.",
	},
}

// toolShape judges the list as a whole and each definition.
func toolShape(c *ctx) {
	if !c.item.ok() {
		if v := c.result.get("tools"); c.complete() && !v.isArray() {
			c.hitAt("/result/tools", "tools is %s; want an array", show(v))
		}
		return
	}
	if v := c.item.get("name"); !v.isString() {
		c.hit(c.item, "the name is %s; want a string", show(v))
	}
	switch v := c.item.get("inputSchema"); v.typ() {
	case wire.None:
		c.hitAt("/inputSchema", "inputSchema is not there")
	case wire.String, wire.Number, wire.Array:
		c.hitAt("/inputSchema", "inputSchema is %s; want an object", show(v))
	case wire.Object, wire.Null, wire.Bool:
	}
}

func toolRootType(c *ctx) {
	if s := c.item.get("inputSchema"); s.isObject() && !s.get("type").is("object") {
		if v := s.get("type"); v.ok() {
			c.hitAt("/inputSchema/type", `the type of inputSchema is %s; want "object"`, show(v))
		} else {
			c.hitAt("/inputSchema/type", `inputSchema has no "type":"object"; clients drop the tool`)
		}
	}
}

func toolNull(c *ctx) {
	if v := c.item.get("inputSchema"); v.isNull() || v.typ() == wire.Bool {
		c.hit(v, "inputSchema is %s", show(v))
	}
}

func toolRequired(c *ctx) {
	s := c.item.get("inputSchema")
	list, props := s.get("required"), s.get("properties")
	if !list.ok() {
		return
	}
	if !list.isArray() {
		c.hit(list, "required is %s; want an array of names", show(list))
		return
	}
	seen := map[string]bool{}
	for _, v := range list.each() {
		switch {
		case !v.isString():
			c.hit(v, "required holds %s; want names", show(v))
		case seen[v.str()]:
			c.hit(v, "%s stands twice in required", show(v))
		case props.isObject() && !props.get(v.str()).ok() && !composed(s):
			c.hit(v, "%s is required and is no property", show(v))
		}
		seen[v.str()] = true
	}
}

// composed reports whether properties may be defined elsewhere than in
// properties.
func composed(s val) bool {
	for _, k := range [...]string{"allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "patternProperties", "dependentSchemas", "additionalProperties"} {
		if v := s.get(k); v.ok() && string(v.raw()) != "false" {
			return true
		}
	}
	return false
}

func toolNameLength(c *ctx) {
	if v := c.item.get("name"); v.isString() {
		if n := len([]rune(v.str())); n == 0 || n > 128 {
			c.hit(v, "the name has %d characters", n)
		}
	}
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]*$`)

func toolNameChars(c *ctx) {
	if v := c.item.get("name"); v.isString() && !toolName.MatchString(v.str()) && !marked(v) {
		c.hit(v, "the name is %s", show(v))
	}
}

func toolTwice(c *ctx) {
	var before map[uint64]bool
	if w := c.cl.walks[c.method]; w != nil && c.req != nil && c.req.cursor != "" {
		before = w.names
	}
	here := map[uint64]bool{}
	for _, t := range c.result.get("tools").each() {
		v := t.get("name")
		h := hashText(v.raw())
		if v.isString() && !marked(v) && (here[h] || before[h]) {
			tool := c.tool
			c.tool = clip(v.str(), maxSubjectLen)
			c.hitAt("/name", "%s was defined before in this list", show(v))
			c.tool = tool
		}
		here[h] = true
	}
}

// schemas gives the schemas of the definition at hand.
func (c *ctx) schemas(yield func(root val)) {
	for _, k := range [...]string{"inputSchema", "outputSchema"} {
		if s := c.item.get(k); s.isObject() {
			yield(s)
		}
	}
}

// maxRefs is the most references of one schema that are followed.
const maxRefs = 1000

func refUnresolved(c *ctx) {
	c.schemas(func(root val) {
		l := c.e.linksOf(root)
		for _, v := range l.refs {
			if s := v.str(); strings.HasPrefix(s, "#") && !l.anchors.nested && !resolves(root, &l.anchors, s) {
				c.hit(v, "%s points to nothing in the schema", show(v))
			}
		}
	})
}

func refNetwork(c *ctx) {
	c.schemas(func(root val) {
		l := c.e.linksOf(root)
		for _, v := range l.refs {
			if outside(&l.anchors, v.str()) {
				c.hit(v, "%s would have to be fetched", show(v))
			}
		}
	})
}

// tokenChars are the characters of the name of a header (RFC 9110, section 5.6.2).
var tokenChars = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// annotations gives the x-mcp-header annotations of the inputSchema at hand. A
// property that is itself called x-mcp-header is none.
func (c *ctx) annotations(yield func(prop, v val, pure bool)) {
	s := c.item.get("inputSchema")
	if raw := s.raw(); !bytes.Contains(raw, []byte("x-mcp-header")) && !bytes.Contains(raw, []byte(`\u`)) {
		return
	}
	subschemas(s, true, 0, func(sub val, pure bool) {
		if v := sub.get("x-mcp-header"); v.ok() {
			yield(sub, v, pure && sub.i != s.i)
		}
	})
}

func xmcpValue(c *ctx) {
	c.annotations(func(_, v val, _ bool) {
		if !v.isString() || !tokenChars.MatchString(v.str()) && !marked(v) {
			c.hit(v, "x-mcp-header is %s", show(v))
		}
	})
}

func xmcpDuplicate(c *ctx) {
	seen := map[string]bool{}
	c.annotations(func(_, v val, _ bool) {
		k := strings.ToLower(v.str())
		if seen[k] && k != "" {
			c.hit(v, "another property has the header %s too", show(v))
		}
		seen[k] = true
	})
}

func xmcpType(c *ctx) {
	c.annotations(func(prop, v val, pure bool) {
		if t := prop.get("type"); pure && !t.is("string") && !t.is("integer") && !t.is("boolean") {
			c.hit(v, "the type is %s", show(t))
		}
	})
}

func xmcpPosition(c *ctx) {
	c.annotations(func(_, v val, pure bool) {
		if !pure {
			c.hit(v, "the header %s is annotated where properties alone do not lead", show(v))
		}
	})
}

func jsRootComposition(c *ctx) {
	s := c.item.get("inputSchema")
	for _, k := range [...]string{"oneOf", "anyOf", "allOf"} {
		if v := s.get(k); v.ok() {
			c.hit(v, "%s at the root", k)
		}
	}
}

func jsArrayNoItems(c *ctx) {
	subschemas(c.item.get("inputSchema"), true, 0, func(s val, _ bool) {
		if s.get("type").is("array") && !s.get("items").ok() && !s.get("prefixItems").ok() {
			c.hit(s, "an array without items")
		}
	})
}

// isPropertyKey is ^[a-zA-Z0-9_.-]{1,64}$.
func isPropertyKey(k []byte) bool {
	for _, b := range k {
		if !isLetterOrDigit(b) && b != '_' && b != '.' && b != '-' {
			return false
		}
	}
	return len(k) > 0 && len(k) <= 64
}

func jsPropertyKey(c *ctx) {
	subschemas(c.item.get("inputSchema"), true, 0, func(s val, _ bool) {
		for _, p := range s.get("properties").each() {
			if !isPropertyKey(p.t.key(p.i)) {
				c.hit(p, "the property is called %s", quote(p.key()))
			}
		}
	})
}
