package checks

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// dialect is a draft of JSON Schema that is known here.
type dialect int

const (
	draft4 dialect = iota
	draft6
	draft7
	draft2019
	draft2020
	knownDialects
	otherDialect = knownDialects // nothing is known of it
)

// form is what the value of a keyword has to be.
type form uint8

const (
	formAny          form = iota // no keyword of the dialect
	formSchema                   // a schema
	formSchemaOrBool             // a schema or a boolean, where booleans are no schemas
	formSchemas                  // schemas by name
	formSchemaList               // one schema at least
	formSchemaOrList             // a schema, or a list of one at least
	formDependencies             // a schema or a list of names, by name
	formText
	formBool
	formNumber
	formPositive // a number above 0
	formCount    // a whole number, not below 0
	formNames    // strings, each once
	formSomeNames
	formNameLists // lists of names by name
	formType
	formArray
	formSomeArray // one element at least
)

// keywordForms is the meta-schemas of all dialects: what each keyword has to
// be, from one dialect up to another. schemashape_test.go holds it against the
// published meta-schemas.
var keywordForms = []struct {
	name     string
	from, to dialect
	form     form
}{
	{"$id", draft6, draft2020, formText}, {"id", draft4, draft4, formText}, {"$schema", draft4, draft2020, formText},
	{"$ref", draft4, draft2020, formText}, {"$comment", draft7, draft2020, formText},
	{"title", draft4, draft2020, formText}, {"description", draft4, draft2020, formText}, {"pattern", draft4, draft2020, formText},
	{"format", draft4, draft2020, formText}, {"contentMediaType", draft7, draft2020, formText}, {"contentEncoding", draft7, draft2020, formText},
	{"multipleOf", draft4, draft2020, formPositive}, {"maximum", draft4, draft2020, formNumber}, {"minimum", draft4, draft2020, formNumber},
	{"exclusiveMaximum", draft6, draft2020, formNumber}, {"exclusiveMinimum", draft6, draft2020, formNumber},
	{"exclusiveMaximum", draft4, draft4, formBool}, {"exclusiveMinimum", draft4, draft4, formBool},
	{"maxLength", draft4, draft2020, formCount}, {"minLength", draft4, draft2020, formCount},
	{"maxItems", draft4, draft2020, formCount}, {"minItems", draft4, draft2020, formCount},
	{"maxProperties", draft4, draft2020, formCount}, {"minProperties", draft4, draft2020, formCount},
	{"maxContains", draft2019, draft2020, formCount}, {"minContains", draft2019, draft2020, formCount},
	{"uniqueItems", draft4, draft2020, formBool}, {"readOnly", draft7, draft2020, formBool}, {"writeOnly", draft7, draft2020, formBool},
	{"deprecated", draft2019, draft2020, formBool},
	{"required", draft4, draft4, formSomeNames}, {"required", draft6, draft2020, formNames}, {"dependentRequired", draft2019, draft2020, formNameLists},
	{"type", draft4, draft2020, formType}, {"examples", draft7, draft2020, formArray},
	{"enum", draft4, draft6, formSomeArray}, {"enum", draft7, draft2020, formArray},
	{"properties", draft4, draft2020, formSchemas}, {"patternProperties", draft4, draft2020, formSchemas}, {"definitions", draft4, draft2020, formSchemas},
	{"$defs", draft2019, draft2020, formSchemas}, {"dependentSchemas", draft2019, draft2020, formSchemas}, {"dependencies", draft4, draft2020, formDependencies},
	{"allOf", draft4, draft2020, formSchemaList}, {"anyOf", draft4, draft2020, formSchemaList}, {"oneOf", draft4, draft2020, formSchemaList},
	{"prefixItems", draft2020, draft2020, formSchemaList}, {"items", draft4, draft2019, formSchemaOrList}, {"items", draft2020, draft2020, formSchema},
	{"additionalItems", draft4, draft4, formSchemaOrBool}, {"additionalItems", draft6, draft2019, formSchema},
	{"additionalProperties", draft4, draft4, formSchemaOrBool}, {"additionalProperties", draft6, draft2020, formSchema},
	{"not", draft4, draft2020, formSchema}, {"contains", draft6, draft2020, formSchema}, {"propertyNames", draft6, draft2020, formSchema},
	{"if", draft7, draft2020, formSchema}, {"then", draft7, draft2020, formSchema}, {"else", draft7, draft2020, formSchema},
	{"unevaluatedItems", draft2019, draft2020, formSchema}, {"unevaluatedProperties", draft2019, draft2020, formSchema}, {"contentSchema", draft2019, draft2020, formSchema},
}

