package httpproxy

import (
	"bytes"
	"net/url"
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// oldTransport knows the addresses that servers of the HTTP+SSE transport
// (2024-11-05) have named in an endpoint event: messages are posted there, and
// come back on the stream that named it.
type oldTransport struct {
	target *Target
	noMap  bool

	mu    sync.Mutex
	paths map[string]bool // without query; endpoints beside the target's
	known []string        // paths, oldest first
}

// maxOldPaths bounds the paths that are remembered; a server whose session
// stands in the path makes a new one for each.
const maxOldPaths = 1024

// place is where an endpoint event points.
type place struct {
	uri     string // path and query
	path    string
	mapped  string // the same at the proxy, when it has to be said so; else ""
	foreign bool   // another server
}

// find resolves the data of an endpoint event, which is a URI reference, at
// the path of the stream. host is how the client names the proxy.
func (o *oldTransport) find(data, path, host string) (place, bool) {
	ref, err := url.Parse(strings.TrimSpace(data))
	if err != nil {
		return place{}, false
	}
	base := *o.target.url
	base.Path, base.RawPath, base.RawQuery = path, "", ""
	u := base.ResolveReference(ref)
	p := place{uri: u.RequestURI(), path: u.EscapedPath()}
	p.foreign = !o.target.sameOrigin(u)
	if ref.IsAbs() && !p.foreign && host != "" && !o.noMap {
		p.mapped = "http://" + host + p.uri
	}
	return p, true
}

// learn takes the data of an endpoint event into the record: the session that
// it begins, and what the client is told instead.
func (o *oldTransport) learn(data, path, host string, mapped *[]capture.Mapping) (session string) {
	p, ok := o.find(data, path, host)
	if !ok || p.foreign {
		return ""
	}
	if p.mapped != "" {
		*mapped = append(*mapped, capture.Mapping{What: "endpoint", From: bareURL(data), To: bareURL(p.mapped)})
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.paths == nil {
		o.paths = map[string]bool{}
	}
	if !o.paths[p.path] {
		if len(o.known) == maxOldPaths {
			delete(o.paths, o.known[0])
			o.known = o.known[1:]
		}
		o.paths[p.path] = true
		o.known = append(o.known, p.path)
	}
	return hash16(p.uri)
}

// is reports whether messages are posted to that path.
func (o *oldTransport) is(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.paths[path]
}

// session is the session that a request to this target belongs to, "" when it
// is none of this transport.
func (o *oldTransport) session(target string) string {
	path, _, _ := strings.Cut(target, "?")
	if !o.is(path) {
		return ""
	}
	return hash16(target)
}

// endpointMapper passes an event stream on and changes one thing: the address
// in a first event called endpoint, when that would lead the client past the
// proxy. Until that event is whole its bytes are held, which no client can
// tell: it acts on whole events. Comments before it are not held.
type endpointMapper struct {
	swap func(uri string) (string, bool)
	out  func([]byte)
	held []byte
	done bool
}

// maxFirstEvent is how much of a first event is held.
const maxFirstEvent = 64 << 10

func (m *endpointMapper) pass(p []byte) {
	if m.done {
		m.out(p)
		return
	}
	m.held = append(m.held, p...)
	if verdict := m.look(); verdict || len(m.held) > maxFirstEvent {
		m.release()
	}
}

// release passes on what is held, and holds nothing from then on.
func (m *endpointMapper) release() {
	m.done = true
	if len(m.held) > 0 {
		m.out(m.held)
	}
	m.held = nil
}

// look reads the lines that are held and reports whether nothing more has to be.
func (m *endpointMapper) look() bool {
	var event string
	from, to, fields := 0, 0, 0 // the value of the data line
	at := 0
	if bytes.HasPrefix(m.held, []byte("\xEF\xBB\xBF")) {
		at = 3
	}
	for at < len(m.held) {
		end := bytes.IndexAny(m.held[at:], "\r\n")
		if end < 0 {
			return false
		}
		line, next := m.held[at:at+end], at+end+1
		if m.held[at+end] == '\r' && next < len(m.held) && m.held[next] == '\n' {
			next++
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		start := at + len(line) - len(value)
		if len(value) > 0 && value[0] == ' ' {
			value, start = value[1:], start+1
		}
		switch {
		case len(line) == 0 && fields == 0, len(name) == 0 && len(line) > 0 && fields == 0:
			m.out(m.held[:next])
			m.held = m.held[next:]
			at = 0
			continue
		case len(line) == 0:
			if event == "endpoint" && to > from {
				m.change(from, to)
			}
			return true
		case string(name) == "event":
			event = string(value)
			if event != "endpoint" {
				return true
			}
		case string(name) == "data":
			if to > 0 {
				return true // several lines are no address
			}
			from, to = start, start+len(value)
		}
		fields++
		at = next
	}
	return false
}

func (m *endpointMapper) change(from, to int) {
	if uri, ok := m.swap(string(m.held[from:to])); ok {
		m.held = append(append(bytes.Clone(m.held[:from]), uri...), m.held[to:]...)
	}
}
