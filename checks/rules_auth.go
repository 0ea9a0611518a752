package checks

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Authorization (basic/authorization): what challenges say. They are judged in
// every revision, since the first often answers initialize.
var authRules = []Rule{
	{
		ID: "auth-401-no-challenge", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: noChallenge,
		Title: "A 401 has no WWW-Authenticate",
		Help:  "The client does not learn how to get a token.",
		Fix:   "Send WWW-Authenticate: Bearer with resource_metadata.",
		Spec:  "2026-07-28/basic/authorization/index#protected-resource-metadata-discovery-requirements",
	},
	{
		ID: "auth-401-no-resource-metadata", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPResponse, check: noResourceMetadata,
		Title: "A challenge does not say where the metadata of the resource is",
		Help:  "Legal: the client then tries the well-known places. Each try costs it a request.",
		Fix:   "Send resource_metadata in the challenge.",
		Spec:  "2026-07-28/basic/authorization/index#protected-resource-metadata-discovery-requirements",
	},
	{
		ID: "auth-resource-metadata-url", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: metadataURL,
		Title: "resource_metadata of a challenge is no https URL of the server's own origin",
		Help:  "The client is sent elsewhere to learn whom to trust with its credentials. A gateway for several tenants may do so rightly.",
		Fix:   "Point it to /.well-known/oauth-protected-resource of the same origin.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc9728#section-5.1",
	},
	{
		ID: "auth-challenge-syntax", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: challengeSyntax,
		Title: "A WWW-Authenticate field cannot be read",
		Help:  "Clients read it by its grammar or by guessing; where they guess otherwise they miss scope or metadata.",
		Fix:   "Quote values, and put commas between parameters: Bearer scope=\"a b\", error=\"insufficient_scope\".",
		Spec:  "https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1",
	},
	{
		ID: "auth-401-no-scope", Signal: Warn, Level: Should, Revisions: R4Up, Transports: OnHTTP, on: onHTTPResponse, check: challengeNoScope,
		Title: "A Bearer challenge does not say which scope is needed",
		Help:  "The client asks for all scopes or for none, and comes back for more.",
		Fix:   "Send scope with what this request needs.",
		Spec:  "2026-07-28/basic/authorization/index#scope-selection-strategy",
	},
	{
		ID: "auth-403-insufficient-scope", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: noScope,
		Title: "A challenge for more scope does not say which",
		Help:  "The client cannot ask for what it lacks.",
		Fix:   "Send scope with error=\"insufficient_scope\".",
		Spec:  "2026-07-28/basic/authorization/index#runtime-insufficient-scope-errors",
	},
	{
		ID: "auth-403-no-error", Signal: Warn, Level: Should, Transports: OnHTTP, on: onHTTPResponse, check: noError,
		Title: "A 403 with a Bearer challenge does not say insufficient_scope",
		Help:  "Clients tell by the error that another token would help; without it they give up, or sign in again for nothing.",
		Fix:   "Send error=\"insufficient_scope\" with the scope, or no challenge when no token would do.",
		Spec:  "2026-07-28/basic/authorization/index#runtime-insufficient-scope-errors",
	},
	{
		ID: "auth-insufficient-scope-status", Signal: Warn, Level: Should, Revisions: R4Up, Transports: OnHTTP, on: onHTTPResponse, check: scopeStatus,
		Title: "insufficient_scope was sent with another status than 403",
		Help:  "On 401 clients throw the token away and sign in anew, and come back with the same scope.",
		Fix:   "Answer HTTP 403.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc6750#section-3.1",
	},
	{
		ID: "auth-invalid-token-status", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: tokenStatus,
		Title: "invalid_token was sent with another status than 401",
		Help:  "Clients refresh their token on 401 alone.",
		Fix:   "Answer HTTP 401.",
		Spec:  "2026-07-28/basic/authorization/index#token-handling",
	},
	{
		ID: "auth-offline-access-scope", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onHTTPResponse, check: offlineAccess,
		Title: "offline_access is asked for as a scope of the resource",
		Help:  "Refresh tokens are a matter between the client and the authorization server.",
		Fix:   "Leave offline_access out of challenges and of scopes_supported.",
		Spec:  "2026-07-28/basic/authorization/index#refresh-tokens",
	},
	{
		ID: "auth-scope-trickle", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onHTTPResponse, check: scopeTrickle,
		Title: "One operation was asked for one scope after the other",
		Help:  "Each costs the user another authorization, for a single call.",
		Fix:   "Name all scopes that the operation needs in the first challenge.",
		Spec:  "2026-07-28/basic/authorization/index#runtime-insufficient-scope-errors",
	},
	{
		ID: "auth-on-stdio", Signal: Info, Level: Note, Transports: OnStdio, on: onError, check: authOnStdio,
		Title: "A challenge of OAuth over stdio",
		Help:  "Over stdio credentials come from the environment; no client acts on a challenge there.",
		Fix:   "Say in the message which setting is missing.",
		Spec:  "2026-07-28/basic/authorization/index#protocol-requirements",
	},
}

