package httpproxy

import (
	"crypto/x509"
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// ForwardOptions make an explicit proxy (RFC 9112, section 3.2.2): clients send
// whole URLs, or open tunnels with CONNECT (RFC 9110, section 9.3.6). Plain
// HTTP in a tunnel is read like any other; all else in it passes untouched.
type ForwardOptions struct {
	// Open makes the recorder for an endpoint that is seen for the first time,
	// or, for nil, the one for what goes to no endpoint. It may return nil, and
	// the recorders stay the caller's. It is called by one goroutine at a time.
	Open func(endpoint *Target) *capture.Recorder

	Roots *x509.CertPool // may vouch for servers of https URLs; nil for the system's
}

// Bounds of a forward proxy. What is beyond maxBooks is recorded with the rest.
const (
	maxBooks   = 64   // endpoints with a record of their own
	maxTargets = 1024 // servers that are remembered
)

// forward decides where requests go and where they are recorded.
type forward struct {
	p    *Proxy
	opts ForwardOptions

	mu      sync.Mutex
	targets map[string]*Target // by origin
	books   map[string]*book   // by origin and path without a slash at its end
	order   []*book
	rest    *book
}

// route reads where a request goes: by its whole URL, or by the tunnel that it
// came in.
func (f *forward) route(c *pair, h *head) (route, error) {
	t := c.via
	path := h.target
	if scheme, rest, abs := strings.Cut(h.target, "://"); abs && h.target[0] != '/' {
		k := strings.IndexAny(rest, "/?#")
		if k < 0 {
			rest, k = rest+"/", len(rest)
		}
		path = rest[k:]
		if f.p.own.means(rest[:k], c.conn.LocalAddr()) {
			return route{}, bad("this is the proxy itself; ask it for URLs of servers")
		}
		var err error
		if t, err = f.target(strings.ToLower(scheme) + "://" + rest[:k]); err != nil {
			return route{}, bad("the URL in the request line is none of a server that speaks HTTP")
		}
	}
	if t == nil {
		return route{}, bad("this is an explicit proxy: give its address to a client as HTTP_PROXY, not as the address of a server")
	}
	path, _, _ = strings.Cut(path, "?")
	return route{t, f.book(t, h, path)}, nil
}

// target is the server of an origin.
func (f *forward) target(origin string) (*Target, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.targets[origin]; t != nil {
		return t, nil
	}
	t, err := ParseTarget(origin, f.opts.Roots)
	if err != nil {
		return nil, err
	}
	if len(f.targets) >= maxTargets {
		clear(f.targets)
	}
	f.targets[origin] = t
	return t, nil
}

// book finds the record that a request belongs to: that of its endpoint, or of
// an endpoint of the same server, or of the rest.
func (f *forward) book(t *Target, h *head, path string) *book {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, _, _ = strings.Cut(path, "#")
	key := t.url.Scheme + "://" + t.addr + strings.TrimSuffix(path, "/")
	if b := f.books[key]; b != nil {
		return b
	}
	near := f.near(t, path)
	if near != nil && near.old.is(path) {
		return near
	}
	if speaksMCP(h) && metadataDoc(path) == "" && len(f.books) < maxBooks {
		if end, err := ParseTarget(t.url.Scheme+"://"+t.authority+path, f.opts.Roots); err == nil {
			b := &book{rec: f.opts.Open(end), target: end, old: oldTransport{target: end, noMap: true}, exact: true}
			f.books[key] = b
			f.order = append(f.order, b)
			return b
		}
	}
	if near != nil {
		return near
	}
	return f.others()
}

// near is the record of an endpoint of the same server: the one that path is
// about, else the newest.
func (f *forward) near(t *Target, path string) *book {
	var found *book
	for _, b := range f.order {
		if b.target.url.Scheme != t.url.Scheme || b.target.addr != t.addr {
			continue
		}
		if b.old.is(path) || b.target.path != "" && strings.HasSuffix(path, b.target.path) {
			return b
		}
		found = b
	}
	return found
}

// others is the record of what goes to no endpoint, made when it is needed.
func (f *forward) others() *book {
	if f.rest == nil {
		f.rest = &book{rec: f.opts.Open(nil), rest: true}
	}
	return f.rest
}

// speaksMCP reports whether a request can only be one to an MCP endpoint, by
// its head (2025-03-26 and later, basic/transports; 2024-11-05 for GET).
func speaksMCP(h *head) bool {
	for _, n := range [...]string{mcp.HeaderSession, mcp.HeaderVersion, mcp.HeaderMethod} {
		if _, ok := h.get(n); ok {
			return h.method != "OPTIONS" && (h.method != "GET" || h.lists("Accept", "text/event-stream"))
		}
	}
	if !h.lists("Accept", "text/event-stream") {
		return false
	}
	ctype, _ := h.get("Content-Type")
	return h.method == "GET" || h.method == "POST" && mediaType(ctype) == "application/json"
}
