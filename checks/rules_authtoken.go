package checks

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
)

// Authorization: what requests bring along. All but the first rest on facts
// that are recorded with --observe-auth alone; none sees a credential.
var authTokenRules = []Rule{
	{
		ID: "auth-token-in-query", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: tokenInQuery,
		Title: "An access token stands in the query of the URL",
		Help:  "URLs end up in logs, histories and Referer headers, and the token with them.",
		Fix:   "Send it in the Authorization header.",
		Spec:  "2026-07-28/basic/authorization/index#token-requirements",
	},
	{
		ID: "auth-token-in-body", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: tokenInBody,
		Title: "The access token stands in the message too",
		Help:  "Servers log and forward arguments; the token goes with them.",
		Fix:   "Send it in the Authorization header alone.",
		Spec:  "2026-07-28/basic/authorization/index#token-requirements",
	},
	{
		ID: "auth-scheme", Signal: Info, Level: Note, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: otherScheme,
		Title: "The Authorization header has another scheme than Bearer",
		Help:  "Own ways of authorization are allowed; OAuth clients use Bearer.",
		Fix:   "Nothing, when client and server agree on it.",
		Spec:  "2026-07-28/basic/authorization/index#token-requirements",
	},
	{
		ID: "auth-dropped", Signal: Warn, Level: Should, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: authDropped,
		Title: "A request lacks the credential that the others have",
		Help:  "It belongs into each request, also into GET and DELETE.",
		Fix:   "Send Authorization with each request to the server.",
		Spec:  "2026-07-28/basic/authorization/index#token-requirements",
	},
	{
		ID: "auth-expired-jwt-accepted", Signal: Auth, Level: Note, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: expiredAccepted,
		Title: "A request with an expired token was answered",
		Help:  "Expired tokens get a 401. The time is read from the token, whose signature nobody here can verify; clocks may differ.",
		Fix:   "Check exp, and answer 401 with error=\"invalid_token\".",
		Spec:  "2026-07-28/basic/authorization/index#token-handling",
	},
	{
		ID: "auth-audience", Signal: Auth, Level: Note, Revisions: R2Up, Transports: OnHTTP, on: onHTTPResponse, check: audience,
		Title: "A request was answered whose token is meant for somebody else",
		Help:  "Servers accept tokens that were made for them alone. The audience is read from the token, whose signature nobody here can verify; it may be an agreed name in place of a URL.",
		Fix:   "Check aud against the server's own URI, and ask for tokens with the resource parameter.",
		Spec:  "2026-07-28/basic/authorization/security-considerations#access-token-privilege-restriction",
	},
	{
		ID: "auth-same-token-two-servers", Signal: Warn, Level: Must, Revisions: R2Up, Transports: OnHTTP, on: onHTTPRequest, check: twoServers,
		Title: "The same token was sent to two servers",
		Help:  "Whoever has it can act as the user at the other one.",
		Fix:   "Get a token for each server.",
		Spec:  "2026-07-28/basic/authorization/index#token-handling",
	},
	{
		ID: "auth-error-as-200", Signal: Info, Level: Note, Revisions: R2Up, Transports: OnHTTP, on: onOutcome, check: errorAs200,
		Title: "A request without credential was refused with status 200",
		Help:  "Clients begin to sign in on 401 alone. It may be a service behind the tool that refused.",
		Fix:   "Answer HTTP 401 with WWW-Authenticate.",
		Spec:  "2026-07-28/basic/authorization/index#error-handling",
	},
}

// authSeen is what is remembered of credentials, which is what was observed of
// them.
type authSeen struct {
	observed bool                  // facts about credentials are recorded
	asks     map[*exchange]askAuth // requests without an answer
	worked   map[string]bool       // MCP sessions in which a credential was accepted
	conns    map[int]bool          // the same for clients without sessions
	hosts    map[string]string     // hash of a credential, and the server that it was sent to first
	endpoint map[string]bool       // paths of an authorization server that does not speak of PKCE
	signIn   map[string]bool       // pages where users sign in for this server
	resource map[string]bool       // what a token for it is asked for
}

// askAuth is what a request brought along.
type askAuth struct {
	facts *capture.AuthFacts
	ts    time.Time
	host  string
}

func (s *authSeen) of(x *exchange) askAuth { return s.asks[x] }

// seeRequest remembers a request until it is answered.
func (c *ctx) seeRequest() {
	s := &c.e.auth
	if s.asks == nil || len(s.asks) >= maxExchanges {
		s.asks = map[*exchange]askAuth{}
	}
	a, f := c.rec.Auth, c.facts()
	s.observed = s.observed || a != nil
	if f.Method != "" || a != nil {
		s.asks[c.x] = askAuth{a, c.rec.TS, f.Host}
	}
	if a != nil && s.hosts[a.SHA256] == "" && f.Host != "" && len(s.hosts) < maxClients {
		if s.hosts == nil {
			s.hosts = map[string]string{}
		}
		s.hosts[a.SHA256] = f.Host
	}
}

