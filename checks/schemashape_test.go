package checks

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var published = map[dialect]struct {
	url   string
	draft *jsonschema.Draft
}{
	draft4:    {"http://json-schema.org/draft-04/schema", jsonschema.Draft4},
	draft6:    {"http://json-schema.org/draft-06/schema", jsonschema.Draft6},
	draft7:    {"http://json-schema.org/draft-07/schema", jsonschema.Draft7},
	draft2019: {"https://json-schema.org/draft/2019-09/schema", jsonschema.Draft2019},
	draft2020: {"https://json-schema.org/draft/2020-12/schema", jsonschema.Draft2020},
}

// What the table says of a schema is what the meta-schemas say that the JSON
// Schema project publishes, on schemas made at random of all keywords.
func TestFormsAreThoseOfTheMetaSchemas(t *testing.T) {
	for d, p := range published {
		c := jsonschema.NewCompiler()
		c.UseLoader(noFetch{})
		meta, err := c.Compile(p.url)
		if err != nil {
			t.Fatal(err)
		}
		g := &schemaMaker{r: rand.New(rand.NewPCG(7, uint64(d))), d: d}
		valid, told := 0, 0
		for range 6_000 {
			text, err := json.Marshal(map[string]any{"name": "a", "inputSchema": g.schema(2)})
			if err != nil {
				t.Fatal(err)
			}
			tr := &tree{}
			if !tr.parse(text) {
				t.Fatalf("cannot read %s", text)
			}
			in := tr.root().get("inputSchema")
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(in.raw())))
			if err != nil {
				t.Fatal(err)
			}
			bad := invalidIn(in, d)
			broken := meta.Validate(doc)
			if (broken != nil) != (bad != "") {
				t.Fatalf("draft %d: the meta-schema says %v\nthe table says %q\nof %s", d, broken, bad, in.raw())
			}
			if broken == nil {
				valid++
			} else {
				told++
			}
		}
		if valid < 1000 || told < 1000 {
			t.Errorf("draft %d: %d valid and %d invalid schemas; want enough of both", d, valid, told)
		}
	}
}

// invalidIn is what the walk says of a schema that is no root of a tool.
func invalidIn(s val, d dialect) string {
	o := oddities{done: true, root: s, declared: true, dialect: d, forms: theForms()[d]}
	o.schema(s, 0, true)
	for _, h := range o.hits {
		if h.kind == oddInvalid {
			return h.text
		}
	}
	return ""
}

// schemaMaker makes schemas, most of whose keywords are as they have to be.
type schemaMaker struct {
	r *rand.Rand
	d dialect
}

func (g *schemaMaker) schema(depth int) any {
	if depth < 2 && g.r.IntN(8) == 0 {
		return g.r.IntN(2) == 0
	}
	out := map[string]any{}
	for range g.r.IntN(4) {
		k := keywordForms[g.r.IntN(len(keywordForms))]
		switch k.name {
		case "$id", "id", "$schema", "$ref", "pattern": // their text has a form of its own, which is not judged
			out[k.name] = [...]any{"https://example.com/a", 5, nil}[g.r.IntN(3)]
		case "enum": // equal elements are not looked for, and editions of draft-07 differ in whether it may be empty
			out[k.name] = [...]any{[]any{"a", 1}, "a", map[string]any{}}[g.r.IntN(3)]
		case "type": // words that are no types have a rule of their own
			out[k.name] = [...]any{"string", 5, []any{}, []any{"null", "null"}, []any{"string", "null"}, map[string]any{}}[g.r.IntN(6)]
		default:
			out[k.name] = g.value(depth)
			if g.r.IntN(4) > 0 {
				out[k.name] = g.right(k.form, depth)
			}
		}
	}
	if g.d == draft4 { // one without the other is a fault that is not judged
		delete(out, "exclusiveMinimum")
		delete(out, "exclusiveMaximum")
	}
	return out
}

// right is a value of that form.
func (g *schemaMaker) right(f form, depth int) any {
	sub := func() any {
		if depth == 0 {
			return map[string]any{}
		}
		return g.schema(depth - 1)
	}
	switch f {
	case formSchema, formSchemaOrBool, formSchemaOrList:
		return sub()
	case formSchemas, formDependencies:
		return map[string]any{"p": sub(), "q": sub()}
	case formSchemaList:
		return []any{sub()}
	case formText:
		return "text"
	case formBool:
		return true
	case formNumber, formPositive, formCount:
		return g.r.IntN(5)
	case formNames, formSomeNames:
		return []any{"a", "b"}
	case formNameLists:
		return map[string]any{"a": []any{"b"}}
	case formType:
		return "string"
	}
	return []any{"x"}
}

// value is any value at all.
func (g *schemaMaker) value(depth int) any {
	list := []any{
		nil, true, 0, 1, -1, 1.5, 2.0, 1e3, "", "string", []any{}, []any{"a"}, []any{"a", "a"}, []any{"string", "null"}, []any{1}, []any{true}, []any{nil},
		map[string]any{}, map[string]any{"a": 1}, map[string]any{"a": []any{}}, map[string]any{"a": []any{"b"}}, map[string]any{"a": []any{"b", "b"}}, map[string]any{"a": true},
		[]any{map[string]any{}}, []any{"a", "b", "c", "d", "e", "f", "g", "h", "i", "i"},
	}
	if depth > 0 {
		list = append(list, []any{g.schema(depth - 1)}, map[string]any{"a": g.schema(depth - 1)}, g.schema(depth-1))
	}
	return list[g.r.IntN(len(list))]
}
