package checks

import (
	"regexp"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const errorCodes = "2026-07-28/basic/index#error-codes"

// Codes of error responses.
var errorRules = []Rule{
	{
		ID: "err-reserved-code", Signal: Warn, Level: Must, Revisions: R5, on: onError, check: errReserved,
		Title: "An error has a code that the specification keeps for itself",
		Help:  "-32020 to -32099 are for codes that the specification defines, and it does not define this one.",
		Fix:   "Use a code outside of -32768 to -32000 for errors of the application.",
		Spec:  errorCodes,
	},
	{
		ID: "err-legacy-range", Signal: Info, Level: Note, Revisions: R5, on: onError, check: errLegacyRange,
		Title: "An error has a code between -32000 and -32019",
		Help:  "Older implementations gave these codes meanings of their own, so a client cannot tell what one means.",
		Fix:   "Use a code outside of -32768 to -32000 for errors of the application.",
		Spec:  errorCodes,
	},
	{
		ID: "err-32002-modern", Signal: Warn, Level: Must, Revisions: R5, on: onError, check: err32002,
		Title: "-32002 was sent, which 2026-07-28 has retired",
		Help:  "It stood for a resource that does not exist, and some SDKs used it for a server that is not initialized. Neither is what it means now.",
		Fix:   "Send -32602 for a resource that does not exist.",
		Spec:  errorCodes,
	},
	{
		ID: "err-32042-modern", Signal: Warn, Level: Must, Revisions: R5, on: onError, check: err32042Modern,
		Title: "-32042 was sent, which 2026-07-28 has retired",
		Help:  "It asked the user to open a URL; clients of this revision take it for a plain failure.",
		Fix:   "Answer with a result that asks for input, with an elicitation in URL mode.",
		Spec:  errorCodes,
	},
	{
		ID: "err-32042-shape", Signal: Warn, Level: Must, Revisions: R4, on: onError, check: err32042Shape,
		Title: "-32042 does not say which URLs are to be opened",
		Help:  "data.elicitations holds at least one elicitation in URL mode, with elicitationId, url and message; without them the client can do nothing.",
		Fix:   "Send the elicitations.",
		Spec:  "2025-11-25/client/elicitation#url-elicitation-required-error",
	},
	{
		ID: "err-32042-undeclared", Signal: Warn, Level: Must, Revisions: R4, on: onError, check: err32042Undeclared,
		Title: "-32042 was sent to a client that cannot open URLs",
		Help:  "The client did not declare elicitation.url, so the user never sees the URL.",
		Fix:   "Look at the capabilities of the client first.",
		Spec:  "2025-11-25/client/elicitation#capabilities",
	},
	{
		ID: "err-32042-before-r4", Signal: Warn, Level: Should, Revisions: R1 | R2 | R3, on: onError, check: err32042Early,
		Title: "-32042 was sent in a revision that does not know it",
		Help:  "It exists in 2025-11-25 alone; other clients take it for a plain failure.",
		Fix:   "Send it only when that revision was negotiated.",
		Spec:  "2025-11-25/changelog",
	},
	{
		ID: "err-jsonrpc-range-unknown", Signal: Warn, Level: Should, on: onError, check: errUnknownReserved,
		Title: "An error has a code that JSON-RPC keeps for itself",
		Help:  "-32768 to -32100 are reserved, and five of them are defined: -32700 and -32600 to -32603.",
		Fix:   "Use a code outside of -32768 to -32000 for errors of the application.",
		Spec:  "https://www.jsonrpc.org/specification#error_object",
	},
	{
		ID: "err-header-mismatch-on-stdio", Signal: Warn, Level: Should, Revisions: R5, Transports: OnStdio, on: onError, check: errHeaderOnStdio,
		Title: "-32020 was sent over stdio, which has no headers",
		Help:  "It says that headers of an HTTP request contradict its body.",
		Fix:   "Use it over HTTP alone. A bridge to an HTTP server should send the headers right.",
		Spec:  errorCodes,
	},
	{
		ID: "err-resource-not-found-code", Signal: Warn, Level: Should, on: onError, methods: []string{mcp.ResourcesRead}, check: errNoResource,
		Title: "A resource that does not exist is reported with a code for something else",
		Help:  "Clients tell a missing resource from a broken server by the code.",
		Fix:   "Send -32602, in revisions before 2026-07-28 -32002.",
		Spec:  "2026-07-28/server/resources#error-handling",
	},
	{
		ID: "err-unknown-tool-code", Signal: Info, Level: Note, on: onError, methods: []string{mcp.ToolsCall}, check: errNoTool,
		Title: "A tool that does not exist is not reported with -32602",
		Help:  "The specification shows -32602 for an unknown tool.",
		Fix:   "Send -32602.",
		Spec:  "2026-07-28/server/tools#error-handling",
	},
	{
		ID: "err-arguments-as-protocol-error", Signal: Info, Level: Note, Revisions: R4Up, on: onError, methods: []string{mcp.ToolsCall}, check: errArguments,
		Title: "Arguments that do not fit are reported as a protocol error",
		Help:  "Clients show results with isError to the model, which can then correct the arguments; protocol errors they often do not.",
		Fix:   "Answer with a result that has isError true and says what is wrong.",
		Spec:  "2026-07-28/server/tools#error-handling",
	},
	{
		ID: "err-prompt-args", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.PromptsGet}, check: errPromptArgs,
		Title: "A prompt was returned although a required argument is missing",
		Help:  "The list of prompts says that the argument is required; a default may have stood in.",
		Fix:   "Answer -32602, or do not list the argument as required.",
		Spec:  "2026-07-28/server/prompts#error-handling",
	},
	{
		ID: "err-secret-in-error", Signal: Warn, Level: Should, on: onError, check: errSecret,
		Title: "An error carries a credential or a stack trace",
		Help:  "Errors are shown to users and models, and they are logged.",
		Fix:   "Send a short message, and log the rest on the server.",
		Spec:  "2026-07-28/server/tools#security-considerations",
	},
}

