package checks

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// lintKind numbers what one walk over the schemas of a tool looks for.
type lintKind int

const (
	lintRootNotObject lintKind = iota
	lintRootRef
	lintNested
	lintRefLocal
	lintRefSibling
	lintRefRecursive
	lintRefExternal
	lintRefDangling
	lintTypeArray
	lintMissingType
	lintBoolSchema
	lintTuple
	lintAdditional
	lintPattern
	lintDialect
	lintInvalid
	lintFormat
	lintNumeric
	lintEnum
	lintEnumLarge
	lintDepth
	lintOptional
	lintNoProperties
	lintDefault
	lintKinds
)

// survey is what one walk over a tool's schemas found: every lint is answered
// out of it, so that a definition is read once and not once a rule.
type survey struct {
	done  bool
	links func(root val) *links
	hits  [lintKinds][]lintHit

	root     val
	input    bool
	left     int // subschemas that may still be visited
	enums    int
	optional int
	refs     []lintRef
}

type lintHit struct {
	at    val
	what  string
	n     int    // of lints with a limit: how many there are
	most  int    // and what is taken where no client has another limit
	limit string // of what
	out   bool   // it is in the outputSchema
}

// lintRef is a reference, and the schema that it stands in.
type lintRef struct {
	in, ref val
	dynamic bool
}

const (
	maxLintHits  = 16     // places of one lint in one tool
	maxLintWalk  = 20_000 // subschemas of one tool
	maxLintRefs  = 64     // references of one schema
	openaiEnums  = 1000
	openaiDepth  = 10
	anthropicOpt = 24
)

// told makes the function of a lint that the survey answers.
func told(k lintKind) func(*ctx) {
	return func(c *ctx) {
		s := &c.e.survey
		if !s.done {
			s.links = c.e.linksOf
			s.run(c.item)
		}
		l := c.e.profile.limit(c.rule.ID)
		for _, h := range s.hits[k] {
			if c.spared = l != nil && l.output != h.out; c.spared && c.rule.strict {
				continue
			}
			if h.n > 0 {
				if limit := c.e.limit(c.rule, h.most); h.n > limit {
					c.hit(h.at, "%s: %d, and at most %d are taken", h.limit, h.n, limit)
				}
				continue
			}
			c.hit(h.at, "%s", h.what)
		}
		c.spared = false
	}
}

func (s *survey) reset() {
	s.done, s.enums, s.optional, s.left, s.refs = false, 0, 0, maxLintWalk, s.refs[:0]
	for k := range s.hits {
		s.hits[k] = s.hits[k][:0]
	}
}

func (s *survey) hit(k lintKind, at val, what string) {
	if s.input {
		s.both(k, at, what)
	}
}

// both is hit for lints that are about outputSchema too.
func (s *survey) both(k lintKind, at val, what string) {
	if len(s.hits[k]) < maxLintHits {
		s.hits[k] = append(s.hits[k], lintHit{at: at, what: what, out: !s.input})
	}
}

// run surveys a definition.
func (s *survey) run(tool val) {
	s.reset()
	s.done = true
	if in := tool.get("inputSchema"); in.isObject() {
		s.root, s.input = in, true
		s.rootOf(in)
		s.visit(in, 0, 0)
		s.references()
		if s.enums > 0 {
			s.hits[lintEnumLarge] = append(s.hits[lintEnumLarge], lintHit{at: in, n: s.enums, most: openaiEnums, limit: "values of all enums"})
		}
		if s.optional > 0 {
			s.hits[lintOptional] = append(s.hits[lintOptional], lintHit{at: in, n: s.optional, most: anthropicOpt, limit: "optional properties"})
		}
	}
	if out := tool.get("outputSchema"); out.isObject() {
		s.root, s.input, s.refs = out, false, s.refs[:0]
		s.visit(out, 0, 0)
		s.references()
	}
}

func (s *survey) rootOf(in val) {
	t, ref := in.get("type"), in.get("$ref")
	switch {
	case ref.ok() && !t.is("object"):
		s.hit(lintRootRef, ref, "the root is "+show(ref))
	case !t.ok():
		s.hit(lintRootNotObject, in, "the root has no type")
	case !t.is("object"):
		s.hit(lintRootNotObject, t, "the type of the root is "+show(t))
	}
}

// visit looks at one schema and those in it. level counts objects and arrays
// within each other, depth the way.
func (s *survey) visit(v val, depth, level int) {
	if s.left--; s.left < 0 || depth > maxSchemaDepth || !v.isObject() {
		return
	}
	if level == openaiDepth+1 {
		s.hit(lintDepth, v, "more than ten levels")
	}
	properties, object := false, false
	t := v.t
	for c := v.i + 1; c < t.nodes[v.i].skip; c = t.nodes[c].skip {
		m := val{t, c}
		switch string(t.key(c)) {
		case "properties":
			properties = true
			s.properties(v, m, depth, level)
		case "type":
			object = object || m.is("object")
			s.typ(m)
		case "items":
			if m.isArray() {
				s.hit(lintTuple, m, "items is a list")
				s.hit(lintInvalid, m, "items is a list; 2020-12 has prefixItems")
				s.list(m, depth, level+1)
				continue
			}
			s.visit(m, depth+1, level+1)
		case "prefixItems":
			s.hit(lintTuple, m, "prefixItems")
			s.list(m, depth, level+1)
		case "oneOf", "allOf", "anyOf":
			if k := string(t.key(c)); depth > 0 && k != "anyOf" {
				s.hit(lintNested, m, k+" below the root")
			}
			s.list(m, depth, level)
		default:
			s.keyword(v, m, string(t.key(c)), depth, level)
		}
	}
	if object && !properties {
		s.hit(lintNoProperties, v, "an object without properties")
	}
}

