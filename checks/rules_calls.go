package checks

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Tool calls and their results (server/tools).
var callRules = []Rule{
	{
		ID: "call-params-shape", Signal: Invalid, Level: Must, on: onRequest, methods: []string{mcp.ToolsCall}, check: callParams,
		Title: "A tool call lacks its name, or its arguments are no object",
		Help:  "Models sometimes give the arguments as a JSON string; the server cannot read them.",
		Fix:   "Send name as a string and arguments as an object, or no arguments.",
		Spec:  "2026-07-28/schema#calltoolrequestparams",
	},
	{
		ID: "call-unknown-tool", Signal: Info, Level: Note, on: onRequest, methods: []string{mcp.ToolsCall}, check: callUnknownTool,
		Title: "A tool was called that the newest list does not have",
		Help:  "Servers may have hidden tools; a made-up name looks the same.",
		Fix:   "Compare the name with tools/list.",
		Spec:  "2026-07-28/server/tools#listing-tools",
	},
	{
		ID: "call-args-schema", Signal: Warn, Level: Must, on: onRequest, methods: []string{mcp.ToolsCall}, check: callArgs,
		Title: "The arguments of a call do not fit the tool's inputSchema",
		Help:  "The server will refuse the call, or run it on something else than was meant.",
		Fix:   "Compare the arguments with the schema at the path named; mend whichever is wrong.",
		Spec:  "2026-07-28/server/tools#tool",
	},
	{
		ID: "call-args-accepted-invalid", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.ToolsCall}, check: callArgsAccepted,
		Title: "A call was answered with success although its arguments do not fit the schema",
		Help:  "Servers are to validate what they get; this one coerced it, or looked away.",
		Fix:   "Validate arguments, or loosen the schema.",
		Spec:  "2026-07-28/server/tools#security-considerations",
	},
	{
		ID: "result-content-missing", Signal: Invalid, Level: Must, on: onResult, methods: []string{mcp.ToolsCall}, check: contentMissing,
		Title: "The result of a tool has no content array",
		Help:  "It is required, also beside structuredContent. Clients fail on it or show nothing.",
		Fix:   `Send "content":[] when there is nothing to say.`,
		Spec:  "2026-07-28/schema#calltoolresult",
	},
	{
		ID: "result-content-empty", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.ToolsCall}, check: contentEmpty,
		Title: "The result of a tool is empty",
		Help:  "That is legal; the model learns nothing from it, not even that it worked.",
		Fix:   "Say in a text what was done.",
		Spec:  "2026-07-28/server/tools#tool-result",
	},
	{
		ID: "result-iserror-type", Signal: Invalid, Level: Must, on: onResult, methods: []string{mcp.ToolsCall}, check: isErrorType,
		Title: "isError is neither true nor false",
		Help:  `Clients differ on whether "false" or 1 is a failure.`,
		Fix:   "Send a boolean.",
		Spec:  "2026-07-28/schema#calltoolresult",
	},
	{
		ID: "result-iserror-looks-error", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.ToolsCall}, check: looksError,
		Title: "A result reads like an error and does not set isError",
		Help:  "The model may take the text for data.",
		Fix:   "Set isError when the tool failed.",
		Spec:  "2026-07-28/server/tools#error-handling",
	},
	{
		ID: "result-protocol-error-for-tool-failure", Signal: Info, Level: Note, on: onError, methods: []string{mcp.ToolsCall}, check: protocolErrorForTool,
		Title: "A failure of the tool was sent as a protocol error",
		Help:  "The model may never see it, so it cannot try another way.",
		Fix:   "Answer with a result that has isError true and says what failed.",
		Spec:  "2026-07-28/server/tools#error-handling",
	},
	{
		ID: "structured-missing", Signal: Warn, Level: Must, Revisions: R3Up, on: onResult, methods: []string{mcp.ToolsCall}, check: structuredMissing,
		Title: "A tool with an outputSchema answered without structuredContent",
		Help:  "Clients that use the schema reject the result.",
		Fix:   "Return the value as structuredContent, beside its text.",
		Spec:  "2026-07-28/server/tools#output-schema",
	},
	{
		ID: "structured-schema", Signal: Warn, Level: Must, Revisions: R3Up, on: onResult, methods: []string{mcp.ToolsCall}, check: structuredSchema,
		Title: "structuredContent does not fit the tool's outputSchema",
		Help:  "Clients that validate reject the result.",
		Fix:   "Compare the value with the schema at the path named; mend whichever is wrong.",
		Spec:  "2026-07-28/server/tools#output-schema",
	},
	{
		ID: "structured-not-object", Signal: Invalid, Level: Must, Revisions: R3 | R4, on: onResult, methods: []string{mcp.ToolsCall}, check: structuredNotObject,
		Title: "structuredContent is not an object",
		Help:  "Up to 2025-11-25 only objects are allowed.",
		Fix:   "Wrap the value in an object.",
		Spec:  "2025-11-25/server/tools#structured-content",
	},
	{
		ID: "structured-no-text", Signal: Info, Level: Note, Revisions: R3Up, on: onResult, methods: []string{mcp.ToolsCall}, check: structuredNoText,
		Title: "structuredContent is not repeated as text",
		Help:  "Clients that do not know it show the text alone.",
		Fix:   "Add a text block with the same JSON.",
		Spec:  "2026-07-28/server/tools#structured-content",
	},
	{
		ID: "structured-without-schema", Signal: Info, Level: Note, Revisions: R3Up, on: onResult, methods: []string{mcp.ToolsCall}, check: structuredWithoutSchema,
		Title: "structuredContent of a tool that has no outputSchema",
		Help:  "That is legal; nobody can check it.",
		Fix:   "Declare an outputSchema.",
		Spec:  "2026-07-28/server/tools#output-schema",
	},
	{
		ID: "structured-before-r3", Signal: Info, Level: Note, Revisions: R1 | R2, on: onResult, methods: []string{mcp.ToolsCall}, check: structuredEarly,
		Title: "structuredContent in a revision that does not have it",
		Help:  "Clients of that revision ignore it.",
		Fix:   "Negotiate 2025-06-18 or later.",
		Spec:  "2025-06-18/changelog",
	},
}

