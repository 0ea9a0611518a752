package checks

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/redact"
)

// Authorization: the documents that say whom to trust, where they pass the
// proxy.
var authDocRules = []Rule{
	{
		ID: "auth-prm-no-servers", Signal: Warn, Level: Must, Transports: OnHTTP, on: onHTTPResponse, check: prmServers,
		Title: "The metadata of the resource names no authorization server",
		Help:  "The client does not learn where to get a token.",
		Fix:   "List at least one in authorization_servers.",
		Spec:  "2026-07-28/basic/authorization/index#authorization-server-location",
	},
	{
		ID: "auth-prm-resource", Signal: Warn, Level: Must, Transports: OnHTTP, on: onHTTPResponse, check: prmResource,
		Title: "The metadata of the resource is of another resource",
		Help:  "Clients compare it with the URL that they use, and stop.",
		Fix:   "Let resource be the URL of the endpoint, or its beginning, as clients know it.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc9728#section-3.3",
	},
	{
		ID: "auth-as-issuer", Signal: Warn, Level: Must, Revisions: R5, Transports: OnHTTP, on: onHTTPResponse, check: asIssuer,
		Title: "The metadata of an authorization server is of another issuer",
		Help:  "Clients must not use it.",
		Fix:   "Let issuer be the URL that the well-known path was made of.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc8414#section-3.3",
	},
	{
		ID: "auth-no-pkce-metadata", Signal: Warn, Level: Must, Transports: OnHTTP, on: onHTTPRequest, check: noPKCE,
		Title: "The client goes on with an authorization server that does not speak of PKCE",
		Help:  "Without code_challenge_methods_supported it must refuse: a stolen code could be redeemed by anybody.",
		Fix:   "Advertise code_challenge_methods_supported with S256; refuse servers that do not.",
		Spec:  "2026-07-28/basic/authorization/security-considerations#authorization-code-protection",
	},
}

// doc reports whether the response is such a document, whole.
func (c *ctx) doc(kind string) bool {
	return c.s2c() && c.facts().Doc == kind && c.rec.Status == 200 && c.root.isObject() && !c.rec.Truncated
}

func prmServers(c *ctx) {
	if v := c.root.get("authorization_servers"); c.doc("prm") && (!v.isArray() || v.len() == 0) {
		c.hit(v, "authorization_servers is %s", show(v))
	}
}

func prmResource(c *ctx) {
	v := c.root.get("resource")
	server, err := url.Parse(c.e.log.target)
	if !c.doc("prm") || err != nil || server.Host == "" || redact.HasMark(v.str()) {
		return
	}
	u, err := url.Parse(v.str())
	if err != nil || !v.isString() || !covers(u, server, c.e.auth.of(c.x).host) {
		c.hit(v, "resource is %s; the server is %s", show(v), quote(c.e.log.target))
	}
}

// wellKnown splits the path of a metadata document into the path of what it
// is about.
func wellKnown(path string) (about string, ok bool) {
	for _, name := range [...]string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		if rest, found := strings.CutPrefix(path, name); found {
			return rest, true
		}
		if rest, found := strings.CutSuffix(path, name); found {
			return rest, true
		}
	}
	return "", false
}

func asIssuer(c *ctx) {
	v := c.root.get("issuer")
	about, ok := wellKnown(c.x.path)
	server, err := url.Parse(c.e.log.target)
	if !c.doc("as") || !ok || err != nil || server.Host == "" || redact.HasMark(v.str()) {
		return
	}
	u, err := url.Parse(v.str())
	if err == nil && v.isString() && strings.TrimSuffix(u.EscapedPath(), "/") == strings.TrimSuffix(about, "/") &&
		(sameHost(u, server) || strings.EqualFold(u.Host, c.e.auth.of(c.x).host)) {
		return
	}
	c.hit(v, "issuer is %s; it was asked for at %s of %s", show(v), quote(c.x.path), quote(server.Host))
}

// seeDoc keeps where users sign in and what for. Of an authorization server
// without PKCE it keeps the addresses, where the client that read of them
// speaks a revision that asks for it.
func (c *ctx) seeDoc() {
	c.seeSignIn()
	if !c.doc("as") || !c.rev.within(R4Up) || c.root.get("code_challenge_methods_supported").ok() || !c.root.get("authorization_endpoint").ok() {
		return
	}
	s := &c.e.auth
	if s.endpoint == nil {
		s.endpoint = map[string]bool{}
	}
	for _, name := range [...]string{"authorization_endpoint", "token_endpoint"} {
		if u, err := url.Parse(c.root.get(name).str()); err == nil && len(u.Path) > 1 && len(s.endpoint) < 64 {
			s.endpoint[u.Path] = true
		}
	}
}

// seeSignIn keeps the authorization endpoint of the server's authorization
// server, and the resource that a token is asked for.
func (c *ctx) seeSignIn() {
	s := &c.e.auth
	if s.signIn == nil {
		s.signIn, s.resource = map[string]bool{}, map[string]bool{}
	}
	if v := c.root.get("authorization_endpoint"); c.doc("as") && !marked(v) && len(s.signIn) < 64 {
		if u, err := url.Parse(v.str()); err == nil && u.Host != "" {
			s.signIn[page(u)] = true
		}
	}
	if v := c.root.get("resource"); c.doc("prm") && v.isString() && !marked(v) && len(s.resource) < 64 {
		s.resource[strings.TrimSuffix(v.str(), "/")] = true
	}
}

// page is a URL without what differs from user to user.
func page(u *url.URL) string {
	return strings.ToLower(u.Scheme+"://"+u.Host) + strings.TrimSuffix(u.EscapedPath(), "/")
}

func noPKCE(c *ctx) {
	if f := c.facts(); c.e.auth.endpoint[f.Path] && (f.Method == http.MethodGet || f.Method == http.MethodPost) && c.method == "" {
		c.once("%s %s, whose metadata lacks code_challenge_methods_supported", f.Method, quote(f.Path))
	}
}
