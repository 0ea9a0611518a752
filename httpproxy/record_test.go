package httpproxy

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// scripted answers the n-th request of a connection with the n-th text. The
// request must have Content-Length or no body.
func scripted(t *testing.T, answers ...string) string {
	return rawServer(t, func(c net.Conn, r *bufio.Reader) {
		for _, a := range answers {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			io.Copy(io.Discard, req.Body)
			io.WriteString(c, a)
		}
	})
}

// chunked is a response with the head fields whose body comes in the chunks.
func chunked(fields string, chunks ...string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\n" + fields + "Transfer-Encoding: chunked\r\n\r\n")
	for _, c := range chunks {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(c), c)
	}
	b.WriteString("0\r\n\r\n")
	return b.String()
}

func sized(status int, fields, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", status, fields, len(body), body)
}

const post = "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: "

func posted(body string) string { return fmt.Sprintf("%s%d\r\n\r\n%s", post, len(body), body) }

const eventStream = "Content-Type: text/event-stream\r\n"

// What LOG_FORMAT.md says about one exchange, line by line.
func TestLinesOfAnExchange(t *testing.T) {
	for _, tt := range []struct {
		name, request, answer string
		want                  []string
	}{
		{"json", posted(`{"id":1}`), sized(200, "Content-Type: application/json\r\n", `{"id":1,"result":{}}`),
			[]string{`x1 c2s POST /mcp {"id":1}`, `x1 s2c 200 {"id":1,"result":{}}`}},
		{"pretty json", posted("{\"id\":\r\n1}"), sized(200, "", "{\n\"id\":1}\n"),
			[]string{`x1 c2s POST /mcp {"id":  1}`, `x1 s2c 200 { "id":1} `}},
		{"batch", posted(`[{"id":1},{"id":2}]`), sized(200, "", `[{"id":1},{"id":2}]`),
			[]string{`x1 c2s POST /mcp {"id":1} batch`, `x1 c2s POST /mcp {"id":2} batch`, `x1 s2c 200 {"id":1} batch`, `x1 s2c {"id":2} batch`}},
		{"accepted", posted(`{"method":"n"}`), "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
			[]string{`x1 c2s POST /mcp {"method":"n"}`, `x1 s2c 202`}},
		{"empty chunked", posted(`{}`), chunked(""), []string{`x1 c2s POST /mcp {}`, `x1 s2c 200`}},
		{"get without a stream", "GET /mcp?a=secret HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 No\r\nAllow: POST\r\nContent-Length: 0\r\n\r\n",
			[]string{`x1 c2s GET /mcp`, `x1 s2c 405`}},
		{"delete", "DELETE /mcp HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 204 X\r\n\r\n", []string{`x1 c2s DELETE /mcp`, `x1 s2c 204`}},
		{"text", posted(`{}`), sized(500, "Content-Type: text/html\r\n", "<h1>\nno"), []string{`x1 c2s POST /mcp {}`, "x1 s2c 500 text:<h1>\nno"}},
		{"bytes", posted(`{}`), sized(200, "", "\xff\x00"), []string{`x1 c2s POST /mcp {}`, `x1 s2c 200 bytes:ff00`}},
		{"until close", posted(`{}`), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"id\":1}", []string{`x1 c2s POST /mcp {}`, `x1 s2c 200 {"id":1}`}},
		{"events", posted(`{"id":1}`), chunked(eventStream, ": hi\n\nid: e0\ndata:\n\n", "event: mess", "age\ndata: {\"a\":\ndata: 1}\n\ndata: x", "\n\n", "retry: 9\n\n"),
			[]string{`x1 c2s POST /mcp {"id":1}`, `x1 s2c 200`, `x1 s2c sse(message id=e0) {"a": 1}`, `x1 s2c text:x`, `x1 s2c sse( retry=9) end=server`}},
		{"an event that is not ended", posted(`{}`), chunked(eventStream, "data: {\"id\":1}\n"),
			[]string{`x1 c2s POST /mcp {}`, `x1 s2c 200`, `x1 s2c end=server text:{"id":1} eol=none`}},
		{"off the endpoint", "POST /token HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nsecret=1", sized(200, "", `{"access_token":"x"}`),
			[]string{`x1 c2s POST /token`, `x1 s2c 200`}},
		{"metadata", "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: h\r\n\r\n", sized(200, "", `{"resource":"x"}`),
			[]string{`x1 c2s GET /.well-known/oauth-protected-resource/mcp doc=prm`, `x1 s2c doc=prm 200 {"resource":"x"}`}},
		{"trailing slash", "POST /mcp/ HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", sized(200, "", `{}`), []string{`x1 c2s POST /mcp/ {}`, `x1 s2c 200 {}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "http://"+scripted(t, tt.answer)+"/mcp")
			c := r.dial()
			c.say(tt.request)
			c.response(tt.request)
			recs := r.wantLog(tt.want...)
			for _, rec := range recs {
				if rec.ConnID != "c1" {
					t.Errorf("conn_id %q", rec.ConnID)
				}
				if rec.HTTP != nil && strings.Contains(fmt.Sprint(*rec.HTTP), "secret") {
					t.Errorf("a query in the record: %+v", rec.HTTP)
				}
			}
		})
	}
}

func TestFactsOfHeads(t *testing.T) {
	addr := scripted(t, "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer a=\"1\"\r\nwww-authenticate: Basic\r\nMcp-Session-Id: s\u00e9\r\nLocation: http://u:p@x/y?code=secret#f\r\nX-Accel-Buffering: no\r\nAllow: GET\r\nSet-Cookie: secret\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say("POST /mcp?access%5Ftoken=secret HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer secret\r\nCookie: secret\r\nAccept: a\r\naccept: b\r\nOrigin: o\r\nUser-Agent: u\r\nLast-Event-ID: e\r\n" +
		"Mcp-Session-Id: abc\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: m\r\nMcp-Name: n\r\nmcp-param-X: v\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	c.hear("HTTP/1.1 401 X\r\n")
	recs := r.log()
	q, a := recs[0], recs[1]
	got := fmt.Sprint(q.HTTP.Accept, "|", q.HTTP.Origin, "|", q.HTTP.Host, "|", q.HTTP.UserAgent, "|", q.HTTP.LastEventID, "|", *q.HTTP.ContentLength, q.HTTP.ContentType, q.HTTP.QueryToken, q.HTTP.Repeated,
		q.MCPSession, *q.HTTP.Session, q.MCPProtocolVersion, q.MCPMethod, q.MCPName, q.MCPParamHeaders)
	if want := "a, b|o|h|u|e|2application/jsontrue [accept]ba7816bf8f01cfea{3 true}2026-07-28mn[{mcp-param-X v false}]"; got != want {
		t.Errorf("request:\n got %s\nwant %s", got, want)
	}
	got = fmt.Sprint(a.AuthChallenge, len(a.AuthChallenge), a.HTTP.Location, "|", a.HTTP.AccelBuffering, "|", a.HTTP.Allow, *a.HTTP.Session, a.HTTP.Repeated, *a.HTTP.ContentLength)
	if want := `[Bearer a="1" Basic] 2http://x/y|no|GET{3 false} [www-authenticate] 2`; got != want {
		t.Errorf("response:\n got %s\nwant %s", got, want)
	}
	r.neverHolds("secret")
}

// coders write a body in each content coding.
func coders() map[string]func(io.Writer) io.WriteCloser {
	return map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"Deflate": func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 5); return z },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"zstd":    func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	}
}

