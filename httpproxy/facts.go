package httpproxy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// requestFacts reads what the record keeps of the head of a request.
func requestFacts(rec *capture.Record, facts *capture.HTTPFacts, h *head, path string) {
	rec.HTTP = facts
	facts.Method, facts.Path = h.method, path
	for i, f := range h.fields {
		switch strings.ToLower(f.name) {
		case "accept":
			facts.Accept = joined(facts.Accept, f.value)
		case "content-type":
			facts.ContentType = first(facts.ContentType, f.value)
		case "origin":
			facts.Origin = first(facts.Origin, f.value)
		case "host":
			facts.Host = first(facts.Host, f.value)
		case "user-agent":
			facts.UserAgent = first(facts.UserAgent, f.value)
		case "content-encoding":
			facts.Encoding = joined(facts.Encoding, f.value)
		case mcp.HeaderLastEventID:
			facts.LastEventID = first(facts.LastEventID, f.value)
		case mcp.HeaderSession:
			sessionFacts(rec, facts, f.value)
		case mcp.HeaderVersion:
			rec.MCPProtocolVersion = first(rec.MCPProtocolVersion, f.value)
		case mcp.HeaderMethod:
			rec.MCPMethod = first(rec.MCPMethod, f.value)
		case mcp.HeaderName:
			rec.MCPName = first(rec.MCPName, f.value)
		default:
			if len(f.name) > len(mcp.HeaderParamPrefix) && is(f.name[:len(mcp.HeaderParamPrefix)], mcp.HeaderParamPrefix) {
				rec.MCPParamHeaders = append(rec.MCPParamHeaders, capture.ParamHeader{Name: f.name, Value: f.value})
			}
		}
		facts.Repeated = repeated(facts.Repeated, h.fields, i)
	}
}

// responseFacts reads what the record keeps of the head of a response.
func responseFacts(rec *capture.Record, facts *capture.HTTPFacts, h *head) {
	rec.HTTP, rec.Status = facts, h.status
	for i, f := range h.fields {
		switch strings.ToLower(f.name) {
		case "content-type":
			facts.ContentType = first(facts.ContentType, f.value)
		case "content-encoding":
			facts.Encoding = joined(facts.Encoding, f.value)
		case "allow":
			facts.Allow = joined(facts.Allow, f.value)
		case "location":
			facts.Location = first(facts.Location, bareURL(f.value))
		case "x-accel-buffering":
			facts.AccelBuffering = first(facts.AccelBuffering, f.value)
		case "www-authenticate":
			rec.AuthChallenge = append(rec.AuthChallenge, f.value)
		case mcp.HeaderSession:
			sessionFacts(rec, facts, f.value)
		}
		facts.Repeated = repeated(facts.Repeated, h.fields, i)
	}
}

func first(have, value string) string {
	if have != "" {
		return have
	}
	return value
}

// joined is what several fields of one name mean together (RFC 9110, section 5.3).
func joined(have, value string) string {
	if have == "" {
		return value
	}
	return have + ", " + value
}

// repeated adds the name of field i when it stood before, once.
func repeated(names []string, fields []field, i int) []string {
	name := fields[i].name
	for _, f := range fields[:i] {
		if is(f.name, name) {
			if name = strings.ToLower(name); !slices.Contains(names, name) {
				names = append(names, name)
			}
			return names
		}
	}
	return names
}

// sessionFacts keeps which session it is and what its id is like, never the id.
func sessionFacts(rec *capture.Record, facts *capture.HTTPFacts, id string) {
	if facts.Session != nil {
		return
	}
	rec.MCPSession = hash16(id)
	facts.Session = &capture.SessionHeader{Len: len(id), ASCII: true}
	for i := range len(id) {
		if id[i] < 0x21 || id[i] > 0x7e {
			facts.Session.ASCII = false
		}
	}
}

// hash16 is the first 16 hex digits of the SHA-256 of s.
func hash16(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// bareURL takes user, query and fragment off a URL reference, which may hold secrets.
func bareURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		s, _, _ = strings.Cut(s, "?")
		return s
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// mediaType is the type of a Content-Type without parameters, in lower case.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.Trim(s, " \t"))
}

// metadataDoc tells the documents about authorization by their path (RFC 9728,
// RFC 8414, OpenID Connect Discovery 1.0).
func metadataDoc(path string) string {
	rest, ok := strings.CutPrefix(path, "/.well-known/")
	if !ok {
		if strings.HasSuffix(path, "/.well-known/openid-configuration") || strings.HasSuffix(path, "/.well-known/oauth-authorization-server") {
			return "as"
		}
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	switch name {
	case "oauth-protected-resource":
		return "prm"
	case "oauth-authorization-server", "openid-configuration":
		return "as"
	}
	return ""
}

func isEventStream(h *head) bool {
	v, ok := h.get("Content-Type")
	return ok && mediaType(v) == "text/event-stream"
}
