package checks

import (
	"net/url"
	"strings"
)

// Authorization (basic/authorization): what challenges say.
var authRules = []Rule{
	{
		ID: "auth-token-in-query", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: tokenInQuery,
		Title: "An access token stands in the query of the URL",
		Help:  "URLs end up in logs, histories and Referer headers, and the token with them.",
		Fix:   "Send it in the Authorization header.",
		Spec:  "2026-07-28/basic/authorization/index#token-requirements",
	},
	{
		ID: "auth-401-no-challenge", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: noChallenge,
		Title: "A 401 has no WWW-Authenticate",
		Help:  "The client does not learn how to get a token.",
		Fix:   "Send WWW-Authenticate: Bearer with resource_metadata.",
		Spec:  "2026-07-28/basic/authorization/index#protected-resource-metadata-discovery-requirements",
	},
	{
		ID: "auth-403-insufficient-scope", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: noScope,
		Title: "A challenge for more scope does not say which",
		Help:  "The client cannot ask for what it lacks.",
		Fix:   "Send scope with error=\"insufficient_scope\".",
		Spec:  "2026-07-28/basic/authorization/index#runtime-insufficient-scope-errors",
	},
	{
		ID: "auth-resource-metadata-url", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: metadataURL,
		Title: "resource_metadata of a challenge is no https URL of the server's own origin",
		Help:  "The client is sent elsewhere to learn whom to trust with its credentials. A gateway for several tenants may do so rightly.",
		Fix:   "Point it to /.well-known/oauth-protected-resource of the same origin.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc9728#section-5.1",
	},
	{
		ID: "auth-step-up-loop", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPResponse, check: stepUpLoop,
		Title: "The same call was refused for its scope more than three times",
		Help:  "Client and server go round in circles; --max-auth-attempts makes it fail a check.",
		Fix:   "See which scope the token has, and which one the server wants.",
		Spec:  "2026-07-28/basic/authorization/index#step-up-authorization-flow",
	},
}

func tokenInQuery(c *ctx) {
	if c.facts().QueryToken {
		c.once("the query of %s holds an access token", quote(c.facts().Path))
	}
}

// wroteChallenges reports whether the recorder writes challenges down: it does
// where it writes HTTP facts at all.
func (c *ctx) wroteChallenges() bool { return c.rec.HTTP != nil || !c.x.guessed }

func noChallenge(c *ctx) {
	if c.rec.Status == 401 && len(c.rec.AuthChallenge) == 0 && c.wroteChallenges() {
		c.once("401 without WWW-Authenticate")
	}
}

// challenge is one challenge of WWW-Authenticate (RFC 9110, section 11.6.1).
type challenge struct {
	scheme string
	params map[string]string
}

// bearer reads the Bearer challenges of a response, as far as they can be
// read.
func (c *ctx) bearer() []challenge {
	var out []challenge
	for _, h := range c.rec.AuthChallenge {
		if ch, ok := parseBearer(h); ok && len(out) < 16 {
			out = append(out, ch)
		}
	}
	return out
}

// parseBearer reads the parameters behind the first Bearer in a header.
func parseBearer(h string) (challenge, bool) {
	k := strings.Index(strings.ToLower(h), "bearer")
	if k < 0 {
		return challenge{}, false
	}
	ch := challenge{"bearer", map[string]string{}}
	rest := h[k+len("bearer"):]
	for len(ch.params) < 32 {
		rest = strings.TrimLeft(rest, " \t,")
		name, tail, ok := strings.Cut(rest, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !ok || strings.ContainsAny(name, " \t\"") {
			break // the next scheme, or the end
		}
		tail = strings.TrimLeft(tail, " \t")
		value := ""
		if strings.HasPrefix(tail, `"`) {
			value, rest = quoted(tail[1:])
		} else {
			end := strings.IndexAny(tail, ", \t")
			if end < 0 {
				end = len(tail)
			}
			value, rest = tail[:end], tail[end:]
		}
		ch.params[name] = value
	}
	return ch, true
}

// quoted reads a quoted string from behind its opening quote.
func quoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			return b.String(), s[i+1:]
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

func noScope(c *ctx) {
	if c.rec.Status != 403 {
		return
	}
	for _, ch := range c.bearer() {
		if ch.params["error"] == "insufficient_scope" && ch.params["scope"] == "" {
			c.onCall("insufficient_scope without scope")
		}
	}
}

// onCall reports on the call that the exchange is for.
func (c *ctx) onCall(format string, args ...any) {
	method, tool := c.method, c.tool
	if c.req == nil && len(c.x.reqs) > 0 {
		c.method, c.tool = c.x.reqs[0].method, c.x.reqs[0].tool
	}
	c.hitAt("", format, args...)
	c.method, c.tool = method, tool
}

func metadataURL(c *ctx) {
	if c.rec.Status != 401 && c.rec.Status != 403 {
		return
	}
	for _, ch := range c.bearer() {
		v, ok := ch.params["resource_metadata"]
		if !ok {
			continue
		}
		u, err := url.Parse(v)
		switch {
		case err != nil || !u.IsAbs() || u.Host == "":
			c.once("resource_metadata is %s; want an absolute URL", quote(v))
		case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
			c.once("resource_metadata is %s; want https", quote(v))
		case c.otherOrigin(u):
			c.once("resource_metadata is %s; the server is %s", quote(v), quote(c.e.log.target))
		}
	}
}

// otherOrigin reports whether a URL has another host than the server. What the
// client knows as its host counts too, since a proxy stands between.
func (c *ctx) otherOrigin(u *url.URL) bool {
	t, err := url.Parse(c.e.log.target)
	if err != nil || t.Host == "" {
		return false
	}
	return !strings.EqualFold(t.Host, u.Host) && !strings.EqualFold(c.x.host, u.Host)
}

// ladder counts the attempts of one call that were refused one after another.
type ladder struct{ refused, scope int }

// climb counts an answer into the ladder of its call.
func (c *ctx) climb() {
	x := c.x
	if c.rec.Status == 0 || len(x.reqs) == 0 {
		return
	}
	r := x.reqs[0]
	k := about(r.method, r.tool)
	l := c.e.ladders[k]
	switch {
	case c.rec.Status == 401 || c.rec.Status == 403 && len(c.bearer()) > 0:
		if c.e.ladders == nil {
			c.e.ladders = map[string]ladder{}
		}
		l.refused++
		for _, ch := range c.bearer() {
			if ch.params["error"] == "insufficient_scope" {
				l.scope++
				break
			}
		}
		if len(c.e.ladders) < maxTools {
			c.e.ladders[k] = l
		}
		c.e.attempts.see(l.refused, func() string { return k })
	case c.rec.Status < 300 && l.refused > 0:
		c.e.attempts.see(l.refused+1, func() string { return k })
		delete(c.e.ladders, k)
	}
}

func stepUpLoop(c *ctx) {
	if c.rec.Status != 403 || len(c.x.reqs) == 0 {
		return
	}
	r := c.x.reqs[0]
	if l := c.e.ladders[about(r.method, r.tool)]; l.scope >= 3 {
		for _, ch := range c.bearer() {
			if ch.params["error"] == "insufficient_scope" {
				c.onCall("refused %d times with insufficient_scope %s", l.scope+1, quote(ch.params["scope"]))
				return
			}
		}
	}
}
