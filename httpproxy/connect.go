package httpproxy

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// sniffTime is how long a client may take to begin in its tunnel before that
// is taken to be one in which the server speaks first.
const sniffTime = 3 * time.Second

// connectTo opens a tunnel. It reports whether plain HTTP follows in it, which
// is then read on this connection.
func (c *pair) connectTo(h *head) bool {
	f := c.p.forward
	host, port := splitAuthority(h.target)
	if host == "" || port == "" || c.via != nil {
		c.refuse(http.StatusBadRequest, bad("CONNECT wants HOST:PORT, once"))
		return false
	}
	if c.p.own.means(h.target, c.conn.LocalAddr()) {
		c.refuse(http.StatusBadRequest, bad("this is the proxy itself; ask it for tunnels to servers"))
		return false
	}
	d := net.Dialer{Timeout: dialTime}
	conn, err := d.DialContext(c.p.ctx, "tcp", h.target)
	if err != nil {
		c.tunnelFailed(h, err)
		return false
	}
	c.out.text("HTTP/1.1 200 Connection established\r\n\r\n")
	c.out.flush()
	switch what := c.sniff(); what {
	case "http":
		if c.via, err = f.target("http://" + h.target); err == nil {
			c.ready = conn
			return true
		}
		conn.Close()
	case "":
		conn.Close()
	default:
		c.recordTunnel(h, http.StatusOK, what, "")
		c.opaque(conn)
	}
	return false
}

func (c *pair) tunnelFailed(h *head, err error) {
	text := "mcpsnoop: cannot reach " + cleanText(h.target) + ": " + err.Error() + "\n"
	c.recordTunnel(h, http.StatusBadGateway, "", text)
	writeLocal(&c.out, http.StatusBadGateway, text, true, false)
	c.out.flush()
	c.linger()
}

// sniff says what the client begins with: "http", "tls", or "opaque" for
// anything else; "" when it has gone.
func (c *pair) sniff() string {
	_ = c.conn.SetReadDeadline(time.Now().Add(sniffTime)) // fails when it is closed, and then so does the read
	defer func() { _ = c.conn.SetReadDeadline(time.Time{}) }()
	for {
		if what := firstBytes(c.in.data()); what != "" {
			return what
		}
		err := c.in.fill()
		var e net.Error
		if errors.As(err, &e) && e.Timeout() {
			return "opaque"
		} else if err != nil {
			return ""
		}
	}
}

// firstBytes tells what begins with b, "" while that cannot be told: a record
// of TLS (RFC 8446, section 5.1), or the method of a request of HTTP/1. HTTP/2
// in a tunnel is not read.
func firstBytes(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case b[0] == 0x16:
		return "tls"
	}
	for i, ch := range b {
		switch {
		case ch == ' ' && i > 0:
			if string(b[:i]) == "PRI" {
				return "opaque"
			}
			return "http"
		case ch < 'A' || ch > 'Z' || i > 20:
			return "opaque"
		}
	}
	return ""
}

// opaque passes bytes on both ways until the client leaves.
func (c *pair) opaque(conn net.Conn) {
	u := &upstream{c: c, conn: conn, in: newStream(conn), out: sink{conn: conn}, dead: true}
	c.mu.Lock()
	c.up, c.busy, c.tunneled = u, true, true
	c.mu.Unlock()
	c.readers.Go(func() {
		for {
			if err := u.in.fill(); err != nil {
				closeWrite(c.conn)
				return
			}
			if _, err := c.conn.Write(u.in.data()); err != nil {
				return
			}
			u.in.skip(len(u.in.data()))
		}
	})
	c.tunnel()
}

// recordTunnel writes down that there was a tunnel, where to, and what was in
// it as far as that can be told from outside.
func (c *pair) recordTunnel(h *head, status int, what, text string) {
	f := c.p.forward
	f.mu.Lock()
	b := f.others()
	f.mu.Unlock()
	if b.rec == nil {
		return
	}
	x := &exchange{p: c.p, route: route{book: b}, num: b.exchanges.Add(1)}
	line := func(dir capture.Direction, status int, facts *capture.HTTPFacts) *capture.Draft {
		d := &capture.Draft{AllowFlow: true}
		d.Direction, d.Transport, d.ConnID, d.Exchange, d.Status, d.HTTP = dir, capture.HTTP, c.id, x.num, status, facts
		return d
	}
	x.record(line(capture.C2S, 0, &capture.HTTPFacts{Method: h.method, Path: strings.ToLower(h.target)}))
	d := line(capture.S2C, status, &capture.HTTPFacts{Encoding: what})
	if text != "" {
		d.Body = []byte(text)
	}
	x.record(d)
}
