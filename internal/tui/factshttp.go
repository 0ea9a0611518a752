package tui

import (
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// httpFacts are the facts of the HTTP exchange that a record belongs to.
func httpFacts(d *dress, rec *capture.Record) []line {
	var out []line
	fact := func(name Text, value string) {
		if value != "" {
			out = append(out, of(span{name + " ", inkDim}, span{d.safe(value), inkText}))
		}
	}
	if rec.Status > 0 {
		i := inkText
		if rec.Status >= 400 {
			i = inkError
		}
		out = append(out, of(span{"status ", inkDim}, span{Text(strconv.Itoa(rec.Status)), i}))
	}
	for _, c := range rec.AuthChallenge {
		fact("WWW-Authenticate", c)
	}
	out = append(out, authFacts(d, rec.Auth)...)
	fact("Mcp-Method", rec.MCPMethod)
	fact("Mcp-Name", rec.MCPName)
	for _, h := range rec.MCPParamHeaders {
		fact("Mcp-Param-"+d.safe(h.Name), h.Value)
	}
	fact("MCP-Protocol-Version", rec.MCPProtocolVersion)
	h := rec.HTTP
	if h == nil {
		return out
	}
	if h.Method != "" {
		fact(d.safe(h.Method), h.Path)
	}
	if h.End != "" {
		fact("stream", "closed by the "+h.End)
	}
	for _, f := range [...]struct{ name, value string }{
		{"content-type", h.ContentType}, {"accept", h.Accept}, {"host", h.Host}, {"origin", h.Origin},
		{"user-agent", h.UserAgent}, {"encoding", h.Encoding}, {"last-event-id", h.LastEventID},
		{"allow", h.Allow}, {"location", h.Location},
	} {
		fact(Text(f.name), f.value)
	}
	for _, m := range h.Mapped {
		fact("changed by the proxy", m.What+": "+m.From+" to "+m.To)
	}
	return out
}

// authFacts are facts about a credential; the credential itself is nowhere.
func authFacts(d *dress, a *capture.AuthFacts) []line {
	if a == nil || !a.Present {
		return nil
	}
	l := of(span{"authorization ", inkDim}, span{d.safe(a.Scheme), inkText})
	if a.JWT != nil {
		l.put(inkDim, " (not verified)")
		if a.JWT.Iss != "" {
			l.put(inkText, " iss "+d.safe(a.JWT.Iss))
		}
		if a.JWT.Scope != "" {
			l.put(inkText, " scope "+d.safe(a.JWT.Scope))
		}
	}
	return []line{l}
}
