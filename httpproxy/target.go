package httpproxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Target is the server that requests are passed on to.
type Target struct {
	url       *url.URL
	authority string // host[:port] as it stands in the URL: what Host has to say
	addr      string // host:port to connect to
	path      string // of the MCP endpoint; "" means that every path is one
	loopback  bool
	tls       *tls.Config // nil for plain HTTP
	probed    probed
}

// ParseTarget reads the URL of an MCP endpoint. roots are the authorities that
// may vouch for a server on https, nil for those of the system.
func ParseTarget(raw string, roots *x509.CertPool) (*Target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read the target %q: %w", cleanText(raw), errors.Unwrap(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the target %q is not an http or https URL", u.Redacted())
	}
	if u.User != nil {
		return nil, fmt.Errorf("the target %q holds a user name: send it with --target-header 'Authorization: ...'", u.Redacted())
	}
	t := &Target{url: u, authority: u.Host, path: strings.TrimSuffix(u.EscapedPath(), "/")}
	port := u.Port()
	if u.Scheme == "https" {
		t.tls = &tls.Config{RootCAs: roots, ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
		if port == "" {
			port = "443"
		}
	} else if port == "" {
		port = "80"
	}
	t.addr = net.JoinHostPort(u.Hostname(), port)
	t.loopback = isLoopback(u.Hostname())
	return t, nil
}

// String is the URL as it may be shown and recorded.
func (t *Target) String() string {
	u := *t.url
	u.User = nil
	if u.RawQuery != "" {
		q := u.Query()
		for k := range q {
			q[k] = []string{"..."}
		}
		u.RawQuery = q.Encode()
	}
	u.Fragment = ""
	return u.String()
}

// Label names the target as LOG_FORMAT.md says: host_port.
func (t *Target) Label() string { return strings.ReplaceAll(t.addr, ":", "_") }

// Path is the path of the endpoint, for the address that a client is given.
func (t *Target) Path() string { return t.url.EscapedPath() }

// isLoopback reports whether a host name can only mean this machine.
func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761, section 6.3
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// own decides which values of Host mean the proxy itself.
type own struct {
	port  string
	names []string // beside the loopback names
}

// means reports whether an authority is the proxy's own: a loopback name, one
// of its other names, or the address that the client has connected to.
func (o *own) means(authority string, local net.Addr) bool {
	host, port := splitAuthority(authority)
	if port == "" {
		port = "80"
	}
	if port != o.port {
		return false
	}
	if isLoopback(host) {
		return true
	}
	for _, n := range o.names {
		if strings.EqualFold(n, host) {
			return true
		}
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return false
	}
	tcp, ok := local.(*net.TCPAddr)
	return ok && tcp.AddrPort().Addr().Unmap() == a.Unmap()
}

func splitAuthority(s string) (host, port string) {
	if k := strings.LastIndexByte(s, ':'); k >= 0 && strings.IndexByte(s[k:], ']') < 0 {
		return s[:k], s[k+1:]
	}
	return s, ""
}

// cleanText makes text of a peer or a user fit for a message of one line.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}

// sameOrigin reports whether a URL is one of the target's server. Loopback
// names of one port are one server.
func (t *Target) sameOrigin(u *url.URL) bool {
	if !strings.EqualFold(u.Scheme, t.url.Scheme) {
		return false
	}
	port := u.Port()
	if port == "" {
		port = "80"
		if t.tls != nil {
			port = "443"
		}
	}
	_, ours, _ := net.SplitHostPort(t.addr)
	return port == ours && (strings.EqualFold(u.Hostname(), t.url.Hostname()) || t.loopback && isLoopback(u.Hostname()))
}
