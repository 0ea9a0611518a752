package httpproxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// protected is a server that names itself in a challenge and in a document.
func protected(t *testing.T, change func(w http.ResponseWriter, self string) bool) *httptest.Server {
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change != nil && change(w, s.URL) {
			return
		}
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("ETag", `"1"`)
			fmt.Fprintf(w, `{ "resource": "%s/mcp", "authorization_servers":["%s"], "x":1 }`, s.URL, s.URL)
			return
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="invalid_token", resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="a b"`, s.URL))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func TestMapsResource(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprint("h2=", h2), func(t *testing.T) {
			s := protected(t, nil)
			r := newRig(t, s.URL+"/mcp")
			c := client(t)
			if h2 {
				p := new(http.Protocols)
				p.SetUnencryptedHTTP2(true)
				c.Transport.(*http.Transport).Protocols = p
			}
			resp, _ := get(t, c, r.url("/mcp"))
			want := fmt.Sprintf(`Bearer error="invalid_token", resource_metadata="http://%s/.well-known/oauth-protected-resource/mcp", scope="a b"`, r.addr)
			if got := resp.Header.Get("WWW-Authenticate"); got != want {
				t.Errorf("challenge\n got  %s\n want %s", got, want)
			}
			resp, body := get(t, c, r.url("/.well-known/oauth-protected-resource/mcp"))
			wantDoc := fmt.Sprintf(`{ "resource": "http://%s/mcp", "authorization_servers":["%s"], "x":1 }`, r.addr, s.URL)
			if body != wantDoc || resp.ContentLength != int64(len(body)) || resp.Header.Get("ETag") != "" {
				t.Errorf("document %s of %d bytes, %v", body, resp.ContentLength, resp.Header)
			}
			recs := r.log()
			if len(recs) != 4 {
				t.Fatalf("log: %s", strings.Join(shapes(recs), "\n"))
			}
			if got := recs[1].AuthChallenge; len(got) != 1 || !strings.Contains(got[0], s.URL) || strings.Contains(got[0], r.addr) {
				t.Errorf("the log has the challenge %q", got)
			}
			for i, want := range map[int]string{
				1: fmt.Sprintf("mapped(resource_metadata %s/.well-known/oauth-protected-resource/mcp http://%s/.well-known/oauth-protected-resource/mcp)", s.URL, r.addr),
				3: fmt.Sprintf(`doc=prm mapped(resource %s/mcp http://%s/mcp) 200 { "resource": "%s/mcp", "authorization_servers":["%s"], "x":1 }`, s.URL, r.addr, s.URL, s.URL),
			} {
				if got := shape(&recs[i]); !strings.Contains(got, want) {
					t.Errorf("line %d\n got  %s\n want %s", i, got, want)
				}
			}
		})
	}
}

func TestMapsNothingElse(t *testing.T) {
	const other = `{"resource":"https://elsewhere.example/mcp","authorization_servers":["https://as.example"]}`
	big := `{"x":"` + strings.Repeat("a", maxDoc) + `","resource":"SELF/mcp"}`
	for name, tt := range map[string]struct {
		noMap bool
		path  string
		body  string
		field string
		warns int
	}{
		"--no-map":                {true, "/.well-known/oauth-protected-resource", `{"resource":"SELF/mcp"}`, `Bearer resource_metadata="SELF/x"`, 0},
		"another server":          {false, "/.well-known/oauth-protected-resource", other, `Bearer resource_metadata="https://elsewhere.example/x"`, 1},
		"not JSON":                {false, "/.well-known/oauth-protected-resource", `{"resource":"SELF/mcp"`, "Bearer resource_metadata=SELF/x", 0},
		"no text":                 {false, "/.well-known/oauth-protected-resource", `{"resource":["SELF/mcp"]}`, "Bearer resource_metadata=\"SELF/x\" x", 0},
		"too long":                {false, "/.well-known/oauth-protected-resource", big, "", 0},
		"another document":        {false, "/.well-known/oauth-authorization-server", `{"resource":"SELF/mcp","issuer":"SELF"}`, "", 0},
		"another document nearby": {false, "/.well-known/oauth-protected-resourceful", `{"resource":"SELF/mcp"}`, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var body string
			s := protected(t, func(w http.ResponseWriter, self string) bool {
				body = strings.ReplaceAll(tt.body, "SELF", self)
				if tt.field != "" {
					w.Header().Set("WWW-Authenticate", strings.ReplaceAll(tt.field, "SELF", self))
				}
				io.WriteString(w, body)
				return true
			})
			r := newRig(t, s.URL+"/mcp", func(o *Options) { o.NoMap = tt.noMap })
			resp, got := get(t, client(t), r.url(tt.path))
			if got != body {
				t.Errorf("the body has changed: %.200s", got)
			}
			if f := resp.Header.Get("WWW-Authenticate"); f != strings.ReplaceAll(tt.field, "SELF", s.URL) {
				t.Errorf("the challenge has changed: %s", f)
			}
			if w := r.warns.all(); len(w) != tt.warns {
				t.Errorf("warnings %q", w)
			}
			for _, rec := range r.log() {
				if rec.HTTP != nil && rec.HTTP.Mapped != nil {
					t.Errorf("the log says mapped: %s", shape(&rec))
				}
			}
		})
	}
}

