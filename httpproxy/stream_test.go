package httpproxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Every event reaches the client before the server writes the next one.
func TestEventsAreFlushedAtOnce(t *testing.T) {
	next := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 20 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			<-next
		}
	}))
	defer s.Close()
	r := newRig(t, s.URL+"/mcp")
	resp, err := client(t).Get(r.url("/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i := range 20 {
		want := fmt.Sprintf("data: %d\n\n", i)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("got %q (%v); want %q", got, err, want)
		}
		next <- true
	}
}

// A body is passed on while it comes, in both directions at once.
func TestBodiesStreamBothWays(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
		for range 4 {
			b := make([]byte, 2)
			if _, err := io.ReadFull(r, b); err != nil {
				return
			}
			c.Write(b)
		}
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say(post + "8\r\n\r\n")
	c.hear("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
	for i := range 4 {
		s := fmt.Sprintf("p%d", i)
		c.say(s)
		c.hear(s)
	}
}

func TestClientAbortReachesTheServer(t *testing.T) {
	for name, body := range map[string]string{"before the answer": "", "in an event stream": "data: 1\n\n"} {
		t.Run(name, func(t *testing.T) {
			arrived, gone := make(chan bool), make(chan bool)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if body != "" {
					w.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(w, body)
					w.(http.Flusher).Flush()
				}
				arrived <- true
				<-r.Context().Done()
				gone <- true
			}))
			defer s.Close()
			r := newRig(t, s.URL+"/mcp")
			c := r.dial()
			c.say(posted("{}"))
			<-arrived
			if body != "" {
				c.hear("HTTP/1.1 200 OK\r\n")
			}
			c.Close()
			<-gone
			want := []string{"x1 c2s POST /mcp {}"}
			if body != "" {
				want = append(want, "x1 s2c 200", "x1 s2c 1", "x1 s2c end=client")
			}
			recs := r.log()
			if got := shapes(recs); strings.Join(got[:len(want)], "\n") != strings.Join(want, "\n") {
				t.Errorf("log %q; want %q", got, want)
			}
		})
	}
}

func TestServerResetReachesTheClient(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\n"+eventStream+"\r\ndata: 1\n\n")
		io.ReadFull(r, make([]byte, 2))
		c.(*net.TCPConn).SetLinger(0)
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say(post + "2\r\n\r\n")
	c.hear("HTTP/1.1 200 OK\r\n" + eventStream + "\r\ndata: 1\n\n")
	c.say("{}")
	if _, err := c.r.ReadByte(); err == nil || err == io.EOF {
		t.Errorf("the client saw %v; want a reset", err)
	}
	r.wantLog("x1 c2s POST /mcp text: cut=2", "x1 s2c 200", "x1 s2c 1", "x1 s2c end=reset")
}

// A client that closes its sending side still gets the answer, when the server gives one.
func TestHalfClosedClientGetsItsAnswer(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		if b, _ := io.ReadAll(r); string(b) != "{}" { // up to the client's end
			t.Errorf("body %q", b)
		}
		io.WriteString(c, sized(200, "", "{}"))
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say(posted("{}"))
	c.Conn.(*net.TCPConn).CloseWrite()
	if got := c.rest(); got != sized(200, "", "{}") {
		t.Errorf("got %q", got)
	}
}

func TestRequestThatBreaksOff(t *testing.T) {
	heard := make(chan string, 1)
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		b, _ := io.ReadAll(r)
		heard <- string(b)
	})
	r := newRig(t, "http://"+addr+"/mcp")
	c := r.dial()
	c.say("POST /mcp HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n")
	c.Close()
	if got, want := <-heard, "POST /mcp HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n"; got != want {
		t.Errorf("the server got %q; want %q", got, want)
	}
	r.wantLog(`x1 c2s POST /mcp text:{"a": cut=0`)
}

// Requests that a client sends without waiting are answered in order.
func TestPipelinedRequests(t *testing.T) {
	r := newRig(t, "http://"+scripted(t, sized(200, "", "1"), sized(200, "", "2"), sized(200, "", "3"))+"/mcp")
	c := r.dial()
	c.say(posted("{}") + posted("[]") + posted("0"))
	c.hear(sized(200, "", "1") + sized(200, "", "2") + sized(200, "", "3"))
	r.wantLog("x1 c2s POST /mcp {}", "x1 s2c 200 1", "x2 c2s POST /mcp []", "x2 s2c 200 2", "x3 c2s POST /mcp 0", "x3 s2c 200 3")
}

