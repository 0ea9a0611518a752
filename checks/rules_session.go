package checks

import "strings"

// Sessions of 2025-03-26 to 2025-11-25 (basic/transports, Session Management).
var sessionRules = []Rule{
	{
		ID: "http-session-id-charset", Signal: Warn, Level: Must, Revisions: Sessions, Transports: OnHTTP, on: onHTTPResponse, check: sessionCharset,
		Title: "A session id holds other characters than visible ASCII",
		Help:  "It does not survive in a header.",
		Fix:   "Use letters and digits.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-session-id-weak", Signal: Info, Level: Note, Revisions: Sessions, Transports: OnHTTP, on: onHTTPResponse, check: sessionWeak,
		Title: "A session id is short",
		Help:  "Whoever guesses it can take over the session.",
		Fix:   "Use a random id of 128 bits or more.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-session-id-not-on-init", Signal: Warn, Level: Should, Revisions: Sessions, Transports: OnHTTP, on: onHTTPResponse, check: sessionNotOnInit,
		Title: "A session id was given out on another answer than that to initialize",
		Help:  "Clients look for it there alone.",
		Fix:   "Send Mcp-Session-Id with the answer to initialize.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-session-missing-accepted", Signal: Info, Level: Note, Revisions: Sessions, Transports: OnHTTP, on: onHTTPResponse, check: sessionMissingAccepted,
		Title: "The server answered a request without the session id that it gave out",
		Help:  "Servers that need the id should answer 400.",
		Fix:   "Nothing, when sessions are optional.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-session-404-wrong-code", Signal: Warn, Level: Should, Revisions: Sessions, Transports: OnHTTP, on: onHTTPResponse, check: sessionWrongCode,
		Title: "A session that is not known was answered with another status than 404",
		Help:  "Clients begin a new session on 404 alone; on 400 they give up.",
		Fix:   "Answer 404 to a session id that has ended or never was; 400 is for a missing one.",
		Spec:  "2025-11-25/basic/transports#session-management",
	},
	{
		ID: "http-session-minted-modern", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onHTTPResponse, check: sessionMinted,
		Title: "A session id on the answer to a request of 2026-07-28",
		Help:  "That revision has no sessions, and clients do not send the id back.",
		Fix:   "Give out session ids on the answer to initialize only.",
		Spec:  "2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions",
	},
}

func sessionCharset(c *ctx) {
	if s := c.facts().Session; s != nil && !s.ASCII {
		c.once("the id has %d bytes, not all of them visible ASCII", s.Len)
	}
}

func sessionWeak(c *ctx) {
	if s := c.facts().Session; s != nil && s.Len < 16 {
		c.once("the id has %d bytes", s.Len)
	}
}

func sessionNotOnInit(c *ctx) {
	x := c.x
	if c.rec.MCPSession == "" || x.session || x.guessed || len(x.reqs)+x.notes == 0 || c.cl.session != "" || !c.cl.shake.done {
		return
	}
	for _, r := range x.reqs {
		if r.method == "initialize" {
			return
		}
	}
	c.once("it came with the answer to %s", about(x.at.method, x.at.tool))
}

func sessionMissingAccepted(c *ctx) {
	x := c.x
	if c.cl.session != "" && !x.session && !x.guessed && len(x.reqs) > 0 && c.rec.Status == 200 && x.reqs[0].method != "initialize" {
		c.once("%s without the id was answered with 200", about(x.reqs[0].method, x.reqs[0].tool))
	}
}

func sessionWrongCode(c *ctx) {
	if !c.x.session || c.rec.Status == 404 || c.rec.Status == 401 || c.rec.Status == 403 {
		return
	}
	text := strings.ToLower(c.fail.get("message").str())
	if c.rec.HasText && c.rec.Status >= 400 {
		text = strings.ToLower(c.rec.Text)
	}
	if !strings.Contains(text, "session") {
		return
	}
	for _, w := range [...]string{"not found", "no valid", "invalid", "unknown", "expired", "does not exist", "terminated"} {
		if strings.Contains(text, w) {
			c.once("HTTP %d: %s; want 404", c.rec.Status, quote(text))
			return
		}
	}
}

func sessionMinted(c *ctx) {
	if c.rec.MCPSession != "" && !c.x.guessed && c.x.rev == R5 && c.e.peer.modernOnly() && !c.e.anyLegacy() {
		c.once("Mcp-Session-Id on the answer to %s", about(c.x.at.method, c.x.at.tool))
	}
}
