package store

import (
	"bytes"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// client is one client session: over stdio there is one, over HTTP they are
// told apart by session id, before there is one by connection. All state of
// the protocol is kept per client, so that two never get each other's answers.
type client struct {
	index uint16
	open  map[opKey][]OpIndex  // pending operations; several only where an id is in flight twice
	token map[tokenKey]OpIndex // progress tokens of open operations
	info  ClientInfo

	events     map[uint64]bool   // hashes of server-sent events with their ids
	started    bool              // it sent initialize without a session
	cancelled  map[opKey]OpIndex // given up and not answered: a late answer may come
	negotiated revision
	walks      map[string]*walk
	*ends
}

// ends are what a later request may take up again: answers that want input,
// the questions in them, tasks, listings with more pages. Clients on HTTP that
// have no session share one: since 2026-07-28 the requests of a client belong
// to no connection, and each may come on another.
type ends struct {
	shared    bool
	asked     []asked
	questions map[questionKey]uint32
	tasks     map[string]OpIndex
	pages     map[string]*walk // the newest walk that has a next page, by method; only when shared
}

func newEnds(shared bool) *ends {
	return &ends{shared: shared, questions: map[questionKey]uint32{}, tasks: map[string]OpIndex{}, pages: map[string]*walk{}}
}

// opKey finds the open operation that a response answers: ids are a space of
// their own for each side, and 1 and "1" differ.
type opKey struct {
	client bool // the client asked
	id     wire.ID
}

// tokenKey finds the operation that a progress notification is about.
type tokenKey struct {
	client bool // the client asked for the progress
	token  wire.ID
}

// ClientInfo is what is known of one client session. Fields are empty until
// the frame that says so was seen.
type ClientInfo struct {
	Client, ClientVersion string // clientInfo
	Server, ServerVersion string // serverInfo
	Revision              string // negotiated, or the newest one stated in a request
	SawStart              bool   // the capture holds the beginning of this session
	Session               bool   // it has a session of the transport

	ClientCaps, ServerCaps   string // JSON of the capabilities, as they were said last; "" when not seen
	ClientFrame, ServerFrame uint32 // index + 1 of the frames that said so
}

// exchange is what is remembered of one HTTP exchange while it is open.
type exchange struct {
	client  *client
	resumed bool      // it goes on with a stream that broke (Last-Event-ID)
	rev     revision  // of its request
	ids     []OpIndex // requests of its body, for pairing the answers on its response
	ask     ask
}

// clients finds the client that a record belongs to.
type clients struct {
	limits    Limits
	list      []*client
	bySession map[string]*client
	byConn    map[string]*client
	exchanges map[uint64]*exchange
	order     []uint64 // exchanges, oldest first, for forgetting
	roaming   *ends    // of the clients that have a connection and no session
}

func newClients(l Limits) *clients {
	return &clients{limits: l, bySession: map[string]*client{}, byConn: map[string]*client{}, exchanges: map[uint64]*exchange{}, roaming: newEnds(true)}
}

func (c *clients) add(e *ends) *client {
	if len(c.list) >= c.limits.Clients {
		return c.list[len(c.list)-1]
	}
	n := &client{
		index: uint16(len(c.list)), open: map[opKey][]OpIndex{}, token: map[tokenKey]OpIndex{}, cancelled: map[opKey]OpIndex{},
		walks: map[string]*walk{}, events: map[uint64]bool{}, ends: e,
	}
	c.list = append(c.list, n)
	return n
}

// of returns the client of a record and, on HTTP, its exchange.
func (c *clients) of(rec *capture.Record) (*client, *exchange) {
	if rec.Transport != capture.HTTP || rec.ConnID == "" && rec.MCPSession == "" && rec.Exchange == 0 {
		if len(c.list) == 0 {
			c.add(newEnds(false))
		}
		return c.list[0], nil
	}
	x := c.exchanges[rec.Exchange]
	if x != nil && rec.Exchange > 0 {
		if rec.MCPSession != "" && c.bySession[rec.MCPSession] == nil {
			c.bySession[rec.MCPSession] = x.client // the server named the session of this client
			x.client.info.Session = true
		}
		return x.client, x
	}
	cl := c.find(rec)
	if rec.Exchange == 0 {
		return cl, nil
	}
	if opensSession(rec) && cl.started {
		cl = c.add(c.roaming) // another handshake on a connection that is kept alive: another client session
		c.byConn[rec.ConnID] = cl
	}
	cl.started = cl.started || opensSession(rec)
	x = &exchange{client: cl, resumed: rec.HTTP != nil && rec.HTTP.LastEventID != ""}
	c.exchanges[rec.Exchange] = x
	c.order = append(c.order, rec.Exchange)
	if len(c.order) > c.limits.Exchanges {
		delete(c.exchanges, c.order[0])
		c.order = c.order[1:]
	}
	return cl, x
}

// opensSession reports whether a record is the initialize request of a client
// that has no session yet.
func opensSession(rec *capture.Record) bool {
	return rec.Direction == capture.C2S && rec.MCPSession == "" && rec.Raw != nil && bytes.Contains(rec.Raw, initializeName) &&
		wire.GetString(rec.Raw, "method") == mcp.Initialize
}

var initializeName = []byte(`"` + mcp.Initialize + `"`)

func (c *clients) find(rec *capture.Record) *client {
	if rec.MCPSession != "" {
		cl := c.bySession[rec.MCPSession]
		if cl == nil {
			cl = c.add(newEnds(false))
			cl.info.Session = true
			c.bySession[rec.MCPSession] = cl
		}
		return cl
	}
	cl := c.byConn[rec.ConnID]
	if cl == nil {
		cl = c.add(c.roaming)
		c.byConn[rec.ConnID] = cl
	}
	return cl
}
