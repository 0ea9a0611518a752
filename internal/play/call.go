package play

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// ReadFunc reads a frame of a session again from its log. The record is the
// caller's.
type ReadFunc func(s *store.Session, frame uint32) (capture.Record, error)

// Call is a captured request that can be sent again.
type Call struct {
	Op       store.OpIndex
	Seq      uint64 // of the captured request in its log
	ID       wire.ID
	Method   string
	Params   []byte // JSON; nil when there were none
	Edited   bool   // Params are not those of the log
	Peer     Peer
	Headers  []capture.ParamHeader // Mcp-Param-*, as they were captured
	Recorded Outcome
	Notes    []string // what is to be known before it is sent
}

// Peer is what a server has to know of the client that asks.
type Peer struct {
	Index         int // of the client session in its log
	Revision      mcp.Revision
	Name, Version string // of the captured client
	Capabilities  []byte // JSON object
}

// Outcome is how a call ended.
type Outcome struct {
	State   store.State
	Message []byte // the answer; nil when there was none
	Took    time.Duration
	Cut     bool // Message is only the beginning
}

// notAgain are requests that mean something only where they were sent.
var notAgain = map[string]string{
	mcp.Initialize:  "a replay makes its own handshake",
	mcp.Listen:      "it opens a subscription, which has no answer to compare",
	mcp.TasksGet:    "its task belongs to the recorded run of the server",
	mcp.TasksResult: "its task belongs to the recorded run of the server",
	mcp.TasksCancel: "its task belongs to the recorded run of the server",
	mcp.TasksUpdate: "its task belongs to the recorded run of the server",
}

// ErrNotClient says that a request was the server's: a replay is a client.
var ErrNotClient = errors.New("the server asked this: only what a client asked can be sent again")

// Prepare makes a Call of an operation. With params that are not nil the call's
// params are these. The error says why the call cannot be sent as it was.
func Prepare(s *store.Session, op store.OpIndex, read ReadFunc, params []byte) (*Call, error) {
	o := s.Op(op)
	if !o.Client {
		return nil, ErrNotClient
	}
	c := &Call{Op: op, Seq: s.Frame(o.Request).Seq, ID: o.ID, Method: s.OpMethod(o), Edited: params != nil}
	if why := notAgain[c.Method]; why != "" {
		return nil, fmt.Errorf("%s cannot be sent again: %s", c.Method, why)
	}
	rec, err := read(s, o.Request)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if err := c.request(&rec, params); err != nil {
		return nil, err
	}
	c.peer(s, o)
	c.recorded(s, o, read)
	if _, link := o.Previous(); link == store.ByState {
		c.note(oldState)
	}
	return c, nil
}

const oldState = "it brings back a requestState of the recorded run, which the server may not take any more"

// request takes what is sent out of the record of the captured one.
func (c *Call) request(rec *capture.Record, params []byte) error {
	if rec.Truncated && params == nil {
		return errors.New("the request was recorded cut: what is missing cannot be sent")
	}
	m := wire.ParseMessage(rec.Raw)
	if rec.Raw == nil || m.Kind != wire.Request {
		return errors.New("the log does not hold the request as a message")
	}
	c.Method = string(m.Method) // in the index a long one may be cut
	if params != nil {
		if err := checkParams(params); err != nil {
			return err
		}
		c.Params = wire.AppendCompact(nil, params) // over stdio a message is one line
	} else if m.Params != nil {
		c.Params = m.Params
		c.Headers = rec.MCPParamHeaders
	}
	if at, found := hidden(c.Params, "params"); found {
		return fmt.Errorf("redaction hid a value at %s: its mark would reach the server as if somebody had typed it", at)
	}
	for _, h := range c.Headers {
		if h.Redacted || redact.HasMark(h.Value) {
			return fmt.Errorf("redaction hid the value of the header %s: its mark would reach the server as if somebody had typed it", h.Name)
		}
	}
	return nil
}

func checkParams(params []byte) error {
	if err := wire.Check(params); err != nil {
		return fmt.Errorf("the params are no JSON: %w", err)
	}
	if t := wire.TypeOf(params); t != wire.Object {
		return fmt.Errorf("the params are %s %s, and have to be an object", article(t), t)
	}
	return nil
}

func article(t wire.Type) string {
	if t == wire.Array {
		return "an"
	}
	return "a"
}

// fallback is the revision that is spoken where none was seen: the newest one
// with a handshake, in which both sides agree on one.
const fallback = mcp.R4

// peer finds what the client of the call had said of itself.
func (c *Call) peer(s *store.Session, o *store.Operation) {
	c.Peer.Index = o.ClientIndex()
	if list := s.Summary().Clients; c.Peer.Index < len(list) {
		cl := &list[c.Peer.Index]
		c.Peer.Revision, c.Peer.Name, c.Peer.Version = mcp.Revision(cl.Revision), cl.Client, cl.ClientVersion
		c.Peer.Capabilities = []byte(cl.ClientCaps)
	}
	if rev, from := o.Revision(); rev.Known() && (from > store.RevInferred || rev.Modern()) {
		c.Peer.Revision = rev
	}
	if v := c.stated(); v.Modern() {
		c.Peer.Revision = v
	}
	if !c.Peer.Revision.Known() {
		c.Peer.Revision = fallback
		c.note("no revision was seen in the log: it speaks " + string(fallback))
	}
	if _, found := hidden(c.Peer.Capabilities, ""); found || wire.TypeOf(c.Peer.Capabilities) != wire.Object {
		c.Peer.Capabilities = []byte("{}")
	}
	if c.Peer.Name == "" || redact.HasMark(c.Peer.Name+c.Peer.Version) {
		c.Peer.Name, c.Peer.Version = "mcpsnoop", "replay"
	}
}

// stated is the revision that the params state, "" when they do not.
func (c *Call) stated() mcp.Revision {
	return mcp.Revision(wire.GetString(c.Params, "_meta", mcp.MetaVersion))
}

// recorded finds how the call ended in the log. A log that cannot be read any
// more leaves the answer out.
func (c *Call) recorded(s *store.Session, o *store.Operation, read ReadFunc) {
	c.Recorded = Outcome{State: o.State}
	frame, ok := o.Answer()
	if !ok {
		frame, ok = o.Late()
	}
	if !ok {
		return
	}
	c.Recorded.Took = time.Duration(s.Frame(frame).TS - o.Start)
	rec, err := read(s, frame)
	if err != nil {
		c.note("the recorded answer cannot be read: " + err.Error())
		return
	}
	c.Recorded.Message, c.Recorded.Cut = rec.Raw, rec.Truncated
}

func (c *Call) note(text string) { c.Notes = append(c.Notes, text) }

// Name is what the call addresses, taken from the params that are sent: a tool,
// a prompt, a resource; "" when there is no such thing.
func (c *Call) Name() string {
	m, ok := mcp.LookupMethod(c.Method)
	if !ok || m.Target == "" {
		return ""
	}
	return wire.GetString(c.Params, m.Target)
}

// StateOf is the state of an operation with that answer.
func StateOf(message []byte) store.State {
	switch m := wire.ParseMessage(message); m.Kind {
	case wire.Result:
		if string(wire.Get(m.Result, "isError")) == "true" {
			return store.Failed
		}
		return store.OK
	case wire.Error:
		return store.Failed
	}
	return store.Pending
}
