package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Options are the bounds of a replay and what it takes from outside.
type Options struct {
	Timeout   time.Duration // for one answer, and for the handshake; 0 means DefaultTimeout
	Grace     time.Duration // for a process to end by itself; 0 means DefaultGrace
	MaxAnswer int           // longest answer in bytes; 0 means capture.DefaultMaxFrame
	Clock     capture.Clock // measures how long an answer took; never nil
}

// The defaults of Options.
const (
	DefaultTimeout = time.Minute
	DefaultGrace   = 2 * time.Second
)

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = capture.DefaultMaxFrame
	}
	return o
}

// Answer is what came back for a call.
type Answer struct {
	Outcome
	Request []byte   // the message that was sent
	Notes   []string // what else is to be said
}

// link carries messages to a server and back. One goroutine uses it.
type link interface {
	// ask sends a request and gives the message that answers it. Requests of
	// the server that come meanwhile are answered by t.
	ask(ctx context.Context, r *request, t *talk) ([]byte, error)
	// tell sends a notification.
	tell(ctx context.Context, message []byte) error
	// close ends the connection and what runs at its other end.
	close()
	// notes are what the other end said beside messages, since they were last
	// asked for.
	notes() []string
}

// request is a message on its way to a server.
type request struct {
	id      int64
	body    []byte
	method  string
	name    string
	version mcp.Revision // that the body states; "" leaves the negotiated one
	params  []capture.ParamHeader
}

// Conn is a connection to a server on which calls of one client are sent. One
// goroutine uses it. Close ends it.
type Conn struct {
	link   link
	o      Options
	peer   Peer
	id     int64
	broken bool
	hello  []string // notes of the handshake, for the first answer
}

// ErrTimeout says that an answer took longer than it was given.
var ErrTimeout = errors.New("no answer in time")

// Dial connects to a target as the client that peer describes. Up to 2025-11-25
// that includes the handshake; later revisions have none.
func Dial(ctx context.Context, t Target, peer Peer, o Options) (*Conn, error) {
	o = o.withDefaults()
	c := &Conn{o: o, peer: peer}
	l, err := t.open(&o, &c.peer)
	if err != nil {
		return nil, err
	}
	c.link = l
	if peer.Revision.Modern() {
		return c, nil
	}
	if err := c.handshake(ctx); err != nil {
		err = fmt.Errorf("the handshake: %w", withNotes(err, l.notes()))
		l.close()
		return nil, err
	}
	return c, nil
}

// withNotes adds the last words of a server to the error.
func withNotes(err error, notes []string) error {
	if len(notes) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, notes[len(notes)-1])
}

func (c *Conn) handshake(ctx context.Context) error {
	within, stop := context.WithTimeoutCause(ctx, c.o.Timeout, c.late())
	defer stop()
	c.id++
	talk := &talk{}
	answer, err := c.link.ask(within, &request{id: c.id, body: c.peer.initialize(c.id), method: mcp.Initialize}, talk)
	if err != nil {
		return endOf(within, err)
	}
	m := wire.ParseMessage(answer)
	if m.Kind != wire.Result {
		return fmt.Errorf("the server refused revision %s: %s", c.peer.Revision, errorText(&m))
	}
	switch got := mcp.Revision(wire.GetString(m.Result, "protocolVersion")); {
	case !got.Known():
		return errors.New("the server named no protocolVersion")
	case got != c.peer.Revision:
		c.hello = append(c.hello, fmt.Sprintf("the server speaks revision %s; the captured session spoke %s", got, c.peer.Revision))
		c.peer.Revision = got
	}
	c.hello = append(c.hello, talk.notes()...)
	return endOf(within, c.link.tell(within, initialized))
}

func (c *Conn) late() error { return fmt.Errorf("%w: waited %s", ErrTimeout, c.o.Timeout) }

// endOf gives the reason of a context's end in place of what that broke.
func endOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Broken reports whether the connection is of no use any more.
func (c *Conn) Broken() bool { return c.broken }

// Send sends a call and waits for its answer. An error of the server is an
// answer; the error that is returned says why there is none. The Answer is never
// nil: it has what is known all the same.
func (c *Conn) Send(ctx context.Context, call *Call) (*Answer, error) {
	c.id++
	sent := *call
	if !c.peer.Revision.Modern() || !sent.Peer.Revision.Known() {
		sent.Peer.Revision = c.peer.Revision
	}
	r := &request{id: c.id, body: sent.Request(c.id), method: call.Method, name: call.Name(), params: call.Headers}
	r.version = mcp.Revision(wire.GetString(wire.ParseMessage(r.body).Params, "_meta", mcp.MetaVersion))
	a := &Answer{Request: r.body, Notes: c.hello}
	c.hello = nil
	within, stop := context.WithTimeoutCause(ctx, c.o.Timeout, c.late())
	defer stop()
	talk := &talk{}
	start := c.o.Clock.Now()
	message, err := c.link.ask(within, r, talk)
	a.Took = c.o.Clock.Since(start)
	a.Notes = append(append(a.Notes, talk.notes()...), c.link.notes()...)
	if err != nil {
		c.broken = true
		return a, endOf(within, err)
	}
	a.Message, a.State = message, StateOf(message)
	if note := explain(message); note != "" {
		a.Notes = append(a.Notes, note)
	}
	return a, nil
}

// Close ends the connection. What ran for it has ended when it returns.
func (c *Conn) Close() { c.link.close() }

// Once sends one call on a connection of its own.
func Once(ctx context.Context, t Target, call *Call, o Options) (*Answer, error) {
	c, err := Dial(ctx, t, call.Peer, o)
	if err != nil {
		return &Answer{Request: call.Request(1)}, err
	}
	defer c.Close()
	return c.Send(ctx, call)
}

// Error codes that are explained beside their answer (2026-07-28, schema).
const (
	headerMismatch   = "-32020"
	missingCapable   = "-32021"
	unsupportedVer   = "-32022"
	methodNotFound   = "-32601"
	maxMessageLength = 400
)

// explain says what an error of the protocol means for a replay.
func explain(message []byte) string {
	m := wire.ParseMessage(message)
	if m.Kind == wire.Result && wire.GetString(m.Result, "resultType") == mcp.ResultInputRequired {
		return "the server wants input before it goes on (input_required): nobody is asked here"
	}
	if m.Kind != wire.Error {
		return ""
	}
	switch string(wire.Get(m.Error, "code")) {
	case headerMismatch:
		return "the server found the headers against the body: " + errorText(&m)
	case missingCapable:
		return "the server wants a capability that the captured client does not have: " + errorText(&m)
	case unsupportedVer:
		return "the server does not speak the revision of the capture: " + errorText(&m)
	}
	return ""
}

// errorText is the code and message of an error, and its data.
func errorText(m *wire.Message) string {
	if m.Kind != wire.Error {
		return "it answered with no error and no result"
	}
	text := clip(string(wire.Get(m.Error, "code")), 20) + " " + clip(wire.GetString(m.Error, "message"), maxMessageLength)
	if data := wire.Get(m.Error, "data"); data != nil {
		text += " " + clip(string(data), maxMessageLength)
	}
	return text
}

// clip cuts a text that came from a server.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}
