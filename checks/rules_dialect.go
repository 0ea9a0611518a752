package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const dialectPage = "2026-07-28/basic/index#schema-dialect"

var listOnly = []string{mcp.ToolsList}

// The dialect of schemas.
var dialectRules = []Rule{
	{
		ID: "schema-dialect-unknown", Signal: Warn, Level: Should, Revisions: R4Up, on: onTool, methods: listOnly, check: oddity(oddDialect),
		Title: "$schema names a dialect that validators do not know",
		Help:  "Clients cannot judge arguments by it and may drop the tool.",
		Fix:   "Leave $schema out, or name 2020-12.",
		Spec:  dialectPage,
	},
	{
		ID: "schema-dialect-not-2020", Signal: Info, Level: Note, Revisions: R4Up, on: onTool, methods: listOnly, check: oddity(oddOld),
		Title: "A schema declares another dialect than 2020-12",
		Help:  "It is legal; some clients know 2020-12 alone.",
		Fix:   "Generate schemas for 2020-12.",
		Spec:  dialectPage,
	},
	{
		ID: "schema-dialect-nested", Signal: Warn, Level: Should, Revisions: R4Up, on: onTool, methods: listOnly, check: oddity(oddNested),
		Title: "$schema stands inside of a schema",
		Help:  "It may stand at the root of a schema alone, or beside $id.",
		Fix:   "Take it off the subschema.",
		Spec:  "https://json-schema.org/draft/2020-12/json-schema-core#section-8.1.1",
	},
	{
		ID: "schema-invalid", Signal: Warn, Level: Must, on: onTool, methods: listOnly, check: schemaInvalid,
		Title: "A schema is not valid in its dialect",
		Help:  "A keyword is not what the meta-schema of the declared dialect demands, 2020-12 where none is declared. Validators refuse the whole schema, and clients drop the tool.",
		Fix:   "Correct the keyword that is named.",
		Spec:  "2026-07-28/basic/index#schema-validation",
	},
	{
		ID: "schema-legacy-keyword", Signal: Warn, Level: Should, Revisions: R4Up, on: onTool, methods: listOnly, check: oddity(oddLegacy),
		Title: "A schema without $schema uses a keyword of another dialect",
		Help:  "It is read as 2020-12, where the keyword says nothing or is an error.",
		Fix:   "Write it as 2020-12 has it, or declare the dialect.",
		Spec:  dialectPage,
	},
	{
		ID: "schema-ref-cycle", Signal: Info, Level: Note, on: onTool, methods: listOnly, check: oddity(oddCycle),
		Title: "A schema refers to itself",
		Help:  "It is legal; several model providers do not take it.",
		Fix:   "Write out as many levels as are needed.",
	},
	{
		ID: "schema-depth", Signal: Info, Level: Note, on: onTool, methods: listOnly, check: oddity(oddDepth),
		Title: "A schema is very deep or very large",
		Help:  "More than 20 levels, 1000 subschemas or 1000 choices cost clients and models a lot.",
		Fix:   "Split the tool, or describe the rest in words.",
		Spec:  "2026-07-28/basic/index#composition-keyword-resource-use",
	},
	{
		ID: "schema-regex", Signal: Warn, Level: Should, on: onTool, methods: listOnly, check: oddity(oddRegex),
		Title: "A pattern is not a regular expression of ECMA-262, or can take for ever",
		Help:  "Constructs of other engines fail or mean something else there; a repetition of a repetition tries all ways to share.",
		Fix:   "Write it without.",
		Spec:  "https://json-schema.org/draft/2020-12/json-schema-validation#section-6.3.3",
	},
	{
		ID: "schema-type-name", Signal: Invalid, Level: Must, on: onTool, methods: listOnly, check: oddity(oddType),
		Title: "A schema has a type that JSON Schema does not know",
		Help:  "There are seven: string, number, integer, boolean, object, array and null. Model providers refuse the whole request.",
		Fix:   "Use one of them; any is no type at all.",
		Spec:  "https://json-schema.org/draft/2020-12/json-schema-validation#section-6.1.1",
	},
	{
		ID: "schema-default-mismatch", Signal: Info, Level: Note, on: onTool, methods: listOnly, check: oddity(oddDefault),
		Title: "A default does not fit its own schema",
		Help:  "It is an annotation; whoever fills it in sends what is refused.",
		Fix:   "Correct the default.",
		Spec:  "https://json-schema.org/draft/2020-12/json-schema-validation#section-9.2",
	},
	{
		ID: "schema-required-additional", Signal: Warn, Level: Should, on: onTool, methods: listOnly, check: oddity(oddRequired),
		Title: "A schema requires what it forbids",
		Help:  "additionalProperties is false and a required name is no property: no value fits.",
		Fix:   "Add the property, or do not require it.",
		Spec:  "https://json-schema.org/draft/2020-12/json-schema-validation#section-6.5.3",
	},
}

// oddity makes the function of a rule that the walk over a tool's schemas
// answers.
func oddity(kind oddKind) func(*ctx) {
	return func(c *ctx) {
		o := &c.e.odd
		if !o.done {
			o.walk(c.item)
		}
		for _, h := range o.hits {
			if h.kind == kind {
				c.hit(h.at, "%s", h.text)
			}
		}
	}
}

// schemaInvalid is no more than a note before 2025-11-25, which was the first
// to name a dialect.
func schemaInvalid(c *ctx) {
	weaker := c.weaker
	if !c.rev.within(R4Up) {
		c.weaker = Info
	}
	oddity(oddInvalid)(c)
	c.weaker = weaker
}
