package checks

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// oddKind is a rule on the dialect of schemas.
type oddKind int

const (
	oddDialect oddKind = iota
	oddOld
	oddNested
	oddLegacy
	oddCycle
	oddDepth
	oddRegex
	oddType
	oddDefault
	oddRequired
	oddInvalid
)

// oddities are what one walk over the schemas of a tool found: all rules on
// their dialect are answered by it.
type oddities struct {
	done bool
	hits []oddHit

	root     val
	input    bool // root is the inputSchema
	declared bool // root has $schema
	dialect  dialect
	forms    keywordSet // of the dialect
	refs     int
	schemas  int
	levels   int
	choices  int
}

type oddHit struct {
	kind oddKind
	at   val
	text string
}

// maxOddities bounds what is told of one tool.
const maxOddities = 256

func (o *oddities) hit(k oddKind, at val, text string) {
	if len(o.hits) < maxOddities {
		o.hits = append(o.hits, oddHit{k, at, text})
	}
}

func (o *oddities) walk(tool val) {
	*o = oddities{done: true, hits: o.hits[:0]}
	for _, k := range [...]string{"inputSchema", "outputSchema"} {
		s := tool.get(k)
		if !s.isObject() {
			continue
		}
		o.root, o.input, o.schemas, o.levels, o.choices = s, k == "inputSchema", 0, 0, 0
		d := s.get("$schema")
		o.dialect = draft2020
		if o.declared = d.ok(); o.declared {
			o.declares(d)
		}
		o.forms = theForms()[o.dialect]
		o.schema(s, 0, true)
		if o.levels > 20 || o.schemas > 1000 || o.choices > 1000 {
			o.hit(oddDepth, s, "more than 20 levels, 1000 subschemas or 1000 choices")
		}
	}
}

var dialects = []string{
	"json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema", "json-schema.org/draft-07/schema",
	"json-schema.org/draft-06/schema", "json-schema.org/draft-04/schema", "json-schema.org/schema",
}

// dialectAt is the dialect of the same place in dialects. What only says that
// it is a schema may be of any.
var dialectAt = [...]dialect{draft2020, draft2019, draft7, draft6, draft4, otherDialect}

// theForms are the forms of all dialects, made when they are needed first.
var theForms = sync.OnceValue(func() []keywordSet {
	out := make([]keywordSet, otherDialect+1)
	for d := range knownDialects {
		out[d] = formsOf(d)
	}
	return out
})

// declares judges $schema, without its scheme and an empty fragment.
func (o *oddities) declares(v val) {
	if o.dialect = otherDialect; marked(v) {
		return
	}
	s := strings.TrimSuffix(v.str(), "#")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "http://"), "https://")
	i := slices.Index(dialects, strings.TrimSuffix(s, "/"))
	if i >= 0 {
		o.dialect = dialectAt[i]
	}
	switch {
	case i < 0:
		o.hit(oddDialect, v, "$schema is "+show(v))
	case i > 0 && i < 5:
		o.hit(oddOld, v, "$schema is "+show(v))
	}
}

// schema judges a schema and those in it. As long as the way there goes
// through keywords of the dialect, its own have to have the form that the
// meta-schema demands.
func (o *oddities) schema(s val, depth int, known bool) {
	if !s.isObject() || depth > maxSchemaDepth {
		return
	}
	o.schemas++
	o.levels = max(o.levels, depth)
	t := s.t
	for c := s.i + 1; c < t.nodes[s.i].skip; c = t.nodes[c].skip {
		m, k := val{t, c}, t.key(c)
		f := formAny
		if known {
			if f = o.forms[string(k)]; f != formAny && !m.fits(f, o.dialect) {
				o.invalid(s, m, string(k), f)
			}
		}
		o.keyword(s, m, k)
		switch p := placeOf(k); {
		case p == noSchema:
		case m.isObject() && p == mapSchema:
			for i := c + 1; i < t.nodes[c].skip; i = t.nodes[i].skip {
				o.schema(val{t, i}, depth+1, f != formAny)
			}
		case m.isObject() && (p == oneSchema || p == someSchema):
			o.schema(m, depth+1, f != formAny)
		case m.isArray() && (p == listSchema || p == someSchema):
			for i := c + 1; i < t.nodes[c].skip; i = t.nodes[i].skip {
				o.schema(val{t, i}, depth+1, f != formAny)
			}
		}
	}
}

