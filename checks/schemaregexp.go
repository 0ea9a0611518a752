package checks

import (
	"errors"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxPattern bounds the length of a regular expression of a schema.
const maxPattern = 4096

var errPattern = errors.New("the pattern means something else, or nothing, in ECMA-262")

// ecmaRegexp makes a pattern of ECMA-262 for an engine that is linear in time,
// so that no pattern can hang a check. What the two do not agree on is
// refused: a schema that cannot be made judges nothing.
func ecmaRegexp(pattern string) (jsonschema.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, errPattern
	}
	text, ok := fromECMA(pattern)
	if !ok {
		return nil, errPattern
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return re, nil
}

// What ECMA-262 means by \s and by a dot.
const (
	ecmaSpace = `\s\v\p{Z}\x{feff}`
	ecmaDot   = `[^\n\r\x{2028}\x{2029}]`
)

// fromECMA writes a pattern in the syntax of package regexp.
func fromECMA(p string) (string, bool) {
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			if i++; i >= len(p) {
				return "", false
			}
			n, ok := escape(&b, p[i:], class)
			if !ok {
				return "", false
			}
			i += n - 1
		case class && c == '[': // a letter there, and the start of [:alpha:] here
			b.WriteString(`\[`)
		case c == '[':
			class = true
			b.WriteByte(c)
			if strings.HasPrefix(p[i+1:], "]") || strings.HasPrefix(p[i+1:], "^]") {
				return "", false // empty there, and not over here
			}
		case c == ']':
			class = false
			b.WriteByte(c)
		case !class && c == '.':
			b.WriteString(ecmaDot)
		case !class && strings.HasPrefix(p[i:], "(?") && !strings.HasPrefix(p[i:], "(?:") && !namedGroup(p[i:]):
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

func namedGroup(p string) bool {
	return strings.HasPrefix(p, "(?<") && !strings.HasPrefix(p, "(?<=") && !strings.HasPrefix(p, "(?<!")
}

// escape writes the escape whose letter p begins with, and returns how much of
// p it took.
func escape(b *strings.Builder, p string, class bool) (int, bool) {
	switch c := p[0]; {
	case c == 's' && class:
		b.WriteString(ecmaSpace)
	case c == 's':
		b.WriteString("[" + ecmaSpace + "]")
	case c == 'S' && !class:
		b.WriteString("[^" + ecmaSpace + "]")
	case c == 'u' && len(p) > 4 && isHex(p[1:5]):
		b.WriteString(`\x{` + p[1:5] + "}")
		return 5, true
	case c == 'x' && len(p) > 2 && isHex(p[1:3]):
		b.WriteString(`\x{` + p[1:3] + "}")
		return 3, true
	case strings.IndexByte("dDwWnrtfvpP", c) >= 0 || !class && strings.IndexByte("bB", c) >= 0:
		b.WriteString(`\` + string(c))
	case c < 0x80 && !isLetterOrDigit(c):
		b.WriteString(`\` + string(c))
	default:
		return 0, false // back references, and escapes of one side alone
	}
	return 1, true
}

func isHex(s string) bool {
	for i := range len(s) {
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(s[i])) {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
