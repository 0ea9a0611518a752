package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// writeHAR writes HAR 1.2: an entry for each call, with its retries as one.
//
// MCP is not HTTP, so what an entry says is a mapping. Over stdio the URL is
// stdio://LABEL/METHOD/NAME, the status 200, or 500 for a call that failed; of
// a call without an answer it is 0. Over HTTP the URL is that of the target
// and the status the server's own. Request and response hold the bodies as
// they were. Of the time, wait is what the server took; blocked is the rest,
// when the server waited for the client or its user. Members that begin with
// _ are ours: _mcpsnoop says what HAR has no place for.
func writeHAR(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	h := &har{document: *newDocument(out, in)}
	h.bodies.calls = true
	h.open("{")
	h.member("log")
	h.open("{")
	h.text("version", "1.2")
	h.member("creator")
	h.open("{")
	h.text("name", "mcpsnoop")
	h.text("version", in.Version)
	h.close("}")
	h.textIf("comment", h.comment())
	h.list("pages", func() {})
	h.member("entries")
	h.open("[")
	if err := h.entries(ctx); err != nil {
		return err
	}
	h.close("]")
	h.close("}")
	h.close("}")
	h.raw("\n")
	if err := h.failed(); err != nil {
		return err
	}
	return out.Flush()
}

type har struct{ document }

// comment says what a reader must know of the log as a whole.
func (h *har) comment() string {
	missing, other := uint64(0), int64(0)
	for _, s := range h.sessions {
		missing += s.Summary().Missing
		for i := range s.Len() {
			if _, ok := s.Frame(i).Op(); !ok && s.has(i) {
				other++
			}
		}
	}
	var parts []string
	if missing > 0 {
		parts = append(parts, fmt.Sprintf("%d frames are missing in this capture: it holds less than was said.", missing))
	}
	if other > 0 {
		parts = append(parts, fmt.Sprintf("%d frames belong to no call (notifications, standard error and the like) and are left out.", other))
	}
	if w := h.in.Where.String(); w != "" {
		parts = append(parts, "Only what matches this filter: "+w)
	}
	return strings.Join(parts, " ")
}

// harCall is the next entry of one session.
type harCall struct {
	s    *Session
	next store.OpIndex
}

// first finds the next operation that begins an entry.
func (c *harCall) first() bool {
	for ; c.next < c.s.OpLen(); c.next++ {
		if !c.s.hasOp(c.next) {
			continue
		}
		if _, link := c.s.Op(c.next).Previous(); link <= store.Weak {
			return true
		}
	}
	return false
}

// entries writes the calls of all sessions, merged by time.
func (h *har) entries(ctx context.Context) error {
	var calls []*harCall
	for _, s := range h.sessions {
		calls = append(calls, &harCall{s: s})
	}
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var next *harCall
		for _, c := range calls {
			if c.first() && (next == nil || c.s.Op(c.next).Start < next.s.Op(next.next).Start) {
				next = c
			}
		}
		if next == nil {
			return nil
		}
		h.line()
		h.entry(next.s, next.next)
		if err := h.failed(); err != nil {
			return err
		}
		next.next++
	}
}

// entry writes one call.
func (h *har) entry(s *Session, i store.OpIndex) {
	o := s.Op(i)
	last, server, wait := o, o.Duration(s.until()), time.Duration(0)
	var hops []store.Hop
	if _, more := o.Next(); more {
		c := s.Chain(i, s.until())
		hops, server, wait = c.Hops, c.Server, c.Wait
		last = s.Op(hops[len(hops)-1].Op)
	}
	var req, resp capture.Record
	if err := h.bodies.read(s, o.Request, &req); err != nil {
		h.fail(err)
		return
	}
	answer, answered := last.Answer()
	if answered {
		if err := h.bodies.read(s, answer, &resp); err != nil {
			h.fail(err)
			return
		}
	}
	h.open("{")
	h.stamp("startedDateTime", time.Unix(0, o.Start))
	h.millis("time", server+wait)
	h.request(s, o, &req)
	h.response(s, last, &resp, answered)
	h.member("cache")
	h.open("{")
	h.close("}")
	h.member("timings")
	h.open("{")
	h.millis("blocked", wait)
	h.num("send", 0)
	h.millis("wait", server)
	h.num("receive", 0)
	h.close("}")
	h.textIf("connection", req.ConnID)
	h.textIf("comment", s.Why(last))
	h.ours(s, o, last, hops)
	h.close("}")
}

func (d *document) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// ours says what HAR has no place for.
func (h *har) ours(s *Session, o, last *store.Operation, hops []store.Hop) {
	h.member("_mcpsnoop")
	h.open("{")
	h.text("session", s.ID)
	h.text("transport", s.Summary().Transport.String())
	h.num("seq", int64(s.Frame(o.Request).Seq))
	h.text("direction", o.Direction().String())
	h.value("id", []byte(o.ID))
	h.text("method", s.OpMethod(o))
	h.textIf("name", s.OpName(o))
	h.text("state", last.State.String())
	h.yes("tool_error", last.ToolError)
	if len(hops) > 0 {
		h.list("hops", func() {
			for _, hop := range hops {
				h.harHop(s, hop)
			}
		})
	}
	h.close("}")
}

