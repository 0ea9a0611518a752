package checks

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

const toolPage = "2026-07-28/server/tools#tool"

// More on the definitions of tools: texts, annotations, output, and how a
// definition differs from an earlier one.
var toolDefRules = []Rule{
	{
		ID: "tool-input-empty-style", Signal: Info, Level: Note, Revisions: R4Up, on: onTool, methods: []string{mcp.ToolsList}, check: toolEmptyStyle,
		Title: "A tool without parameters lets in any argument",
		Help:  "An inputSchema without properties and without additionalProperties false allows whatever a model makes up.",
		Fix:   `Send {"type":"object","additionalProperties":false}.`,
		Spec:  "2026-07-28/server/tools#tool-with-no-parameters",
	},
	{
		ID: "tool-properties-not-object", Signal: Invalid, Level: Must, Revisions: Legacy, on: onTool, methods: []string{mcp.ToolsList}, check: toolProperties,
		Title: "A property of an inputSchema is not an object",
		Help:  "Before 2026-07-28 each property is an object; clients that check the shape drop the tool. true and false are schemas since then.",
		Fix:   "Write {} for a property that may be anything.",
		Spec:  "2025-11-25/schema#tool",
	},
	{
		ID: "tool-composition-root-legacy", Signal: Schema, Level: Note, Revisions: Legacy, on: onTool, methods: []string{mcp.ToolsList}, check: toolComposition,
		Title: "A keyword beside type, properties and required decides at the root of an inputSchema",
		Help:  "Before 2026-07-28 the specification named those three; clients that read only them get the arguments wrong.",
		Fix:   "Describe the arguments by properties and required.",
		Spec:  "2025-11-25/schema#tool",
	},
	{
		ID: "tool-name-case-collision", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.ToolsList}, check: toolCase,
		Title: "Two tools have names that differ in letter case only",
		Help:  "It is legal; people and models take one for the other.",
		Fix:   "Rename one of them.",
		Spec:  "2026-07-28/server/tools#tool-names",
	},
	{
		ID: "tool-name-client-limit", Signal: Info, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: toolClientLimit,
		Title: "The name of a tool is longer than 64 characters or has a dot",
		Help:  "It is legal; the APIs of several model providers refuse such names, and clients put a prefix before them.",
		Fix:   "Use less than 64 characters of a-z, A-Z, 0-9, _ and -.",
	},
	{
		ID: "tool-description-missing", Signal: Info, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: toolNoDescription,
		Title: "A tool has no description",
		Help:  "It is optional, and the model has nothing else to choose the tool by.",
		Fix:   "Say what the tool does and when to use it.",
		Spec:  toolPage,
	},
	{
		ID: "tool-title-conflict", Signal: Info, Level: Note, Revisions: R3Up, on: onTool, methods: []string{mcp.ToolsList}, check: toolTitles,
		Title: "title and annotations.title of a tool differ",
		Help:  "Clients show title, older ones annotations.title.",
		Fix:   "Send one of them, or the same in both.",
		Spec:  "2026-07-28/schema#tool",
	},
	{
		ID: "tool-annotations-shape", Signal: Invalid, Level: Must, Revisions: R2Up, on: onTool, methods: []string{mcp.ToolsList}, check: annotationsShape,
		Title: "Annotations of a tool are of the wrong type",
		Help:  "Hints are booleans and title is a string; clients drop the tool or the hint.",
		Fix:   "Correct the type.",
		Spec:  "2026-07-28/schema#toolannotations",
	},
	{
		ID: "tool-annotations-contradiction", Signal: Info, Level: Note, Revisions: R2Up, on: onTool, methods: []string{mcp.ToolsList}, check: annotationsContradict,
		Title: "A tool that only reads says whether it destroys or repeats",
		Help:  "destructiveHint and idempotentHint mean something only where readOnlyHint is false.",
		Fix:   "Leave them out beside readOnlyHint true.",
		Spec:  "2026-07-28/schema#toolannotations",
	},
	{
		ID: "tool-annotations-readonly-name", Signal: Info, Level: Note, Revisions: R2Up, on: onTool, methods: []string{mcp.ToolsList}, check: annotationsName,
		Title: "A tool says that it only reads, and its name says otherwise",
		Help:  "Clients may run such tools without asking; hints are claims of the server.",
		Fix:   "Look at what the tool does, and correct the hint or the name.",
		Spec:  "2026-07-28/schema#toolannotations",
	},
	{
		ID: "tool-annotations-changed", Signal: Warn, Level: Should, on: onTool, methods: []string{mcp.ToolsList}, check: annotationsChanged,
		Title: "A tool now claims to be less dangerous than before",
		Help:  "The same server listed it as one that writes or destroys. What a user approved may not be what runs.",
		Fix:   "Look at the change before trusting the hint.",
		Spec:  "2026-07-28/server/tools#security-considerations",
	},
	{
		ID: "tool-definition-changed", Signal: Info, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: definitionChanged,
		Title: "The description or schema of a tool has changed since it was listed before",
		Help:  "What the model was told is not what holds now.",
		Fix:   "Nothing, when the server was updated; a baseline shows what changed.",
		Spec:  "2026-07-28/server/tools#list-changed-notification",
	},
	{
		ID: "tool-list-order", Signal: Info, Level: Note, Revisions: R5, on: onResult, methods: []string{mcp.ToolsList}, check: listOrder,
		Title: "The same tools were listed in another order than before",
		Help:  "A stable order lets clients and model providers cache the prompt.",
		Fix:   "Sort the list.",
		Spec:  "2026-07-28/server/tools#listing-tools",
	},
	{
		ID: "tool-list-varies-connection", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onResult, methods: []string{mcp.ToolsList}, check: listVaries,
		Title: "Two connections with one credential were told different tools",
		Help:  "The list must not depend on the connection or on earlier requests, so that any server of a group can answer.",
		Fix:   "Derive the list from the credential and the configuration alone.",
		Spec:  "2026-07-28/server/tools#listing-tools",
	},
	{
		ID: "tool-output-root-legacy", Signal: Invalid, Level: Must, Revisions: R3 | R4, on: onTool, methods: []string{mcp.ToolsList}, check: outputRoot,
		Title: `The outputSchema of a tool has no "type":"object" at its root`,
		Help:  "Before 2026-07-28 structured results are objects; clients drop the tool.",
		Fix:   "Wrap the value in an object.",
		Spec:  "2025-11-25/server/tools#output-schema",
	},
	{
		ID: "tool-output-before-r3", Signal: Info, Level: Note, Revisions: R1 | R2, on: onTool, methods: []string{mcp.ToolsList}, check: outputEarly,
		Title: "A tool has members of a later revision",
		Help:  "outputSchema, title and _meta exist since 2025-06-18; older clients ignore them.",
		Fix:   "Nothing, or leave them out for that revision.",
		Spec:  "2025-06-18/changelog",
	},
	{
		ID: "tool-execution-legacy", Signal: Info, Level: Note, Revisions: R5, on: onTool, methods: []string{mcp.ToolsList}, check: executionModern,
		Title: "A tool has execution.taskSupport, which 2026-07-28 has removed",
		Help:  "Tasks are an extension, and the server decides for each call.",
		Fix:   "Leave it out for that revision.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "tool-execution-value", Signal: Invalid, Level: Must, Revisions: R4, on: onTool, methods: []string{mcp.ToolsList}, check: executionValue,
		Title: "execution.taskSupport of a tool has an unknown value",
		Help:  "It is forbidden, optional or required.",
		Fix:   "Use one of the three.",
		Spec:  "2025-11-25/basic/utilities/tasks#tool-level-negotiation",
	},
	{
		ID: "xmcp-integer-range", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onRequest, methods: []string{mcp.ToolsCall}, check: xmcpRange,
		Title: "An integer for a header is beyond what all clients hold exactly",
		Help:  "Values outside of ±(2^53-1) lose digits on the way.",
		Fix:   "Use a string for such values.",
		Spec:  "2026-07-28/server/tools#x-mcp-header",
	},
	{
		ID: "xmcp-sensitive", Signal: Warn, Level: Should, Revisions: R5, on: onTool, methods: []string{mcp.ToolsList}, check: xmcpSensitive,
		Title: "A parameter that looks secret is sent as a header",
		Help:  "Headers are logged by proxies and gateways on the way.",
		Fix:   "Take x-mcp-header off this parameter.",
		Spec:  "2026-07-28/server/tools#x-mcp-header",
	},
	{
		ID: "xmcp-client-kept-invalid", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onRequest, methods: []string{mcp.ToolsCall}, check: xmcpKept,
		Title: "The client calls a tool that it had to drop",
		Help:  "Its x-mcp-header annotations are not legal, so nobody can tell which headers the call needs.",
		Fix:   "Correct the annotations; let the client leave such tools out.",
		Spec:  "2026-07-28/server/tools#x-mcp-header",
	},
}

