package checks

import (
	"net/url"
	"slices"
	"strings"
)

const (
	urlPage  = "2026-07-28/client/elicitation#url-mode-elicitation-requests"
	safePage = "2026-07-28/client/elicitation#safe-url-handling"
)

// Elicitation in URL mode.
var elicitURLRules = []Rule{
	{
		ID: "elicit-url-shape", Signal: Warn, Level: Must, Revisions: R4Up, on: onElicit, check: elicitURLShape,
		Title: "The URL of an elicitation cannot be opened",
		Help:  "It is missing, not absolute, or carries a user name.",
		Fix:   "Send an absolute URL without credentials.",
		Spec:  urlPage,
	},
	{
		ID: "elicit-url-http", Signal: Warn, Level: Should, Revisions: R4Up, on: onElicit, check: elicitURLHTTP,
		Title: "The URL of an elicitation is not encrypted",
		Help:  "What the user types there can be read on the way.",
		Fix:   "Use https; http is for the own machine.",
		Spec:  safePage,
	},
	{
		ID: "elicit-url-scheme", Signal: Warn, Level: Must, Revisions: R4Up, on: onElicit, check: elicitURLScheme,
		Title: "The URL of an elicitation is not for a browser",
		Help:  "Other schemes than http and https run code or open files; clients refuse them.",
		Fix:   "Use https.",
		Spec:  safePage,
	},
	{
		ID: "elicit-url-secret", Signal: Warn, Level: Should, Revisions: R4Up, on: onElicit, check: elicitURLSecret,
		Title: "The URL of an elicitation carries what looks like a secret",
		Help:  "URLs are logged and shown; whoever has this one is taken for the user.",
		Fix:   "Send an opaque id that is of no use without signing in.",
		Spec:  safePage,
	},
	{
		ID: "elicit-url-punycode", Signal: Info, Level: Note, Revisions: R4Up, on: onElicit, check: elicitURLPunycode,
		Title: "The URL of an elicitation has a host in Punycode",
		Help:  "Such names can look like others; clients should warn.",
		Fix:   "Look at the host.",
		Spec:  safePage,
	},
	{
		ID: "elicit-id-missing", Signal: Warn, Level: Must, Revisions: R4, on: onElicit, check: elicitIDMissing,
		Title: "An elicitation in URL mode has no elicitationId",
		Help:  "The client cannot tell which one was completed.",
		Fix:   "Send elicitationId.",
		Spec:  "2025-11-25/client/elicitation#url-mode-elicitation-requests",
	},
	{
		ID: "elicit-id-modern", Signal: Info, Level: Note, Revisions: R5, on: onElicit, check: elicitIDModern,
		Title: "An elicitation has elicitationId, which 2026-07-28 has removed",
		Help:  "The key in inputRequests tells elicitations apart.",
		Fix:   "Leave it out.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "elicit-url-for-mcp-auth", Signal: Warn, Level: Should, Revisions: R4Up, Transports: OnHTTP, on: onElicit, check: elicitSignIn,
		Title: "An elicitation sends the user to the server's own sign-in",
		Help:  "The URL is the authorization endpoint of the server's metadata, and its resource is the server. Elicitation is for what the server needs elsewhere; access to itself is asked for with 401.",
		Fix:   "Answer 401 with a challenge.",
		Spec:  "2026-07-28/client/elicitation#url-mode-elicitation-for-oauth-flows",
	},
	{
		ID: "elicit-id-dup", Signal: Warn, Level: Should, Revisions: R4, on: onElicit, check: elicitIDTwice,
		Title: "Two elicitations with different URLs have the same elicitationId",
		Help:  "Which of them was completed nobody can tell.",
		Fix:   "Use an id of its own for each.",
		Spec:  "2025-11-25/client/elicitation#url-mode-elicitation-requests",
	},
	{
		ID: "elicit-complete-unknown", Signal: Info, Level: Note, Revisions: R4, on: onNotification, methods: elicitMethods, check: elicitCompleteUnknown,
		Title: "An elicitation was completed that nobody asked for, or that was completed before",
		Help:  "Clients ignore it.",
		Fix:   "Send the elicitationId of the request, once.",
		Spec:  "2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation",
	},
}

