package httpproxy

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// probed remembers what a target was found to speak.
type probed struct {
	mu    sync.Mutex
	known bool
	http2 bool
}

// probeTime is how long a server may take to answer the preface of HTTP/2.
const probeTime = 3 * time.Second

// speaksHTTP2 finds out whether a server without TLS takes HTTP/2 by prior
// knowledge, on a connection of its own: no request is risked on a guess. It
// is asked the first time that a client speaks HTTP/2; a server that cannot be
// reached is asked again.
func (t *Target) speaksHTTP2(ctx context.Context) bool {
	t.probed.mu.Lock()
	defer t.probed.mu.Unlock()
	if t.probed.known {
		return t.probed.http2
	}
	d := net.Dialer{Timeout: dialTime}
	c, err := d.DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return false
	}
	defer c.Close()
	t.probed.http2, t.probed.known = probeHTTP2(c), true
	return t.probed.http2
}

// probeHTTP2 sends the preface and an empty SETTINGS frame, and wants a
// SETTINGS frame back (RFC 9113, section 3.4).
func probeHTTP2(c net.Conn) bool {
	const empty = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	if c.SetDeadline(time.Now().Add(probeTime)) != nil {
		return false
	}
	if _, err := io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+empty); err != nil {
		return false
	}
	var h [9]byte
	_, err := io.ReadFull(c, h[:])
	return err == nil && h[3] == 4 && h[4]&1 == 0 && [4]byte(h[5:9]) == [4]byte{}
}
