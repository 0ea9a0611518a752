package httpproxy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// oauthServer is an authorization server (OAuth 2.1: authorization code with
// PKCE) and the MCP server that it protects, which wants another scope for
// each call and ends tokens when it is told to.
type oauthServer struct {
	*httptest.Server // the MCP server
	as               *httptest.Server

	mu     sync.Mutex
	codes  map[string]url.Values // code: what was asked for
	tokens map[string]string     // live token: scope
	all    []string              // tokens, codes and verifiers that ever were
}

func newOAuthServer(t *testing.T) *oauthServer {
	o := &oauthServer{codes: map[string]url.Values{}, tokens: map[string]string{}}
	o.as = httptest.NewServer(http.HandlerFunc(o.authorize))
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.as.Close)
	t.Cleanup(o.Server.Close)
	return o
}

func secret() string {
	b := make([]byte, 24)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// authorize is the authorization server. Its user says yes to everything.
func (o *oauthServer) authorize(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":"%[2]s/authorize","token_endpoint":"%[2]s/token","code_challenge_methods_supported":["S256"]}`, o.as.URL, o.as.URL)
	case "/authorize":
		q, code := r.URL.Query(), secret()
		if q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
			http.Error(w, "no PKCE or no resource", http.StatusBadRequest)
			return
		}
		o.codes[code], o.all = q, append(o.all, code)
		http.Redirect(w, r, q.Get("redirect_uri")+"?code="+code, http.StatusFound)
	case "/token":
		code := r.PostFormValue("code")
		asked, ok := o.codes[code]
		delete(o.codes, code)
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		token := jwt(fmt.Sprintf(`{"iss":%q,"aud":%q,"scope":%q,"exp":4102444800,"jti":%q}`, o.as.URL, asked.Get("resource"), asked.Get("scope"), secret()))
		o.tokens[token], o.all = asked.Get("scope"), append(o.all, token)
		json.NewEncoder(w).Encode(map[string]string{"access_token": token, "token_type": "Bearer"})
	}
}

// serve is the MCP server.
func (o *oauthServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/.well-known/oauth-protected-resource/mcp" {
		fmt.Fprintf(w, `{"resource":"%s/mcp","authorization_servers":[%q]}`, o.URL, o.as.URL)
		return
	}
	var call struct {
		Params struct{ Name string }
	}
	json.NewDecoder(r.Body).Decode(&call)
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	o.mu.Lock()
	scope, live := o.tokens[token]
	o.mu.Unlock()
	meta := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, o.URL)
	switch {
	case token == "":
		w.Header().Set("WWW-Authenticate", "Bearer scope=\"base\", "+meta)
		w.WriteHeader(http.StatusUnauthorized)
	case !live:
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="the token expired", scope="base", `+meta)
		w.WriteHeader(http.StatusUnauthorized)
	case !slices.Contains(strings.Fields(scope), call.Params.Name):
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope="base %s", %s`, call.Params.Name, meta))
		w.WriteHeader(http.StatusForbidden)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}]}}`, "token "+token)
	}
}

func (o *oauthServer) expire() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.tokens)
}

// oauthClient signs in as the authorization specification has it, and compares
// what servers say they are with the URL that it uses.
type oauthClient struct {
	t     *testing.T
	c     *http.Client
	url   string
	token string
}

// call calls a tool and does what challenges ask for, at most three times.
func (c *oauthClient) call(tool string) {
	c.t.Helper()
	for range 4 {
		req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`"}}`))
		if err != nil {
			c.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if c.token != "" {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		resp, err := c.c.Do(req)
		if err != nil {
			c.t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
		list, err := mcp.ParseChallenges(resp.Header.Get("WWW-Authenticate"))
		if err != nil || len(list) != 1 {
			c.t.Fatalf("HTTP %d with %v, %v", resp.StatusCode, resp.Header, err)
		}
		c.signIn(&list[0])
	}
	c.t.Fatalf("%s was never let through", tool)
}

func (c *oauthClient) json(url string) map[string]any {
	c.t.Helper()
	resp, body := get(c.t, c.c, url)
	var m map[string]any
	if err := json.Unmarshal([]byte(body), &m); err != nil || resp.StatusCode != http.StatusOK {
		c.t.Fatalf("%s gave %d %s", url, resp.StatusCode, body)
	}
	return m
}

func (c *oauthClient) signIn(ch *mcp.Challenge) {
	c.t.Helper()
	where, _ := ch.Get(mcp.ParamResourceMetadata)
	prm := c.json(where)
	if prm["resource"] != c.url {
		c.t.Fatalf("the server says that it is %v; it was called %s", prm["resource"], c.url)
	}
	as := c.json(prm["authorization_servers"].([]any)[0].(string) + "/.well-known/oauth-authorization-server")
	verifier := secret()
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {"c"}, "redirect_uri": {"http://localhost:1/callback"}, "resource": {c.url}, "scope": {strings.Join(ch.Scopes(), " ")},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	resp, _ := get(c.t, c.c, as["authorization_endpoint"].(string)+"?"+q.Encode())
	back, err := resp.Location()
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err = c.c.PostForm(as["token_endpoint"].(string), url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "code_verifier": {verifier}})
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var m struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil || m.Token == "" {
		c.t.Fatalf("no token: HTTP %d, %v", resp.StatusCode, err)
	}
	c.token = m.Token
}

// climb signs in, is asked for more scope, and signs in again when its token
// has expired.
func (o *oauthServer) climb(c *oauthClient) {
	c.call("read")
	c.call("read")
	o.expire()
	c.call("write")
}

const wantLadders = "tools/call read x3: 401 403 200 ok; tools/call write x3: 401 403 200 ok"

// An OAuth client that checks what it is told works through the proxy, and the
// log tells the story without a byte of what is secret in it.
func TestOAuthThroughTheProxy(t *testing.T) {
	o := newOAuthServer(t)
	r := newRig(t, o.URL+"/mcp", func(p *Options) { p.ObserveAuth = true })
	o.climb(&oauthClient{t: t, c: client(t), url: r.url("/mcp")})
	s := r.index()
	got := ""
	for i, l := range s.Summary().Ladders {
		if i > 0 {
			got += "; "
		}
		got += fmt.Sprintf("%s x%d:", l.Operation, l.Count)
		for _, a := range l.Attempts {
			got += fmt.Sprint(" ", a.Status)
		}
		if l.Succeeded {
			got += " ok"
		}
	}
	if got != wantLadders {
		t.Errorf("ladders %s; want %s", got, wantLadders)
	}
	if why := strings.Join(s.Summary().Ladders[1].Reasons(""), "; "); !strings.Contains(why, "the token lacks a scope: the server wants base write; the token says base (unverified)") {
		t.Errorf("reasons: %s", why)
	}
	for _, secret := range o.all {
		r.neverHolds(secret)
	}
}

// The same through the explicit proxy, where the client knows all servers by
// their own names.
func TestOAuthThroughForward(t *testing.T) {
	o := newOAuthServer(t)
	r := newForwardRig(t, func(p *Options) { p.ObserveAuth = true })
	c := r.proxied()
	c.CheckRedirect = client(t).CheckRedirect
	o.climb(&oauthClient{t: t, c: c, url: o.URL + "/mcp"})
	r.stop()
	for _, rec := range r.recs {
		b, err := os.ReadFile(rec.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range o.all {
			if strings.Contains(string(b), secret) {
				t.Errorf("%.20s stands in %s", secret, b)
			}
		}
	}
	if len(r.recs) != 2 {
		t.Errorf("%d logs; want one of the endpoint and one of the rest", len(r.recs))
	}
}