// keywordSet is the forms of one dialect by keyword.
type keywordSet map[string]form

// formsOf makes the forms of one dialect; nil of one that is not known.
func formsOf(d dialect) keywordSet {
	if d >= knownDialects {
		return nil
	}
	out := keywordSet{}
	for _, k := range keywordForms {
		if d >= k.from && d <= k.to {
			out[k.name] = k.form
		}
	}
	return out
}

// wants says in words what a form is.
var wants = map[form]string{
	formSchema: "a schema", formSchemaOrBool: "a schema or a boolean", formSchemas: "an object of schemas", formSchemaList: "a list of schemas",
	formSchemaOrList: "a schema or a list of schemas", formDependencies: "an object of schemas or lists of names", formText: "a string", formBool: "a boolean",
	formNumber: "a number", formPositive: "a number above 0", formCount: "a whole number from 0 on", formNames: "a list of names, each once",
	formSomeNames: "a list of names, each once", formNameLists: "an object of lists of names", formType: "a type, or a list of types, each once",
	formArray: "a list", formSomeArray: "a list that is not empty",
}

// fits reports whether the value of a keyword has its form. Schemas in it are
// looked at but for what they hold.
func (v val) fits(f form, d dialect) bool {
	switch f {
	case formAny:
		return true
	case formSchema:
		return v.isSchema(d)
	case formSchemaOrBool:
		return v.isObject() || v.typ() == wire.Bool
	case formSchemas:
		return v.isObject() && v.every(func(e val) bool { return e.isSchema(d) })
	case formSchemaList:
		return v.isArray() && v.len() > 0 && v.every(func(e val) bool { return e.isSchema(d) })
	case formSchemaOrList:
		return v.isSchema(d) || v.fits(formSchemaList, d)
	case formDependencies:
		return v.isObject() && v.every(func(e val) bool { return e.isSchema(d) || e.areNames() && (d > draft4 || e.len() > 0) })
	case formText:
		return v.isString()
	case formBool:
		return v.typ() == wire.Bool
	case formNumber, formPositive, formCount:
		return v.fitsNumber(f)
	case formNames:
		return v.areNames()
	case formSomeNames:
		return v.areNames() && v.len() > 0
	case formNameLists:
		return v.isObject() && v.every(val.areNames)
	case formType:
		return v.isString() || v.areNames() && v.len() > 0
	case formArray:
		return v.isArray()
	case formSomeArray:
		return v.isArray() && v.len() > 0
	}
	return true
}

func (v val) fitsNumber(f form) bool {
	n, ok := v.num()
	switch {
	case v.typ() != wire.Number:
		return false
	case !ok:
		return true // beyond what can be told
	case f == formPositive:
		return n > 0
	case f == formCount:
		return n >= 0 && v.isInt()
	}
	return true
}

func (v val) isSchema(d dialect) bool {
	return v.isObject() || d > draft4 && v.typ() == wire.Bool
}

func (v val) every(ok func(val) bool) bool {
	for _, e := range v.each() {
		if !ok(e) {
			return false
		}
	}
	return true
}

// areNames reports whether v is a list of strings that holds none twice.
func (v val) areNames() bool {
	if !v.isArray() || !v.every(val.isString) {
		return false
	}
	n := v.len()
	if n <= 8 {
		return v.alone()
	}
	all := make([]string, 0, n)
	for _, e := range v.each() {
		all = append(all, e.str())
	}
	slices.Sort(all)
	return len(slices.Compact(all)) == n
}

// alone looks for equal elements in a short list.
func (v val) alone() bool {
	t := v.t
	for a := v.i + 1; a < t.nodes[v.i].skip; a = t.nodes[a].skip {
		s := val{t, a}.str()
		for b := t.nodes[a].skip; b < t.nodes[v.i].skip; b = t.nodes[b].skip {
			if (val{t, b}).is(s) {
				return false
			}
		}
	}
	return true
}
