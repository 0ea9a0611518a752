package httpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Real clients and servers on both transports, several clients at once with
// the same ids, a server that asks back in the middle of a call: the store
// pairs all of it from the record, and keeps the clients apart.
func TestRealPeers(t *testing.T) {
	newServer := func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, in struct{ Who string }) (*mcp.CallToolResult, any, error) {
			r, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: in.Who, RequestedSchema: map[string]any{"type": "object"}})
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Who + " " + r.Action}}}, nil, nil
		})
		return s
	}
	for name, tt := range map[string]struct {
		handler http.Handler
		client  func(url string, c *http.Client) mcp.Transport
	}{
		"streamable": {mcp.NewStreamableHTTPHandler(newServer, nil), func(url string, c *http.Client) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: c}
		}},
		"old": {mcp.NewSSEHandler(newServer, nil), func(url string, c *http.Client) mcp.Transport {
			return &mcp.SSEClientTransport{Endpoint: url, HTTPClient: c}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(tt.handler)
			defer s.Close()
			r := newRig(t, s.URL+"/mcp")
			const clients, calls = 3, 4
			var work sync.WaitGroup
			for k := range clients {
				work.Go(func() {
					talkToRealServer(t, fmt.Sprintf("client %d", k), tt.client(r.url("/mcp"), client(t)), calls)
				})
			}
			work.Wait()
			sum := r.index().Summary()
			if want := uint64(clients * (1 + 2*calls)); sum.Calls.Total != want || sum.Calls.OK != want || len(sum.Clients) != clients {
				t.Errorf("calls %+v of %d clients; want %d ok of %d", sum.Calls, len(sum.Clients), want, clients)
			}
			for _, c := range sum.Clients {
				if c.Server != "s" || c.Revision != "2025-11-25" {
					t.Errorf("client %+v", c)
				}
			}
		})
	}
}

func talkToRealServer(t *testing.T, who string, tr mcp.Transport, calls int) {
	ctx := context.Background()
	c := mcp.NewClient(&mcp.Implementation{Name: who, Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if req.Params.Message != who {
				t.Errorf("%s was asked for %s", who, req.Params.Message)
			}
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	session, err := c.Connect(ctx, tr, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Error(err)
		return
	}
	defer session.Close()
	for range calls {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"Who": who}})
		if err != nil || res.IsError || res.Content[0].(*mcp.TextContent).Text != who+" decline" {
			t.Errorf("%s: %+v, %v", who, res, err)
		}
	}
}

// index ends the proxy and reads its log as a hub or check does.
func (r *rig) index() *store.Session {
	r.t.Helper()
	r.stop()
	log, err := capture.OpenSession(capture.OS{}, r.rec.Path())
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	s, a := store.NewSession(r.rec.SessionID(), r.rec.Path(), store.Limits{}, nil)
	for {
		var it capture.Item
		if err := log.Next(&it); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			r.t.Fatal(err)
		}
		a.Append(&it)
	}
	a.Publish()
	return s
}
