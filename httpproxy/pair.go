package httpproxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// pair is a client connection and the upstream connection that belongs to it.
// One goroutine runs it: it reads the client and writes to the server. The
// upstream's goroutine does the reverse; answered passes the turn to write to
// the client between the two.
type pair struct {
	p      *Proxy
	id     string
	conn   net.Conn
	in     *stream
	fields []field   // reused for each head
	up     *upstream // set under mu: end closes it, too
	via    *Target   // of a CONNECT whose tunnel holds plain HTTP
	ready  net.Conn  // a connection to it that has not been used
	asked  bool      // a request has been passed on whose end answered has not told

	out      sink // to the client: the upstream's while a request is asked
	answered chan struct{}
	readers  sync.WaitGroup // goroutines of upstream connections

	mu       sync.Mutex
	busy     bool // from the head of a request to the end of its response
	streams  bool // the response is an event stream
	gone     bool // the client has closed its side
	over     bool // nothing follows the current response
	tunneled bool
}

func newPair(p *Proxy, c net.Conn) *pair {
	return &pair{
		p: p, id: "c" + strconv.FormatUint(p.conns.Add(1), 10), conn: c, in: newStream(c),
		out: sink{conn: c}, answered: make(chan struct{}, 1),
	}
}

// run serves the client until it leaves.
func (c *pair) run() {
	defer c.close()
	for first := true; ; first = false {
		if len(c.in.data()) == 0 {
			if err := c.in.fill(); err != nil {
				c.left(err)
				return
			}
		}
		if first && c.p.forward == nil && c.isHTTP2() {
			c.p.h2.serve(c)
			return
		}
		if c.asked && !c.turn() {
			return
		}
		if !c.request() {
			return
		}
	}
}

// turn waits for the end of the response and reports whether there may be
// another request.
func (c *pair) turn() bool {
	<-c.answered
	c.asked = false
	c.mu.Lock()
	over, tunnel := c.over, c.tunneled
	c.mu.Unlock()
	if tunnel {
		c.tunnel()
	}
	return !over && !tunnel && !c.p.closing.Load()
}

// isHTTP2 reports whether the client has begun with the preface of HTTP/2 (RFC 9113, section 3.4).
func (c *pair) isHTTP2() bool {
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	for {
		got := string(c.in.data())
		if len(got) >= len(preface) {
			return strings.HasPrefix(got, preface)
		}
		if !strings.HasPrefix(preface, got) || c.in.fill() != nil {
			return false
		}
	}
}

// left ends the pair when the client has closed its side. A request that is
// still being answered sees what it would without a proxy: the end of the
// client's stream. Nobody half closes the connection of an event stream, so
// that is closed whole.
func (c *pair) left(err error) {
	c.mu.Lock()
	c.gone = !errors.Is(err, net.ErrClosed) // by the proxy itself, when it ends
	streams := c.streams
	c.mu.Unlock()
	if !c.asked {
		return
	}
	if errors.Is(err, io.EOF) && !streams {
		c.up.closeWrite()
	} else {
		c.up.conn.Close()
	}
	<-c.answered
	c.asked = false
	if c.isTunneled() {
		c.readers.Wait() // the server's side of a tunnel may go on
	}
}

func (c *pair) isTunneled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tunneled
}

// end closes the pair when the proxy ends: at once when nothing is being
// answered, or all is to end.
func (c *pair) end(all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if all || !c.busy || c.streams || c.tunneled {
		c.conn.Close()
	}
	if all && c.up != nil {
		c.up.conn.Close() // whoever writes to a server that does not read waits no longer
	}
}

func (c *pair) close() {
	c.conn.Close()
	if c.up != nil {
		c.up.conn.Close()
	}
	if c.ready != nil {
		c.ready.Close()
	}
	c.readers.Wait()
}

// request reads the head of the next request and passes the request on, or
// answers it. It reports whether the connection can be used further.
func (c *pair) request() bool {
	text, err := c.in.head()
	if err != nil {
		if isBad(err) {
			c.refuse(http.StatusRequestHeaderFieldsTooLarge, err)
		}
		return false
	}
	h, err := parseRequest(text, c.fields)
	c.fields = h.fields
	if err != nil {
		c.refuse(http.StatusBadRequest, err)
		return false
	}
	b, err := requestBody(&h, c.in)
	if err != nil {
		c.refuse(http.StatusBadRequest, err)
		return false
	}
	to := c.p.home
	if c.p.forward != nil {
		if h.method == http.MethodConnect {
			return c.connectTo(&h)
		}
		if to, err = c.p.forward.route(c, &h); err != nil {
			c.refuse(http.StatusBadRequest, err)
			return false
		}
	}
	host, verdict := c.p.hostOf(&h, c.conn.LocalAddr())
	x := c.p.newExchange(&h, c.id, b.length, to)
	c.mu.Lock()
	c.busy, c.gone, c.streams = true, false, false
	c.mu.Unlock()
	if verdict != "" {
		return c.local(x, &h, &b, http.StatusForbidden, verdict)
	}
	if err := c.connect(x, &h); err != nil {
		return c.local(x, &h, &b, http.StatusBadGateway, x.unreachable(err))
	}
	return c.send(x, &h, &b, host)
}

