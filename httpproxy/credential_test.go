package httpproxy

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// jwt makes a token with these claims, which nobody has signed.
func jwt(claims string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc([]byte(claims)) + "." + enc([]byte("signature-signature-signature"))
}

// echo is a server that sends credentials back wherever it can.
func echo(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token == "" {
			token = r.URL.Query().Get("access_token")
		}
		switch r.Header.Get("X-How") {
		case "redirect":
			w.Header().Set("Location", "/mcp/"+url.PathEscape(token)+"/x?token="+url.QueryEscape(token))
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "challenge":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="invalid_token", error_description="%s is not known"`, token))
			w.Header().Set("Allow", token)
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, "unknown token "+token)
		case "events":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: %s\nid: %s\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":%q}}\n\n", token, token, token)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"a":%q,"b":%q,"nextCursor":%q}}`, token, base64.StdEncoding.EncodeToString([]byte("Bearer "+token)), url.QueryEscape(token))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// leaks are the forms of a credential in which it may not stand anywhere.
func leaks(token string) []string {
	out := []string{token, url.QueryEscape(token), url.PathEscape(token), base64.StdEncoding.EncodeToString([]byte(token))[:len(token)]}
	if parts := strings.Split(token, "."); len(parts) == 3 {
		out = append(out, parts[1], parts[2])
	}
	return out
}

// No byte sequence of a credential is in the record or in what the user is
// told, whatever the server does with it, observed or not.
func TestCredentialsAreNowhere(t *testing.T) {
	for _, token := range []string{"tok-AAA111", "a/b+c==/" + strings.Repeat("Zz9", 9), jwt(`{"aud":"https://wrong.example/mcp","sub":"me"}`), jwt(`{"x":"` + strings.Repeat("long", 400) + `"}`)} {
		for _, observe := range []bool{false, true} {
			s := echo(t)
			r := newRig(t, s.URL+"/mcp", func(o *Options) { o.ObserveAuth = observe })
			c := client(t)
			for _, how := range []string{"body", "redirect", "challenge", "events", "query", "off"} {
				target := r.url("/mcp")
				switch how {
				case "query":
					target += "?access_token=" + url.QueryEscape(token)
				case "off":
					target = r.url("/else/" + url.PathEscape(token))
				}
				req, err := http.NewRequest(http.MethodPost, target, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"key":"`+token+`"}}}`))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-How", how)
				req.Header.Set("Mcp-Name", token)
				req.Header.Set("Mcp-Param-Key", token)
				req.Header.Set("User-Agent", token)
				if how != "query" {
					req.Header.Set("Authorization", "Bearer "+token)
				}
				resp, err := c.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if how == "body" && !bytes.Contains(body, []byte(token)) {
					t.Fatalf("the client got %s", body)
				}
			}
			recs := r.log()
			b, err := os.ReadFile(r.rec.Path())
			if err != nil {
				t.Fatal(err)
			}
			said := string(b) + strings.Join(r.warns.all(), "\n")
			for _, l := range leaks(token) {
				if k := strings.Index(said, l); k >= 0 {
					t.Errorf("observe=%v: %.40s stands in what was written: %s", observe, l, said[max(0, k-200):min(len(said), k+100)])
				}
			}
			marks, inBody := 0, 0
			for i := range recs {
				if recs[i].Redacted {
					marks++
				}
				if recs[i].Truncated {
					t.Errorf("line %d is said to be cut: %s", i, shape(&recs[i]))
				}
				if a := recs[i].Auth; a != nil {
					if !observe {
						t.Errorf("there are facts about a credential: %+v", a)
					}
					if a.InBody {
						inBody++
					}
				}
			}
			if marks < 8 || observe && inBody < 4 {
				t.Errorf("observe=%v: %d lines are marked as redacted, %d credentials were found in bodies", observe, marks, inBody)
			}
		}
	}
}

// Without --observe-auth the record of a request with a credential is that of
// one without, but for its time.
func TestUnobserved(t *testing.T) {
	record := func(auth string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}))
		defer s.Close()
		r := newRig(t, s.URL+"/mcp")
		req, err := http.NewRequest(http.MethodPost, r.url("/mcp"), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if auth != "" {
			req.Header.Set("Authorization", auth)
		}
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		out := ""
		for _, rec := range r.log() {
			rec.TS = time.Time{}
			rec.HTTP.Host = ""
			out += string(capture.AppendRecord(nil, &rec))
		}
		return out
	}
	if with, without := record("Bearer "+jwt(`{"aud":"x"}`)), record(""); with != without {
		t.Errorf("with a credential\n%swithout\n%s", with, without)
	}
}

func TestObserved(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	defer s.Close()
	for _, tt := range []struct{ value, want string }{
		{"", ""},
		{"Bearer tok-AAA111", `{"present":true,"scheme":"Bearer","sha256_16":"` + hash16("tok-AAA111") + `"}`},
		{"bearer  tok-AAA111 ", `{"present":true,"scheme":"bearer","sha256_16":"` + hash16("tok-AAA111") + `"}`},
		{"tok-without-scheme", `{"present":true,"sha256_16":"` + hash16("tok-without-scheme") + `"}`},
		{"Basic dXNlcjpwYXNzd29yZA==", `{"present":true,"scheme":"Basic","sha256_16":"` + hash16("dXNlcjpwYXNzd29yZA==") + `"}`},
		{"Bearer " + jwt(`{"aud":["a","b"],"iss":"i","scope":"x y","exp":1796126400.5,"sub":"s","nbf":1}`), `"jwt":{"aud":["a","b"],"iss":"i","scope":"x y","exp":1796126400,"sub":"s","verified":false}}`},
		{"Bearer " + jwt(`{"aud":"a","scp":["x","y"],"exp":"soon","sub":7}`), `"jwt":{"aud":"a","scope":"x y","verified":false}}`},
		{"Bearer eyJh.eyJh.x", `{"present":true,"scheme":"Bearer","sha256_16":"` + hash16("eyJh.eyJh.x") + `"}`},
	} {
		r := newRig(t, s.URL+"/mcp", func(o *Options) { o.ObserveAuth = true })
		c := r.dial()
		auth := ""
		if tt.value != "" {
			auth = "Authorization: " + tt.value + "\r\n"
		}
		c.say("GET /mcp HTTP/1.1\r\nHost: " + r.addr + "\r\n" + auth + "\r\n")
		c.response("GET")
		rec := r.log()[0]
		line := string(capture.AppendRecord(nil, &rec))
		if tt.want == "" && rec.Auth != nil || !strings.Contains(line, tt.want) {
			t.Errorf("%s\n gave %s want %s", tt.value, line, tt.want)
		}
	}
}

func TestTokenInQuery(t *testing.T) {
	for query, want := range map[string]bool{
		"": false, "a=b": false, "access_token=x": true, "Access%5Ftoken=x": true, "a=b&token=y": true, "key=" + jwt(`{}`): true, "key=a.b.c": false, "api_key=abcdefgh": false,
	} {
		if got := newCredentials(false, nil).query(query); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// The credential that --target-header adds is one like any other.
func TestOwnHeaderIsNowhere(t *testing.T) {
	s := echo(t)
	r := newRig(t, s.URL+"/mcp", func(o *Options) { o.Headers = []Header{{"Authorization", "Bearer tok-of-the-user-1"}} })
	resp, err := client(t).Post(r.url("/mcp"), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	r.neverHolds("tok-of-the-user-1")
}