// address is the URL of the elicitation at hand, nil when it has none that can
// be judged.
func (c *ctx) address() (v val, u *url.URL) {
	v = c.item.get("url")
	if !c.item.get("mode").is("url") || marked(v) {
		return v, nil
	}
	u, err := url.Parse(v.str())
	if err != nil || !u.IsAbs() {
		return v, nil
	}
	return v, u
}

func elicitURLShape(c *ctx) {
	if !c.item.get("mode").is("url") || marked(c.item.get("url")) {
		return
	}
	v, u := c.address()
	switch {
	case u == nil:
		c.hit(c.item, "the url is %s", show(v))
	case u.User != nil:
		c.hit(v, "the url holds a user name")
	}
}

func elicitURLHTTP(c *ctx) {
	if v, u := c.address(); u != nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		c.hit(v, "the url is %s", quote(u.Scheme+"://"+u.Host))
	}
}

func elicitURLScheme(c *ctx) {
	if v, u := c.address(); u != nil && u.Scheme != "http" && u.Scheme != "https" {
		c.hit(v, "the scheme is %s", quote(u.Scheme))
	}
}

// elicitSignIn goes by resource too: the authorization server may sign the same
// user in for others.
func elicitSignIn(c *ctx) {
	v, u := c.address()
	if u == nil || !c.e.auth.signIn[page(u)] {
		return
	}
	if r := strings.TrimSuffix(u.Query().Get("resource"), "/"); c.e.auth.resource[r] {
		c.hit(v, "%s signs users in for %s", quote(page(u)), quote(r))
	}
}

var secretParams = []string{"access_token", "id_token", "refresh_token", "api_key", "apikey", "password", "passwd", "secret", "client_secret", "jwt", "email"}

func elicitURLSecret(c *ctx) {
	v, u := c.address()
	if u == nil {
		return
	}
	frag, _ := url.ParseQuery(u.Fragment)
	for _, q := range [...]url.Values{u.Query(), frag} {
		for k, vs := range q {
			if slices.Contains(secretParams, strings.ToLower(k)) && len(vs) > 0 && vs[0] != "" {
				c.hit(v, "the url has %s", quote(k))
				return
			}
		}
	}
	if secretShape.MatchString(u.RawQuery) || secretShape.MatchString(u.Fragment) {
		c.hit(v, "the url holds what looks like a credential")
	}
}

func elicitURLPunycode(c *ctx) {
	v, u := c.address()
	if u == nil {
		return
	}
	for l := range strings.SplitSeq(strings.ToLower(u.Hostname()), ".") {
		if strings.HasPrefix(l, "xn--") {
			c.hit(v, "the host is %s", quote(u.Hostname()))
			return
		}
	}
}

func elicitIDMissing(c *ctx) {
	if c.item.get("mode").is("url") && !c.item.get("elicitationId").isString() {
		c.hit(c.item, "elicitationId is %s", show(c.item.get("elicitationId")))
	}
}

func elicitIDModern(c *ctx) {
	if v := c.item.get("elicitationId"); v.ok() {
		c.hit(v, "elicitationId is %s", show(v))
	}
}

func elicitIDTwice(c *ctx) {
	v := c.item.get("elicitationId")
	if h, ok := c.e.elicits.urls[v.str()]; ok && v.isString() && !marked(v) && !marked(c.item.get("url")) && h != hashText(c.item.get("url").raw()) {
		c.hit(v, "%s stood for another url before", show(v))
	}
}

func elicitCompleteUnknown(c *ctx) {
	v := c.params.get("elicitationId")
	id := v.str()
	_, known := c.e.elicits.urls[id]
	switch {
	case !c.s2c() || !v.isString() || marked(v) || len(c.e.elicits.urls) >= maxInputs:
	case c.e.elicits.done[id]:
		c.hit(v, "%s was completed before", show(v))
	case !known && c.e.log.whole() && !c.cl.cut:
		c.hit(v, "no elicitation has the id %s", show(v))
	}
}
