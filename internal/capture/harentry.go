package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// entryRecords are the records of one HAR entry.
type entryRecords struct {
	origin, label string
	stdio         bool
	records       []Record
	err           error // the entry is MCP and cannot be read
}

// harEntry is a HAR entry that is being read.
type harEntry struct {
	entryRecords
	req, resp, ours []byte
	url             *url.URL
	begin, head     time.Time // request sent, head of the response there
	end             time.Time
}

// parseEntry makes records of a HAR entry. It reports false for what is not MCP.
func parseEntry(b []byte) (*entryRecords, bool) {
	e := &harEntry{}
	for m := wire.MembersOf(b); m.Next(); {
		switch string(m.Key) {
		case "request":
			e.req = m.Value
		case "response":
			e.resp = m.Value
		case "_mcpsnoop":
			e.ours = m.Value
		}
	}
	if wire.TypeOf(e.req) != wire.Object {
		return nil, false
	}
	var err error
	if e.url, err = url.Parse(wire.GetString(e.req, "url")); err != nil || e.url.Scheme == "" {
		return nil, false
	}
	e.origin, e.stdio = originOf(e.url), strings.EqualFold(e.url.Scheme, "stdio")
	e.label = CleanLabel(strings.ReplaceAll(e.url.Host, ":", "_"))
	body, isText := harText(wire.Get(e.req, "postData"))
	answer, answered := harText(wire.Get(e.resp, "content"))
	if !e.isMCP(body, answer) {
		return nil, false
	}
	if e.err = e.times(b); e.err != nil {
		return &e.entryRecords, true
	}
	if e.stdio || wire.GetString(e.ours, "direction") == "s2c" {
		e.calls(body, answer, answered)
	} else {
		e.exchange(body, isText, answer, answered)
	}
	if len(e.records) == 0 {
		return nil, false
	}
	return &e.entryRecords, true
}

// harText is the text of a body.
func harText(v []byte) (body []byte, ok bool) {
	t := wire.Get(v, "text")
	s, ok := wire.Text(t)
	if !ok {
		return nil, false
	}
	if strings.EqualFold(wire.GetString(v, "encoding"), "base64") {
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			return b, true
		}
	}
	return []byte(s), true
}

// isMCP looks for a JSON-RPC message on either side, or a header of the protocol.
func (e *harEntry) isMCP(body, answer []byte) bool {
	if len(e.ours) > 0 || isRPC(body) || isRPC(answer) || e.header(e.req, "mcp-session-id") != "" || e.header(e.req, "mcp-protocol-version") != "" {
		return true
	}
	return e.isStream() && bytes.Contains(answer, []byte(`"jsonrpc"`))
}

func (e *harEntry) isStream() bool {
	mime := wire.GetString(e.resp, "content", "mimeType")
	if mime == "" {
		mime = e.header(e.resp, "content-type")
	}
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(mime)), "text/event-stream")
}

func isRPC(b []byte) bool {
	if wire.TypeOf(b) == wire.Array {
		el := wire.ElementsOf(b)
		return el.Next() && wire.Get(el.Value, "jsonrpc") != nil
	}
	return wire.TypeOf(b) == wire.Object && wire.Get(b, "jsonrpc") != nil
}

