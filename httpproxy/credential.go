package httpproxy

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// credentials keeps what clients prove themselves with out of all that is
// written. A credential is never recorded; but servers send it back, in a
// body, a redirect or an error. So each that passes in a header or a query is
// remembered, in memory alone, and covered by a mark wherever it stands in a
// line of the record or a message to the user.
type credentials struct {
	known   *redact.Known
	observe bool // facts about credentials are recorded
}

func newCredentials(observe bool, headers []Header) *credentials {
	c := &credentials{known: redact.NewKnown(), observe: observe}
	for _, h := range headers {
		c.header(h.Name, h.Value)
	}
	return c
}

// header remembers the credential in a header field, if it is of those that
// hold one.
func (c *credentials) header(name, value string) {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization":
		scheme, credential := splitCredential(value)
		c.learn(credential)
		if strings.EqualFold(scheme, "basic") {
			c.learnBasic(credential)
		}
	case "x-api-key", "api-key", "x-auth-token":
		c.learn(value)
	case "cookie":
		for part := range strings.SplitSeq(value, ";") {
			if _, v, _ := strings.Cut(part, "="); len(v) >= minCookie {
				c.learn(strings.Trim(v, ` "`))
			}
		}
	}
}

// minCookie is the length from which the value of a cookie may be a secret.
const minCookie = 16

// learn remembers a credential and, of a JWT, each part that is its own: all
// but the first, which those of one issuer share.
func (c *credentials) learn(credential string) {
	c.known.Learn(credential)
	if parts := strings.Split(credential, "."); len(parts) == 3 && strings.HasPrefix(credential, "eyJ") {
		for _, p := range parts[1:] {
			if len(p) >= minCookie {
				c.known.Learn(p)
			}
		}
	}
}

func (c *credentials) learnBasic(credential string) {
	b, err := base64.StdEncoding.DecodeString(credential)
	if err != nil {
		return
	}
	c.known.Learn(string(b))
	if _, password, ok := strings.Cut(string(b), ":"); ok && len(password) >= 8 {
		c.known.Learn(password)
	}
}

// query remembers the tokens in a query and reports whether there is one: by
// the name that RFC 6750 (section 2.3) gives it, by a usual one, or by its shape.
func (c *credentials) query(query string) (token bool) {
	if query == "" {
		return false
	}
	for part := range strings.SplitSeq(query, "&") {
		name, raw, _ := strings.Cut(part, "=")
		value := raw
		if n, err := url.QueryUnescape(name); err == nil {
			name = n
		}
		if v, err := url.QueryUnescape(raw); err == nil {
			value = v
		}
		switch strings.ToLower(name) {
		case "access_token", "token":
			token = true
		default:
			if _, ok := readJWT(value); !ok {
				continue
			}
			token = true
		}
		c.learn(value)
		c.learn(raw)
	}
	return token
}

// facts are what is recorded of the credential of a request.
func (c *credentials) facts(rec *capture.Record, value string) {
	if !c.observe || rec.Auth != nil {
		return
	}
	scheme, credential := splitCredential(value)
	rec.Auth = &capture.AuthFacts{Present: true, Scheme: scheme, SHA256: hash16(credential)}
	if jwt, ok := readJWT(credential); ok {
		rec.Auth.JWT = jwt
	}
}

// splitCredential splits the value of an Authorization field (RFC 9110,
// section 11.6.2). A value of one word is a credential without scheme.
func splitCredential(value string) (scheme, credential string) {
	scheme, credential, ok := strings.Cut(value, " ")
	credential = strings.Trim(credential, " \t")
	if !ok || credential == "" || !isToken(scheme) || len(scheme) > maxScheme {
		return "", value
	}
	return scheme, credential
}

// Bounds of the facts.
const (
	maxScheme = 32
	maxClaim  = 1024 // bytes
	maxAud    = 16
	maxJWT    = 64 << 10 // bytes of a token that is read
)