// A compressed document becomes a plain one when it is changed, and stays as
// it is when it is not.
func TestMapsCompressed(t *testing.T) {
	pack := func(s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(s))
		z.Close()
		return b.Bytes()
	}
	for _, ours := range []bool{true, false} {
		var sent []byte
		s := protected(t, func(w http.ResponseWriter, self string) bool {
			if !ours {
				self = "https://elsewhere.example"
			}
			sent = pack(`{"resource":"` + self + `/mcp"}`)
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(sent)
			return true
		})
		r := newRig(t, s.URL+"/mcp")
		resp, body := get(t, client(t), r.url("/.well-known/oauth-protected-resource"))
		if ours && (body != `{"resource":"http://`+r.addr+`/mcp"}` || resp.Header.Get("Content-Encoding") != "") {
			t.Errorf("got %q, %v", body, resp.Header)
		}
		if !ours && (body != string(sent) || resp.Header.Get("Content-Encoding") != "gzip") {
			t.Errorf("got %q, %v", body, resp.Header)
		}
	}
}

// Any document in any framing and pieces comes out as one that was changed as
// a whole.
func TestMapsInAnyPieces(t *testing.T) {
	for _, framing := range []string{"chunked", "close", "length"} {
		s := protected(t, func(w http.ResponseWriter, self string) bool {
			doc := `{"resource":"` + self + `/mcp","a":"` + strings.Repeat("b", 70<<10) + `"}`
			switch framing {
			case "length":
				w.Header().Set("Content-Length", fmt.Sprint(len(doc)))
			case "close":
				w.Header().Set("Connection", "close")
			}
			for i := 0; i < len(doc); i += 9999 {
				io.WriteString(w, doc[i:min(i+9999, len(doc))])
				w.(http.Flusher).Flush()
			}
			return true
		})
		r := newRig(t, s.URL+"/mcp")
		resp, body := get(t, client(t), r.url("/.well-known/oauth-protected-resource"))
		if !strings.HasPrefix(body, `{"resource":"http://`+r.addr+`/mcp","a":"bbb`) || len(body) != int(resp.ContentLength) || !strings.HasSuffix(body, `b"}`) {
			t.Errorf("%s: got %d of %d bytes, %.80s", framing, len(body), resp.ContentLength, body)
		}
	}
}

func TestMapChallenge(t *testing.T) {
	tg, err := ParseTarget("http://localhost:3000/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Target: tg})
	x := &exchange{p: p, route: p.home, host: "127.0.0.1:7000"}
	for in, want := range map[string]string{
		`Bearer resource_metadata="http://localhost:3000/a"`:                                           `Bearer resource_metadata="http://127.0.0.1:7000/a"`,
		`Bearer resource_metadata="http://127.0.0.1:3000"`:                                             `Bearer resource_metadata="http://127.0.0.1:7000"`,
		`Basic realm="x", Bearer scope=a , resource_metadata="HTTP://LOCALHOST:3000/A?b=c#d"`:          `Basic realm="x", Bearer scope=a , resource_metadata="http://127.0.0.1:7000/A?b=c#d"`,
		`A resource_metadata="http://localhost:3000/1", B resource_metadata="http://localhost:3000/2"`: `A resource_metadata="http://127.0.0.1:7000/1", B resource_metadata="http://127.0.0.1:7000/2"`,
		`Bearer resource_metadata="https://localhost:3000/a"`:                                          `Bearer resource_metadata="https://localhost:3000/a"`,
		`Bearer resource_metadata="http://localhost:30001/a"`:                                          `Bearer resource_metadata="http://localhost:30001/a"`,
		`Bearer resource_metadata="http://u@localhost:3000/a"`:                                         `Bearer resource_metadata="http://u@localhost:3000/a"`,
		`Bearer resource_metadata="/a"`:                                                                `Bearer resource_metadata="/a"`,
		`Bearer resource="http://localhost:3000/a"`:                                                    `Bearer resource="http://localhost:3000/a"`,
	} {
		if got, _ := x.mapChallenge(in); got != want {
			t.Errorf("%s\n became %s\n want   %s", in, got, want)
		} else if list, err := mcp.ParseChallenges(got); err != nil {
			t.Errorf("%s cannot be read: %v of %v", got, err, list)
		}
	}
	x.host = `evil"` // not what a Host is
	if got, _ := x.mapChallenge(`Bearer resource_metadata="http://localhost:3000/a"`); strings.Contains(got, "evil") {
		t.Errorf("became %s", got)
	}
}

func TestWrongPathHint(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	r := newRig(t, s.URL+"/mcp")
	for range 2 {
		resp, err := client(t).Post(r.url("/"), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound || string(b) != "404 page not found\n" {
			t.Errorf("got %d %q", resp.StatusCode, b)
		}
	}
	if w := r.warns.all(); len(w) != 1 || !strings.Contains(w[0], "give the client http://"+r.addr+"/mcp") {
		t.Errorf("told %q", w)
	}
}

// A challenge may say that the document is anywhere.
func TestMapsDocElsewhere(t *testing.T) {
	s := protected(t, func(w http.ResponseWriter, self string) bool {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+self+`/custom/meta.json"`)
		io.WriteString(w, `{"resource":"`+self+`/mcp"}`)
		return true
	})
	r := newRig(t, s.URL+"/mcp")
	if _, body := get(t, client(t), r.url("/custom/meta.json")); body != `{"resource":"`+s.URL+`/mcp"}` {
		t.Errorf("before the challenge: %s", body)
	}
	if _, body := get(t, client(t), r.url("/custom/meta.json")); body != `{"resource":"http://`+r.addr+`/mcp"}` {
		t.Errorf("behind it: %s", body)
	}
	if recs := r.log(); recs[3].HTTP.Doc != "prm" || recs[3].Raw == nil {
		t.Errorf("log: %s", shapes(recs))
	}
}
