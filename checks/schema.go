package checks

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	printer "golang.org/x/text/message"
)

// schema is a JSON Schema made ready for judging values. A schema that cannot
// be made, because it is not valid or points outside itself, judges nothing.
type schema struct {
	compiled *jsonschema.Schema
	cost     int // the most schemas that are applied to one place of a value
}

// noFetch keeps references from leaving the schema.
type noFetch struct{}

func (noFetch) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not fetched", url)
}

// compile makes a schema. Formats are annotations, as the dialect has it.
func compile(text []byte) *schema {
	s := &schema{}
	t := &tree{}
	if len(text) == 0 || !t.parse(text) || hugeNumber(t.root()) {
		return s
	}
	cost, ok := bounded(t.root())
	if !ok {
		return s
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return s
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noFetch{})
	c.UseRegexpEngine(ecmaRegexp)
	const place = "mem:///schema.json"
	if c.AddResource(place, doc) != nil {
		return s
	}
	s.cost = cost
	s.compiled, _ = c.Compile(place)
	return s
}

// fault is one way in which a value does not fit its schema.
type fault struct{ path, text string }

// maxFaults bounds the faults that are told of one value.
const maxFaults = 16

// maxJudge is the most that judging one value may take: places in it times
// schemas that apply to each.
const maxJudge = 5_000_000

// judge says how a value does not fit; nothing when it fits or nobody can tell.
func (s *schema) judge(value val) []fault {
	if s == nil || s.compiled == nil || len(value.raw()) > 16*maxSchema || hugeNumber(value) || s.cost*value.places() > maxJudge {
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value.raw()))
	if err != nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(s.compiled.Validate(v), &invalid) {
		return nil
	}
	return leaves(invalid, nil)
}

// leaves are the innermost faults, in whose text no other is hidden. Of the
// branches of a composition only the composition itself is told.
func leaves(e *jsonschema.ValidationError, out []fault) []fault {
	if len(out) >= maxFaults {
		return out
	}
	inner := e.Causes
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not:
		inner = nil
	}
	if len(inner) == 0 {
		path := ""
		for _, t := range e.InstanceLocation {
			path += "/" + pointerToken(t)
		}
		text := strings.ReplaceAll(e.ErrorKind.LocalizedString(printer.NewPrinter(language.English)), "'", `"`)
		return append(out, fault{path, clip(text, 200)})
	}
	for _, c := range inner {
		out = leaves(c, out)
	}
	return out
}
