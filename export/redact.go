package export

import (
	"slices"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Redactor returns a function that takes secrets out of a record, as the
// recorder does before it writes; nil when the engine looks for nothing. One
// goroutine uses it at a time. The record's Raw may then alias memory that the
// next call overwrites.
func Redactor(e *redact.Engine) func(*capture.Record) {
	if !e.Active() {
		return nil
	}
	var scratch []byte
	return func(r *capture.Record) {
		switch r.Direction {
		case capture.Meta:
			redactMeta(e, r)
			return
		case capture.End:
			redactTexts(e, r, "")
			return
		}
		var hits redact.Hits
		scratch = redactBody(e, r, &hits, scratch)
		redactHeaders(e, r, &hits)
		redactAuth(e, r)
	}
}

func redactBody(e *redact.Engine, r *capture.Record, hits *redact.Hits, scratch []byte) []byte {
	before := r.WireSize()
	changed := false
	switch {
	case r.Raw != nil:
		out, ok := e.PayloadHits(scratch[:0], r.Raw, hits)
		if ok {
			r.Raw, scratch, changed = out, out, true
		}
	case r.HasText:
		r.Text, changed = e.Text(r.Text)
	case r.Bytes != nil:
		var s string
		if s, changed = e.Text(string(r.Bytes)); changed {
			r.Bytes = []byte(s)
			if utf8.ValidString(s) {
				r.Bytes, r.Text, r.HasText = nil, s, true
			}
		}
	}
	if changed {
		r.Redacted = true
		if r.Size == 0 && int64(len(r.Body())) != before {
			r.Size = before
		}
	}
	return scratch
}

func redactHeaders(e *redact.Engine, r *capture.Record, hits *redact.Hits) {
	var changed bool
	if r.MCPName, changed = e.Header("Mcp-Name", r.MCPName, hits); changed {
		r.Redacted = true
	}
	for i := range r.MCPParamHeaders {
		h := &r.MCPParamHeaders[i]
		if h.Value, changed = e.Header(h.Name, h.Value, hits); changed {
			h.Redacted = true
		}
	}
	for i, c := range r.AuthChallenge {
		r.AuthChallenge[i], _ = e.Text(c)
	}
	for _, s := range []*string{&r.MCPMethod, &r.MCPProtocolVersion} {
		*s, _ = e.Text(*s)
	}
	if r.HTTP != nil {
		redactFacts(e, r)
	}
}

// redactFacts takes secrets out of a copy of the facts: records share them.
func redactFacts(e *redact.Engine, r *capture.Record) {
	h := *r.HTTP
	r.HTTP = &h
	for _, s := range []*string{
		&h.Path, &h.Accept, &h.ContentType, &h.Origin, &h.Host, &h.UserAgent, &h.Encoding, &h.LastEventID, &h.Allow, &h.Location, &h.AccelBuffering,
	} {
		*s, _ = e.Text(*s)
	}
	if h.SSE != nil {
		sse := *h.SSE
		sse.Event, _ = e.Text(sse.Event)
		sse.ID, _ = e.Text(sse.ID)
		h.SSE = &sse
	}
	h.Mapped = slices.Clone(h.Mapped)
	for i := range h.Mapped {
		m := &h.Mapped[i]
		m.From, m.To = e.URL(m.From), e.URL(m.To)
		m.From, _ = e.Text(m.From)
		m.To, _ = e.Text(m.To)
	}
}

func redactAuth(e *redact.Engine, r *capture.Record) {
	if r.Auth == nil || r.Auth.JWT == nil {
		return
	}
	j := r.Auth.JWT
	j.Iss, _ = e.Claim("iss", j.Iss)
	j.Sub, _ = e.Claim("sub", j.Sub)
	j.Scope, _ = e.Claim("scope", j.Scope)
	for i, a := range j.Aud {
		j.Aud[i], _ = e.Claim("aud", a)
	}
}

// redactMeta takes secrets out of the command line and the URL of a session.
func redactMeta(e *redact.Engine, r *capture.Record) {
	meta := capture.ParseMeta(r.Raw)
	if args, ok := e.Argv(meta.Command); ok {
		r.Raw = replaceMember(r.Raw, "command", appendStrings(nil, args))
		r.Redacted = true
	}
	if target := e.URL(meta.Target); target != meta.Target {
		r.Raw = replaceMember(r.Raw, "target", wire.AppendString(nil, target))
		r.Redacted = true
	}
	redactTexts(e, r, "version")
}

// redactTexts takes secrets out of the strings of a line about the session.
func redactTexts(e *redact.Engine, r *capture.Record, spare string) {
	raw := r.Raw
	for m := wire.MembersOf(raw); m.Next(); {
		text, ok := wire.Text(m.Value)
		if !ok || string(m.Key) == spare {
			continue
		}
		if out, changed := e.Text(text); changed {
			r.Raw = replaceMember(r.Raw, string(m.Key), wire.AppendString(nil, out))
			r.Redacted = true
		}
	}
}

// replaceMember gives the object v with another value for one of its members.
func replaceMember(v []byte, name string, value []byte) []byte {
	m := wire.MembersOf(v)
	for m.Next() {
		if string(m.Key) == name {
			before, after := m.Before(), m.After()
			out := append(make([]byte, 0, len(v)+len(value)), v[:before]...)
			return append(append(out, value...), v[after:]...)
		}
	}
	return v
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(dst, s)
	}
	return append(dst, ']')
}
