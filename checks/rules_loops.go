package checks

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Loops: the same again and again, with the reason by name. They say where
// time and requests go; none fails a check.
var loopRules = []Rule{
	{
		ID: "auth-step-up-loop", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPResponse, check: stepUpLoop,
		Title: "The same call was refused for its scope more than three times",
		Help:  "Client and server go round in circles; --max-auth-attempts makes it fail a check.",
		Fix:   "See which scope the token has, and which one the server wants.",
		Spec:  "2026-07-28/basic/authorization/index#step-up-authorization-flow",
	},
	{
		ID: "auth-same-challenge-new-token", Signal: Info, Level: Note, Revisions: R4Up, Transports: OnHTTP, on: onHTTPResponse, check: sameChallenge,
		Title: "The same scope was demanded again",
		Help:  "The new authorization did not bring it: the user or the authorization server gave less, or the client asked for less.",
		Fix:   "Compare the scope of the challenge with the one that the client asks for and gets.",
		Spec:  "2026-07-28/basic/authorization/index#step-up-authorization-flow",
	},
	{
		ID: "auth-same-token-again", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPResponse, check: sameToken,
		Title: "A token that was refused was sent again",
		Help:  "The answer cannot be another; the client did not act on the challenge.",
		Fix:   "Get a new token before the request is tried again.",
		Spec:  "2026-07-28/basic/authorization/index#step-up-authorization-flow",
	},
	{
		ID: "http-get-loop", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPRequest, check: getLoop,
		Title: "A client opens its event stream over and over",
		Help:  "Each GET ended without a message; this is a loop that costs requests and does nothing.",
		Fix:   "Answer 405 to GET when there is no stream, or keep the stream open; wait longer before each try.",
		Spec:  "2025-11-25/basic/transports#listening-for-messages-from-the-server",
	},
	{
		ID: "http-redirect-dropped", Signal: Info, Level: Note, Transports: OnHTTP, on: onHTTPRequest, check: redirectDropped,
		Title: "A redirect cost the request its body or its credential",
		Help:  "The client followed a redirect with less than it had sent, so the server refuses it, or does something else.",
		Fix:   "Configure the URL that the redirect leads to.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc9110#section-15.4",
	},
}

// loopSeen is what is remembered to find loops.
type loopSeen struct {
	gets  map[int]int     // GETs in a row that did nothing, by client
	moved map[string]sent // requests that were redirected, by the path that they were sent to
}

// sent is what is remembered of a request that was sent elsewhere.
type sent struct {
	verb string
	auth bool
	num  uint64
}

// manyGets is from how many GETs in a row on that did nothing one speaks of a loop.
const manyGets = 5

// climb keeps the longest ladder, and what else an answer tells of
// authorization.
func (c *ctx) climb() {
	if l := c.ev.Ladder; l != nil {
		c.e.attempts.see(l.Count, func() string { return clip(l.Operation, maxSubjectLen) })
	}
	c.seeAnswer()
	c.seeDoc()
	c.seeRedirect()
	delete(c.e.auth.asks, c.x)
}

func stepUpLoop(c *ctx) {
	if list := c.stepUps(); len(list) > 3 {
		c.onCall("refused %d times with insufficient_scope %s", len(list), quote(scopeOf(list[len(list)-1].Bearer())))
	}
}

// again are the newest two attempts of the ladder, when the one at hand and
// the one before were refused.
func (c *ctx) again() (before, now *store.Attempt) {
	l := c.ev.Ladder
	if l == nil || len(l.Attempts) < 2 || l.Last().Answer != c.ev.Index {
		return nil, nil
	}
	before, now = &l.Attempts[len(l.Attempts)-2], l.Last()
	if !before.Refused() || !now.Refused() {
		return nil, nil
	}
	return before, now
}

func sameChallenge(c *ctx) {
	list := c.stepUps()
	if len(list) < 2 || list[len(list)-1].Answer != c.ev.Index {
		return
	}
	before, now := list[len(list)-2], list[len(list)-1]
	if !sameScopes(before, now) || scopeOf(now.Bearer()) == "" {
		return
	}
	scope := quote(scopeOf(now.Bearer()))
	switch a, b := before.Auth, now.Auth; {
	case a == nil || b == nil:
		c.onCall("insufficient_scope %s again", scope)
	case a.SHA256 != b.SHA256:
		c.onCall("insufficient_scope %s again, although the credential changed from %s to %s", scope, a.SHA256, b.SHA256)
	}
}

func sameScopes(a, b *store.Attempt) bool {
	x, y := a.Bearer().Scopes(), b.Bearer().Scopes()
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func sameToken(c *ctx) {
	if before, now := c.again(); now != nil && before.Auth != nil && now.Auth != nil && before.Auth.SHA256 != "" && before.Auth.SHA256 == now.Auth.SHA256 {
		c.onCall("the credential %s was sent again and refused again, with %d", now.Auth.SHA256, now.Status)
	}
}

// seeGets counts GETs in a row that brought nothing.
func (c *ctx) seeGets() {
	switch x := c.x; {
	case x.guessed || x.verb != http.MethodGet:
	case c.rec.Status >= 400 || c.facts().End == "server" && x.events == 0:
		if c.e.loops.gets == nil || len(c.e.loops.gets) >= maxClients {
			c.e.loops.gets = map[int]int{}
		}
		c.e.loops.gets[c.ev.Client]++
	case c.facts().SSE != nil:
		delete(c.e.loops.gets, c.ev.Client)
	}
}

func getLoop(c *ctx) {
	f := c.facts()
	if n := c.e.loops.gets[c.ev.Client]; f.Method == http.MethodGet && strings.Contains(f.Accept, "text/event-stream") && n >= manyGets {
		c.once("the GET behind %d in a row that brought no message: %d requests so far", n, n+1)
	}
}

// seeRedirect remembers where a request was sent, by the path.
func (c *ctx) seeRedirect() {
	u, err := url.Parse(c.facts().Location)
	if s := c.rec.Status; s < 301 || s > 308 || s == 304 || c.x.guessed || err != nil || u.Path == "" || u.Path == c.x.path && c.x.verb == http.MethodGet {
		return
	}
	if c.e.loops.moved == nil || len(c.e.loops.moved) >= maxClients {
		c.e.loops.moved = map[string]sent{}
	}
	a := c.e.auth.of(c.x).facts
	c.e.loops.moved[u.Path] = sent{c.x.verb, a != nil && a.Present, c.x.num}
}

func redirectDropped(c *ctx) {
	f := c.facts()
	was, ok := c.e.loops.moved[f.Path]
	if !ok || c.x.num != was.num+1 {
		return
	}
	switch {
	case was.verb == http.MethodPost && f.Method == http.MethodGet:
		c.once("POST was redirected to %s and came as GET: the message is lost", quote(f.Path))
	case was.auth && c.rec.Auth == nil:
		c.once("%s was redirected to %s and came without Authorization", was.verb, quote(f.Path))
	}
}