func callParams(c *ctx) {
	if v := c.params.get("name"); !v.isString() {
		c.hitAt("/params/name", "the name is %s; want a string", show(v))
	}
	if v := c.params.get("arguments"); v.ok() && !v.isObject() {
		c.hit(v, "the arguments are %s; want an object", show(v))
	}
}

func callUnknownTool(c *ctx) {
	if c.c2s() && c.e.reg.complete && !c.cl.toolsStale && c.e.reg.tools[c.tool] == nil && c.e.reg.readers[c.req.reader] {
		c.hitAt("/params/name", "%s is not in the list", quote(c.tool))
	}
}

// badArguments are the faults of a call against the schema that the client
// has read.
func (c *ctx) badArguments() []fault {
	d, v := c.req.def, c.params.get("arguments")
	if d == nil || len(d.input) == 0 || !v.isObject() || marked(v) || !c.e.reg.readers[c.req.reader] {
		return nil
	}
	return d.inputFaults(v)
}

func callArgs(c *ctx) {
	for _, f := range c.badArguments() {
		c.req.badArgs = f.path + ": " + f.text
		c.hitAt("/params/arguments"+f.path, "%s (schema of #%d)", f.text, c.req.def.seq)
	}
}

func callArgsAccepted(c *ctx) {
	if c.req != nil && c.req.badArgs != "" && !c.result.get("isError").isTrue() {
		c.hitAt("", "the arguments did not fit (%s), and the call succeeded", c.req.badArgs)
	}
}

// complete reports whether the result at hand is the outcome of the call, not
// a question and not a task.
func (c *ctx) complete() bool {
	t := c.result.get("resultType")
	return c.s2c() && c.result.isObject() && (!t.ok() || t.is(mcp.ResultComplete)) && !c.result.get("task").isObject()
}

