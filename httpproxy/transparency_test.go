package httpproxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// hearsOnce is a server that takes one request of n body bytes and answers with
// the text.
func hearsOnce(t *testing.T, bodyLength int, answer string) (addr string, heard chan string) {
	heard = make(chan string, 8)
	return rawServer(t, func(c net.Conn, r *bufio.Reader) {
		for {
			h, err := readHead(r)
			if err != nil {
				return
			}
			b := make([]byte, bodyLength)
			if _, err := io.ReadFull(r, b); err != nil {
				return
			}
			heard <- h + string(b)
			io.WriteString(c, answer)
		}
	}), heard
}

func TestHeadsPassAsTheyStand(t *testing.T) {
	answer := "HTTP/1.1 200 Fine by me\r\nx-b: 2\r\nX-A: 1\r\nset-cookie: b=1\r\nSet-Cookie: a=2\r\nContent-length: 2\r\nX-Empty: \r\n\r\nok"
	addr, heard := hearsOnce(t, 3, answer)
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	fields := "Pragma: no-cache\r\nx-LOWER: a, b\r\nAccept: */*\r\nAccept: text/x\r\nContent-Length: 3\r\nCookie: s=1\r\n"
	c.say("POST /mcp?a=%2f&b=\"c\" HTTP/1.1\r\nHost: " + r.addr + "\r\n" + fields + "\r\nabc")
	c.hear(answer)
	if got, want := <-heard, "POST /mcp?a=%2f&b=\"c\" HTTP/1.1\r\nHost: "+addr+"\r\n"+fields+"\r\nabc"; got != want {
		t.Errorf("the server got\n%q\nwant\n%q", got, want)
	}
}

func TestHopByHopFieldsEndHere(t *testing.T) {
	addr, heard := hearsOnce(t, 0, "HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\nProxy-Connection: x\r\nX-End: 2\r\nContent-Length: 0\r\n\r\n")
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say("GET /mcp HTTP/1.1\r\nHost: h\r\nConnection: X-One, keep-alive, Host\r\nX-One: 1\r\nX-Two: 2\r\nKeep-Alive: 300\r\nTE: trailers, deflate\r\nUpgrade: h2c\r\nProxy-Connection: keep-alive\r\n\r\n")
	c.hear("HTTP/1.1 200 OK\r\nX-End: 2\r\nContent-Length: 0\r\n\r\n")
	if got, want := <-heard, "GET /mcp HTTP/1.1\r\nHost: h\r\nX-Two: 2\r\nConnection: TE\r\nTE: trailers\r\n\r\n"; got != want {
		t.Errorf("the server got\n%q\nwant\n%q", got, want)
	}
}