// wroteChallenges reports whether the recorder writes challenges down: it does
// where it writes HTTP facts at all.
func (c *ctx) wroteChallenges() bool { return c.rec.HTTP != nil || !c.x.guessed }

func noChallenge(c *ctx) {
	if c.rec.Status == 401 && len(c.rec.AuthChallenge) == 0 && c.wroteChallenges() {
		c.once("401 without WWW-Authenticate")
	}
}

// demands are what the answer asks for.
func (c *ctx) demands() []store.Demand {
	if c.ev.Attempt != nil {
		return c.ev.Attempt.Demands
	}
	return store.ReadDemands(c.rec.AuthChallenge)
}

// bearer are the Bearer challenges of a refusal, of fields that can be read.
func (c *ctx) bearer() []*mcp.Challenge {
	if c.rec.Status < 400 || len(c.rec.AuthChallenge) == 0 {
		return nil
	}
	return c.anyBearer()
}

func (c *ctx) anyBearer() []*mcp.Challenge {
	var out []*mcp.Challenge
	for _, d := range c.demands() {
		for i := range d.Challenges {
			if d.Fault == "" && d.Challenges[i].Is(mcp.Bearer) {
				out = append(out, &d.Challenges[i])
			}
		}
	}
	return out
}

func scopeOf(ch *mcp.Challenge) string { s, _ := ch.Get(mcp.ParamScope); return s }
func errorOf(ch *mcp.Challenge) string { s, _ := ch.Get(mcp.ParamError); return s }

// onCall reports on the call that the exchange is for.
func (c *ctx) onCall(format string, args ...any) {
	method, tool := c.method, c.tool
	if c.req == nil && len(c.x.reqs) > 0 {
		c.method, c.tool = c.x.reqs[0].method, c.x.reqs[0].tool
	}
	c.hitAt("", format, args...)
	c.method, c.tool = method, tool
}

func noResourceMetadata(c *ctx) {
	for _, ch := range c.bearer() {
		if _, ok := ch.Get(mcp.ParamResourceMetadata); !ok && c.rec.Status == 401 {
			c.once("a Bearer challenge without resource_metadata")
		}
	}
}

func challengeSyntax(c *ctx) {
	for _, d := range c.demands() {
		if d.Fault != "" {
			c.once("%s: %s", quote(d.Raw), d.Fault)
		}
	}
}

func challengeNoScope(c *ctx) {
	if c.rec.Status != 401 && c.rec.Status != 403 {
		return
	}
	for _, ch := range c.bearer() {
		if scopeOf(ch) == "" && (c.rec.Status == 401 || errorOf(ch) != mcp.ErrorInsufficientScope) {
			c.onCall("a %d with a Bearer challenge without scope", c.rec.Status)
		}
	}
}

func noScope(c *ctx) {
	if c.rec.Status != 403 {
		return
	}
	for _, ch := range c.bearer() {
		if errorOf(ch) == mcp.ErrorInsufficientScope && scopeOf(ch) == "" {
			c.onCall("insufficient_scope without scope")
		}
	}
}

