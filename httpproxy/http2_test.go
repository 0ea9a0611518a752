package httpproxy

import (
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// h2cClient speaks HTTP/2 without TLS and nothing else.
func h2cClient(t testing.TB) *http.Client {
	tr := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// server is a server for the protocols; with TLS when http2 over TLS is asked.
func server(t testing.TB, h http.HandlerFunc, set func(*http.Protocols)) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.Protocols = new(http.Protocols)
	set(s.Config.Protocols)
	if s.Config.Protocols.HTTP2() {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func TestHTTP2ClientsWhateverTheServerSpeaks(t *testing.T) {
	for name, set := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"h2c":      func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
		"h2":       func(p *http.Protocols) { p.SetHTTP2(true); p.SetHTTP1(true) },
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == "PRI" {
					return // the question whether it speaks HTTP/2
				}
				b, _ := io.ReadAll(r.Body)
				got := fmt.Sprintf("%s %s %s %s %v %d%v", r.Proto, r.Method, r.RequestURI, b, r.Header["X-A"], len(r.Header["User-Agent"]), r.Header["Accept-Encoding"])
				want := "POST /mcp?q=1 {\"id\":1} [1 2] 0[]"
				if !strings.HasSuffix(got, want) || name != "HTTP/1.1" && r.ProtoMajor != 2 {
					t.Errorf("the server got %q; want ... %q", got, want)
				}
				w.Header()["Date"] = nil
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Trailer", "X-T")
				fmt.Fprint(w, "data: {\"id\":1}\n\n")
				w.(http.Flusher).Flush()
				w.Header().Set("X-T", "9")
			}, set)
			r := newRig(t, s.URL+"/mcp", trusting(t, s))
			req, _ := http.NewRequest(http.MethodPost, r.url("/mcp?q=1"), strings.NewReader(`{"id":1}`))
			req.Header = http.Header{"X-A": {"1", "2"}, "User-Agent": nil}
			resp, err := h2cClient(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.ProtoMajor != 2 || err != nil || string(b) != "data: {\"id\":1}\n\n" || resp.Trailer.Get("X-T") != "9" || resp.Header["Date"] != nil {
				t.Errorf("got %v %q (%v), trailer %v, header %v", resp.Proto, b, err, resp.Trailer, resp.Header)
			}
			r.wantLog(`x1 c2s POST /mcp {"id":1}`, "x1 s2c 200", `x1 s2c {"id":1}`, "x1 s2c end=server")
		})
	}
}

// trusting makes the proxy trust the certificate of a server with TLS.
func trusting(t testing.TB, s *httptest.Server) func(*Options) {
	return func(o *Options) {
		if s.Certificate() == nil {
			return
		}
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		tg, err := ParseTarget(o.Target.url.String(), roots)
		if err != nil {
			t.Fatal(err)
		}
		o.Target = tg
	}
}

func TestTLSTarget(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto, r.TLS != nil, r.Host) },
		func(p *http.Protocols) { p.SetHTTP2(true); p.SetHTTP1(true) })
	r := newRig(t, s.URL+"/mcp", trusting(t, s))
	for range 3 {
		resp, err := client(t).Get(r.url("/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got, want := string(b), "HTTP/1.1true"+strings.TrimPrefix(s.URL, "https://"); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
	untrusting := newRig(t, s.URL+"/mcp")
	resp, err := client(t).Get(untrusting.url("/mcp"))
	if err != nil || resp.StatusCode != http.StatusBadGateway {
		t.Fatalf("without the authority: %v, %v; want 502", resp, err)
	}
	resp.Body.Close()
}

func TestHTTP2AbortsBothWays(t *testing.T) {
	gone := make(chan struct{})
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PRI" {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"n\":1}\n\n")
		w.(http.Flusher).Flush()
		if r.URL.RawQuery == "break" {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
		close(gone)
	}, func(p *http.Protocols) { p.SetHTTP1(true) })
	r := newRig(t, s.URL+"/mcp")
	cl := h2cClient(t)
	resp, err := cl.Get(r.url("/mcp?break"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("a broken stream ended cleanly: %q", b)
	}
	resp, err = cl.Get(r.url("/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 5))
	resp.Body.Close()
	<-gone
	r.wantLog("x1 c2s GET /mcp", "x1 s2c 200", `x1 s2c {"n":1}`, "x1 s2c end=reset", "x2 c2s GET /mcp", "x2 s2c 200", `x2 s2c {"n":1}`, "x2 s2c end=client")
}
