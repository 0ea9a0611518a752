package httpproxy

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// A client compares the resource that a protected server says it is with the
// URL that it uses (RFC 9728, section 3.3), which is the proxy's. So two
// places where the server names itself are changed in what the client gets:
// resource in the document about it, and resource_metadata in challenges. URLs
// of other servers stay as they are, the authorization server's among them.

// maxDoc is the longest document that is held to be changed; a longer one
// passes as it is.
const maxDoc = 1 << 20

// mapURL is what a URL of the target is called at the proxy, by the name that
// the client has for it. All behind the host stays as it was spelled.
func (x *exchange) mapURL(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || x.p.noMap || !isAuthority(x.host) || !x.target.sameOrigin(u) {
		return "", false
	}
	_, rest, _ := strings.Cut(raw, "://")
	k := strings.IndexAny(rest, "/?#")
	if k < 0 {
		k = len(rest)
	}
	to := "http://" + x.host + rest[k:]
	return to, to != raw
}

// isAuthority reports whether a Host may be written into a URL as it is.
func isAuthority(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && strings.IndexByte("-._:[]", c) < 0 {
			return false
		}
	}
	return s != ""
}

// mapChallenges finds what is to be changed in the challenges of a response,
// says so in the record, and returns the fields with their new values.
func (x *exchange) mapChallenges(h *head) map[int]string {
	var out map[int]string
	for i, f := range h.fields {
		if !is(f.name, "WWW-Authenticate") {
			continue
		}
		value, mapped := x.mapChallenge(f.value)
		if len(mapped) == 0 {
			continue
		}
		if out == nil {
			out = map[int]string{}
		}
		out[i] = value
		x.mapped = append(x.mapped, mapped...)
	}
	return out
}

// mapChallenge changes one field. One that cannot be read stays as it is.
func (x *exchange) mapChallenge(field string) (string, []capture.Mapping) {
	list, err := mcp.ParseChallenges(field)
	if err != nil {
		return field, nil
	}
	var mapped []capture.Mapping
	for _, c := range slices.Backward(list) {
		for _, p := range slices.Backward(c.Params) {
			if p.Name != mcp.ParamResourceMetadata {
				continue
			}
			x.learnDoc(p.Value)
			if to, ok := x.mapURL(p.Value); ok {
				field = field[:p.Start] + `"` + quoteString(to) + `"` + field[p.End:]
				mapped = append(mapped, capture.Mapping{What: p.Name, From: bareURL(p.Value), To: bareURL(to)})
			}
		}
	}
	slices.Reverse(mapped)
	return field, mapped
}

// learnDoc remembers where a challenge says that the document is, unless that
// is the endpoint itself.
func (x *exchange) learnDoc(where string) {
	if u, err := url.Parse(where); err == nil && x.target.sameOrigin(u) && metadataDoc(u.EscapedPath()) == "" && strings.TrimSuffix(u.EscapedPath(), "/") != x.target.path {
		x.book.docs.learn(u.EscapedPath())
	}
}

// quoteString writes the inside of a quoted-string (RFC 9110, section 5.6.4).
func quoteString(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}

// mapsBody reports whether a response is a document that may have to be
// changed, and so has to be held until it is whole.
func (x *exchange) mapsBody(h *head, length int64) bool {
	return x.prm && !x.p.noMap && x.method == "GET" && h.status == 200 && length <= maxDoc && !isEventStream(h)
}

// head takes the head of the final response, and changes what of it the
// client gets otherwise.
func (x *exchange) head(h *head, b *body) {
	changes := x.mapChallenges(h)
	x.responseHead(h, b)
	for i, v := range changes {
		h.fields[i].value = v
	}
	x.hint(h)
}

// hold reads a document that may have to be changed. whole says that held is
// all of it; else it is only its beginning, which passes as it is.
func (x *exchange) hold(h *head, b *body) (held []byte, whole bool, err error) {
	if b.kind == noBody || !x.mapsBody(h, b.length) {
		return nil, false, nil
	}
	for len(held) <= maxDoc {
		p, last, err := b.next()
		if err != nil {
			return held, false, err
		}
		if held = append(held, p...); last {
			return held, true, nil
		}
	}
	return held, false, nil
}

// mapDoc gives the document that the client gets in place of the server's,
// and whether that is another one. It is never compressed.
func (x *exchange) mapDoc(h *head, body []byte) ([]byte, bool) {
	doc, ok := plainDoc(h, body)
	if !ok || wire.Check(doc) != nil || wire.TypeOf(doc) != wire.Object {
		return body, false
	}
	var out []byte
	at := 0
	for m := wire.MembersOf(doc); m.Next(); {
		from, isText := wire.Text(m.Value)
		if string(m.Key) != "resource" || !isText {
			continue
		}
		to, ok := x.mapURL(from)
		if !ok {
			x.foreignResource(from)
			continue
		}
		start := m.Before() + bytes.Index(doc[m.Before():], m.Value)
		out = wire.AppendString(append(out, doc[at:start]...), to)
		at = start + len(m.Value)
		x.facts.Mapped = append(x.facts.Mapped, capture.Mapping{What: "resource", From: bareURL(from), To: bareURL(to)})
	}
	if at == 0 {
		return body, false
	}
	return append(out, doc[at:]...), true
}

// plainDoc undoes the coding of a document.
func plainDoc(h *head, body []byte) ([]byte, bool) {
	coding := ""
	for _, f := range h.fields {
		if is(f.name, "Content-Encoding") {
			coding = joined(coding, f.value)
		}
	}
	list, known := codings(coding)
	if len(list) == 0 {
		return body, true
	}
	if !known {
		return nil, false
	}
	r, done, err := decodeAll(list, bytes.NewReader(body))
	defer done()
	if err != nil {
		return nil, false
	}
	doc, err := io.ReadAll(io.LimitReader(r, maxDoc+1))
	return doc, err == nil && len(doc) <= maxDoc
}

// foreignResource tells the user that clients will stop at a document.
func (x *exchange) foreignResource(resource string) {
	if u, err := url.Parse(resource); err == nil && strings.EqualFold(u.Host, x.host) {
		return
	}
	x.p.warnOnce("resource", fmt.Sprintf("the server says that it is %s; clients that compare this with the address of the proxy will not sign in. Give --target that address, or use mcpsnoop http --forward", cleanText(bareURL(resource))))
}

// mappedHead makes the head of a changed document: its length, and nothing
// that spoke of the bytes before.
func mappedHead(h *head, length int) {
	h.fields = slices.DeleteFunc(h.fields, func(f field) bool {
		for _, n := range [...]string{"Content-Length", "Content-Encoding", "Transfer-Encoding", "Trailer", "ETag", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest"} {
			if is(f.name, n) {
				return true
			}
		}
		return false
	})
	h.fields = append(h.fields, field{"Content-Length", strconv.Itoa(length)})
}

// hint tells the user once that a client has the wrong path.
func (x *exchange) hint(h *head) {
	t := x.target
	if x.p.forward != nil || x.kind != other || h.status < 400 || t.path == "" || !x.message || secretPath(x.path) || x.host == "" {
		return
	}
	x.p.warnOnce("path", fmt.Sprintf("a client sends messages to %s, which the server answers with %d; its endpoint is %s: give the client http://%s%s", cleanText(x.path), h.status, t.Path(), cleanText(x.host), t.Path()))
}