// readJWT reads the claims of a JWT (RFC 7519), of which nobody verifies the
// signature here.
func readJWT(token string) (*capture.JWTFacts, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > maxJWT {
		return nil, false
	}
	for _, p := range parts[:2] {
		b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p, "="))
		if err != nil || wire.Check(b) != nil || wire.TypeOf(b) != wire.Object {
			return nil, false
		}
	}
	claims, _ := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	j := &capture.JWTFacts{Iss: claim(claims, "iss"), Sub: claim(claims, "sub"), Scope: claim(claims, "scope"), Exp: seconds(wire.Get(claims, "exp"))}
	if j.Scope == "" {
		j.Scope = clipClaim(strings.Join(texts(wire.Get(claims, "scp")), " "))
	}
	j.Aud = texts(wire.Get(claims, "aud"))
	return j, true
}

func claim(claims []byte, name string) string { return clipClaim(wire.GetString(claims, name)) }

func clipClaim(s string) string {
	if len(s) <= maxClaim {
		return s
	}
	s = s[:maxClaim]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// texts reads a string or an array of strings.
func texts(v []byte) []string {
	if s, ok := wire.Text(v); ok {
		return []string{clipClaim(s)}
	}
	var out []string
	if wire.TypeOf(v) != wire.Array {
		return nil
	}
	for e := wire.ElementsOf(v); e.Next() && len(out) < maxAud; {
		if s, ok := wire.Text(e.Value); ok {
			out = append(out, clipClaim(s))
		}
	}
	return out
}

// seconds reads a NumericDate (RFC 7519, section 2), without its fraction.
func seconds(v []byte) int64 {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f < 0 || f > 1<<53 {
		return 0
	}
	return int64(f)
}

// credentialsOf takes the credentials of a request into what is remembered,
// and facts about them into its record.
func (p *Proxy) credentialsOf(x *exchange, h *head, query string) {
	c, d := p.creds, x.req.draft
	x.req.facts.QueryToken = c.query(query)
	for _, f := range h.fields {
		c.header(f.name, f.value)
		if is(f.name, "Authorization") && x.req.credential == "" {
			c.facts(&d.Record, f.value)
			if d.Auth != nil {
				_, x.req.credential = splitCredential(f.value)
			}
		}
	}
}

// cover takes credentials out of a line before it is recorded.
func (c *credentials) cover(d *capture.Draft) {
	if out, changed := c.known.Replace(d.Body); changed {
		whole := int64(len(d.Body)) >= d.Size
		d.Record.Size = max(d.Size, int64(len(d.Body)))
		d.Body, d.Redacted = out, true
		if whole {
			d.Size = 0
		} else {
			d.Truncated = true
		}
	}
	texts := []*string{&d.MCPMethod, &d.MCPName, &d.MCPProtocolVersion}
	for i := range d.AuthChallenge {
		texts = append(texts, &d.AuthChallenge[i])
	}
	for i := range d.MCPParamHeaders {
		p := &d.MCPParamHeaders[i]
		if out, changed := c.known.Text(p.Value); changed {
			p.Value, p.Redacted, d.Redacted = out, true, true
		}
	}
	if h := d.HTTP; h != nil {
		texts = append(texts, &h.Method, &h.Path, &h.Accept, &h.ContentType, &h.Origin, &h.Host, &h.UserAgent, &h.Encoding, &h.LastEventID, &h.Allow, &h.Location, &h.AccelBuffering)
		if h.SSE != nil {
			texts = append(texts, &h.SSE.Event, &h.SSE.ID)
		}
		for i := range h.Mapped {
			texts = append(texts, &h.Mapped[i].From, &h.Mapped[i].To)
		}
	}
	for _, t := range texts {
		if out, changed := c.known.Text(*t); changed {
			*t, d.Redacted = out, true
		}
	}
	if d.Auth != nil && d.Auth.JWT != nil {
		c.coverClaims(d.Auth.JWT)
	}
}

// coverClaims takes credentials out of the claims of a token: a client may
// have put the one into the other.
func (c *credentials) coverClaims(j *capture.JWTFacts) {
	list := []*string{&j.Iss, &j.Scope, &j.Sub}
	for i := range j.Aud {
		list = append(list, &j.Aud[i])
	}
	for _, t := range list {
		*t, _ = c.known.Text(*t)
	}
}

// record gives a line to the recorder, without credentials.
func (x *exchange) record(d *capture.Draft) {
	x.p.creds.cover(d)
	x.book.rec.Record(d)
}