// seeAnswer forgets it, and keeps where credentials are accepted.
func (c *ctx) seeAnswer() {
	s := &c.e.auth
	a := s.of(c.x)
	if a.facts != nil && a.facts.Present && c.rec.Status >= 200 && c.rec.Status < 300 {
		if s.worked == nil {
			s.worked, s.conns = map[string]bool{}, map[int]bool{}
		}
		if sess := c.x.sess; sess != "" && len(s.worked) < maxClients {
			s.worked[sess] = true
		} else if len(s.conns) < maxClients {
			s.conns[c.ev.Client] = true
		}
	}
}

func tokenInQuery(c *ctx) {
	if c.facts().QueryToken {
		c.once("the query of %s holds an access token", quote(c.facts().Path))
	}
}

func tokenInBody(c *ctx) {
	if c.rec.Auth != nil && c.rec.Auth.InBody {
		c.hitAt("", "%s holds the credential of its own Authorization header", c.about())
	}
}

func otherScheme(c *ctx) {
	if a := c.rec.Auth; a != nil && a.Present && !strings.EqualFold(a.Scheme, mcp.Bearer) {
		c.once("Authorization: %s", quote(a.Scheme))
	}
}

// authDropped is sure where the requests belong to one session, or to one
// connection of a client of 2026-07-28.
func authDropped(c *ctx) {
	f := c.facts()
	if c.rec.Auth != nil || c.x.guessed || f.Doc != "" || f.Method == http.MethodOptions || f.Method == "" || c.method == "" && f.Method == http.MethodPost {
		return
	}
	s := &c.e.auth
	if c.rec.MCPSession != "" && s.worked[c.rec.MCPSession] || c.rec.MCPSession == "" && c.rev == R5 && s.conns[c.ev.Client] {
		what := c.about()
		if c.method == "" {
			what = f.Method
		}
		c.hitAt("", "%s without Authorization, behind requests that were accepted with it", what)
	}
}

// accepted is the token of a request that was answered with success.
func (c *ctx) accepted() (*capture.JWTFacts, askAuth) {
	a := c.e.auth.of(c.x)
	if a.facts == nil || a.facts.JWT == nil || c.rec.Status < 200 || c.rec.Status > 299 || c.facts().Doc != "" {
		return nil, a
	}
	return a.facts.JWT, a
}

func expiredAccepted(c *ctx) {
	t, a := c.accepted()
	if t == nil || t.Exp == 0 {
		return
	}
	if late := a.ts.Sub(time.Unix(t.Exp, 0)); late > 0 {
		c.onCall("HTTP %d to a token that says it had expired %s before the request (exp %s, unverified)", c.rec.Status, late.Round(time.Second), time.Unix(t.Exp, 0).UTC().Format(time.RFC3339))
	}
}

func audience(c *ctx) {
	t, a := c.accepted()
	server, err := url.Parse(c.e.log.target)
	if t == nil || len(t.Aud) == 0 || err != nil || server.Host == "" {
		return
	}
	for _, aud := range t.Aud {
		u, err := url.Parse(aud)
		if redact.HasMark(aud) || err == nil && u.Host != "" && covers(u, server, a.host) {
			return
		}
	}
	c.onCall("HTTP %d to a token that says it is for %s (aud, unverified); the server is %s", c.rec.Status, quote(strings.Join(t.Aud, ", ")), quote(c.e.log.target))
}

// covers reports whether a resource is the server, or holds it: the same
// origin, and a path that the server's begins with. To the client the server
// is what it calls host.
func covers(u, server *url.URL, host string) bool {
	if !(u.Scheme == server.Scheme && sameHost(u, server)) && !strings.EqualFold(u.Host, host) {
		return false
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	return path == "" || strings.TrimSuffix(server.EscapedPath(), "/") == path || strings.HasPrefix(server.EscapedPath(), path+"/")
}

// twoServers needs a log that does not belong to one server: there, Host is
// only what the client calls the proxy.
func twoServers(c *ctx) {
	a, host := c.rec.Auth, c.facts().Host
	if a == nil || a.SHA256 == "" || host == "" || c.e.log.target != "" || !strings.EqualFold(a.Scheme, mcp.Bearer) {
		return
	}
	if first := c.e.auth.hosts[a.SHA256]; first != "" && !strings.EqualFold(first, host) {
		c.once("the token %s went to %s and to %s", a.SHA256, quote(first), quote(host))
	}
}

func errorAs200(c *ctx) {
	if c.rec.Status != 200 || !c.s2c() || !c.e.auth.observed || c.req == nil || c.req.auth != "" {
		return
	}
	text := c.fail.get("message").str()
	if c.result.get("isError").isTrue() {
		for _, b := range c.result.get("content").each() {
			text += " " + b.get("text").str()
		}
	}
	text = strings.ToLower(text)
	for _, w := range [...]string{"unauthorized", "unauthenticated", "authentication required", "not authenticated", "missing token", "access token is required"} {
		if strings.Contains(text, w) {
			c.hitAt("", "HTTP 200 with %s", quote(text))
			return
		}
	}
}
