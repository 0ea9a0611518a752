package httpproxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// forwardRig is a forward proxy whose records are kept by endpoint.
type forwardRig struct {
	*rig
	mu   sync.Mutex
	recs map[string]*capture.Recorder // by the URL of the endpoint, "" for the rest
}

func newForwardRig(t *testing.T, change ...func(*Options)) *forwardRig {
	t.Helper()
	r := &forwardRig{rig: &rig{t: t, warns: &lines{}}, recs: map[string]*capture.Recorder{}}
	dir := t.TempDir()
	open := func(end *Target) *capture.Recorder {
		name := ""
		if end != nil {
			name = end.String()
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		id := fmt.Sprintf("f-1-%012d", len(r.recs))
		r.recs[name] = capture.NewRecorder(capture.Options{
			File:  capture.FileOptions{Dir: filepath.Join(dir, "sessions"), SessionID: id, Now: time.Now, Warn: r.warns.add},
			Label: "f", Transport: capture.HTTP, Clock: systemClock{}, Warn: r.warns.add, Meta: capture.MetaInfo{Target: name},
		})
		return r.recs[name]
	}
	o := Options{Forward: &ForwardOptions{Open: open}, Warn: r.warns.add, Grace: 200 * time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	l := listen(t)
	r.addr = l.Addr().String()
	r.p = New(o)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.p.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		for _, rec := range r.recs {
			rec.Close(capture.EndInfo{Reason: "test"})
		}
	})
	t.Cleanup(r.stop)
	return r
}

// logs ends the proxy and gives what was recorded, in short, by endpoint.
func (r *forwardRig) logs() map[string][]string {
	r.t.Helper()
	r.stop()
	out := map[string][]string{}
	for name, rec := range r.recs {
		b, err := os.ReadFile(rec.Path())
		if err != nil {
			r.t.Fatal(err)
		}
		all := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
		for _, l := range all[1 : len(all)-1] {
			var rec capture.Record
			if err := capture.ParseRecord(l, &rec); err != nil {
				r.t.Fatal(err)
			}
			out[name] = append(out[name], shape(&rec))
		}
	}
	return out
}

func (r *forwardRig) want(want map[string][]string) {
	r.t.Helper()
	got := r.logs()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("logs\n got  %v\n want %v", got, want)
	}
}