func toolEmptyStyle(c *ctx) {
	s := c.item.get("inputSchema")
	if s.get("type").is("object") && s.get("properties").len() == 0 && !s.get("additionalProperties").ok() && !composed(s) {
		c.hit(s, "no properties, and additionalProperties is not false")
	}
}

func toolProperties(c *ctx) {
	for _, p := range c.item.at("inputSchema", "properties").each() {
		if !p.isObject() {
			c.hit(p, "the property is %s; want an object", show(p))
		}
	}
}

// toolComposition leaves oneOf, anyOf and allOf to js-root-composition.
func toolComposition(c *ctx) {
	s := c.item.get("inputSchema")
	for _, k := range [...]string{"not", "if", "$ref"} {
		if v := s.get(k); v.ok() {
			c.hit(v, "%s at the root", k)
		}
	}
}

func toolCase(c *ctx) {
	list := c.result.get("tools")
	if list.len() > maxTools {
		return
	}
	seen := map[string]string{}
	for _, t := range list.each() {
		name := t.get("name").str()
		low := strings.ToLower(name)
		if before, ok := seen[low]; ok && before != name {
			c.hit(t, "%s and %s", quote(before), quote(name))
		}
		seen[low] = name
	}
}

func toolClientLimit(c *ctx) {
	v := c.item.get("name")
	if n := len(v.raw()) - 2; v.isString() && (n > 64 || bytes.IndexByte(v.raw(), '.') >= 0) {
		c.hit(v, "the name has %d bytes: %s", n, show(v))
	}
}