// keyword looks at the keywords that stand in no place of their own.
func (s *survey) keyword(in, m val, k string, depth, level int) {
	switch k {
	case "$defs", "definitions":
		s.members(m, depth, 0)
	case "patternProperties", "dependentSchemas", "dependencies":
		s.hit(lintPattern, m, k)
		s.members(m, depth, level+1)
	case "propertyNames", "unevaluatedProperties", "unevaluatedItems", "dependentRequired":
		s.hit(lintPattern, m, k)
		if k != "dependentRequired" {
			s.visit(m, depth+1, level)
		}
	case "additionalProperties":
		s.hit(lintAdditional, m, "additionalProperties is "+show(m))
		s.visit(m, depth+1, level+1)
	case "not", "if", "then", "else", "contains", "additionalItems", "contentSchema":
		s.visit(m, depth+1, level)
	case "$ref", "$dynamicRef":
		if m.isString() && len(s.refs) < maxLintRefs {
			s.refs = append(s.refs, lintRef{in, m, k == "$dynamicRef"})
		}
	case "$schema":
		s.dialect(m)
	case "format":
		if t := in.get("type"); m.isString() && !m.is("date-time") && !m.is("enum") && t.is("string") {
			s.hit(lintFormat, m, "the format is "+show(m))
		}
	case "exclusiveMinimum", "exclusiveMaximum":
		s.hit(lintNumeric, m, k)
		if m.typ() == wire.Bool {
			s.hit(lintInvalid, m, k+" is a boolean")
		}
	case "multipleOf", "const", "uniqueItems":
		s.hit(lintNumeric, m, k)
	case "enum":
		s.enum(m)
	case "required":
		if !m.isArray() {
			s.hit(lintInvalid, m, "required is "+show(m))
		}
	case "default", "title", "examples":
		s.hit(lintDefault, m, k)
	}
}

func (s *survey) list(m val, depth, level int) {
	for _, v := range m.each() {
		s.visit(v, depth+1, level)
	}
}

func (s *survey) members(m val, depth, level int) {
	if m.isObject() {
		s.list(m, depth, level)
	}
}

func (s *survey) properties(in, m val, depth, level int) {
	if !m.isObject() {
		s.hit(lintInvalid, m, "properties is "+show(m))
		return
	}
	required := map[string]bool{}
	for _, r := range in.get("required").each() {
		required[r.str()] = true
	}
	for _, p := range m.each() {
		switch {
		case p.typ() == wire.Bool || p.isObject() && p.len() == 0:
			s.hit(lintBoolSchema, p, "the schema of "+quote(p.key())+" is "+show(p))
		case p.isObject() && !p.get("type").ok() && !p.get("$ref").ok() && !p.get("$dynamicRef").ok():
			s.hit(lintMissingType, p, "the property "+quote(p.key())+" has no type")
		}
		if s.input && !required[p.key()] {
			s.optional++
		}
		s.visit(p, depth+1, level+1)
	}
}

// typeNames are the types of JSON Schema.
const typeNames = " null boolean object array number string integer "

func (s *survey) typ(m val) {
	switch {
	case m.isArray():
		s.hit(lintTypeArray, m, "the type is "+show(m))
		for _, t := range m.each() {
			if !t.isString() || !strings.Contains(typeNames, " "+t.str()+" ") {
				s.hit(lintInvalid, t, show(t)+" is no type")
			}
		}
	case !m.isString() || !strings.Contains(typeNames, " "+m.str()+" "):
		s.hit(lintInvalid, m, show(m)+" is no type")
	}
}

func (s *survey) dialect(m val) {
	if s.input {
		s.hit(lintDialect, m, "$schema is "+show(m))
	} else if strings.Contains(m.str(), "draft-07") {
		s.both(lintDialect, m, "the outputSchema declares draft-07")
	}
}

// An enum of more values than longEnum may have only so many characters.
const (
	longEnum      = 250
	longEnumChars = 15_000
)

func (s *survey) enum(m val) {
	if !m.isArray() {
		s.hit(lintInvalid, m, "enum is "+show(m))
		return
	}
	n, chars, odd := 0, 0, val{}
	for _, v := range m.each() {
		n++
		chars += len(v.raw())
		if (!v.isString() || v.is("")) && !odd.ok() {
			odd = v
		}
	}
	if odd.ok() {
		s.hit(lintEnum, odd, "an enum holds "+show(odd))
	}
	if n > longEnum && chars > longEnumChars {
		s.hit(lintEnumLarge, m, "an enum of more than 250 values has more than 15000 characters")
	}
	if s.input {
		s.enums += n
	}
}
