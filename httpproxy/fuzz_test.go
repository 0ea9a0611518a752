package httpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// memConn is a connection that reads a text, in pieces, and takes what is written.
type memConn struct {
	net.Conn
	in   []byte
	step int
	out  bytes.Buffer
}

func (c *memConn) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.step)], c.in)
	c.in = c.in[n:]
	return n, nil
}

func (c *memConn) Write(p []byte) (int, error)     { return c.out.Write(p) }
func (c *memConn) SetReadDeadline(time.Time) error { return nil }
func (c *memConn) Close() error                    { return nil }

// forwarded passes requests on as the proxy does, into memory: what the server
// gets, and how many requests the proxy takes that for.
func forwarded(text []byte, step int) (out string, bodies []string) {
	in := newStream(&memConn{in: text, step: step})
	server := &memConn{}
	k := &sink{conn: server}
	p := New(Options{Target: &Target{loopback: true}})
	for {
		head, err := in.head()
		if err != nil {
			break
		}
		h, err := parseRequest(head, nil)
		if err != nil {
			break
		}
		b, err := requestBody(&h, in)
		if err != nil {
			break
		}
		host, _ := p.hostOf(&h, nil)
		mark := server.out.Len()
		p.writeRequest(k, &h, b.kind == byChunks, host)
		var whole []byte
		for last := false; !last; {
			var piece []byte
			if piece, last, err = b.next(); err != nil {
				k.flush()
				return server.out.String()[:mark], bodies // broken off: the connection ends
			}
			whole = append(whole, piece...)
			writePiece(k, &b, piece, last)
		}
		k.flush()
		bodies = append(bodies, string(whole))
	}
	return server.out.String(), bodies
}

// Whatever a client sends, a server reads as many requests as the proxy, with
// the same bodies: nothing is smuggled past the record.
func FuzzRequestsAreReadAlike(f *testing.F) {
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: h\r\n\r\n", uint8(3))
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: 1\r\n\r\n", uint8(255))
	f.Add("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\nGET http://a/b HTTP/1.1\r\nHost: h\r\n X: folded\r\n\r\n", uint8(1))
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\nContent-Length: 1\r\nContent-Length: 1\r\nConnection: Content-Length\r\n\r\n0", uint8(9))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		out, bodies := forwarded([]byte(text), int(step)+1)
		r := bufio.NewReader(strings.NewReader(out))
		for i := 0; ; i++ {
			req, err := http.ReadRequest(r)
			if err != nil {
				if i < len(bodies) && errors.Is(err, io.EOF) {
					t.Errorf("%q: the proxy passed %d requests on, the server reads %d in %q", text, len(bodies), i, out)
				}
				return // io.EOF, or a head that this server refuses, and with it the rest
			}
			b, err := io.ReadAll(req.Body)
			if err != nil || i >= len(bodies) || string(b) != bodies[i] {
				t.Fatalf("%q: request %d has body %q (%v) for the server; bodies for the proxy: %q; passed on: %q", text, i, b, err, bodies, out)
			}
		}
	})
}