func toolNoDescription(c *ctx) {
	if v := c.item.get("description"); !v.ok() || v.is("") {
		c.hit(c.item, "no description")
	}
}

func toolTitles(c *ctx) {
	a, b := c.item.get("title"), c.item.at("annotations", "title")
	if a.isString() && b.isString() && a.str() != b.str() {
		c.hit(b, "title is %s, annotations.title %s", show(a), show(b))
	}
}

var toolHints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

func annotationsShape(c *ctx) {
	a := c.item.get("annotations")
	if a.ok() && !a.isObject() {
		c.hit(a, "annotations is %s; want an object", show(a))
		return
	}
	for _, v := range a.each() {
		switch k := v.key(); {
		case k == "title" && !v.isString():
			c.hit(v, "title is %s; want a string", show(v))
		case slices.Contains(toolHints, k) && v.typ() != wire.Bool:
			c.hit(v, "%s is %s; want true or false", k, show(v))
		}
	}
}

func annotationsContradict(c *ctx) {
	a := c.item.get("annotations")
	if !a.get("readOnlyHint").isTrue() {
		return
	}
	if v := a.get("destructiveHint"); v.isTrue() {
		c.hit(v, "readOnlyHint and destructiveHint are true")
	}
	if v := a.get("idempotentHint"); v.ok() {
		c.hit(v, "idempotentHint beside readOnlyHint true")
	}
}

var writesByName = regexp.MustCompile(`^(delete|remove|drop|write)_`)

func annotationsName(c *ctx) {
	if v := c.item.at("annotations", "readOnlyHint"); v.isTrue() && writesByName.MatchString(c.item.get("name").str()) {
		c.hit(v, "readOnlyHint is true")
	}
}

