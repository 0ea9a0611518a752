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
type schema struct{ compiled *jsonschema.Schema }

// noFetch keeps references from leaving the schema.
type noFetch struct{}

func (noFetch) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not fetched", url)
}

// compile makes a schema. Formats are annotations, as the dialect has it.
func compile(text []byte) *schema {
	s := &schema{}
	if len(text) == 0 {
		return s
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return s
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noFetch{})
	const place = "mem:///schema.json"
	if c.AddResource(place, doc) != nil {
		return s
	}
	s.compiled, _ = c.Compile(place)
	return s
}

// fault is one way in which a value does not fit its schema.
type fault struct{ path, text string }

// maxFaults bounds the faults that are told of one value.
const maxFaults = 16

// judge says how a value does not fit; nothing when it fits or nobody can tell.
func (s *schema) judge(value []byte) []fault {
	if s == nil || s.compiled == nil || len(value) > 16*maxSchema {
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
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