func TestHostRules(t *testing.T) {
	addr, heard := hearsOnce(t, 0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	r := newRig(t, "http://"+addr+"/mcp")
	_, port, _ := net.SplitHostPort(r.addr)
	for said, want := range map[string]string{
		"localhost:" + port: addr, "127.0.0.1:" + port: addr, "[::1]:" + port: addr, "LocalHost.:" + port: addr, "127.9.9.9:" + port: addr,
		"evil.example:" + port: "evil.example:" + port, "localhost": "localhost", "localhost:1": "localhost:1", "evil.example": "evil.example",
	} {
		c := r.dial()
		c.say("GET /mcp HTTP/1.1\r\nHost: " + said + "\r\nOrigin: http://evil.example\r\n\r\n")
		c.hear("HTTP/1.1 200 OK\r\n")
		if got := <-heard; !strings.Contains(got, "\r\nHost: "+want+"\r\n") || !strings.Contains(got, "Origin: http://evil.example\r\n") {
			t.Errorf("Host %s: the server got %q; want Host %s and the Origin", said, got, want)
		}
	}
}

func TestForeignHostIsForbiddenForARemoteTarget(t *testing.T) {
	r := newRig(t, "http://server.example:81/mcp")
	c := r.dial()
	c.say("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}")
	c.hear("HTTP/1.1 403 Forbidden\r\n")
	r.stop()
	recs := r.log()
	if len(recs) != 2 || string(recs[0].Raw) != "{}" || recs[1].Status != 403 {
		t.Errorf("log: %q", shapes(recs))
	}
}

func TestChunkedBothWaysWithTrailers(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		h, _ := readHead(r)
		if !strings.Contains(h, "\r\nTransfer-Encoding: chunked\r\n") || !strings.Contains(h, "\r\nTrailer: X-Sum\r\n") {
			t.Errorf("head %q", h)
		}
		want := "5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\nX-Sum: 7\r\n\r\n"
		got := make([]byte, len(want))
		io.ReadFull(r, got)
		if string(got) != want {
			t.Errorf("body %q; want %q", got, want)
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\nContent-Type: application/json\r\n\r\n4;ext=1\r\n{\"b\"\r\n3\r\n:2}\r\n0\r\nX-T: 9\r\n\r\n")
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say("POST /mcp HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\nX-Sum: 7\r\n\r\n")
	c.hear("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\nContent-Type: application/json\r\n\r\n4\r\n{\"b\"\r\n3\r\n:2}\r\n0\r\nX-T: 9\r\n\r\n")
	r.wantLog(`x1 c2s POST /mcp {"a":1}`, `x1 s2c 200 {"b":2}`)
}

func TestInformationalResponsesPass(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		h, _ := readHead(r)
		if !strings.Contains(h, "Expect: 100-continue\r\n") {
			t.Errorf("head %q", h)
		}
		io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
		b := make([]byte, 2)
		io.ReadFull(r, b)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say("POST /mcp HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	c.hear("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
	c.say("{}")
	c.hear("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	r.wantLog("x1 c2s POST /mcp {}", "x1 s2c 200")
}

func TestHeadHasNoBody(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
	addr, _ := hearsOnce(t, 0, answer)
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	for range 2 {
		c.say("HEAD /mcp HTTP/1.1\r\nHost: h\r\n\r\n")
		c.hear(answer)
	}
	r.wantLog("x1 c2s HEAD /mcp", "x1 s2c 200", "x2 c2s HEAD /mcp", "x2 s2c 200")
}

// A connection that the server has closed while it was idle is replaced; one
// that breaks under a request is not: the request is never sent again.
func TestNothingIsRetried(t *testing.T) {
	for _, method := range []string{"GET", "DELETE", "POST", "PUT"} {
		for _, how := range []string{"fin", "reset", "half an answer"} {
			t.Run(method+" "+how, func(t *testing.T) {
				heard := make(chan string, 8)
				addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
					for n := 0; ; n++ {
						h, err := readHead(r)
						if err != nil {
							return
						}
						heard <- h
						if n == 0 {
							io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
							continue
						}
						switch how {
						case "reset":
							c.(*net.TCPConn).SetLinger(0)
						case "half an answer":
							io.WriteString(c, "HTTP/1.1 200 O")
						}
						return
					}
				})
				r := newRig(t, "http://"+addr+"/mcp")
				c := r.dial()
				req := method + " /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"
				c.say(req)
				c.hear("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				c.say(req)
				if got := c.rest(); !strings.HasPrefix(got, "HTTP/1.1 502 Bad Gateway\r\n") {
					t.Errorf("got %q; want a 502", got)
				}
				r.stop()
				if len(heard) != 2 {
					t.Errorf("the server heard %d requests; want 2", len(heard))
				}
				recs := r.log()
				if len(recs) != 4 || recs[3].Status != 502 {
					t.Errorf("log %q", shapes(recs))
				}
			})
		}
	}
}

func TestIdleConnectionIsReplaced(t *testing.T) {
	closed := make(chan struct{}, 8)
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		c.Close()
		closed <- struct{}{}
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	for range 5 {
		c.say("GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n")
		c.hear("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		<-closed
		r.waitIdleEnd()
	}
}

func TestDeadTarget(t *testing.T) {
	l := listen(t)
	addr := l.Addr().String()
	l.Close()
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say("POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n{\"a\"")
	c.hear("HTTP/1.1 502 Bad Gateway\r\n")
	c.Close()
	recs := r.log()
	if len(recs) != 2 || shape(&recs[0]) != `x1 c2s POST /mcp text:{"a" cut=10` || recs[1].Status != 502 || !strings.Contains(recs[1].Text, "cannot reach") {
		t.Errorf("log %q", shapes(recs))
	}
	if w := r.warns.all(); len(w) != 1 || !strings.Contains(w[0], addr) {
		t.Errorf("warned %q", w)
	}
}

func TestBrokenFramingIsRefused(t *testing.T) {
	addr, heard := hearsOnce(t, 0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	r := newRig(t, "http://"+addr+"/mcp")
	for _, head := range []string{
		"Content-Length: 1\r\nTransfer-Encoding: chunked", "Content-Length: 1\r\nContent-Length: 2", "Content-Length: +1", "Content-Length: 1, 1",
		"Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding : chunked", "A b: c", ": x", "A\rB: c", " folded: first",
	} {
		c := r.dial()
		c.say("POST /mcp HTTP/1.1\r\n" + head + "\r\nHost: h\r\n\r\nx")
		c.hear("HTTP/1.1 400 Bad Request\r\n")
	}
	for _, line := range []string{"GET /mcp", "GET  /mcp HTTP/1.1", "G(T /mcp HTTP/1.1", "GET /mcp HTTP/2.0", "GET /a b HTTP/1.1"} {
		c := r.dial()
		c.say(line + "\r\nHost: h\r\n\r\n")
		c.hear("HTTP/1.1 400 Bad Request\r\n")
	}
	c := r.dial()
	c.say("GET /mcp HTTP/1.1\r\nHost: h\r\n")
	go io.WriteString(c.Conn, strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 1200))
	c.hear("HTTP/1.1 431 Request Header Fields Too Large\r\n")
	if len(heard) > 0 {
		t.Errorf("the server heard %q", <-heard)
	}
}

func TestSwitchingProtocolsBecomesATunnel(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		h, _ := readHead(r)
		if !strings.Contains(h, "Upgrade: echo\r\nConnection: Upgrade\r\n") {
			t.Errorf("head %q", h)
		}
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello")
		io.Copy(c, r)
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say("GET /mcp HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	c.hear("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello")
	for i := range 3 {
		s := fmt.Sprintf("ping %d", i)
		c.say(s)
		c.hear(s)
	}
	c.Conn.(*net.TCPConn).CloseWrite()
	if got := c.rest(); got != "" {
		t.Errorf("got %q after the end", got)
	}
	r.wantLog("x1 c2s GET /mcp", "x1 s2c 101")
}
