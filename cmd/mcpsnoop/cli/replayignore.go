package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// ignored are the places of answers that do not count, as steps of paths.
type ignored [][]ignoredStep

// ignoredStep is a step of a path: a name or an index, or all there are.
type ignoredStep struct {
	names []string // nil for all
	deep  bool     // any number of steps may stand before it
}

// maxIgnored bounds the steps of one path.
const maxIgnored = 32

// parseIgnored reads the values of --ignore-path: RFC 9535 queries of names,
// indexes and wildcards, or JSON pointers.
func parseIgnored(paths []string) (ignored, error) {
	var out ignored
	for _, p := range paths {
		var steps []ignoredStep
		var err error
		if strings.HasPrefix(p, "/") {
			for _, name := range strings.Split(p[1:], "/") {
				steps = append(steps, ignoredStep{names: []string{name}})
			}
		} else if steps, err = parseIgnoredQuery(p); err != nil {
			return nil, usagef("--ignore-path %q: %w", p, err)
		}
		if len(steps) > maxIgnored {
			return nil, usagef("--ignore-path %q: more than %d steps", p, maxIgnored)
		}
		out = append(out, steps)
	}
	return out, nil
}

func parseIgnoredQuery(query string) ([]ignoredStep, error) {
	path, err := jsonpath.Parse(query)
	if err != nil {
		return nil, fmt.Errorf("want a path like $.result.content[0].text or /result/content: %w", err)
	}
	var steps []ignoredStep
	for _, s := range path.Query().Segments() {
		step := ignoredStep{deep: s.IsDescendant()}
		for _, sel := range s.Selectors() {
			switch v := sel.(type) {
			case spec.Name:
				step.names = append(step.names, pointerStep(string(v)))
			case spec.Index:
				if v < 0 {
					return nil, fmt.Errorf("index %d: only indexes from the start are known", v)
				}
				step.names = append(step.names, strconv.FormatInt(int64(v), 10))
			case spec.WildcardSelector:
				step.names = nil
			default:
				return nil, fmt.Errorf("%s: only names, indexes, * and .. are known", sel)
			}
			if step.names == nil {
				break
			}
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// pointerStep writes a name as a JSON pointer has it (RFC 6901).
func pointerStep(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// covers reports whether a place, a JSON pointer, or one above it is ignored.
func (g ignored) covers(pointer string) bool {
	names := strings.Split(pointer, "/")[1:]
	for _, steps := range g {
		if len(steps) > 0 && stepsCover(steps, names) {
			return true
		}
	}
	return false
}

// stepsCover walks all ways through the steps at once.
func stepsCover(steps []ignoredStep, names []string) bool {
	var at uint64 = 1 // bit i: the first i steps are behind
	for _, name := range names {
		var next uint64
		for i, s := range steps {
			if at>>i&1 == 0 {
				continue
			}
			if s.deep {
				next |= 1 << i
			}
			if s.matches(name) {
				next |= 1 << (i + 1)
			}
		}
		if next>>len(steps)&1 == 1 {
			return true
		}
		at = next
	}
	return false
}

func (s *ignoredStep) matches(name string) bool {
	if s.names == nil {
		return true
	}
	for _, n := range s.names {
		if n == name {
			return true
		}
	}
	return false
}
