package httpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// http2Side serves clients that speak HTTP/2 without TLS (RFC 9113, section
// 3.3), with the server of net/http.
type http2Side struct {
	p      *Proxy
	server *http.Server
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	work   sync.WaitGroup
}

// links is the key of a client connection's context for its upstream connections.
type links struct{}

func newHTTP2(p *Proxy) *http2Side {
	s := &http2Side{p: p, conns: make(chan net.Conn), closed: make(chan struct{})}
	s.server = &http.Server{
		Handler: http.HandlerFunc(s.handle), Protocols: new(http.Protocols), MaxHeaderBytes: maxHead,
		ErrorLog:    log.New(io.Discard, "", 0), // what breaks is seen by those it concerns
		BaseContext: func(net.Listener) context.Context { return p.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, links{}, c.(*http2Conn).up)
		},
	}
	s.server.Protocols.SetUnencryptedHTTP2(true)
	s.work.Go(func() { _ = s.server.Serve(s) }) // ends with close, which is no error
	return s
}

// serve serves one connection until it ends.
func (s *http2Side) serve(c *pair) {
	conn := &http2Conn{Conn: c.conn, r: bufio.NewReader(io.MultiReader(strings.NewReader(string(c.in.data())), c.conn)), ended: make(chan struct{})}
	conn.up = &http2Links{p: s.p, id: c.id}
	c.mu.Lock()
	c.busy = true // its end is the server's matter
	c.mu.Unlock()
	select {
	case s.conns <- conn:
		<-conn.ended
	case <-s.closed:
		conn.Close()
	}
	conn.up.close()
}

// Accept gives the server its connections.
func (s *http2Side) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Addr is of no consequence.
func (s *http2Side) Addr() net.Addr { return &net.TCPAddr{} }

// Close ends Accept.
func (s *http2Side) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// shutdown asks clients to go, without waiting for them.
func (s *http2Side) shutdown() {
	s.work.Go(func() { _ = s.server.Shutdown(s.p.ctx) }) // close ends what is left
}

// close ends everything.
func (s *http2Side) close() {
	s.Close()
	_ = s.server.Close() // the connections are gone either way
	s.work.Wait()
}

// http2Conn is a client connection that net/http serves.
type http2Conn struct {
	net.Conn
	r     *bufio.Reader
	up    *http2Links
	once  sync.Once
	ended chan struct{}
}

func (c *http2Conn) Read(p []byte) (int, error) { return c.r.Read(p) }

func (c *http2Conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.ended) })
	return err
}

// http2Links are the upstream connections of one client connection. Each is
// one connection of net/http, outside of its pool: so a request is bound to
// its connection, and net/http cannot send it again on another.
type http2Links struct {
	p  *Proxy
	id string

	mu   sync.Mutex
	open []*http.ClientConn
	over bool
}

// get reserves a place for one request.
func (l *http2Links) get(ctx context.Context) (*http.ClientConn, error) {
	l.mu.Lock()
	l.open = slices.DeleteFunc(l.open, func(c *http.ClientConn) bool { return c.Err() != nil })
	for _, c := range l.open {
		if c.Reserve() == nil {
			l.mu.Unlock()
			return c, nil
		}
	}
	l.mu.Unlock()
	t := l.p.home.target
	scheme := t.url.Scheme
	c, err := t.transport(ctx).NewClientConn(ctx, scheme, t.addr)
	if err != nil {
		return nil, err
	}
	if err := c.Reserve(); err != nil {
		c.Close()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		c.Close()
		return nil, net.ErrClosed
	}
	l.open = append(l.open, c)
	return c, nil
}

func (l *http2Links) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for _, c := range l.open {
		c.Close()
	}
}

// transport makes connections to a target in the name of a client that speaks
// HTTP/2: over TLS the server chooses, without it it is asked once.
func (t *Target) transport(ctx context.Context) *http.Transport {
	tr := &http.Transport{
		DisableCompression: true, Protocols: new(http.Protocols), TLSHandshakeTimeout: dialTime,
		DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, MaxResponseHeaderBytes: maxHead,
	}
	switch {
	case t.tls != nil:
		tr.TLSClientConfig = t.tls.Clone()
		tr.Protocols.SetHTTP1(true)
		tr.Protocols.SetHTTP2(true)
	case t.speaksHTTP2(ctx):
		tr.Protocols.SetUnencryptedHTTP2(true)
	default:
		tr.Protocols.SetHTTP1(true)
	}
	return tr
}

// handle passes one request on and its response back.
func (s *http2Side) handle(w http.ResponseWriter, r *http.Request) {
	l := r.Context().Value(links{}).(*http2Links)
	h := headOf(r)
	host, verdict := s.p.hostOf(h, localAddr(r))
	x := s.p.newExchange(h, l.id, r.ContentLength, s.p.home)
	if verdict != "" {
		s.local(w, x, http.StatusForbidden, verdict)
		return
	}
	c, err := l.get(r.Context())
	if err != nil {
		s.local(w, x, http.StatusBadGateway, x.unreachable(err))
		return
	}
	resp, err := c.RoundTrip(s.request(w, r, h, x, host))
	if err != nil {
		if r.Context().Err() != nil {
			x.requestOver()
			panic(http.ErrAbortHandler)
		}
		s.local(w, x, http.StatusBadGateway, x.noAnswer(err))
		return
	}
	defer resp.Body.Close()
	s.pass(w, r, x, resp)
}

func localAddr(r *http.Request) net.Addr {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return a
}