func contentMissing(c *ctx) {
	if v := c.result.get("content"); c.complete() && !v.isArray() && !c.result.get("toolResult").ok() {
		c.hitAt("/result/content", "content is %s; want an array", show(v))
	}
}

func contentEmpty(c *ctx) {
	if v := c.result.get("content"); c.complete() && v.isArray() && v.len() == 0 && !c.result.get("structuredContent").ok() {
		c.hit(v, "content is empty, and there is no structuredContent")
	}
}

func isErrorType(c *ctx) {
	if v := c.result.get("isError"); v.ok() && v.typ() != wire.Bool {
		c.hit(v, "isError is %s", show(v))
	}
}

// errorWords are how texts begin that report a failure.
var errorWords = []string{"Error:", "Exception", "Traceback"}

func looksError(c *ctx) {
	list := c.result.get("content")
	if c.result.get("isError").isTrue() || list.len() != 1 {
		return
	}
	for _, b := range list.each() {
		v := b.get("text")
		for _, w := range errorWords {
			if v.isString() && bytes.HasPrefix(v.raw()[1:], []byte(w)) {
				c.hit(b, "the text begins %s", quote(clip(v.str(), 40)))
			}
		}
	}
}

// upstreamWords are what messages say when something behind the server failed.
var upstreamWords = []string{"upstream", "timed out", "timeout", "connection refused", "econnrefused", "rate limit", "unreachable", "bad gateway"}

func protocolErrorForTool(c *ctx) {
	if code := c.code(); code != -32603 && code != -32000 {
		return
	}
	s := strings.ToLower(c.fail.get("message").str())
	if slices.ContainsFunc(upstreamWords, func(w string) bool { return strings.Contains(s, w) }) {
		c.hitAt("/error", "the error says %s", quote(s))
	}
}

func structuredMissing(c *ctx) {
	if c.req == nil || c.req.def == nil || !c.req.def.hasOut || !c.complete() || c.result.get("isError").isTrue() || c.result.get("structuredContent").ok() {
		return
	}
	c.hitAt("/result/structuredContent", "%s has an outputSchema (#%d), and the result has no structuredContent", c.tool, c.req.def.seq)
}

func structuredSchema(c *ctx) {
	v := c.result.get("structuredContent")
	if c.req == nil || c.req.def == nil || len(c.req.def.output) == 0 || !v.ok() || c.result.get("isError").isTrue() || marked(v) {
		return
	}
	d := c.req.def
	if now := c.toolDef(c.req.tool); now != d && (now == nil || len(now.outputFaults(v)) == 0) {
		return // the list was read again, or has changed, while the call ran
	}
	for _, f := range d.outputFaults(v) {
		c.hitAt("/result/structuredContent"+f.path, "%s%s (schema of #%d)", atPath(f.path), f.text, d.seq)
	}
}

// atPath puts a path in front of a text.
func atPath(path string) string {
	if path == "" {
		return ""
	}
	return "at " + path + ": "
}

func structuredNotObject(c *ctx) {
	if v := c.result.get("structuredContent"); v.ok() && !v.isObject() {
		c.hit(v, "structuredContent is %s; want an object", show(v))
	}
}

func structuredNoText(c *ctx) {
	v := c.result.get("structuredContent")
	if !v.ok() {
		return
	}
	var same []byte
	for _, b := range c.result.get("content").each() {
		s := b.get("text").str()
		if s == "" || wire.Check([]byte(s)) != nil {
			continue
		}
		if same == nil {
			same = wire.AppendCanonical(nil, v.raw())
		}
		if bytes.Equal(wire.AppendCanonical(nil, []byte(s)), same) {
			return
		}
	}
	c.hit(v, "no text block holds the same JSON")
}

func structuredWithoutSchema(c *ctx) {
	if v := c.result.get("structuredContent"); v.ok() && c.req != nil && c.req.def != nil && !c.req.def.hasOut {
		c.hit(v, "%s declares no outputSchema", c.tool)
	}
}

func structuredEarly(c *ctx) {
	if v := c.result.get("structuredContent"); v.ok() {
		c.hit(v, "structuredContent is new in 2025-06-18")
	}
}
