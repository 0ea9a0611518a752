package redact

import (
	"bytes"
	"regexp"
	"regexp/syntax"
)

// valueRule is one --redact-value.
type valueRule struct {
	re   *regexp.Regexp
	need []byte // stands in every match; empty if that is not known
}

func newValueRule(expr string) (valueRule, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return valueRule{}, err
	}
	r := valueRule{re: re}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		r.need = []byte(literal(tree.Simplify()))
	}
	return r, nil
}

// literal returns the longest text that stands in every match of the
// expression: searching for it first spares most texts the slow matcher.
func literal(t *syntax.Regexp) string {
	switch t.Op {
	case syntax.OpLiteral:
		if t.Flags&syntax.FoldCase == 0 {
			return string(t.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literal(t.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, s := range t.Sub {
			if l := literal(s); len(l) > len(best) {
				best = l
			}
		}
		return best
	}
	return ""
}

// find returns the matches in t that are not empty.
func (r *valueRule) find(t []byte) [][]int {
	if len(r.need) > 0 && !bytes.Contains(t, r.need) {
		return nil
	}
	var out [][]int
	for _, m := range r.re.FindAllIndex(t, -1) {
		if m[0] < m[1] {
			out = append(out, m)
		}
	}
	return out
}