// proxied is a client that uses the proxy as HTTP_PROXY says it.
func (r *forwardRig) proxied() *http.Client {
	tr := &http.Transport{DisableCompression: true, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://" + r.addr) }}
	r.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// said is a server that answers with what it was asked.
func said(t *testing.T) (*httptest.Server, func() []string) {
	var l lines
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.add(r.Method + " " + r.RequestURI + " " + r.Host + " " + r.Header.Get("Proxy-Authorization") + r.Header.Get("Proxy-Connection"))
		if metadataDoc(r.URL.Path) != "" {
			fmt.Fprintf(w, `{"resource":"http://%s/a"}`, r.Host)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="http://%s/x"`, r.Host))
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	t.Cleanup(s.Close)
	return s, l.all
}

func mcpPost(t *testing.T, c *http.Client, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Proxy-Authorization", "Basic eDp5")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// Each endpoint has a log of its own; what else goes to its server stands in
// it too, and what goes elsewhere in one for the rest. Nothing is mapped.
func TestForward(t *testing.T) {
	s, got := said(t)
	other, _ := said(t)
	r := newForwardRig(t)
	c := r.proxied()
	host := strings.TrimPrefix(s.URL, "http://")
	if resp := mcpPost(t, c, s.URL+"/a?q=1"); resp.Header.Get("WWW-Authenticate") != `Bearer resource_metadata="http://`+host+`/x"` {
		t.Errorf("the challenge became %v", resp.Header)
	}
	mcpPost(t, c, s.URL+"/b/")
	for _, u := range []string{s.URL + "/.well-known/oauth-protected-resource/a", s.URL + "/login", other.URL + "/x"} {
		if resp, body := get(t, c, u); resp.StatusCode != http.StatusOK || strings.Contains(body, r.addr) {
			t.Errorf("%s gave %d %s", u, resp.StatusCode, body)
		}
	}
	want := []string{"POST /a?q=1 " + host + " ", "POST /b/ " + host + " ", "GET /.well-known/oauth-protected-resource/a " + host + " ", "GET /login " + host + " "}
	if fmt.Sprint(got()) != fmt.Sprint(want) {
		t.Errorf("the server got %q; want %q", got(), want)
	}
	const ping, pong = ` {"jsonrpc":"2.0","id":1,"method":"ping"}`, ` 200 {"jsonrpc":"2.0","id":1,"result":{}}`
	r.want(map[string][]string{
		s.URL + "/a":  {"x1 c2s POST /a" + ping, "x1 s2c" + pong, "x2 c2s GET /.well-known/oauth-protected-resource/a doc=prm", `x2 s2c doc=prm 200 {"resource":"http://` + host + `/a"}`},
		s.URL + "/b/": {"x1 c2s POST /b/" + ping, "x1 s2c" + pong, "x2 c2s GET /login", "x2 s2c 200"},
		"":            {"x1 c2s GET /x", "x1 s2c 200"},
	})
}

// tunnel opens one to a server.
func (r *forwardRig) tunnel(to string) *talk {
	r.t.Helper()
	c := r.dial()
	c.say("CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n\r\n")
	c.hear("HTTP/1.1 200 Connection established\r\n\r\n")
	return c
}

func TestForwardPlainTunnel(t *testing.T) {
	s, got := said(t)
	r := newForwardRig(t)
	host := strings.TrimPrefix(s.URL, "http://")
	c := r.tunnel(host)
	for range 2 {
		c.say("POST /mcp HTTP/1.1\r\nHost: x.example\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nContent-Length: 4\r\n\r\nnull")
		if b := c.response("POST"); b != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("got %q", b)
		}
	}
	if want := "[POST /mcp x.example  POST /mcp x.example ]"; fmt.Sprint(got()) != want {
		t.Errorf("the server got %v; want %s", got(), want)
	}
	const pong = ` 200 {"jsonrpc":"2.0","id":1,"result":{}}`
	r.want(map[string][]string{s.URL + "/mcp": {"x1 c2s POST /mcp null", "x1 s2c" + pong, "x2 c2s POST /mcp null", "x2 s2c" + pong}})
}

func TestForwardTLSPasses(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "secret") }))
	defer s.Close()
	r := newForwardRig(t)
	c := s.Client()
	tr := c.Transport.(*http.Transport)
	tr.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://" + r.addr) }
	defer tr.CloseIdleConnections()
	if _, body := get(t, c, s.URL+"/mcp"); body != "secret" {
		t.Errorf("got %q", body)
	}
	tr.CloseIdleConnections()
	host := strings.TrimPrefix(s.URL, "https://")
	r.want(map[string][]string{"": {"x1 c2s CONNECT " + host, "x1 s2c 200"}})
}

// A tunnel whose bytes are nothing that is known passes them both ways, and
// ends with either side.
func TestForwardOpaqueTunnel(t *testing.T) {
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader) {
		l, _ := r.ReadString('\n')
		io.WriteString(c, "you said "+l)
	})
	r := newForwardRig(t)
	c := r.tunnel(addr)
	c.say("\x00\x01hello\n")
	if got := c.rest(); got != "you said \x00\x01hello\n" {
		t.Errorf("got %q", got)
	}
	c.Close()
	r.want(map[string][]string{"": {"x1 c2s CONNECT " + addr, "x1 s2c 200"}})
}

func TestForwardRefuses(t *testing.T) {
	r := newForwardRig(t)
	dead := listen(t)
	gone := dead.Addr().String()
	dead.Close()
	for head, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: " + r.addr + "\r\n\r\n":                            "HTTP/1.1 400 ",
		"GET http://" + r.addr + "/ HTTP/1.1\r\nHost: x\r\n\r\n":                    "HTTP/1.1 400 ",
		"GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n":                                  "HTTP/1.1 400 ",
		"GET http://u:p@h/ HTTP/1.1\r\nHost: h\r\n\r\n":                             "HTTP/1.1 400 ",
		"CONNECT " + r.addr + " HTTP/1.1\r\nHost: x\r\n\r\n":                        "HTTP/1.1 400 ",
		"CONNECT nowhere HTTP/1.1\r\nHost: x\r\n\r\n":                               "HTTP/1.1 400 ",
		"CONNECT " + gone + " HTTP/1.1\r\nHost: x\r\n\r\n":                          "HTTP/1.1 502 ",
		"GET http://" + gone + "/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n": "HTTP/1.1 502 ",
	} {
		c := r.dial()
		c.say(head)
		if got := c.rest(); !strings.HasPrefix(got, want) {
			t.Errorf("%q gave %q; want %s", head, got, want)
		}
	}
}

// Requests to several servers on one connection go each to its own.
func TestForwardOneConnection(t *testing.T) {
	one, gotOne := said(t)
	two, gotTwo := said(t)
	r := newForwardRig(t)
	c := r.dial()
	for _, s := range []*httptest.Server{one, two, one} {
		c.say("GET " + s.URL + "/p HTTP/1.1\r\nHost: x\r\n\r\n")
		c.response("GET")
	}
	if len(gotOne()) != 2 || len(gotTwo()) != 1 {
		t.Errorf("the servers got %q and %q", gotOne(), gotTwo())
	}
}

func TestFirstBytes(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "\x16\x03": "tls", "G": "", "GET ": "http", "GET": "", "PRI * HTTP/2.0": "opaque", "PRI": "", "get /": "opaque", " GET": "opaque",
		"SSH-2.0": "opaque", strings.Repeat("A", 30): "opaque", "\x00": "opaque",
	} {
		if got := firstBytes([]byte(in)); got != want {
			t.Errorf("%q is %q; want %q", in, got, want)
		}
	}
}
