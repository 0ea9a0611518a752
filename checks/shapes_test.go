package checks

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const shapesFile = "shapes.txt"

// The table of shapes is made from the published schemas.
// `go test ./checks -update` writes it.
func TestShapesAreThoseOfThePublishedSchemas(t *testing.T) {
	want := ""
	for _, rev := range mcp.Revisions() {
		want += readSchema(t, string(rev)).table()
	}
	if *update {
		if err := os.WriteFile(shapesFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shapesText != want {
		t.Error("shapes.txt is not what the published schemas say; run: go test ./checks -update")
	}
}

// specSchema is a published schema, read to make the table.
type specSchema struct {
	rev  string
	doc  any
	root string // where the definitions stand
	defs map[string]schemaDef
	done map[string]bool
	out  []string
}

type schemaDef map[string]any

func readSchema(t *testing.T, rev string) *specSchema {
	t.Helper()
	b, err := os.ReadFile("../testdata/schemas/mcp-" + rev + ".json")
	if err != nil {
		t.Fatal(err)
	}
	s := &specSchema{rev: rev, done: map[string]bool{}, defs: map[string]schemaDef{}, root: "$defs"}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	s.doc = doc
	if doc[s.root] == nil {
		s.root = "definitions"
	}
	for k, v := range doc[s.root].(map[string]any) {
		s.defs[k] = v.(map[string]any)
	}
	return s
}

// elsewhere are members that rules of their own are about, some of which are
// left out by servers of older revisions.
var elsewhere = []string{"_meta", "resultType", "ttlMs", "cacheScope"}

// messages are the definitions of messages: params or result by method.
func (s *specSchema) messages() map[string]schemaDef {
	out := map[string]schemaDef{}
	for _, name := range slices.Sorted(maps.Keys(s.defs)) {
		method, ok := s.at(s.defs[name], "properties", "method", "const").(string)
		if !ok {
			continue
		}
		if p, ok := s.at(s.defs[name], "properties", "params").(map[string]any); ok {
			out[method+".params"] = p
		}
		base, isRequest := strings.CutSuffix(name, "Request")
		if _, known := s.defs[base+"Result"]; known && isRequest {
			out[method+".result"] = schemaDef{"$ref": "#/" + s.root + "/" + base + "Result"}
		}
	}
	return out
}

func (s *specSchema) at(v any, path ...string) any {
	for _, p := range path {
		switch m := v.(type) {
		case map[string]any:
			v = m[p]
		case schemaDef:
			v = m[p]
		default:
			return nil
		}
	}
	return v
}

func (s *specSchema) table() string {
	msgs := s.messages()
	for _, k := range slices.Sorted(maps.Keys(msgs)) {
		if _, d := s.resolve(msgs[k]); d["properties"] != nil || d["allOf"] != nil {
			s.define(k, d)
		}
	}
	slices.Sort(s.out)
	return strings.Join(s.out, "")
}

// resolve follows references to a definition.
func (s *specSchema) resolve(d schemaDef) (string, schemaDef) {
	name := ""
	for {
		ref, ok := d["$ref"].(string)
		if !ok {
			return name, d
		}
		name = ref[strings.LastIndex(ref, "/")+1:]
		d = s.defs[name]
	}
}

// members are the properties of a definition with those of allOf, and which of
// them are required.
func (s *specSchema) members(d schemaDef) (map[string]schemaDef, []string) {
	props, required := map[string]schemaDef{}, []string{}
	all, _ := d["allOf"].([]any)
	for _, p := range all {
		_, in := s.resolve(p.(map[string]any))
		p, r := s.members(in)
		maps.Copy(props, p)
		required = append(required, r...)
	}
	own, _ := d["properties"].(map[string]any)
	for k, v := range own {
		props[k] = v.(map[string]any)
	}
	for _, r := range asList(d["required"]) {
		required = append(required, r.(string))
	}
	return props, required
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

// define writes the line of an object.
func (s *specSchema) define(name string, d schemaDef) {
	if s.done[name] {
		return
	}
	s.done[name] = true
	props, required := s.members(d)
	line := s.rev + " " + name
	for _, k := range slices.Sorted(maps.Keys(props)) {
		if slices.Contains(elsewhere, k) {
			continue
		}
		mark := "?"
		if slices.Contains(required, k) {
			mark = "!"
		}
		if text := s.value(name+"."+k, props[k]); mark == "!" || text != "*" {
			line += " " + k + mark + text
		}
	}
	s.out = append(s.out, line+"\n")
}

// value writes what a value may be.
func (s *specSchema) value(place string, d schemaDef) string {
	name, d := s.resolve(d)
	if name == "JSONValue" {
		return "*" // the published schema allows too little
	}
	if name == "" {
		name = place
	}
	switch types := s.types(d); {
	case strings.HasSuffix(place, "Schema"):
		return types // schemas are judged as such
	case types == "o" && (d["properties"] != nil || d["allOf"] != nil) && d["anyOf"] == nil:
		s.define(name, d)
		return "o:" + name
	case types == "o" && d["additionalProperties"] != nil:
		if each, ok := d["additionalProperties"].(map[string]any); ok && len(each) > 0 {
			if text := s.value(place+".*", each); text != "*" {
				return "o{" + text
			}
		}
		return "o"
	case types == "a":
		if each, ok := d["items"].(map[string]any); ok {
			if text := s.value(place+".*", each); text != "*" {
				return "a[" + text
			}
		}
		return "a"
	default:
		return types
	}
}

var letters = map[string]string{"object": "o", "array": "a", "string": "s", "number": "n", "integer": "n", "boolean": "b", "null": "z"}

// types are the letters of the types that a definition allows. Whole numbers
// are numbers: the published schemas say integer in places where any will do.
func (s *specSchema) types(d schemaDef) string {
	name, d := s.resolve(d)
	if name == "JSONValue" {
		return "*"
	}
	set := map[string]bool{}
	switch t := d["type"].(type) {
	case string:
		set[letters[t]] = true
	case []any:
		for _, one := range t {
			set[letters[one.(string)]] = true
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		for _, b := range asList(d[k]) {
			for _, l := range strings.Split(s.types(b.(map[string]any)), "") {
				set[l] = true
			}
		}
	}
	switch {
	case set["*"]:
		return "*"
	case len(set) > 0:
		return strings.Join(slices.Sorted(maps.Keys(set)), "")
	case d["properties"] != nil || d["allOf"] != nil:
		return "o"
	case d["const"] != nil:
		return "s"
	}
	return "*"
}

// Whatever the table calls broken, the published schema refuses too.
func TestShapesAreNoStricterThanThePublishedSchemas(t *testing.T) {
	for _, rev := range mcp.Revisions() {
		s := readSchema(t, string(rev))
		c := jsonschema.NewCompiler()
		c.UseLoader(noFetch{})
		if err := c.AddResource("mem:///spec.json", s.doc); err != nil {
			t.Fatal(err)
		}
		shapes := parseShapes(shapesText)
		r := rand.New(rand.NewPCG(8, uint64(len(rev))))
		broken, whole := 0, 0
		msgs := s.messages()
		for _, k := range slices.Sorted(maps.Keys(msgs)) {
			sh := shapes[string(rev)+" "+k]
			if sh == nil {
				continue
			}
			at := "mem:///spec.json#/" + s.root + "/"
			if name, _ := s.resolve(msgs[k]); name != "" {
				at += name
			} else {
				at += s.inline(k) + "/properties/params"
			}
			published, err := c.Compile(at)
			if err != nil {
				t.Fatal(err)
			}
			for range 200 {
				text, err := json.Marshal(sh.random(r, 0))
				if err != nil {
					t.Fatal(err)
				}
				tr := &tree{}
				if !tr.parse(text) {
					t.Fatalf("cannot read %s", text)
				}
				f := sh.fault(tr.root(), 0)
				if f == nil {
					whole++
					continue
				}
				broken++
				doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				if published.Validate(doc) == nil {
					t.Errorf("%s %s: the table says %q, the schema takes %s", rev, k, f.text, text)
				}
			}
		}
		if broken < 500 || whole < 500 {
			t.Errorf("%s: %d broken and %d whole messages; want enough of both", rev, broken, whole)
		}
	}
}

// inline is the definition whose params stand in it.
func (s *specSchema) inline(message string) string {
	method := strings.TrimSuffix(message, ".params")
	for name, d := range s.defs {
		if s.at(d, "properties", "method", "const") == method {
			return name
		}
	}
	return ""
}

// random makes an object, most of which is as the shape has it.
func (s *shape) random(r *rand.Rand, depth int) any {
	out := map[string]any{}
	for _, m := range s.members {
		if n := r.IntN(40); n == 0 && m.required || n < 20 && !m.required {
			continue
		}
		out[m.name] = m.is.random(r, depth)
	}
	return out
}

func (s *shapeValue) random(r *rand.Rand, depth int) any {
	values := []any{map[string]any{}, []any{}, "text", 1, true, nil}
	if r.IntN(30) == 0 || s.types == "*" || depth > 5 {
		return values[r.IntN(len(values))]
	}
	one := s.types[r.IntN(len(s.types))]
	switch {
	case one == 'o' && s.shape != nil:
		return s.shape.random(r, depth+1)
	case one == 'o' && s.each != nil:
		return map[string]any{"k": s.each.random(r, depth+1)}
	case one == 'a' && s.each != nil:
		return []any{s.each.random(r, depth+1)}
	}
	return values[strings.IndexByte("oasnbz", one)]
}

// A rule that is ignored is not said in other words.
func TestIgnoredRuleHasNoStandIn(t *testing.T) {
	const script = `@init 2025-11-25
> {$J,"method":"notifications/cancelled","params":{"requestId":true}}`
	if p := play(t, Options{}, script); p.hits("cancel-shape") != 1 || p.hits(shapeRule) != 0 {
		t.Fatalf("found\n%s", p.found())
	}
	if p := play(t, Options{Ignore: []string{"cancel-shape"}}, script); p.hits("cancel-shape") != 0 || p.hits(shapeRule) != 0 {
		t.Errorf("with cancel-shape ignored, found\n%s", p.found())
	}
	if p := play(t, Options{Ignore: []string{"cancel-shape", shapeRule}}, script); len(p.e.Findings()) != 0 {
		t.Errorf("with both ignored, found\n%s", p.found())
	}
}