// header is the value of a header, "" when it is not there.
func (e *harEntry) header(side []byte, name string) string {
	v := e.headers(side, name)
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

func (e *harEntry) headers(side []byte, name string) []string {
	var out []string
	for h := wire.ElementsOf(wire.Get(side, "headers")); h.Next(); {
		if strings.EqualFold(wire.GetString(h.Value, "name"), name) {
			out = append(out, wire.GetString(h.Value, "value"))
		}
	}
	return out
}

// maxMillis bounds a time of a HAR file: about 30 years.
const maxMillis = 1e12

func millis(v []byte) time.Duration {
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsNaN(n) || n < 0 { // -1 stands for a time that does not apply
		return 0
	}
	return time.Duration(math.Round(min(n, maxMillis) * 1e6))
}

func unixTime(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// times works out when the request was sent and when the answer came.
func (e *harEntry) times(b []byte) error {
	s := wire.GetString(b, "startedDateTime")
	start, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("startedDateTime: want a time, have %.40q", s)
	}
	if y := start.Year(); y < 1970 || y > 2200 {
		return errors.New("startedDateTime: no time that a capture can have")
	}
	t := wire.Get(b, "timings")
	at := func(name string) time.Duration { return millis(wire.Get(t, name)) }
	e.begin = start.UTC()
	e.head = e.begin.Add(at("wait"))
	if len(e.ours) == 0 { // ours says blocked for what the client's side took
		e.begin = e.begin.Add(at("blocked") + at("dns") + at("connect") + at("send"))
		e.head = e.begin.Add(at("wait"))
	}
	e.end = start.UTC().Add(millis(wire.Get(b, "time")))
	if e.end.Before(e.head) {
		e.end = e.head
	}
	return nil
}

// calls makes the records of a call without HTTP: over stdio, or a server's
// own request. A call with retries has them all in our member.
func (e *harEntry) calls(body, answer []byte, answered bool) {
	transport := HTTP
	if e.stdio {
		transport = Stdio
	}
	there, back := C2S, S2C
	if wire.GetString(e.ours, "direction") == "s2c" {
		there, back = S2C, C2S
	}
	at := e.begin
	add := func(dir Direction, b []byte) {
		rec := Record{Direction: dir, Transport: transport, TS: at}
		rec.setBody(b)
		e.records = append(e.records, rec)
	}
	hops := wire.ElementsOf(wire.Get(e.ours, "hops"))
	any := false
	for hops.Next() {
		any = true
		at = at.Add(millis(wire.Get(hops.Value, "client_ms")))
		if s, ok := wire.Text(wire.Get(hops.Value, "request")); ok {
			add(there, []byte(s))
		}
		at = at.Add(millis(wire.Get(hops.Value, "server_ms")))
		if s, ok := wire.Text(wire.Get(hops.Value, "response")); ok {
			add(back, []byte(s))
		}
	}
	if any {
		return
	}
	add(there, body)
	if at = e.end; answered {
		add(back, answer)
	}
}

// setBody keeps a body as JSON, text or bytes.
func (r *Record) setBody(b []byte) {
	switch {
	case wire.Check(b) == nil:
		r.Raw = b
		if bytes.ContainsAny(b, "\r\n") {
			r.Reflowed = true
			r.Raw = bytes.Map(func(c rune) rune {
				if c == '\r' || c == '\n' {
					return ' '
				}
				return c
			}, b)
		}
	case bytes.ContainsRune(b, '\uFFFD') || !validText(b):
		r.Bytes = b
	default:
		r.Text, r.HasText = string(b), true
	}
}

func validText(b []byte) bool { return bytes.Equal(bytes.ToValidUTF8(b, nil), b) }

// exchange makes the records of an HTTP exchange.
func (e *harEntry) exchange(body []byte, isText bool, answer []byte, answered bool) {
	e.request(body, isText)
	status := int(parseUint(wire.Get(e.resp, "status")))
	if status < 100 || status > 999 { // 0: there was no answer
		return
	}
	head := Record{Direction: S2C, Transport: HTTP, TS: e.head, Status: status, MCPSession: hashSession(e.header(e.resp, "mcp-session-id"))}
	head.AuthChallenge = e.headers(e.resp, "www-authenticate")
	head.HTTP = e.facts(e.resp)
	if mime := wire.GetString(e.resp, "content", "mimeType"); head.HTTP.ContentType == "" && mime != "x-unknown" {
		head.HTTP.ContentType = mime
	}
	if e.isStream() {
		e.records = append(e.records, head)
		if answered {
			e.events(answer)
		}
		return
	}
	if head.TS = e.end; len(answer) > 0 {
		e.messages(head, answer)
		return
	}
	e.records = append(e.records, head)
}

// messages adds a body: one record, or one for each element of a batch.
func (e *harEntry) messages(first Record, body []byte) {
	if wire.TypeOf(body) == wire.Array && isRPC(body) && wire.Check(body) == nil {
		next := first
		for el := wire.ElementsOf(body); el.Next(); {
			next.Batch = true
			next.setBody(el.Value)
			e.records = append(e.records, next)
			next = Record{Direction: first.Direction, Transport: HTTP, TS: first.TS, MCPSession: first.MCPSession, ConnID: first.ConnID}
		}
		return
	}
	first.setBody(body)
	e.records = append(e.records, first)
}

func (e *harEntry) request(body []byte, isText bool) {
	rec := Record{
		Direction: C2S, Transport: HTTP, TS: e.begin,
		MCPSession: hashSession(e.header(e.req, "mcp-session-id")), MCPMethod: e.header(e.req, "mcp-method"),
		MCPName: e.header(e.req, "mcp-name"), MCPProtocolVersion: e.header(e.req, "mcp-protocol-version"),
	}
	const prefix = "mcp-param-"
	for h := wire.ElementsOf(wire.Get(e.req, "headers")); h.Next(); {
		if name := wire.GetString(h.Value, "name"); len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			rec.MCPParamHeaders = append(rec.MCPParamHeaders, ParamHeader{Name: name, Value: wire.GetString(h.Value, "value")})
		}
	}
	rec.HTTP = e.facts(e.req)
	rec.HTTP.Method = strings.ToUpper(wire.GetString(e.req, "method"))
	rec.HTTP.Path = e.url.EscapedPath()
	rec.HTTP.QueryToken = e.url.Query().Has("access_token")
	if !isText || len(body) == 0 {
		e.records = append(e.records, rec)
		return
	}
	e.messages(rec, body)
}

// facts are the headers that the specification states rules about.
func (e *harEntry) facts(side []byte) *HTTPFacts {
	f := &HTTPFacts{}
	for h := wire.ElementsOf(wire.Get(side, "headers")); h.Next(); {
		v := wire.GetString(h.Value, "value")
		switch strings.ToLower(wire.GetString(h.Value, "name")) {
		case "accept":
			f.Accept = v
		case "content-type":
			f.ContentType = v
		case "host":
			f.Host = v
		case "origin":
			f.Origin = v
		case "user-agent":
			f.UserAgent = v
		case "last-event-id":
			f.LastEventID = v
		case "allow":
			f.Allow = v
		case "location":
			if u, err := url.Parse(v); err == nil {
				u.User, u.RawQuery, u.Fragment = nil, "", ""
				f.Location = u.String()
			}
		}
	}
	return f
}

// events adds what an event stream brought, and its end.
func (e *harEntry) events(stream []byte) {
	var cut wire.Events
	cut.Feed(stream, func(ev wire.Event) {
		rec := Record{Direction: S2C, Transport: HTTP, TS: e.end, HTTP: &HTTPFacts{SSE: &SSEFacts{
			Event: ev.Type, ID: ev.ID, HasID: ev.HasID, Retry: ev.Retry, HasRetry: ev.HasRetry,
		}}}
		e.messages(rec, ev.Data)
	})
	e.records = append(e.records, Record{Direction: S2C, Transport: HTTP, TS: e.end, HTTP: &HTTPFacts{End: "server"}})
}

// hashSession is what a log keeps of an Mcp-Session-Id.
func hashSession(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:16]
}
