package play

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// httpLink is a Streamable HTTP connection: one POST a message.
type httpLink struct {
	o      *Options
	peer   *Peer // its revision becomes the negotiated one
	url    string
	header http.Header
	client *http.Client
	pool   *http.Transport

	session   string // Mcp-Session-Id, up to 2025-11-25
	agreed    bool   // the handshake has been answered
	lastEvent string // id of the newest event of a stream
	retry     time.Duration
}

func newHTTPLink(t *Target, o *Options, p *Peer) (link, error) {
	if err := CheckURL(t.URL); err != nil {
		return nil, err
	}
	pool := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 256 << 10}
	return &httpLink{
		o: o, peer: p, url: t.URL, header: t.Header, pool: pool,
		client: &http.Client{Transport: pool, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// accept is what a client has to take (basic/transports#sending-messages-to-the-server).
const accept = "application/json, text/event-stream"

// newRequest makes an HTTP request with the headers of every one.
func (l *httpLink) newRequest(ctx context.Context, method string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, l.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for k, v := range l.header {
		req.Header[http.CanonicalHeaderKey(k)] = append([]string(nil), v...)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "mcpsnoop-replay")
	}
	req.Header.Set("Accept", accept)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if l.session != "" {
		req.Header.Set(mcp.HeaderSession, l.session)
	}
	if l.agreed && l.peer.Revision >= mcp.R3 {
		req.Header.Set(mcp.HeaderVersion, string(l.peer.Revision))
	}
	return req, nil
}

// routing sets the headers that mirror the body (2026-07-28,
// basic/transports/streamable-http#standard-request-headers).
func (r *request) routing(h http.Header) {
	if r.version == "" {
		return
	}
	h.Set(mcp.HeaderVersion, string(r.version))
	h.Set(mcp.HeaderMethod, encodeHeader(r.method))
	if r.name != "" {
		h.Set(mcp.HeaderName, encodeHeader(r.name))
	}
	for _, p := range r.params {
		// A log sets no header outside of this family. Some programs write the
		// names without what they all begin with.
		h.Add(paramPrefix+strings.TrimPrefix(http.CanonicalHeaderKey(p.Name), paramPrefix), p.Value)
	}
}

// paramPrefix is mcp.HeaderParamPrefix as headers are written.
const paramPrefix = "Mcp-Param-"

const (
	sentinelOpen  = "=?base64?"
	sentinelClose = "?="
)

// encodeHeader writes a value as a header can carry it (2026-07-28,
// basic/transports/streamable-http#value-encoding).
func encodeHeader(s string) string {
	plain := s == strings.Trim(s, " \t") && (!strings.HasPrefix(s, sentinelOpen) || !strings.HasSuffix(s, sentinelClose))
	for i := range len(s) {
		plain = plain && (s[i] == '\t' || s[i] >= 0x20 && s[i] <= 0x7E)
	}
	if plain {
		return s
	}
	return sentinelOpen + base64.StdEncoding.EncodeToString([]byte(s)) + sentinelClose
}

// post sends a message. The caller closes the body of the response.
func (l *httpLink) post(ctx context.Context, r *request) (*http.Response, error) {
	req, err := l.newRequest(ctx, http.MethodPost, r.body)
	if err != nil {
		return nil, err
	}
	r.routing(req.Header)
	return l.do(req)
}

func (l *httpLink) do(req *http.Request) (*http.Response, error) {
	resp, err := l.client.Do(req) //nolint:gosec // the user named this address
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may hold a secret in its query
		}
		return nil, fmt.Errorf("reach the server: %w", err)
	}
	return resp, nil
}

// ask sends a request and reads its answer, which is a JSON text or comes in an
// event stream.
func (l *httpLink) ask(ctx context.Context, r *request, t *talk) ([]byte, error) {
	answer, err := l.exchange(ctx, r, t)
	for tries := 0; errors.Is(err, errStreamEnded) && tries < maxResumes && l.resumable(); tries++ {
		answer, err = l.resume(ctx, r, t)
	}
	if err != nil && ctx.Err() != nil {
		l.giveUp(r)
	}
	return answer, err
}

func (l *httpLink) exchange(ctx context.Context, r *request, t *talk) ([]byte, error) {
	l.lastEvent = ""
	resp, err := l.post(ctx, r)
	if err != nil {
		return nil, err
	}
	defer drop(resp)
	answer, err := l.read(ctx, resp, r, t)
	if err == nil && r.method == mcp.Initialize {
		l.session, l.agreed = resp.Header.Get(mcp.HeaderSession), true
	}
	return answer, err
}

// read takes the answer out of a response.
func (l *httpLink) read(ctx context.Context, resp *http.Response, r *request, t *talk) ([]byte, error) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, redirected(resp)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return nil, demanded(resp)
	}
	switch kind(resp) {
	case "application/json":
		body, err := readBody(resp.Body, l.o.MaxAnswer)
		if err != nil {
			return nil, err
		}
		if m := answerIn(body, r.id, t); m != nil {
			return m, nil
		}
		return nil, l.refused(resp, body)
	case "text/event-stream":
		if resp.StatusCode < 300 {
			return l.events(ctx, resp.Body, r, t)
		}
	}
	body, _ := readBody(resp.Body, 4<<10) // what of it can be read
	return nil, l.refused(resp, body)
}

// tell sends a notification, or the answer to a request of the server.
func (l *httpLink) tell(ctx context.Context, message []byte) error {
	resp, err := l.post(ctx, &request{body: message})
	if err != nil {
		return err
	}
	defer drop(resp)
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return redirected(resp)
	case resp.StatusCode == http.StatusUnauthorized:
		return demanded(resp)
	case resp.StatusCode >= 400:
		body, _ := readBody(resp.Body, 4<<10) // what of it can be read
		return l.refused(resp, body)
	}
	return nil
}

// parting is what the last messages of a connection may take.
const parting = 2 * time.Second

// giveUp tells a server with sessions that nobody waits any more. From
// 2026-07-28 on the end of the response says so.
func (l *httpLink) giveUp(r *request) {
	if l.session == "" || r.method == mcp.Initialize {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), parting)
	defer stop()
	_ = l.tell(ctx, cancelled(r.id)) // a courtesy: the replay is over either way
}

// close ends the session at the server (basic/transports#session-management).
func (l *httpLink) close() {
	defer l.pool.CloseIdleConnections()
	if l.session == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), parting)
	defer stop()
	req, err := l.newRequest(ctx, http.MethodDelete, nil)
	if err != nil {
		return
	}
	if resp, err := l.do(req); err == nil {
		drop(resp) // 405 is a legal answer, too
	}
}

func (l *httpLink) notes() []string { return nil }

// drop ends a response. What little is left of it is read, so that the
// connection can be used again.
func drop(resp *http.Response) {
	if kind(resp) != "text/event-stream" {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // an error ends it as well
	}
	_ = resp.Body.Close()
}