// refuse answers what is no request. It is not recorded: there is no exchange.
func (c *pair) refuse(status int, why error) {
	c.p.warnOnce("refused", fmt.Sprintf("refused what is no HTTP request: %v", why))
	writeLocal(&c.out, status, "mcpsnoop: "+why.Error()+"\n", true, false)
	c.out.flush()
	c.linger()
}

// linger lets the client read the last answer before the connection is closed:
// closing with unread bytes would reset it (RFC 9112, section 9.6).
func (c *pair) linger() {
	closeWrite(c.conn)
	_ = c.conn.SetReadDeadline(time.Now().Add(lingerTime)) // fails when it is closed, and then so does the read
	c.in.to = nil
	for c.in.fill() == nil {
		c.in.skip(len(c.in.data()))
	}
}

// local gives the proxy's own answer to a request.
func (c *pair) local(x *exchange, h *head, b *body, status int, text string) bool {
	keep := h.keepsAlive() && !c.p.closing.Load()
	switch {
	case b.kind == byLength && b.left <= int64(len(c.in.data())):
		p, _, _ := b.next()
		x.requestBytes(p, true)
	case b.kind == noBody:
		x.requestBytes(nil, true)
	case b.kind == byLength:
		x.requestBytes(c.in.data(), false)
		keep = false
	default:
		keep = false
	}
	x.local(status, text)
	writeLocal(&c.out, status, text, !keep, h.method == "HEAD")
	c.out.flush()
	c.mu.Lock()
	c.busy = false
	c.mu.Unlock()
	if !keep {
		c.linger()
	}
	return keep
}

// connect makes sure that there is an upstream connection, and gives it the
// exchange whose response comes next. A connection that the server has closed
// since the last request is replaced; nothing has been sent on it.
func (c *pair) connect(x *exchange, h *head) error {
	x.keep, x.minor = h.keepsAlive(), h.minor
	if c.up != nil && c.up.target == x.target && c.up.out.err == nil && c.up.begin(x) {
		return nil
	}
	if c.up != nil {
		c.up.conn.Close()
	}
	conn := c.ready
	if c.ready = nil; conn == nil {
		var err error
		if conn, err = x.target.dial(c.p.ctx); err != nil {
			return err
		}
	}
	u := &upstream{c: c, conn: conn, target: x.target, in: newStream(conn), out: sink{conn: conn}, current: x}
	c.mu.Lock()
	c.up = u
	c.mu.Unlock()
	c.readers.Go(u.run)
	return nil
}

// send passes a request on. What comes is written before the next read; the
// record has the request before its last byte is written.
func (c *pair) send(x *exchange, h *head, b *body, host string) bool {
	c.asked = true
	k := &c.up.out
	c.in.to = k
	defer func() { c.in.to = nil }()
	c.p.writeRequest(k, h, b.kind == byChunks, host)
	for {
		p, last, err := b.next()
		if err != nil {
			// Broken off, or framed so that its end cannot be told: the server
			// must not take it for whole.
			x.requestOver()
			c.mu.Lock()
			c.gone = true
			c.mu.Unlock()
			c.up.conn.Close()
			<-c.answered
			return false
		}
		x.requestBytes(p, last)
		writePiece(k, b, p, last)
		if last {
			k.flush()
			return true
		}
	}
}

// writePiece writes a piece of a body in the framing in which it came.
func writePiece(k *sink, b *body, p []byte, last bool) {
	if b.kind != byChunks {
		k.bytes(p)
		return
	}
	if len(p) > 0 {
		k.buf = strconv.AppendInt(k.buf, int64(len(p)), 16)
		k.text("\r\n")
		k.bytes(p)
		k.text("\r\n")
	}
	if last {
		k.text("0\r\n")
		for _, f := range b.trailer {
			k.text(f.name + ": " + f.value + "\r\n")
		}
		k.text("\r\n")
	}
}

// tunnel passes bytes on after the server has switched protocols, until the
// client leaves.
func (c *pair) tunnel() {
	for {
		if _, err := c.up.conn.Write(c.in.data()); err != nil {
			return
		}
		c.in.skip(len(c.in.data()))
		if err := c.in.fill(); err != nil {
			c.up.closeWrite()
			c.readers.Wait()
			return
		}
	}
}

// closeWrite ends one direction of a connection.
func closeWrite(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite() // the other side has gone: what reads it says so
		return
	}
	c.Close()
}
