package capture

import (
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// AppendRecord appends r as one line of the log, line feed included. Raw is
// written as it is; the caller has made sure that it is JSON without line
// breaks.
func AppendRecord(dst []byte, r *Record) []byte {
	o := objectWriter{append(dst, '{'), true}
	o.text("session_id", r.SessionID)
	o.text("server_label", r.Label)
	o.num("seq", int64(r.Seq))
	o.key("ts")
	o.b = append(o.b, '"')
	o.b = r.TS.UTC().AppendFormat(o.b, timeLayout)
	o.b = append(o.b, '"')
	o.text("direction", r.Direction.String())
	o.text("transport", r.Transport.String())
	o.numIf("dropped", int64(r.Dropped))
	o.numIf("orig_seq", int64(r.OrigSeq))
	o.textIf("conn_id", r.ConnID)
	o.numIf("exchange", int64(r.Exchange))
	o.textIf("mcp_session", r.MCPSession)
	o.textIf("mcp_method", r.MCPMethod)
	o.textIf("mcp_name", r.MCPName)
	o.textIf("mcp_protocol_version", r.MCPProtocolVersion)
	o.paramHeaders(r.MCPParamHeaders)
	if r.HTTP != nil {
		o.key("http")
		o.b = r.HTTP.append(o.b)
	}
	o.numIf("status", int64(r.Status))
	o.strings("auth_challenge", r.AuthChallenge)
	if r.Auth != nil {
		o.key("auth")
		o.b = r.Auth.append(o.b)
	}
	o.numIf("size", r.Size)
	o.textIf("eol", r.EOL)
	o.yes("truncated", r.Truncated)
	o.yes("redacted", r.Redacted)
	o.yes("batch", r.Batch)
	o.yes("reflowed", r.Reflowed)
	o.body(r)
	return append(o.b, '}', '\n')
}

// objectWriter appends the members of one JSON object.
type objectWriter struct {
	b     []byte
	first bool
}

func (o *objectWriter) key(name string) {
	if !o.first {
		o.b = append(o.b, ',')
	}
	o.first = false
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *objectWriter) text(name, v string) {
	o.key(name)
	o.b = wire.AppendString(o.b, v)
}

func (o *objectWriter) textIf(name, v string) {
	if v != "" {
		o.text(name, v)
	}
}

func (o *objectWriter) num(name string, v int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *objectWriter) numIf(name string, v int64) {
	if v != 0 {
		o.num(name, v)
	}
}

func (o *objectWriter) yes(name string, v bool) {
	if v {
		o.key(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *objectWriter) bool(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

// strings writes one value as a string and several as an array.
func (o *objectWriter) strings(name string, v []string) {
	switch len(v) {
	case 0:
	case 1:
		o.text(name, v[0])
	default:
		o.array(name, v)
	}
}

func (o *objectWriter) array(name string, v []string) {
	o.key(name)
	o.b = append(o.b, '[')
	for i, s := range v {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = wire.AppendString(o.b, s)
	}
	o.b = append(o.b, ']')
}

func (o *objectWriter) body(r *Record) {
	switch {
	case r.Raw != nil:
		o.key("raw")
		o.b = append(o.b, r.Raw...)
	case r.HasText:
		o.text("text", r.Text)
	case r.Bytes != nil:
		o.key("bytes")
		o.b = append(appendBase64(append(o.b, '"'), r.Bytes), '"')
	}
}

func (o *objectWriter) paramHeaders(hs []ParamHeader) {
	if len(hs) == 0 {
		return
	}
	o.key("mcp_param_headers")
	o.b = append(o.b, '[')
	for i, h := range hs {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		p := objectWriter{append(o.b, '{'), true}
		p.text("name", h.Name)
		p.text("value", h.Value)
		p.yes("redacted", h.Redacted)
		o.b = append(p.b, '}')
	}
	o.b = append(o.b, ']')
}

func (h *HTTPFacts) append(dst []byte) []byte {
	o := objectWriter{append(dst, '{'), true}
	for _, m := range h.texts() {
		o.textIf(m.name, *m.value)
	}
	if h.ContentLength != nil {
		o.num("content_length", *h.ContentLength)
	}
	if h.Session != nil {
		o.key("session")
		s := objectWriter{append(o.b, '{'), true}
		s.num("len", int64(h.Session.Len))
		s.bool("ascii", h.Session.ASCII)
		o.b = append(s.b, '}')
	}
	if h.SSE != nil {
		o.key("sse")
		o.b = h.SSE.append(o.b)
	}
	o.yes("query_token", h.QueryToken)
	if len(h.Repeated) > 0 {
		o.array("repeated", h.Repeated)
	}
	if len(h.Mapped) > 0 {
		o.mapped(h.Mapped)
	}
	return append(o.b, '}')
}

func (o *objectWriter) mapped(ms []Mapping) {
	o.key("mapped")
	o.b = append(o.b, '[')
	for i, m := range ms {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		p := objectWriter{append(o.b, '{'), true}
		p.text("what", m.What)
		p.text("from", m.From)
		p.text("to", m.To)
		o.b = append(p.b, '}')
	}
	o.b = append(o.b, ']')
}

// textMember ties a member name to its field, for writing and for reading.
type textMember struct {
	name  string
	value *string
}

// texts lists the members of HTTPFacts that are plain strings.
func (h *HTTPFacts) texts() [14]textMember {
	return [...]textMember{
		{"method", &h.Method}, {"path", &h.Path}, {"accept", &h.Accept}, {"content_type", &h.ContentType},
		{"origin", &h.Origin}, {"host", &h.Host}, {"user_agent", &h.UserAgent}, {"encoding", &h.Encoding},
		{"last_event_id", &h.LastEventID}, {"allow", &h.Allow}, {"location", &h.Location},
		{"accel_buffering", &h.AccelBuffering}, {"end", &h.End}, {"doc", &h.Doc},
	}
}

func (s *SSEFacts) append(dst []byte) []byte {
	o := objectWriter{append(dst, '{'), true}
	o.textIf("event", s.Event)
	if s.HasID {
		o.text("id", s.ID)
	}
	if s.HasRetry {
		o.num("retry", s.Retry)
	}
	return append(o.b, '}')
}

func (a *AuthFacts) append(dst []byte) []byte {
	o := objectWriter{append(dst, '{'), true}
	o.bool("present", a.Present)
	o.textIf("scheme", a.Scheme)
	o.textIf("sha256_16", a.SHA256)
	if a.JWT != nil {
		o.key("jwt")
		j := objectWriter{append(o.b, '{'), true}
		j.strings("aud", a.JWT.Aud)
		j.textIf("iss", a.JWT.Iss)
		j.textIf("scope", a.JWT.Scope)
		j.numIf("exp", a.JWT.Exp)
		j.textIf("sub", a.JWT.Sub)
		j.bool("verified", false)
		o.b = append(j.b, '}')
	}
	o.yes("in_body", a.InBody)
	return append(o.b, '}')
}