// Compressed streams pass as they are. What each flushed piece holds is in the
// record before the piece is passed on: a request that the client makes when
// it has got the piece stands behind it.
func TestCompressedStreams(t *testing.T) {
	for name, newCoder := range coders() {
		t.Run(name, func(t *testing.T) {
			pieces, next := make(chan []byte, 1), make(chan bool)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				if r.Header.Get("Content-Encoding") == "" {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				if want := encode(newCoder, `{"id":1}`); !bytes.Equal(b, want) {
					t.Errorf("the server got %x; want %x", b, want)
				}
				w.Header().Set("Content-Encoding", name)
				w.Header().Set("Content-Type", "text/event-stream")
				var sent bytes.Buffer
				z := newCoder(&sent)
				pass := func() {
					pieces <- bytes.Clone(sent.Bytes())
					sent.WriteTo(w)
					w.(http.Flusher).Flush()
				}
				for i := range 3 {
					fmt.Fprintf(z, "data: {\"n\":%d}\n\n", i)
					z.(interface{ Flush() error }).Flush()
					pass()
					<-next
				}
				z.Close()
				pass()
			}))
			defer s.Close()
			r := newRig(t, s.URL+"/mcp")
			req, _ := http.NewRequest(http.MethodPost, r.url("/mcp"), bytes.NewReader(encode(newCoder, `{"id":1}`)))
			req.Header.Set("Content-Encoding", name)
			cl := client(t)
			resp, err := cl.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for i := range 4 {
				want := <-pieces
				got := make([]byte, len(want))
				if _, err := io.ReadFull(resp.Body, got); err != nil || !bytes.Equal(got, want) {
					t.Errorf("piece %d: got %x (%v); want %x", i, got, err, want)
				}
				if i < 3 {
					mark, err := cl.Post(r.url("/mcp"), "application/json", strings.NewReader(fmt.Sprintf(`{"mark":%d}`, i)))
					if err != nil {
						t.Fatal(err)
					}
					mark.Body.Close()
					next <- true
				}
			}
			if rest, err := io.ReadAll(resp.Body); len(rest) > 0 || err != nil {
				t.Errorf("rest %x, %v", rest, err)
			}
			recs := r.wantLog(`x1 c2s POST /mcp {"id":1}`, "x1 s2c 200", `x1 s2c {"n":0}`, `x2 c2s POST /mcp {"mark":0}`, "x2 s2c 202", `x1 s2c {"n":1}`, `x3 c2s POST /mcp {"mark":1}`, "x3 s2c 202",
				`x1 s2c {"n":2}`, `x4 c2s POST /mcp {"mark":2}`, "x4 s2c 202", "x1 s2c end=server")
			if recs[0].HTTP.Encoding != name || recs[1].HTTP.Encoding != name {
				t.Errorf("encodings %q, %q", recs[0].HTTP.Encoding, recs[1].HTTP.Encoding)
			}
		})
	}
}

