package tui

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

const httpTransport = capture.HTTP

// curl writes an HTTP request as a command. What the log does not hold is a
// variable of the shell: credentials and the id of the session are never
// recorded.
func curl(rec *capture.Record, target string, body []byte) string {
	h := rec.HTTP
	if h == nil {
		h = &capture.HTTPFacts{}
	}
	var b strings.Builder
	b.WriteString("curl -sS")
	if h.Method != "" && h.Method != http.MethodPost || len(body) == 0 {
		b.WriteString(" -X " + shellWord(orElse(h.Method, http.MethodPost)))
	}
	if to := requestURL(target, h.Path); to != "" {
		b.WriteString(" " + shellWord(to))
	} else {
		b.WriteString(` "$URL"`)
	}
	head := func(name, value string) {
		if value != "" {
			b.WriteString(" \\\n  -H " + shellWord(name+": "+value))
		}
	}
	secret := func(text string) { b.WriteString(" \\\n  -H \"" + text + `"`) }
	head("Content-Type", orElse(h.ContentType, "application/json"))
	head("Accept", orElse(h.Accept, "application/json, text/event-stream"))
	head("MCP-Protocol-Version", rec.MCPProtocolVersion)
	head("Mcp-Method", rec.MCPMethod)
	head("Mcp-Name", rec.MCPName)
	for _, p := range rec.MCPParamHeaders {
		const prefix = "Mcp-Param-" // which some programs leave out
		head(prefix+strings.TrimPrefix(http.CanonicalHeaderKey(p.Name), prefix), p.Value)
	}
	head("Origin", h.Origin)
	head("Last-Event-ID", h.LastEventID)
	if h.Session != nil || rec.MCPSession != "" {
		secret("Mcp-Session-Id: $MCP_SESSION_ID")
	}
	if rec.Auth != nil && rec.Auth.Present && !rec.Auth.InBody {
		secret("Authorization: " + authScheme(rec.Auth.Scheme) + " $TOKEN")
	}
	if len(body) > 0 {
		b.WriteString(" \\\n  --data-raw " + shellWord(string(body)))
	}
	return b.String()
}

// authScheme is the scheme of a credential, when it is a word that can stand
// between double quotes.
func authScheme(s string) string {
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return r != '-' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }) >= 0 {
		return "Bearer"
	}
	return s
}

// requestURL is the target, with the path that was asked for where that is
// another one. Neither has a query or a user.
func requestURL(target, path string) string {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return target
	}
	if path != "" && path != u.Path && strings.HasPrefix(path, "/") {
		u.Path, u.RawPath = path, ""
	}
	return u.String()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func shellWord(s string) string { return string(quote(Text(s))) }
