package httpproxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// dial connects to the target, for HTTP/1.
func (t *Target) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime}
	c, err := d.DialContext(ctx, "tcp", t.addr)
	if err != nil || t.tls == nil {
		return c, err
	}
	cfg := t.tls.Clone()
	cfg.NextProtos = []string{"http/1.1"}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	s := tls.Client(c, cfg)
	if err := s.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return s, nil
}

// upstream is the connection to the server that belongs to a pair. Its
// goroutine reads it and writes to the client.
type upstream struct {
	c      *pair
	target *Target
	conn   net.Conn
	in     *stream
	out    sink // the pair's goroutine writes here
	fields []field

	mu      sync.Mutex
	current *exchange // whose response comes next; nil when none is due
	dead    bool
}

// begin says that a request of x comes next, and reports whether the
// connection is still good for it.
func (u *upstream) begin(x *exchange) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dead {
		return false
	}
	u.current = x
	return true
}

// due is the exchange whose response is being read. When there is none, the
// connection is given up: a server that speaks unasked, or has closed.
func (u *upstream) due() *exchange {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.dead = u.current == nil
	return u.current
}

// run reads responses until the connection ends.
func (u *upstream) run() {
	defer u.conn.Close()
	for {
		var err error
		if len(u.in.data()) == 0 {
			err = u.in.fill()
		}
		x := u.due()
		if x == nil {
			return
		}
		if err != nil {
			u.fail(x, err)
			return
		}
		if !u.response(x) {
			return
		}
	}
}

// response reads one response and passes it on. It reports whether the
// connection can be used further.
func (u *upstream) response(x *exchange) bool {
	text, err := u.in.head()
	if err != nil {
		u.fail(x, unexpected(err))
		return false
	}
	h, err := parseResponse(text, u.fields)
	u.fields = h.fields
	var b body
	if err == nil {
		b, err = responseBody(&h, x.method, u.in)
	}
	if err != nil {
		u.fail(x, err)
		return false
	}
	p := hopOf(&h)
	if h.status < 200 && h.status != http.StatusSwitchingProtocols {
		if x.minor == '1' { // RFC 9110, section 15.2
			writeResponse(&u.c.out, &h, &p, false)
			u.c.out.flush()
		}
		return true
	}
	x.head(&h, &b)
	if h.status == http.StatusSwitchingProtocols || x.method == http.MethodConnect && h.status < 300 {
		u.tunnel(&h, &p)
		return false
	}
	return u.pass(x, &h, &b, &p)
}

// pass passes the final response on.
func (u *upstream) pass(x *exchange, h *head, b *body, p *hop) bool {
	k := &u.c.out
	u.in.to = k
	defer func() { u.in.to = nil }()
	p.close = p.close || x.keep && b.kind != byClose && u.c.p.closing.Load()
	held, whole, err := x.hold(h, b)
	if whole {
		return u.passDoc(x, h, b, p, held)
	}
	writeResponse(k, h, p, b.kind == byChunks)
	if len(held) > 0 {
		x.responseBytes(held, false)
		writePiece(k, b, held, false)
	}
	if err != nil {
		u.broken(x, "reset", err)
		return false
	}
	write := func(q []byte) { writePiece(k, b, q, false) }
	var m *endpointMapper
	if isEventStream(h) {
		if u.c.streaming() {
			k.err = net.ErrClosed // the client has gone: nobody is left to stream to
		}
		if _, coded := h.get("Content-Encoding"); x.method == http.MethodGet && b.kind != byLength && !coded {
			m = &endpointMapper{out: write, swap: x.swapEndpoint}
		}
	}
	for {
		q, last, err := b.next()
		if err == nil {
			x.responseBytes(q, last)
		}
		switch {
		case k.err != nil:
			u.broken(x, "client", nil)
			return false
		case err != nil:
			u.broken(x, "reset", err)
			return false
		case m != nil:
			m.pass(q)
			if last {
				m.release()
			}
		default:
			write(q)
		}
		if last {
			writePiece(k, b, nil, true)
			k.flush()
			return u.finish(x.keep && !p.close && b.kind != byClose)
		}
	}
}

