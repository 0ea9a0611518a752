package httpproxy

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// exchange is one HTTP request and its response on their way into the log. The
// side that reads the client and the side that reads the server both use it.
type exchange struct {
	p *Proxy
	route
	num     uint64
	conn    string
	method  string
	path    string
	host    string // how the client names the proxy
	kind    kind
	doc     string
	prm     bool // for a document about a protected resource
	message bool // the request may hold a message
	keep    bool // the client will keep its connection
	minor   byte // of the request's HTTP/1 version

	mu   sync.Mutex
	req  requestRecord
	sess string // mcp_session of an old HTTP+SSE stream, once it is known

	// The response, used by the one goroutine that reads it.
	status   capture.Record // what stands on its first line
	facts    capture.HTTPFacts
	begun    bool // the first line has been recorded
	body     copied
	events   *wire.Events
	mapped   []capture.Mapping // of challenges
	open     bool              // an event stream whose end has not been recorded
	length   int64
	silenced bool // nothing of the body is kept
}

// kind says how much of an exchange is kept.
type kind uint8

const (
	endpoint kind = iota // everything
	document             // everything: a metadata document
	other                // the line of the request and the status
)

// requestRecord is the line of a request until it is recorded.
type requestRecord struct {
	draft  *capture.Draft
	facts  capture.HTTPFacts
	body   copied
	length int64 // Content-Length, -1 when there is none
	done   bool  // the line has been recorded

	credential string // until then, where facts about it are recorded
}

// copied is the copy of a body, decoded, as far as it is kept.
type copied struct {
	max    int
	kept   []byte
	size   int64
	cut    bool // it is not whole, for whatever reason
	coding *decoder
	sink   func([]byte) // takes what is decoded, in place of kept
}

// start prepares for a body with this Content-Encoding and reports whether the
// copy will be readable.
func (c *copied) start(limit int, encoding string) (known bool) {
	c.max = limit
	list, known := codings(encoding)
	if known && len(list) > 0 {
		c.coding = newDecoder(list, 2*int64(max(limit, 1<<20)), c.take)
	}
	return known
}

// add takes the next bytes of the wire.
func (c *copied) add(p []byte) {
	switch {
	case len(p) == 0:
	case c.coding == nil:
		c.take(p)
	case !c.coding.write(p):
		c.cut = true
	}
}

func (c *copied) take(p []byte) {
	if c.sink != nil {
		c.sink(p)
		return
	}
	c.size += int64(len(p))
	if room := c.max - len(c.kept); room < len(p) {
		p = p[:room]
	}
	c.kept = append(c.kept, p...)
}

// finish ends the body; whole says whether the wire gave all of it.
func (c *copied) finish(whole bool) {
	if c.coding != nil && !c.coding.close() {
		c.cut = true
	}
	c.coding = nil
	c.cut = c.cut || !whole
}

// newExchange numbers a request whose head has been read and that goes to to.
func (p *Proxy) newExchange(h *head, connID string, bodyLength int64, to route) *exchange {
	path, query, _ := strings.Cut(h.target, "?")
	path, _, _ = strings.Cut(path, "#")
	x := &exchange{p: p, route: to, num: to.book.exchanges.Add(1), conn: connID, method: h.method, path: path}
	x.host, _ = h.get("Host")
	x.prm = to.book.doc(path) == "prm"
	ctype, _ := h.get("Content-Type")
	x.message = h.method == "POST" && mediaType(ctype) == "application/json"
	if to.book.rec == nil {
		return x
	}
	d := &capture.Draft{AllowFlow: true}
	x.req.draft, x.req.length = d, bodyLength
	d.Direction, d.Transport, d.ConnID, d.Exchange = capture.C2S, capture.HTTP, connID, x.num
	requestFacts(&d.Record, &x.req.facts, h, path)
	p.credentialsOf(x, h, query)
	if bodyLength >= 0 {
		x.req.facts.ContentLength = &x.req.length
	}
	x.kind, x.doc = to.book.kindOf(path, &x.req.facts)
	x.req.facts.Doc = x.doc
	if d.MCPSession == "" && x.kind == endpoint && x.req.facts.Method == http.MethodPost { // a GET begins a session
		d.MCPSession = to.book.old.session(h.target)
	}
	if x.kind != other {
		x.warnUnknown(x.req.body.start(p.maxFrame, x.req.facts.Encoding), x.req.facts.Encoding)
	}
	return x
}

func (x *exchange) warnUnknown(known bool, encoding string) {
	if !known {
		x.p.warnOnce("coding "+encoding, "bodies with Content-Encoding "+cleanText(encoding)+" pass as they are, but cannot be decoded: the log holds their bytes")
	}
}

// requestBytes takes the next bytes of the request's body. After the last of
// them the line is recorded; that is before they are passed on.
func (x *exchange) requestBytes(p []byte, last bool) {
	if x.book.rec == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.req.done {
		return
	}
	if x.kind != other {
		x.req.body.add(p)
	}
	if last {
		x.recordRequest(true)
	}
}

// requestOver records the request as far as it has come, unless it has been
// recorded: something of its response comes next, or it broke off.
func (x *exchange) requestOver() {
	if x.book.rec == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.req.done {
		x.recordRequest(false)
	}
}

func (x *exchange) recordRequest(whole bool) {
	x.req.done = true
	d, b := x.req.draft, &x.req.body
	x.req.draft = nil
	if x.kind != other {
		b.finish(whole)
		if d.Auth != nil {
			d.Auth.InBody = bytes.Contains(b.kept, []byte(x.req.credential)) && len(x.req.credential) >= redact.MinKnown
		}
		x.setBody(d, b, x.req.length, x.req.facts.Encoding)
	}
	x.req.credential = ""
	x.record(d)
}