func encode(newCoder func(io.Writer) io.WriteCloser, s string) []byte {
	var b bytes.Buffer
	z := newCoder(&b)
	io.WriteString(z, s)
	z.Close()
	return b.Bytes()
}

func TestOddCodings(t *testing.T) {
	gz := string(encode(coders()["gzip"], strings.Repeat(`{"id":1}`, 1)))
	twice := string(encode(coders()["br"], gz))
	bomb := string(encode(coders()["gzip"], strings.Repeat("x", 8<<20)))
	for _, tt := range []struct{ name, fields, body, want string }{
		{"two", "Content-Encoding: gzip, br\r\n", twice, `x1 s2c 200 {"id":1}`},
		{"two fields", "Content-Encoding: gzip\r\nContent-Encoding: br\r\n", twice, `x1 s2c 200 {"id":1}`},
		{"identity", "Content-Encoding: identity\r\n", `{"id":1}`, `x1 s2c 200 {"id":1}`},
		{"unknown", "Content-Encoding: x-secret\r\n", "\xfe\xff", `x1 s2c 200 bytes:feff`},
		{"not what it says", "Content-Encoding: gzip\r\n", `{"id":1}`, `x1 s2c 200 text: cut=0`},
		{"broken off", "Content-Encoding: gzip\r\n", gz[:len(gz)-4], `x1 s2c 200 text:{"id":1} cut=0`},
		{"bomb", "Content-Encoding: gzip\r\n", bomb, `x1 s2c 200 text:xxxxxxxxxx`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "http://"+scripted(t, sized(200, tt.fields, tt.body))+"/mcp", func(o *Options) { o.MaxFrame = 1 << 10 })
			c := r.dial()
			c.say(posted("{}"))
			c.hear(sized(200, tt.fields, tt.body))
			recs := r.log()
			if got := shape(&recs[1]); got != tt.want && (tt.name != "bomb" || !strings.HasPrefix(got, tt.want) || !recs[1].Truncated || len(recs[1].Text) > 1<<10) {
				t.Errorf("got %.100q; want %q", got, tt.want)
			}
			if w := r.warns.all(); (tt.name == "unknown") != (len(w) == 1) {
				t.Errorf("warned %q", w)
			}
		})
	}
}