func noError(c *ctx) {
	if c.rec.Status != 403 {
		return
	}
	for _, ch := range c.bearer() {
		switch e := errorOf(ch); e {
		case mcp.ErrorInsufficientScope:
		case "":
			c.onCall("a 403 with a Bearer challenge without error")
		default:
			c.onCall("a 403 with error=%s; want insufficient_scope", quote(e))
		}
	}
}

func scopeStatus(c *ctx) {
	for _, ch := range c.anyBearer() {
		if errorOf(ch) == mcp.ErrorInsufficientScope && c.rec.Status != 403 {
			c.onCall("insufficient_scope with HTTP %d; want 403", c.rec.Status)
		}
	}
}

func tokenStatus(c *ctx) {
	for _, ch := range c.anyBearer() {
		if errorOf(ch) == mcp.ErrorInvalidToken && c.rec.Status != 401 {
			c.onCall("invalid_token with HTTP %d; want 401", c.rec.Status)
		}
	}
}

func offlineAccess(c *ctx) {
	for _, ch := range c.bearer() {
		if slices.Contains(ch.Scopes(), "offline_access") {
			c.once("a challenge with scope %s", quote(scopeOf(ch)))
		}
	}
	if c.doc("prm") {
		for _, s := range c.root.get("scopes_supported").each() {
			if s.is("offline_access") {
				c.once("scopes_supported of %s", quote(c.x.path))
			}
		}
	}
}

func metadataURL(c *ctx) {
	if c.rec.Status != 401 && c.rec.Status != 403 {
		return
	}
	for _, ch := range c.bearer() {
		v, ok := ch.Get(mcp.ParamResourceMetadata)
		if !ok {
			continue
		}
		u, err := url.Parse(v)
		switch {
		case err != nil || !u.IsAbs() || u.Host == "":
			c.once("resource_metadata is %s; want an absolute URL", quote(v))
		case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
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
	return !sameHost(t, u) && !strings.EqualFold(c.e.auth.of(c.x).host, u.Host)
}

// sameHost reports whether two URLs name one server: loopback names of one
// port do.
func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(a.Host, b.Host) || port(a) == port(b) && (strings.EqualFold(a.Hostname(), b.Hostname()) || loopback(a.Hostname()) && loopback(b.Hostname()))
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// stepUps are the attempts of the ladder that were refused for their scope,
// up to the one at hand, which is nil when it is no such attempt.
func (c *ctx) stepUps() []*store.Attempt {
	t := c.ev.Attempt
	if t == nil || !stepUp(t) {
		return nil
	}
	var out []*store.Attempt
	for i := range c.ev.Ladder.Attempts {
		if a := &c.ev.Ladder.Attempts[i]; stepUp(a) {
			out = append(out, a)
		}
	}
	return out
}

func stepUp(t *store.Attempt) bool {
	b := t.Bearer()
	return b != nil && t.Status == 403 && errorOf(b) == mcp.ErrorInsufficientScope
}

func scopeTrickle(c *ctx) {
	list := c.stepUps()
	if len(list) < 2 || list[len(list)-1].Answer != c.ev.Index {
		return
	}
	before, now := list[len(list)-2].Bearer(), list[len(list)-1].Bearer()
	for _, s := range now.Scopes() {
		if scopeOf(before) != "" && !slices.Contains(before.Scopes(), s) {
			c.onCall("first scope %s, then %s", quote(scopeOf(before)), quote(scopeOf(now)))
			return
		}
	}
}

func authOnStdio(c *ctx) {
	text := strings.ToLower(string(c.fail.raw()))
	if strings.Contains(text, "www-authenticate") || strings.Contains(text, "resource_metadata") {
		c.onErrorFrame("an error that holds a challenge")
	}
}

func (c *ctx) onErrorFrame(what string) { c.hit(c.fail, "%s: %s", what, show(c.fail.get("message"))) }