// before is how the tool was defined when it was listed before to the same
// reader: of one credential, in one revision.
func (c *ctx) before() *toolDef {
	d := c.e.reg.tools[c.item.get("name").str()]
	if d == nil || c.req == nil || d.auth != c.req.auth || d.rev != c.rev || !oneRevision(c.rev) || marked(c.item) {
		return nil
	}
	return d
}

func annotationsChanged(c *ctx) {
	d := c.before()
	if d == nil {
		return
	}
	h := hintsOf(c.item)
	switch {
	case !d.hints.readOnly && h.readOnly:
		c.hitAt("/annotations/readOnlyHint", "readOnlyHint was not true in #%d, and is now", d.seq)
	case d.hints.destructive && !h.destructive:
		c.hitAt("/annotations/destructiveHint", "destructiveHint was true in #%d, and is false now", d.seq)
	}
}

func definitionChanged(c *ctx) {
	d := c.before()
	if d == nil {
		return
	}
	if d.text != hashText(c.item.get("description").raw()) {
		c.hitAt("/description", "the description is not that of #%d", d.seq)
	}
	in := c.item.get("inputSchema")
	if d.shape == hashText(in.raw()) || len(d.input) == 0 || !in.isObject() || len(in.raw()) > maxSchema {
		return
	}
	if !bytes.Equal(wire.AppendCanonical(nil, d.input), wire.AppendCanonical(nil, in.raw())) {
		c.hitAt("/inputSchema", "the inputSchema is not that of #%d", d.seq)
	}
}

func listOrder(c *ctx) {
	l, now := &c.e.reg.last, c.listOfTools()
	if l.ok && now.ok && l.auth == now.auth && l.set == now.set && l.order != now.order {
		c.hitAt("/result/tools", "%d tools in another order than in #%d", now.n, l.seq)
	}
}

func listVaries(c *ctx) {
	l, now := &c.e.reg.last, c.listOfTools()
	if l.ok && now.ok && l.auth != "" && l.auth == now.auth && l.caps == now.caps && l.client != now.client &&
		l.set != now.set && l.notices == c.e.reg.notices && now.ts < l.fresh && !c.e.log.lossy {
		c.hitAt("/result/tools", "%d tools, and %d in #%d on another connection", now.n, l.n, l.seq)
	}
}

func outputRoot(c *ctx) {
	if s := c.item.get("outputSchema"); s.isObject() && !s.get("type").is("object") {
		c.hitAt("/outputSchema/type", `the type of outputSchema is %s; want "object"`, show(s.get("type")))
	}
}

func outputEarly(c *ctx) {
	for _, k := range [...]string{"outputSchema", "title", "_meta"} {
		if v := c.item.get(k); v.ok() {
			c.hit(v, "%s in a revision that does not have it", k)
			return
		}
	}
}

func executionModern(c *ctx) {
	if v := c.item.at("execution", "taskSupport"); v.ok() {
		c.hit(v, "taskSupport is %s", show(v))
	}
}

func executionValue(c *ctx) {
	if v := c.item.at("execution", "taskSupport"); v.ok() && !v.is("forbidden") && !v.is("optional") && !v.is("required") {
		c.hit(v, "taskSupport is %s", show(v))
	}
}

func xmcpRange(c *ctx) {
	const most = 1<<53 - 1
	if !c.c2s() || c.req.def == nil {
		return
	}
	args := c.params.get("arguments")
	for _, h := range c.req.def.headers {
		v := args.at(h.path...)
		if n, ok := v.num(); ok && h.typ == "integer" && (n > most || n < -most) {
			c.hit(v, "%s goes into the header Mcp-Param-%s", show(v), h.name)
		}
	}
}

func xmcpSensitive(c *ctx) {
	c.annotations(func(prop, v val, pure bool) {
		if k := prop.key(); pure && !prop.get("type").is("boolean") && (sensitive(k) || personal(k)) {
			c.hit(v, "%s is sent as a header", quote(k))
		}
	})
}

func xmcpKept(c *ctx) {
	if c.c2s() && c.req.def != nil && c.req.def.fault != "" && c.e.reg.readers[c.req.reader] {
		c.hitAt("/params/name", "the definition (#%d) has %s", c.req.def.seq, c.req.def.fault)
	}
}