// harHop writes one request of a chain and its answer, with their bodies: the
// entry itself has the first and the last.
func (h *har) harHop(s *Session, hop store.Hop) {
	o := s.Op(hop.Op)
	h.open("{")
	h.num("seq", int64(s.Frame(o.Request).Seq))
	h.millis("server_ms", hop.Server)
	h.millis("client_ms", hop.Wait)
	h.hopBody("request", s, o.Request)
	if a, ok := o.Answer(); ok {
		h.hopBody("response", s, a)
	}
	h.close("}")
}

func (h *har) hopBody(name string, s *Session, i uint32) {
	var rec capture.Record
	if err := h.bodies.read(s, i, &rec); err != nil {
		h.fail(err)
		return
	}
	if rec.HasBody() {
		h.member(name)
		h.stringBytes(rec.Body())
	}
}

func (h *har) request(s *Session, o *store.Operation, rec *capture.Record) {
	method := "POST"
	if rec.HTTP != nil && rec.HTTP.Method != "" {
		method = rec.HTTP.Method
	}
	h.member("request")
	h.open("{")
	h.text("method", method)
	h.text("url", harURL(s, o, rec))
	h.text("httpVersion", "HTTP/1.1")
	h.list("cookies", func() {})
	h.list("headers", func() { h.requestHeaders(rec) })
	h.list("queryString", func() {})
	h.member("postData")
	h.open("{")
	h.text("mimeType", "application/json")
	h.list("params", func() {})
	h.member("text")
	h.stringBytes(rec.Body())
	h.close("}")
	h.num("headersSize", -1)
	h.num("bodySize", rec.WireSize())
	h.close("}")
}

// harURL is where a call went.
func harURL(s *Session, o *store.Operation, rec *capture.Record) string {
	sum := s.Summary()
	if sum.Transport == capture.HTTP {
		if u, err := url.Parse(sum.Meta.Target); err == nil && u.Host != "" {
			if rec.HTTP != nil && strings.HasPrefix(rec.HTTP.Path, "/") {
				u.Path, u.RawPath = rec.HTTP.Path, ""
			}
			return u.String()
		}
	}
	u := url.URL{Scheme: sum.Transport.String(), Host: capture.CleanLabel(sum.Label), Path: "/" + s.OpMethod(o)}
	if name := s.OpName(o); name != "" {
		return u.String() + "/" + url.PathEscape(strings.ToValidUTF8(name, "\uFFFD"))
	}
	return u.String()
}

func (h *har) header(name, value string) {
	if value == "" {
		return
	}
	h.open("{")
	h.text("name", name)
	h.text("value", value)
	h.close("}")
}

func (h *har) requestHeaders(rec *capture.Record) {
	if f := rec.HTTP; f != nil {
		h.header("Accept", f.Accept)
		h.header("Content-Type", f.ContentType)
		h.header("Host", f.Host)
		h.header("Origin", f.Origin)
		h.header("User-Agent", f.UserAgent)
		h.header("Last-Event-ID", f.LastEventID)
	}
	h.header(mcp.HeaderVersion, rec.MCPProtocolVersion)
	h.header(mcp.HeaderMethod, rec.MCPMethod)
	h.header(mcp.HeaderName, rec.MCPName)
	for _, p := range rec.MCPParamHeaders {
		h.header(p.Name, p.Value)
	}
}

// harStatus is the HTTP status of an answer, or what stands for it.
func harStatus(s *Session, o *store.Operation, answered bool) int {
	switch {
	case o.Status > 0:
		return int(o.Status)
	case !answered:
		return 0
	case s.Summary().Transport != capture.HTTP && o.State == store.Failed:
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

func (h *har) response(s *Session, o *store.Operation, rec *capture.Record, answered bool) {
	status := harStatus(s, o, answered)
	mime := "application/json"
	h.member("response")
	h.open("{")
	h.num("status", int64(status))
	h.text("statusText", statusText(s, o, rec, status))
	h.text("httpVersion", "HTTP/1.1")
	h.list("cookies", func() {})
	h.list("headers", func() {
		if f := rec.HTTP; f != nil {
			h.header("Content-Type", f.ContentType)
			h.header("Location", f.Location)
		}
		for _, c := range rec.AuthChallenge {
			h.header("WWW-Authenticate", c)
		}
	})
	h.member("content")
	h.open("{")
	h.num("size", rec.WireSize())
	if rec.HasText {
		mime = "text/plain"
	}
	if !answered {
		mime = "x-unknown"
	}
	h.text("mimeType", mime)
	if answered {
		h.member("text")
		h.stringBytes(rec.Body())
	}
	h.close("}")
	h.text("redirectURL", "")
	h.num("headersSize", -1)
	size := int64(-1)
	if answered {
		size = rec.WireSize()
	}
	h.num("bodySize", size)
	h.close("}")
}

// statusText says in a word how a call ended.
func statusText(s *Session, o *store.Operation, rec *capture.Record, status int) string {
	switch {
	case o.State == store.Failed && o.ToolError:
		return "tool error"
	case o.State == store.Failed:
		if code := wire.Get(rec.Raw, "error", "code"); code != nil {
			return "error " + string(code)
		}
		return "error"
	case o.State != store.OK:
		return o.State.String()
	}
	if t := http.StatusText(status); t != "" && s.Summary().Transport == capture.HTTP {
		return t
	}
	return "OK"
}