// An answer whose head comes before the request is whole.
func TestEarlyAnswer(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.ReadFull(r, make([]byte, 4))
		io.WriteString(c, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say(post + "100000\r\n\r\n{\"a\"")
	c.hear("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
	go io.WriteString(c.Conn, strings.Repeat("x", 99996))
	if got := c.rest(); got != "" {
		t.Errorf("after the answer: %q", got)
	}
	r.wantLog(`x1 c2s POST /mcp text:{"a" cut=100000`, "x1 s2c 413 text:no")
}

func TestEarlyAnswerThatKeepsTheConnection(t *testing.T) {
	half := make(chan bool)
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.ReadFull(r, make([]byte, 4))
		io.WriteString(c, sized(401, "", ""))
		io.ReadFull(r, make([]byte, 6))
		half <- true
		readHead(r)
		io.WriteString(c, sized(200, "", ""))
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say(post + "10\r\n\r\n{\"a\"")
	c.hear(sized(401, "", ""))
	c.say(":1}   ")
	<-half
	c.say("GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n")
	c.hear(sized(200, "", ""))
	r.wantLog(`x1 c2s POST /mcp text:{"a" cut=10`, "x1 s2c 401", "x2 c2s GET /mcp", "x2 s2c 200")
}

func TestLongFramesAreCutInTheRecordOnly(t *testing.T) {
	long := `{"x":"` + strings.Repeat("y", 300000) + `"}`
	for _, answer := range []string{sized(200, "", long), chunked("", long[:1000], long[1000:]), chunked(eventStream, "data: "+long[:7], long[7:]+"\n\n")} {
		r := newRig(t, "http://"+scripted(t, answer)+"/mcp", func(o *Options) { o.MaxFrame = 100 })
		c := r.dial()
		c.say(posted(long))
		c.response("POST")
		recs := r.log()
		cut := slices.IndexFunc(recs[1:], func(rec2 captureRecord) bool { return rec2.Truncated })
		if !recs[0].Truncated || recs[0].Size != int64(len(long)) || len(recs[0].Text) != 100 || cut < 0 || recs[cut+1].Size != int64(len(long)) {
			t.Errorf("log %.200q", shapes(recs))
		}
	}
}

func TestResponseThatBreaksOff(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want string }{
		"length":  {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":1}", `x1 s2c 200 text:{"id":1} cut=100`},
		"chunked": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"id\":1", `x1 s2c 200 text:{"id":1 cut=0`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "http://"+scripted(t, tt.answer)+"/mcp")
			c := r.dial()
			c.say(posted("{}"))
			if got := c.rest(); !strings.Contains(got, `{"id":1`) || strings.HasSuffix(got, "0\r\n\r\n") {
				t.Errorf("got %q", got)
			}
			r.wantLog("x1 c2s POST /mcp {}", tt.want)
		})
	}
}

// A target without a path has an endpoint on every path, but secrets of an
// authorization server on the same origin stay out.
func TestTargetWithoutPath(t *testing.T) {
	r := newRig(t, "http://"+scripted(t, sized(200, "", "{}"), sized(200, "", `{"access_token":"secret"}`), sized(200, "", `{"t":"secret"}`)))
	c := r.dial()
	for _, req := range []string{
		"POST /any/where HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}",
		"POST /register HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n{\"a\":secret}",
		"POST /x HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n\r\na=secret",
	} {
		c.say(req)
		c.hear("HTTP/1.1 200 X\r\n")
		resp := make([]byte, 0)
		for !bytes.Contains(resp, []byte("}")) {
			b, _ := c.r.ReadByte()
			resp = append(resp, b)
		}
	}
	r.wantLog("x1 c2s POST /any/where {}", "x1 s2c 200 {}", "x2 c2s POST /register", "x2 s2c 200", "x3 c2s POST /x", "x3 s2c 200")
}