// invalid tells of a keyword that is not what the dialect has, unless another
// rule is about just that.
func (o *oddities) invalid(s, m val, key string, f form) {
	switch {
	case marked(m):
	case !o.declared && (key == "items" && m.isArray() || strings.HasPrefix(key, "exclusive") && m.typ() == wire.Bool): // schema-legacy-keyword
	case o.input && s.i == o.root.i && (key == "required" || key == "properties"): // tool-required-shape, tool-properties-not-object
	default:
		o.hit(oddInvalid, m, key+" is "+show(m)+"; want "+wants[f])
	}
}

func (o *oddities) keyword(s, m val, key []byte) {
	switch string(key) {
	case "$schema":
		if s.i != o.root.i && m.isString() && !s.get("$id").ok() && !s.get("id").ok() {
			o.hit(oddNested, m, "$schema in a subschema without $id")
		}
	case "$ref":
		o.reference(m)
	case "enum":
		o.choices = max(o.choices, m.len())
	case "pattern":
		o.pattern(m)
	case "type":
		o.typ(m)
	case "default":
		if f := primitiveFault(s, m); f != "" && !m.isNull() {
			o.hit(oddDefault, m, "the default is "+show(m)+"; "+f)
		}
	case "required":
		o.required(s, m)
	case "items", "exclusiveMinimum", "exclusiveMaximum", "dependencies", "discriminator", "nullable":
		if !o.declared {
			o.legacy(m, string(key))
		}
	}
}

func (o *oddities) legacy(m val, key string) {
	switch {
	case key == "items" && m.isArray():
		o.hit(oddLegacy, m, "items is an array; prefixItems since 2020-12")
	case strings.HasPrefix(key, "exclusive") && m.typ() == wire.Bool:
		o.hit(oddLegacy, m, key+" is "+show(m)+"; a number since draft-06")
	case (key == "dependencies" || key == "discriminator") && m.isObject():
		o.hit(oddLegacy, m, key+" is no keyword of 2020-12")
	case key == "nullable" && m.isTrue():
		o.hit(oddLegacy, m, "nullable is no keyword of 2020-12; add null to type")
	}
}

// reference looks for references to a schema that they stand in.
func (o *oddities) reference(m val) {
	raw := m.raw()
	if o.refs++; o.refs > maxRefs || !m.isString() || len(raw) < 3 || raw[1] != '#' {
		return
	}
	if to := target(o.root, m.str()); to.ok() && to.i <= m.i && m.i < to.t.nodes[to.i].skip {
		o.hit(oddCycle, m, show(m)+" leads back to where it stands")
	}
}

var (
	foreignRegex = regexp.MustCompile(`^\(\?[imsx]+\)|\(\?P<|\(\?>|^\\A|\\[zZ]$`)
	doubleRepeat = regexp.MustCompile(`\((?:\?:)?(?:\\?[A-Za-z.]|\[[^\]\\]*\])[+*]\)[+*]`)
)

func (o *oddities) pattern(m val) {
	if !m.isString() || len(m.raw()) > 4096 || marked(m) {
		return
	}
	switch p := m.str(); {
	case foreignRegex.MatchString(p):
		o.hit(oddRegex, m, show(m)+" is written for another engine")
	case doubleRepeat.MatchString(p):
		o.hit(oddRegex, m, show(m)+" repeats a repetition")
	}
}

func (o *oddities) typ(m val) {
	if m.isString() {
		if raw := m.raw(); !isType(raw) && !marked(m) {
			o.hit(oddType, m, "the type is "+show(m))
		}
		return
	}
	if m.isArray() {
		for _, e := range m.each() {
			if !isType(e.raw()) && !marked(e) {
				o.hit(oddType, e, "the type is "+show(e))
			}
		}
	}
}

// isType reports whether a JSON text is the name of a type.
func isType(raw []byte) bool {
	switch string(raw) {
	case `"string"`, `"number"`, `"integer"`, `"boolean"`, `"object"`, `"array"`, `"null"`:
		return true
	}
	return bytes.IndexByte(raw, '\\') >= 0 // an escape: nobody writes it so
}

// required leaves the root of an inputSchema to tool-required-shape, and
// compositions alone, which may say more.
func (o *oddities) required(s, m val) {
	if o.input && s.i == o.root.i || !m.isArray() || string(s.get("additionalProperties").raw()) != "false" || composed(s) {
		return
	}
	props := s.get("properties")
	for _, r := range m.each() {
		if r.isString() && !props.get(r.str()).ok() {
			o.hit(oddRequired, r, show(r)+" is required, and only properties are allowed")
		}
	}
}
