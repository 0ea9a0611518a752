package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// kind is the media type of a response, without its parameters.
func kind(resp *http.Response) string {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t
}

// readBody reads a body that is not longer than n bytes.
func readBody(r io.Reader, n int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, int64(n)+1))
	switch {
	case len(body) > n:
		return body[:n], fmt.Errorf("the answer is longer than what is read (%d bytes)", n)
	case err != nil:
		return body, fmt.Errorf("read the answer: %w", err)
	}
	return body, nil
}

// answerIn finds the answer in a JSON body: a message, or one element of a
// batch (2025-03-26).
func answerIn(body []byte, id int64, t *talk) []byte {
	if wire.Check(body) != nil {
		return nil
	}
	if wire.TypeOf(body) != wire.Array {
		if answers, _ := t.take(body, id); answers {
			return body
		}
		return nil
	}
	e := wire.ElementsOf(body)
	for e.Next() {
		if answers, _ := t.take(e.Value, id); answers {
			return e.Value
		}
	}
	return nil
}

// errStreamEnded says that a server ended an event stream without the answer.
var errStreamEnded = errors.New("the server ended the event stream before it answered")

// Bounds of a stream that is taken up again.
const (
	maxResumes = 20
	maxRetry   = 5 * time.Second
)

// events reads an event stream up to the answer. What the server asks meanwhile
// is answered in a POST of its own.
func (l *httpLink) events(ctx context.Context, r io.Reader, q *request, t *talk) ([]byte, error) {
	s := wire.Events{Max: l.o.MaxAnswer}
	var answer []byte
	var wrong error
	emit := func(ev wire.Event) {
		if ev.HasID {
			l.lastEvent = ev.ID
		}
		if answer != nil || wrong != nil {
			return
		}
		if ev.Size > int64(len(ev.Data)) {
			wrong = fmt.Errorf("the server sent an event of %d bytes: longer than what is read (%d)", ev.Size, l.o.MaxAnswer)
			return
		}
		if ev.Type != "" && ev.Type != "message" {
			return
		}
		answers, reply := t.take(ev.Data, q.id)
		if answers {
			answer = ev.Data
		} else if reply != nil {
			wrong = l.tell(ctx, reply)
		}
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		s.Feed(buf[:n], emit)
		if p, ok := s.Pending(); ok {
			if p.HasID {
				l.lastEvent = p.ID
			}
			if p.HasRetry {
				l.retry = min(time.Duration(p.Retry)*time.Millisecond, maxRetry)
			}
		}
		switch {
		case answer != nil:
			return answer, nil
		case wrong != nil:
			return nil, wrong
		case errors.Is(err, io.EOF):
			return nil, errStreamEnded
		case err != nil:
			return nil, fmt.Errorf("read the event stream: %w", err)
		}
	}
}

// resumable reports whether a stream can be taken up where it ended: up to
// 2025-11-25 a server may end it and let the client come back.
func (l *httpLink) resumable() bool { return l.lastEvent != "" && !l.peer.Revision.Modern() }

// resume takes up the stream of a request (basic/transports#resumability-and-redelivery).
func (l *httpLink) resume(ctx context.Context, r *request, t *talk) ([]byte, error) {
	timer := time.NewTimer(max(l.retry, 10*time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-timer.C:
	}
	req, err := l.newRequest(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(mcp.HeaderLastEventID, l.lastEvent)
	resp, err := l.do(req)
	if err != nil {
		return nil, err
	}
	defer drop(resp)
	if resp.StatusCode != http.StatusOK || kind(resp) != "text/event-stream" {
		return nil, fmt.Errorf("the server ended the event stream and answered %s when it was taken up again", resp.Status)
	}
	return l.events(ctx, resp.Body, r, t)
}

// redirected says where a server wanted to send the request.
func redirected(resp *http.Response) error {
	to := resp.Header.Get("Location")
	if u, err := url.Parse(to); err == nil && to != "" {
		if base := resp.Request.URL; base != nil {
			u = base.ResolveReference(u)
		}
		u.User = nil
		to = u.String()
	}
	if to == "" {
		to = "nowhere: there is no Location"
	}
	return fmt.Errorf("the server answered %d and points to %s: a redirect is not followed, for the address is the one that you named; name that one if you trust it", resp.StatusCode, clip(to, maxMessageLength))
}

// demanded says what a server wants from one who is not authorized.
func demanded(resp *http.Response) error {
	var schemes []string
	for _, field := range resp.Header.Values("WWW-Authenticate") {
		list, _ := mcp.ParseChallenges(field) // what stands before a fault is read
		for i := range list {
			schemes = append(schemes, scheme(&list[i]))
		}
	}
	if len(schemes) == 0 {
		return errors.New("the server answered 401 and does not say what it demands: it has no WWW-Authenticate that can be read; a credential is given as a header")
	}
	return fmt.Errorf("the server answered 401 and demands %s; a credential is given as a header", strings.Join(schemes, ", or "))
}

// scheme is a challenge in words.
func scheme(c *mcp.Challenge) string {
	text := clip(c.Scheme, 60)
	for _, name := range []string{mcp.ParamError, mcp.ParamErrorDescription, mcp.ParamScope, "realm"} {
		if v, ok := c.Get(name); ok && v != "" {
			text += fmt.Sprintf(" %s=%q", name, clip(v, 120))
		}
	}
	return text
}

// refused says what became of a request that has no answer of the protocol.
func (l *httpLink) refused(resp *http.Response, body []byte) error {
	said := ""
	if text := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD")); text != "" {
		said = fmt.Sprintf(", and says %q", clip(text, 200))
	}
	switch code := resp.StatusCode; code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return fmt.Errorf("the server answered %d without a message of the protocol: the address is not a Streamable HTTP endpoint of revision %s%s", code, l.peer.Revision, said)
	case http.StatusForbidden:
		if resp.Header.Get("WWW-Authenticate") != "" {
			return fmt.Errorf("the server answered 403: %w", demanded(resp))
		}
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return fmt.Errorf("the server answered %d without an answer in it (%s)%s", code, contentType(resp), said)
	}
	return fmt.Errorf("the server answered %s%s", resp.Status, said)
}

func contentType(resp *http.Response) string {
	if t := resp.Header.Get("Content-Type"); t != "" {
		return clip(t, 60)
	}
	return "no Content-Type"
}
