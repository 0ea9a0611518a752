package httpproxy

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// hostOf decides what Host says to the server: the target's authority when the
// client means the proxy, else what the client said, so that a server's
// protection against DNS rebinding goes on working. A server that is not on
// this machine has no such protection from the proxy's network: there a
// foreign Host is forbidden, and why is told.
func (p *Proxy) hostOf(h *head, local net.Addr) (host, forbidden string) {
	said, ok := h.get("Host")
	if _, rest, abs := strings.Cut(h.target, "://"); abs && h.target[0] != '/' {
		// An absolute target names the host itself (RFC 9112, section 3.2.2).
		k := strings.IndexAny(rest, "/?")
		if k < 0 {
			said, h.target = rest, "/"
		} else if said, h.target = rest[:k], rest[k:]; h.target[0] == '?' {
			h.target = "/" + h.target
		}
		ok = true
	}
	switch {
	case p.forward != nil: // it is the client that knows where it wants to go
		return said, ""
	case !ok || said == "":
		return said, ""
	case p.own.means(said, local):
		return p.home.target.authority, ""
	case p.home.target.loopback || strings.EqualFold(said, p.home.target.authority):
		return said, ""
	}
	return said, fmt.Sprintf("mcpsnoop: Host %q is neither this proxy nor its target, so the request is not passed on; connect to the address that the proxy listens on\n", cleanText(said))
}

// writeRequest writes the head of a request for the server.
func (p *Proxy) writeRequest(k *sink, h *head, chunked bool, host string) {
	k.text(h.method)
	k.text(" ")
	k.text(h.target)
	k.text(" HTTP/1.")
	k.buf = append(k.buf, h.minor)
	k.text("\r\n")
	hp := hopOf(h)
	for _, f := range p.headers {
		hp.named = append(hp.named, f.Name)
	}
	if p.forward != nil {
		hp.named = append(hp.named, "proxy-authorization") // RFC 9110, section 11.7.2
	}
	hp.write(k, h, chunked, func(f field) string {
		if len(f.name) == len("Host") && is(f.name, "Host") {
			return host
		}
		return f.value
	})
	for _, f := range p.headers {
		k.text(f.Name + ": " + f.Value + "\r\n")
	}
	k.text("\r\n")
}

// writeResponse writes the head of a response for the client.
func writeResponse(k *sink, h *head, p *hop, chunked bool) {
	k.text("HTTP/1.")
	k.buf = append(k.buf, h.minor, ' ')
	k.buf = strconv.AppendInt(k.buf, int64(h.status), 10)
	k.text(" ")
	k.text(h.reason)
	k.text("\r\n")
	p.write(k, h, chunked, nil)
	k.text("\r\n")
}

// writeLocal writes an answer of the proxy itself.
func writeLocal(k *sink, status int, text string, closes, bodyless bool) {
	k.text(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(text)))
	if closes {
		k.text("Connection: close\r\n")
	}
	k.text("\r\n")
	if !bodyless {
		k.text(text)
	}
}