// setBody puts a copy into a draft. A body that broke off is cut, unless its
// length was never told and what has come is JSON.
func (x *exchange) setBody(d *capture.Draft, b *copied, length int64, encoding string) {
	if len(b.kept) == 0 && !b.cut {
		return
	}
	d.Body, d.Size = b.kept, b.size
	if d.Body == nil {
		d.Body = []byte{}
	}
	if !b.cut {
		return
	}
	if length > b.size && encoding == "" {
		d.Size = length
	}
	if d.Size > int64(len(d.Body)) || length < 0 && wire.Check(d.Body) == nil {
		return
	}
	d.Truncated = true
}

// responseHead takes the head of the final response. What will be recorded of
// its body depends on it.
func (x *exchange) responseHead(h *head, b *body) {
	if x.book.rec == nil {
		return
	}
	x.requestOver()
	responseFacts(&x.status, &x.facts, h)
	x.facts.Doc, x.facts.Mapped = x.doc, x.mapped
	if b.length >= 0 {
		x.length = b.length
		x.facts.ContentLength = &x.length
	}
	switch {
	case x.kind == other || b.kind == noBody:
		x.silenced = true
		x.line(nil)
		return
	case isEventStream(h) && x.kind == endpoint:
		x.open = true
		x.line(nil)
	}
	known := x.body.start(x.p.maxFrame, x.facts.Encoding)
	x.warnUnknown(known, x.facts.Encoding)
	if x.open && known {
		x.events = &wire.Events{Max: x.p.maxFrame}
		x.body.sink = func(p []byte) { x.events.Feed(p, x.event) }
	}
}

// responseBytes takes the next bytes of the response's body before they are
// passed on; whole says that they are the last.
func (x *exchange) responseBytes(p []byte, whole bool) {
	if x.book.rec == nil || x.silenced {
		return
	}
	x.body.add(p)
	if whole {
		x.responseOver("server")
	}
}

// responseOver records the end of a response: of an event stream how it ended,
// of any other body what has come of it. how is server, client or reset; ""
// means that it goes on when the record ends.
func (x *exchange) responseOver(how string) {
	if x.book.rec == nil || x.silenced {
		return
	}
	x.silenced = true
	x.body.finish(how == "server")
	if x.open {
		x.streamOver(how)
		return
	}
	d := x.draft()
	x.setBody(d, &x.body, x.bodyLength(), x.facts.Encoding)
	x.record(d)
}

func (x *exchange) bodyLength() int64 {
	if x.facts.ContentLength == nil {
		return -1
	}
	return x.length
}

// event records one event of an event stream.
func (x *exchange) event(ev wire.Event) {
	d := x.draft()
	d.Body, d.Size = ev.Data, ev.Size
	d.HTTP = &capture.HTTPFacts{SSE: sseFacts(&ev)}
	if ev.Type == "endpoint" && x.method == "GET" {
		x.sess = x.book.old.learn(string(ev.Data), x.path, x.host, &d.HTTP.Mapped)
		d.MCPSession = x.sess
		hideQuery(d)
	}
	if d.HTTP.SSE == nil {
		d.HTTP = nil
	}
	x.record(d)
}

// hideQuery takes the query off the address in an endpoint event: it holds the
// session's id, which is as good as a key.
func hideQuery(d *capture.Draft) {
	if bare, query, ok := strings.Cut(string(d.Body), "?"); ok && query != "" {
		d.Body, d.Size, d.Redacted = []byte(bare+"?..."), 0, true
	}
}

func sseFacts(ev *wire.Event) *capture.SSEFacts {
	if ev.Type == "" && !ev.HasID && !ev.HasRetry {
		return nil
	}
	return &capture.SSEFacts{Event: ev.Type, ID: ev.ID, HasID: ev.HasID, Retry: ev.Retry, HasRetry: ev.HasRetry}
}

// streamOver records the end of an event stream.
func (x *exchange) streamOver(how string) {
	x.open = false
	if len(x.body.kept) > 0 { // of a coding that is not known
		d := x.draft()
		x.setBody(d, &x.body, -1, x.facts.Encoding)
		x.record(d)
	}
	if how == "" {
		return
	}
	d := x.draft()
	d.HTTP = &capture.HTTPFacts{End: how}
	if x.events != nil {
		if ev, ok := x.events.Pending(); ok {
			d.HTTP.SSE = sseFacts(&ev)
		}
		if ev, ok := x.events.Open(); ok {
			// No client has seen this event, so it must not pass for a message.
			d.Body, d.Size, d.EOL = ev.Data, ev.Size, "none"
		}
	}
	x.record(d)
}

// line records a line without a frame.
func (x *exchange) line(body []byte) {
	d := x.draft()
	d.Body = body
	x.record(d)
}

// draft makes the next line of the response; its head stands on the first.
func (x *exchange) draft() *capture.Draft {
	d := &capture.Draft{AllowFlow: true}
	if !x.begun {
		x.begun = true
		d.Record = x.status
	}
	d.Direction, d.Transport, d.ConnID, d.Exchange = capture.S2C, capture.HTTP, x.conn, x.num
	if d.MCPSession == "" {
		d.MCPSession = x.sess
	}
	return d
}

// local records an answer that the proxy itself gives.
func (x *exchange) local(status int, text string) {
	if x.book.rec == nil {
		return
	}
	x.requestOver()
	x.status.Status = status
	x.facts.ContentType = "text/plain; charset=utf-8"
	x.status.HTTP = &x.facts
	if x.kind == other {
		text = ""
	}
	d := x.draft()
	if text != "" {
		d.Body = []byte(text)
	}
	x.record(d)
}
