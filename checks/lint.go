package checks

import "github.com/mcpsnoop/mcpsnoop/internal/mcp"

// Lints are about what is legal and yet mishandled by some client or model
// provider. A lint that is strict counts only for a client whose limit it is
// (profile.go): for all others the construct is fine.
var lintRules = []Rule{
	{
		ID: "js-root-not-object", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintRootNotObject), strict: true,
		Title: "The root of an inputSchema is of no type, of several, or not an object",
		Help:  "APIs of model providers refuse it, some with the whole request; one SDK drops the whole list.",
		Fix:   `Write "type":"object" at the root.`,
	},
	{
		ID: "js-root-ref", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintRootRef),
		Title: "The root of an inputSchema is a $ref",
		Help:  "Generators write it for named models. To clients and providers that do not follow references the tool has no type and no arguments.",
		Fix:   "Put the definition itself at the root.",
	},
	{
		ID: "js-nested-composition", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintNested),
		Title: "oneOf or allOf below the root of an inputSchema",
		Help:  "It is legal MCP. Strict modes of providers refuse it, and some clients turn it into a string.",
		Fix:   "Merge allOf by hand, write anyOf for oneOf, or make the alternatives separate properties.",
	},
	{
		ID: "js-ref-local", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintRefLocal),
		Title: "An inputSchema uses $ref",
		Help:  "It is legal MCP. Gemini answers 400, and several clients cannot follow the reference.",
		Fix:   "Put the definition where it is used.",
	},
	{
		ID: "js-ref-sibling", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintRefSibling),
		Title: "Other keywords stand beside a $ref",
		Help:  "Gemini takes none but description and default; what reads schemas as draft-07 ignores them.",
		Fix:   "Move them into the definition.",
	},
	{
		ID: "js-ref-recursive", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintRefRecursive),
		Title: "A schema refers to itself",
		Help:  "It is legal. Clients that put definitions in place of references fail, and so do strict modes.",
		Fix:   "Write out as many levels as are needed, or take the inner value as a plain object.",
	},
	{
		ID: "js-ref-external", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintRefExternal),
		Title: "A $ref of a schema leads to another server",
		Help:  "Clients are not to fetch it, and providers do not.",
		Fix:   "Put the definition under $defs, or where it is used.",
	},
	{
		ID: "js-ref-dangling", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintRefDangling),
		Title: "A $ref of a schema has no target",
		Help:  "Some clients drop every tool of the server for it.",
		Fix:   "Add the definition, or correct the pointer.",
	},
	{
		ID: "js-type-array", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintTypeArray),
		Title: "A schema has a list of types",
		Help:  "Gemini refuses it; so did some versions of Codex. OpenAI's strict mode asks for it where a value may be null.",
		Fix:   "Give one type and leave the property out of required.",
	},
	{
		ID: "js-missing-type", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintMissingType),
		Title: "A property of an inputSchema has no type",
		Help:  "Clients guess one, mostly string; Gemini refuses it.",
		Fix:   "Give the property a type.",
	},
	{
		ID: "js-bool-subschema", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintBoolSchema),
		Title: "The schema of a property is true, false or {}",
		Help:  "Some providers fail on it, and the types of older revisions have no boolean there.",
		Fix:   "Say what the property is.",
	},
	{
		ID: "js-tuple", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintTuple),
		Title: "An array in an inputSchema is a tuple",
		Help:  "Gemini knows no tuples. A list as items is not legal in 2020-12 either.",
		Fix:   "Use an object with a property for each place.",
	},
	{
		ID: "js-additional-properties", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintAdditional), strict: true,
		Title: "additionalProperties in an inputSchema",
		Help:  "Gemini did not know the keyword, and its command line strips it; one version of Codex took nothing but a boolean.",
		Fix:   "Nothing, unless that client matters: strict modes of other providers demand false.",
	},
	{
		ID: "js-pattern-properties", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintPattern),
		Title: "Names or dependencies of properties are described by rare keywords",
		Help:  "patternProperties, propertyNames, unevaluated and dependent keywords are unknown to Gemini and to strict modes.",
		Fix:   "Name the properties, or say it in the description.",
	},
	{
		ID: "js-dollar-schema", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintDialect), strict: true,
		Title: "A schema declares its dialect",
		Help:  "That is legal. Gemini did not know the member; some clients refuse an outputSchema that declares draft-07.",
		Fix:   "Leave $schema out: 2020-12 is the default.",
	},
	{
		ID: "js-invalid-2020", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintInvalid),
		Title: "An inputSchema is not valid JSON Schema 2020-12",
		Help:  "Anthropic refuses the whole request for it, whatever dialect the schema declares.",
		Fix:   "Correct the keyword that is named.",
	},
	{
		ID: "js-format", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintFormat), strict: true,
		Title: "A string has another format than date-time",
		Help:  "The developer API of Gemini takes only enum and date-time.",
		Fix:   "Say it in the description, where that client matters.",
	},
	{
		ID: "js-numeric-constraints", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintNumeric), strict: true,
		Title: "exclusiveMinimum, exclusiveMaximum, multipleOf, const or uniqueItems",
		Help:  "Gemini does not know them, and strict modes drop them.",
		Fix:   "Use minimum, maximum and enum, where that client matters.",
	},
	{
		ID: "js-enum-nonstring", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintEnum),
		Title: "An enum holds something else than strings, or an empty one",
		Help:  "Gemini refuses the whole request.",
		Fix:   "Use strings, or minimum and maximum.",
	},
	{
		ID: "js-enum-large", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintEnumLarge),
		Title: "The enums of a tool are larger than a strict mode takes",
		Help:  "OpenAI takes 1000 values in all, and 15000 characters where one enum has more than 250.",
		Fix:   "Take a string, and say where its values come from.",
	},
	{
		ID: "js-depth", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintDepth),
		Title: "An inputSchema nests deeper than ten levels",
		Help:  "Strict modes refuse it, and models seldom fill it in right.",
		Fix:   "Flatten the arguments.",
	},
	{
		ID: "js-optional-many", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintOptional), strict: true,
		Title: "A tool has more optional properties than a strict mode takes",
		Help:  "OpenAI's strict mode wants every property in required, Anthropic's takes 24 optional ones in a request.",
		Fix:   "Require what is always given; make a second tool of the rest.",
	},
	{
		ID: "js-no-properties", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintNoProperties), strict: true,
		Title: "An object in an inputSchema has no properties",
		Help:  "Converters of some clients want the member, even when it is empty.",
		Fix:   `Add "properties":{}.`,
	},
	{
		ID: "js-default", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: told(lintDefault), strict: true,
		Title: "default, title or examples in an inputSchema",
		Help:  "Some strict modes refuse or ignore them.",
		Fix:   "Say it in the description, where that client matters.",
	},
	{
		ID: "js-size", Signal: Schema, Level: Note, on: onTool | onResult, methods: []string{mcp.ToolsList}, check: lintSize,
		Title: "The definitions are very large",
		Help:  "Each conversation carries them. Strict modes refuse schemas that are too large to compile.",
		Fix:   "Shorten descriptions, offer fewer tools, or split the server.",
	},
	{
		ID: "name-chars", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: lintNameChars,
		Title: "The name of a tool has characters that model providers refuse",
		Help:  "MCP allows dots; the APIs of OpenAI and Anthropic take letters, digits, _ and -.",
		Fix:   "Use letters, digits, _ and -.",
	},
	{
		ID: "name-length", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: lintNameLength,
		Title: "The name of a tool is longer than 64 characters",
		Help:  "OpenAI, Gemini and connectors refuse it, and clients put the name of the server in front.",
		Fix:   "Shorten it, best to 40.",
	},
	{
		ID: "name-length-cursor", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: lintNameCursor, strict: true,
		Title: "The names of server and tool together are longer than 60 characters",
		Help:  "Cursor leaves the tool out.",
		Fix:   "Shorten the name of the tool, or of the server in the configuration.",
	},
	{
		ID: "tool-count", Signal: Schema, Level: Note, on: onResult, methods: []string{mcp.ToolsList}, check: lintCount,
		Title: "A server has more tools than clients take",
		Help:  "The limit counts over all servers of a client: 80 in Cursor, 100 in Windsurf, 128 in VS Code.",
		Fix:   "Offer fewer, or let the user choose.",
	},
	{
		ID: "desc-length", Signal: Schema, Level: Note, on: onTool, methods: []string{mcp.ToolsList}, check: lintDescription,
		Title: "The description of a tool is longer than 1024 characters",
		Help:  "OpenAI and several gateways refuse the request; Claude Code cuts at 2048.",
		Fix:   "Move what is about one argument to that argument.",
	},
	{
		ID: "out-structured-error", Signal: Schema, Level: Note, on: onResult, methods: []string{mcp.ToolsCall}, check: lintErrorOutput,
		Title: "A failed call has structuredContent that does not fit the outputSchema",
		Help:  "That is legal. Several clients validate it all the same and show their own error in place of the tool's.",
		Fix:   "Leave structuredContent out of failures.",
	},
	{
		ID: "out-non-object", Signal: Schema, Level: Note, Revisions: R5, on: onTool | onResult, methods: []string{mcp.ToolsList, mcp.ToolsCall}, check: lintNonObject,
		Title: "An outputSchema or a structuredContent is not an object",
		Help:  "It is legal from 2026-07-28 on; clients of earlier revisions refuse it.",
		Fix:   "Wrap it in an object, or add the value as text as well.",
	},
}