// toModern reports whether the error at hand comes from a server that is known
// to speak 2026-07-28: an older one answers requests of it as it likes.
func (c *ctx) toModern() bool { return c.s2c() && c.req != nil && c.e.peer.modern }

func (c *ctx) between(low, high int) bool {
	n := c.code()
	return n >= low && n <= high
}

const (
	codeNoResource = -32002 // up to 2025-11-25
	codeOpenURL    = -32042 // 2025-11-25
)

func errReserved(c *ctx) {
	switch code := c.code(); code {
	case codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion, codeOpenURL:
	default:
		if c.toModern() && c.between(-32099, -32020) {
			c.hitAt("/error/code", "the code is %d", code)
		}
	}
}

func errLegacyRange(c *ctx) {
	if c.toModern() && c.between(-32019, -32000) && c.code() != codeNoResource {
		c.hitAt("/error/code", "the code is %d", c.code())
	}
}

func err32002(c *ctx) {
	if c.toModern() && c.code() == codeNoResource {
		c.hitAt("/error/code", "%s answered %d %s", c.about(), codeNoResource, quote(c.fail.get("message").str()))
	}
}

func err32042Modern(c *ctx) {
	if c.toModern() && c.code() == codeOpenURL {
		c.hitAt("/error/code", "%s answered %d", c.about(), codeOpenURL)
	}
}

func err32042Shape(c *ctx) {
	if !c.s2c() || c.code() != codeOpenURL {
		return
	}
	list := c.fail.at("data", "elicitations")
	if !list.isArray() || list.len() == 0 {
		c.hitAt("/error/data/elicitations", "elicitations is %s; want an array of elicitations", show(list))
		return
	}
	for _, e := range list.each() {
		if !e.get("mode").is("url") || !e.get("url").isString() || !e.get("elicitationId").isString() || !e.get("message").isString() {
			c.hit(e, "the elicitation has not all of mode url, url, elicitationId and message")
		}
	}
}

func err32042Undeclared(c *ctx) {
	if c.s2c() && c.code() == codeOpenURL && c.cl.client != nil && !c.cl.client.elicits("url") {
		c.hitAt("/error/code", "the client does not declare elicitation.url")
	}
}

func err32042Early(c *ctx) {
	if c.s2c() && c.code() == codeOpenURL {
		c.hitAt("/error/code", "%s answered %d", c.about(), codeOpenURL)
	}
}

func errUnknownReserved(c *ctx) {
	if c.between(-32768, -32100) && c.code() != -32700 && !c.between(-32603, -32600) {
		c.hitAt("/error/code", "the code is %d", c.code())
	}
}

func errHeaderOnStdio(c *ctx) {
	if c.s2c() && c.code() == codeHeaderMismatch {
		c.hitAt("/error/code", "%s answered %d", c.about(), codeHeaderMismatch)
	}
}

var (
	noResource = regexp.MustCompile(`(?i)\bunknown resource\b|\bno such resource\b|\bresource (\S+ )?(was )?(not found|does not exist)`)
	noTool     = regexp.MustCompile(`(?i)\bunknown tool\b|\bno such tool\b|\btool (\S+ )?(was )?(not found|does not exist)`)
)

func errNoResource(c *ctx) {
	switch c.code() {
	case 0, -32603, -32000:
		if m := c.fail.get("message"); c.s2c() && c.fail.get("code").isInt() && noResource.MatchString(m.str()) {
			c.hitAt("/error/code", "the code is %d, the message %s", c.code(), show(m))
		}
	}
}

func errNoTool(c *ctx) {
	if m := c.fail.get("message"); c.s2c() && c.code() != codeInvalidParams && noTool.MatchString(m.str()) {
		c.hitAt("/error/code", "the code is %d, the message %s", c.code(), show(m))
	}
}

func errArguments(c *ctx) {
	if c.s2c() && c.code() == codeInvalidParams && c.req != nil && c.req.badArgs != "" {
		c.hitAt("/error/code", "the arguments do not fit (%s)", c.req.badArgs)
	}
}

func errPromptArgs(c *ctx) {
	if c.s2c() && c.req != nil && c.req.lacks != "" && c.complete() {
		c.hitAt("/result", "the argument %s is required and was not sent", quote(c.req.lacks))
	}
}

// Shapes of what nobody should send: credentials whose form says what they
// are, and stack traces.
var (
	secretShape = regexp.MustCompile(`(?i:\bbearer )[A-Za-z0-9._~+/-]{20,}|\bsk-[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9_]{40,}|\bxox[abprs]-[A-Za-z0-9-]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)
	stackShape  = regexp.MustCompile(`\\n\s+at [^\\"]+:\d+:\d+\)?\\n|Traceback \(most recent call last\)|\bgoroutine \d+ \[[a-z ]+\]:`)
)

func errSecret(c *ctx) {
	for _, k := range [...]string{"message", "data"} {
		v := c.fail.get(k)
		if !v.ok() || len(v.raw()) > maxSchema {
			continue
		}
		switch {
		case secretShape.Match(v.raw()):
			c.hit(v, "it holds what looks like a credential")
		case stackShape.Match(v.raw()):
			c.hit(v, "it holds a stack trace")
		}
	}
}