func TestLargeBodiesAndSlowReaders(t *testing.T) {
	big := make([]byte, 24<<20)
	rand.Read(big)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, r.Body)
	}))
	defer s.Close()
	r := newRig(t, s.URL+"/other") // nothing of it is kept
	for _, length := range []int64{int64(len(big)), -1} {
		req, _ := http.NewRequest(http.MethodPost, r.url("/mcp"), bytes.NewReader(big))
		req.ContentLength = length
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(iotestSlow{resp.Body})
		resp.Body.Close()
		if err != nil || !bytes.Equal(got, big) {
			t.Errorf("length %d: %d bytes came back (%v), equal: %v", length, len(got), err, bytes.Equal(got, big))
		}
	}
}

// iotestSlow reads in odd small pieces.
type iotestSlow struct{ r io.Reader }

func (s iotestSlow) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 40001)]) }

// Bodies pass whole and byte for byte, however they are framed and cut.
func TestAnyBodyInAnyPieces(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.URL.RawQuery == "sized" {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		}
		for len(b) > 0 {
			n := min(len(b), 1+len(b)/3)
			w.Write(b[:n])
			w.(http.Flusher).Flush()
			b = b[n:]
		}
	}))
	defer s.Close()
	r := newRig(t, s.URL+"/mcp")
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(rt, "body")
		query := rapid.SampledFrom([]string{"sized", "chunked"}).Draw(rt, "answer")
		head := "POST /mcp?" + query + " HTTP/1.1\r\nHost: h\r\n"
		var text []byte
		if rapid.Bool().Draw(rt, "sized request") {
			text = append(fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n", head, len(body)), body...)
		} else {
			text = append(text, head+"Transfer-Encoding: chunked\r\n\r\n"...)
			for rest := body; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(rt, "chunk")
				text = append(fmt.Appendf(text, "%X\r\n", n), rest[:n]...)
				text = append(text, "\r\n"...)
				rest = rest[n:]
			}
			text = append(text, "0\r\n\r\n"...)
		}
		c := r.dial()
		defer c.Close()
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(rt, "piece")
			c.say(string(text[:n]))
			text = text[n:]
		}
		if got := c.response("POST"); got != string(body) {
			rt.Errorf("got %q; want %q", got, body)
		}
	})
}

// With any number of clients no answer stands before its request, nothing is
// missing, and what one client says never gets into another's exchange.
func TestManyClientsInCausalOrder(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if wire.ParseMessage(b).ID[len(wire.ParseMessage(b).ID)-1]%2 == 0 {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", bytes.Replace(b, []byte("method"), []byte("result"), 1))
			return
		}
		w.Write(bytes.Replace(b, []byte("method"), []byte("result"), 1))
	}))
	defer s.Close()
	r := newRig(t, s.URL+"/mcp")
	const clients, each = 8, 150
	var work sync.WaitGroup
	for k := range clients {
		work.Go(func() {
			cl := client(t)
			for i := range each {
				resp, err := cl.Post(r.url("/mcp"), "application/json", strings.NewReader(fmt.Sprintf(`{"id":%d,"method":"m"}`, 1000*k+i)))
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	work.Wait()
	type state struct {
		id   wire.ID
		conn string
		done bool
	}
	open := map[uint64]*state{}
	var last capture.Record
	for _, rec := range r.log() {
		if rec.TS.Before(last.TS) {
			t.Errorf("seq %d: time goes back", rec.Seq)
		}
		last = rec
		m := wire.ParseMessage(rec.Raw)
		x := open[rec.Exchange]
		switch {
		case rec.Direction == capture.C2S && x == nil:
			open[rec.Exchange] = &state{id: m.ID, conn: rec.ConnID}
		case rec.Direction == capture.C2S || x == nil || x.conn != rec.ConnID:
			t.Fatalf("seq %d: %s out of place", rec.Seq, shape(&rec))
		case m.Kind == wire.Result:
			if x.id != m.ID || x.done {
				t.Errorf("seq %d: answer %s in the exchange of %s", rec.Seq, m.ID, x.id)
			}
			x.done = true
		}
	}
	if len(open) != clients*each {
		t.Errorf("%d exchanges; want %d", len(open), clients*each)
	}
	for n, x := range open {
		if !x.done {
			t.Errorf("exchange %d has no answer", n)
		}
	}
}

// The end of the proxy cuts event streams, lets short calls finish and leaves nothing behind.
func TestEndOfTheProxy(t *testing.T) {
	streaming, slow, release := make(chan bool), make(chan bool), make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			streaming <- true
			<-r.Context().Done()
			return
		}
		slow <- true
		<-release
		io.WriteString(w, `{"id":1}`)
	}))
	defer s.Close()
	r := newRig(t, s.URL+"/mcp", func(o *Options) { o.Grace = 20e9 })
	get, call, idle := r.dial(), r.dial(), r.dial()
	get.say("GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n")
	<-streaming
	get.hear("HTTP/1.1 200 OK\r\n")
	call.say(posted(`{"id":1}`))
	<-slow
	ended := make(chan bool)
	go func() { r.stop(); close(ended) }()
	if got := get.rest(); strings.HasSuffix(got, "0\r\n\r\n") {
		t.Errorf("the cut stream ends cleanly: %q", got)
	}
	idle.rest()
	close(release)
	if got := call.response("POST"); got != `{"id":1}` {
		t.Errorf("the call got %q", got)
	}
	<-ended
	r.wantLog("x1 c2s GET /mcp", "x1 s2c 200", "x1 s2c 1", `x2 c2s POST /mcp {"id":1}`, `x2 s2c 200 {"id":1}`)
}