// passDoc passes a document on that has been held until it was whole.
func (u *upstream) passDoc(x *exchange, h *head, b *body, p *hop, held []byte) bool {
	k := &u.c.out
	doc, changed := x.mapDoc(h, held)
	x.responseBytes(held, true)
	if changed {
		mappedHead(h, len(doc))
		writeResponse(k, h, p, false)
		k.bytes(doc)
	} else {
		writeResponse(k, h, p, b.kind == byChunks)
		writePiece(k, b, held, false)
		writePiece(k, b, nil, true)
	}
	k.flush()
	return u.finish(x.keep && !p.close && b.kind != byClose)
}

// finish ends an exchange whose response has been passed on whole. Both
// connections are kept, or none.
func (u *upstream) finish(keep bool) bool {
	u.mu.Lock()
	u.current, u.dead = nil, !keep
	u.mu.Unlock()
	u.c.answer(!keep)
	return keep
}

// broken ends an exchange whose response broke off. The client's connection
// ends as the server's did: there is no other way to say that more was due.
func (u *upstream) broken(x *exchange, how string, err error) {
	switch {
	case u.c.isGone():
		how = "client"
	case u.c.p.closing.Load():
		how = "" // that was us
	}
	x.responseOver(how)
	u.c.out.flush()
	if t, ok := u.c.conn.(*net.TCPConn); ok && errors.Is(err, syscall.ECONNRESET) {
		_ = t.SetLinger(0) // reset it, too
	}
	u.over()
	u.c.conn.Close()
	u.c.answered <- struct{}{}
}

// fail ends an exchange whose response has not begun. The request may have
// been carried out, so it is not sent again.
func (u *upstream) fail(x *exchange, err error) {
	u.over()
	switch {
	case u.c.isGone():
		x.requestOver()
		u.c.conn.Close()
		u.c.answered <- struct{}{}
		return
	case u.c.p.closing.Load() && errors.Is(err, net.ErrClosed):
		x.requestOver()
	default:
		text := x.noAnswer(err)
		x.local(http.StatusBadGateway, text)
		writeLocal(&u.c.out, http.StatusBadGateway, text, true, x.method == http.MethodHead)
		u.c.out.flush()
	}
	u.c.answer(true)
}

func (u *upstream) over() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.current, u.dead = nil, true
}

// closeWrite tells the server that the client has closed its side.
func (u *upstream) closeWrite() { closeWrite(u.conn) }

// tunnel passes on what the server says after it has switched protocols.
func (u *upstream) tunnel(h *head, p *hop) {
	u.over()
	k := &u.c.out
	writeResponse(k, h, p, false)
	k.bytes(u.in.data())
	k.flush()
	u.in.skip(len(u.in.data()))
	u.c.mu.Lock()
	u.c.tunneled = true
	u.c.mu.Unlock()
	u.c.answered <- struct{}{}
	for {
		if err := u.in.fill(); err != nil {
			closeWrite(u.c.conn)
			return
		}
		if _, err := u.c.conn.Write(u.in.data()); err != nil {
			return
		}
		u.in.skip(len(u.in.data()))
	}
}

// answer gives the turn to write to the client back. last says that no other
// response follows: the client is told, and may take some time to read.
func (c *pair) answer(last bool) {
	last = last || c.p.closing.Load()
	c.mu.Lock()
	c.streams, c.busy = false, false
	if last {
		c.over = true
	}
	c.mu.Unlock()
	if last {
		closeWrite(c.conn)
		_ = c.conn.SetReadDeadline(time.Now().Add(lingerTime)) // fails when it is closed, and then so does the read
	}
	c.answered <- struct{}{}
}

// streaming notes that the response is an event stream, and reports whether
// the client has gone already.
func (c *pair) streaming() (gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = true
	return c.gone || c.over
}

func (c *pair) isGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// swapEndpoint says what the client is told in place of an address.
func (x *exchange) swapEndpoint(uri string) (string, bool) {
	p, ok := x.book.old.find(uri, x.path, x.host)
	return p.mapped, ok && p.mapped != ""
}

// unreachable says that there is no connection to the server.
func (x *exchange) unreachable(err error) string {
	text := fmt.Sprintf("cannot reach the server at %s: %v; is it running?", x.target, err)
	x.p.warnOnce("unreachable", text)
	return "mcpsnoop: " + text + "\n"
}

// noAnswer says why a request has no response.
func (x *exchange) noAnswer(err error) string {
	why := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		why = "the connection was closed"
	}
	return fmt.Sprintf("mcpsnoop: no answer from the server at %s: %s; the request was not sent again\n", x.target, strings.TrimSpace(cleanText(why)))
}
