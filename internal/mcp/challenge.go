package mcp

import (
	"fmt"
	"strings"
)

// Challenge is one challenge of a WWW-Authenticate field (RFC 9110, section
// 11.6.1): a scheme with a token68 or with parameters, never both.
type Challenge struct {
	Scheme  string
	Token68 string
	Params  []AuthParam
}

// AuthParam is one parameter of a challenge (RFC 9110, section 11.2). Its name
// is in lower case, its value without quotes and escapes. Start and End say
// where the value stands in the field, quotes included.
type AuthParam struct {
	Name, Value string
	Start, End  int
}

// Names of parameters of a Bearer challenge (RFC 6750, section 3; RFC 9728,
// section 5.1) and of the errors that they name.
const (
	Bearer                = "Bearer"
	ParamScope            = "scope"
	ParamError            = "error"
	ParamErrorDescription = "error_description"
	ParamResourceMetadata = "resource_metadata"

	ErrorInsufficientScope = "insufficient_scope"
	ErrorInvalidToken      = "invalid_token"
)

// Bounds of what is read of one field.
const (
	maxChallenges = 32
	maxAuthParams = 64
)

// Get returns the value of a parameter; name is in lower case.
func (c *Challenge) Get(name string) (string, bool) {
	for i := range c.Params {
		if c.Params[i].Name == name {
			return c.Params[i].Value, true
		}
	}
	return "", false
}

// Is reports whether the challenge is of that scheme, whose case does not count.
func (c *Challenge) Is(scheme string) bool { return strings.EqualFold(c.Scheme, scheme) }

// Scopes are the scopes that a Bearer challenge demands (RFC 6749, section 3.3).
func (c *Challenge) Scopes() []string {
	s, _ := c.Get(ParamScope)
	return strings.Fields(s)
}

// ParseChallenges reads one WWW-Authenticate field: a list of challenges, whose
// commas are also those between the parameters of each. What stands before a
// fault is returned beside the error, which says where in the field it is.
func ParseChallenges(field string) ([]Challenge, error) {
	p := challengeParser{s: field}
	for {
		for p.ows(); p.peek() == ','; p.ows() {
			p.at++
		}
		if p.at == len(p.s) {
			return p.list, nil
		}
		if err := p.element(); err != nil {
			return p.list, err
		}
		if p.ows(); p.at < len(p.s) && p.peek() != ',' {
			return p.list, p.fault("no comma before the next part")
		}
	}
}

type challengeParser struct {
	s    string
	at   int
	list []Challenge
}

func (p *challengeParser) fault(what string) error {
	return fmt.Errorf("%s, at column %d", what, p.at+1)
}

func (p *challengeParser) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *challengeParser) ows() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
}

// element reads what stands between two commas: a scheme, alone or with the
// first of what belongs to it, or a further parameter.
func (p *challengeParser) element() error {
	start := p.at
	if p.param() {
		return p.more(start)
	}
	p.at = start
	scheme := p.token()
	if scheme == "" {
		return p.fault("no authentication scheme")
	}
	if len(p.list) == maxChallenges {
		return p.fault("too many challenges")
	}
	p.list = append(p.list, Challenge{Scheme: scheme})
	if p.peek() != ' ' { // 1*SP, no tab
		return nil
	}
	p.ows()
	if p.at == len(p.s) || p.peek() == ',' {
		return nil
	}
	start = p.at
	if p.param() {
		return p.more(start)
	}
	p.at = start
	if p.list[len(p.list)-1].Token68 = p.token68(); p.list[len(p.list)-1].Token68 == "" {
		p.at = start
		return p.fault("neither name=value nor a token68")
	}
	return nil
}

// param reports whether a parameter stands here and moves behind it.
func (p *challengeParser) param() bool {
	if p.token() == "" {
		return false
	}
	p.ows()
	if p.peek() != '=' {
		return false
	}
	p.at++
	p.ows()
	switch {
	case p.peek() == '"':
		return p.quoted()
	case p.token() == "":
		return false
	}
	return true
}

// more adds the parameter from start to here to the newest challenge.
func (p *challengeParser) more(start int) error {
	text := p.s[start:p.at]
	name, value, _ := strings.Cut(text, "=")
	name = strings.ToLower(strings.TrimRight(name, " \t"))
	value = strings.TrimLeft(value, " \t")
	from := p.at - len(value)
	if len(p.list) == 0 {
		return p.fault("a parameter before any scheme")
	}
	c := &p.list[len(p.list)-1]
	_, twice := c.Get(name)
	switch {
	case c.Token68 != "":
		return p.fault("a parameter behind a token68")
	case twice:
		return p.fault("the parameter " + name + " stands twice")
	case len(c.Params) == maxAuthParams:
		return p.fault("too many parameters")
	}
	c.Params = append(c.Params, AuthParam{Name: name, Value: unquote(value), Start: from, End: p.at})
	return nil
}

func (p *challengeParser) token() string {
	from := p.at
	for p.at < len(p.s) && isTokenByte(p.s[p.at]) {
		p.at++
	}
	return p.s[from:p.at]
}

// isTokenByte reports whether c may stand in a token (RFC 9110, section 5.6.2).
func isTokenByte(c byte) bool {
	return c > ' ' && c < 0x7f && strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) < 0
}

// token68 reads 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=",
// which has to reach to the next comma.
func (p *challengeParser) token68() string {
	from := p.at
	for p.at < len(p.s) && is68(p.s[p.at]) {
		p.at++
	}
	if p.at == from {
		return ""
	}
	for p.peek() == '=' {
		p.at++
	}
	end := p.at
	if p.ows(); p.at < len(p.s) && p.peek() != ',' {
		return ""
	}
	return p.s[from:end]
}

func is68(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~+/", c) >= 0
}

// quoted moves behind a quoted-string (RFC 9110, section 5.6.4), unless it has
// no end or holds a control character.
func (p *challengeParser) quoted() bool {
	for p.at++; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			return true
		case c == '\\':
			if p.at++; p.at == len(p.s) || isControl(p.s[p.at]) {
				return false
			}
		case isControl(c):
			return false
		}
	}
	return false
}

func isControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

func unquote(v string) string {
	if v == "" || v[0] != '"' {
		return v
	}
	v = v[1 : len(v)-1]
	if strings.IndexByte(v, '\\') < 0 {
		return v
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' {
			i++
		}
		b.WriteByte(v[i])
	}
	return b.String()
}