func TestOldTransport(t *testing.T) {
	for _, tt := range []struct{ name, event, heard, recorded string }{
		{"relative", "event: endpoint\ndata: /messages?sessionId=s3cret\n\n", "event: endpoint\ndata: /messages?sessionId=s3cret\n\n", `x1 s2c sse(endpoint) text:/messages?...`},
		{"absolute", "event: endpoint\r\ndata: http://TARGET/messages?sessionId=s3cret\r\n\r\n", "event: endpoint\r\ndata: http://PROXY/messages?sessionId=s3cret\r\n\r\n",
			`x1 s2c sse(endpoint) mapped(endpoint http://TARGET/messages http://PROXY/messages) text:http://TARGET/messages?...`},
		{"foreign", "event: endpoint\ndata: http://other.example/messages\n\n", "event: endpoint\ndata: http://other.example/messages\n\n", `x1 s2c sse(endpoint) text:http://other.example/messages`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := make(chan string)
			ctx, cancel := context.WithCancel(context.Background())
			var target string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					answers <- `{"id":1,"result":{}}`
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for piece := range strings.SplitAfterSeq(": hi\n\n"+strings.ReplaceAll(tt.event, "TARGET", target), "d") {
					io.WriteString(w, piece)
					w.(http.Flusher).Flush()
				}
				select {
				case a := <-answers:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", a)
				case <-ctx.Done():
				}
			}))
			defer s.Close()
			defer cancel()
			target = strings.TrimPrefix(s.URL, "http://")
			r := newRig(t, s.URL+"/sse")
			place := strings.NewReplacer("TARGET", target, "PROXY", r.addr)
			resp, err := client(t).Get(r.url("/sse"))
			if err != nil {
				t.Fatal(err)
			}
			want := ": hi\n\n" + place.Replace(tt.heard)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
				t.Errorf("got %q (%v); want %q", got, err, want)
			}
			log := []string{"x1 c2s GET /sse", "x1 s2c 200", place.Replace(tt.recorded)}
			if tt.name != "foreign" {
				post, err := client(t).Post(r.url("/messages?sessionId=s3cret"), "application/json", strings.NewReader(`{"id":1,"method":"m"}`))
				if err != nil {
					t.Fatal(err)
				}
				post.Body.Close()
				rest, _ := io.ReadAll(resp.Body)
				if string(rest) != "event: message\ndata: {\"id\":1,\"result\":{}}\n\n" {
					t.Errorf("rest %q", rest)
				}
				log = nil
			}
			resp.Body.Close()
			cancel()
			if log != nil {
				r.log()
				return
			}
			recs := r.log()
			sessions := map[string]int{}
			for _, rec := range recs {
				sessions[rec.MCPSession]++
			}
			if shape(&recs[2]) != place.Replace(tt.recorded) || len(recs) != 7 || len(sessions) != 2 || sessions[""] != 3 {
				t.Errorf("log %q, sessions %v", shapes(recs), sessions)
			}
			r.neverHolds("s3cret")
		})
	}
}