func (s *http2Side) local(w http.ResponseWriter, x *exchange, status int, text string) {
	x.local(status, text)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header()["Date"] = nil
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // a client that has gone needs no answer
}

// headOf gives the head of a request in the form in which HTTP/1 has it. The
// names have lost their order, which HTTP/2 does not promise either.
func headOf(r *http.Request) *head {
	h := &head{method: r.Method, target: r.RequestURI, minor: '1'}
	if r.Host != "" {
		h.fields = append(h.fields, field{"Host", r.Host})
	}
	h.fields = append(h.fields, fieldsOf(r.Header)...)
	return h
}

func fieldsOf(m http.Header) []field {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	var out []field
	for _, n := range names {
		for _, v := range m[n] {
			out = append(out, field{n, v})
		}
	}
	return out
}

// request makes the request for the server.
func (s *http2Side) request(w http.ResponseWriter, r *http.Request, h *head, x *exchange, host string) *http.Request {
	t := s.p.home.target
	out := (&http.Request{
		Method: r.Method, URL: &url.URL{Scheme: t.url.Scheme, Host: t.addr, Opaque: h.target}, Host: host,
		Header: http.Header{}, ContentLength: r.ContentLength, Trailer: r.Trailer,
	}).WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, fields textproto.MIMEHeader) error {
			if code != http.StatusContinue { // reading the body has brought that
				copyFields(w.Header(), http.Header(fields))
				w.WriteHeader(code)
				clear(w.Header())
			}
			return nil
		},
	}))
	hp := hopOf(h)
	for _, f := range h.fields {
		if !hp.ends(f.name) && f.name != "Host" {
			out.Header[f.name] = append(out.Header[f.name], f.value)
		}
	}
	if hp.trailers {
		out.Header["Te"] = []string{"trailers"}
	}
	for _, f := range s.p.headers {
		out.Header.Set(f.Name, f.Value)
	}
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil // or net/http would name itself
	}
	if r.ContentLength == 0 || r.Body == http.NoBody {
		x.requestBytes(nil, true)
		return out
	}
	out.Body = &tappedBody{ReadCloser: r.Body, x: x, left: r.ContentLength}
	return out
}

func copyFields(to, from http.Header) {
	for n, vs := range from {
		to[n] = append(to[n], vs...)
	}
}

// tappedBody gives the record what net/http reads, before it passes it on.
type tappedBody struct {
	io.ReadCloser
	x    *exchange
	left int64 // negative when the length is not known
}

func (b *tappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	known := b.left > 0
	b.left -= int64(n)
	b.x.requestBytes(p[:n], err == io.EOF || known && b.left == 0)
	return n, err
}

// pass passes a response on to the client.
func (s *http2Side) pass(w http.ResponseWriter, r *http.Request, x *exchange, resp *http.Response) {
	h := &head{status: resp.StatusCode, minor: '1', fields: fieldsOf(resp.Header)}
	b := &body{kind: byChunks, length: resp.ContentLength}
	if r.Method == http.MethodHead || resp.ContentLength == 0 || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		b.kind = noBody
	}
	x.head(h, b)
	doc, whole := x.holdBody(h, resp)
	hp := hopOf(h)
	out := w.Header()
	for _, f := range h.fields {
		if !hp.ends(f.name) {
			out[f.name] = append(out[f.name], f.value)
		}
	}
	for _, n := range []string{"Date", "Content-Type"} {
		if _, ok := out[n]; !ok {
			out[n] = nil // or net/http would add one
		}
	}
	for n := range resp.Trailer {
		out.Add("Trailer", n)
	}
	w.WriteHeader(resp.StatusCode)
	how := "server"
	if whole {
		_, _ = w.Write(doc) // a client that has gone needs none
	} else {
		how = s.copyBody(w, r, x, resp.Body)
	}
	if how != "server" {
		if s.p.ctx.Err() != nil {
			how = "" // that was us
		}
		x.responseOver(how)
		panic(http.ErrAbortHandler) // the stream is reset: more was due
	}
	for n, vs := range resp.Trailer {
		out[http.TrailerPrefix+n] = vs
	}
}

// holdBody is hold for a body that net/http reads: it gives the document that
// the client gets, or puts what it has read back.
func (x *exchange) holdBody(h *head, resp *http.Response) (doc []byte, whole bool) {
	if !x.mapsBody(h, resp.ContentLength) {
		return nil, false
	}
	held, err := io.ReadAll(io.LimitReader(resp.Body, maxDoc+1))
	if err != nil || len(held) > maxDoc {
		resp.Body = &readBack{io.MultiReader(bytes.NewReader(held), &failing{resp.Body, err}), resp.Body}
		return nil, false
	}
	doc, changed := x.mapDoc(h, held)
	x.responseBytes(held, true)
	if changed {
		mappedHead(h, len(doc))
		resp.Trailer = nil
	}
	return doc, true
}

// readBack is a body whose beginning has been read.
type readBack struct {
	io.Reader
	io.Closer
}

// failing gives the error that ended a body, if one did.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.Read(p)
}

// copyBody passes a body on as it comes and says who ended it.
func (s *http2Side) copyBody(w http.ResponseWriter, r *http.Request, x *exchange, from io.Reader) (how string) {
	flush := http.NewResponseController(w).Flush
	if flush() != nil {
		return "client"
	}
	buf := make([]byte, bufferSize)
	for {
		n, err := from.Read(buf)
		x.responseBytes(buf[:n], err == io.EOF)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil || flush() != nil {
				return "client"
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return "server"
		case err != nil && r.Context().Err() != nil:
			return "client"
		case err != nil:
			return "reset"
		}
	}
}
