package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/play"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// replayRun sends the calls of a session to a target, one after the other.
type replayRun struct {
	session *store.Session
	read    play.ReadFunc
	target  play.Target
	where   *store.Query
	ignore  ignored
	o       play.Options

	conns  []*replayConn            // the newest last
	states map[store.OpIndex][]byte // requestState of the answers that want input
	calls  []replayed               // what became of each
	count  [replayOutcomes]int      // by outcome
	failed error                    // why the last connection could not be made
	fails  int                      // how many in a row
}

// replayConn is the connection of one client of the session.
type replayConn struct {
	client int
	*play.Conn
}

// replayed is a call and what became of it.
type replayed struct {
	call    *play.Call
	op      store.OpIndex
	answer  *play.Answer // nil when it was not sent
	outcome replayOutcome
	reason  string // why it was not sent, or has no answer
	changes []checks.Change
	hidden  int // values that redaction hid
	ignored int // places that differ and do not count
}

// replayOutcome is how an answer stands against the recorded one.
type replayOutcome int

const (
	replaySame replayOutcome = iota
	replayChanged
	replayBetter
	replayWorse
	replaySkipped
	replayOutcomes
)

var replayWords = [replayOutcomes]string{"same", "changed", "better", "worse", "skipped"}

// maxFails is how often a server may refuse to begin before the rest is left.
const maxFails = 3

// all sends what is to be sent. The error is for when nothing could be.
func (r *replayRun) all(ctx context.Context) error {
	r.states = map[store.OpIndex][]byte{}
	defer func() {
		for _, c := range r.conns {
			c.Close()
		}
	}()
	matched := false
	for op := range r.session.OpLen() {
		o := r.session.Op(op)
		if !o.Client || r.session.OpMethod(o) == mcp.Initialize || !r.where.MatchFrame(r.session, o.Request, r.body) {
			continue
		}
		matched = true
		one := r.one(ctx, op)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.count[one.outcome]++
		r.calls = append(r.calls, one)
	}
	if !matched {
		return withHint(errors.New("no call of a client to send again"), `"mcpsnoop tail" prints what there is`)
	}
	if slices.ContainsFunc(r.calls, func(c replayed) bool { return c.answer != nil }) {
		return nil
	}
	if r.failed != nil {
		return r.failed
	}
	return errors.New("no call could be sent: " + r.calls[0].reason)
}

// body reads a frame for the filter.
func (r *replayRun) body(s *store.Session, i uint32) ([]byte, error) {
	rec, err := r.read(s, i)
	return rec.Body(), err
}

// one sends one call and compares its answer.
func (r *replayRun) one(ctx context.Context, op store.OpIndex) replayed {
	one := replayed{op: op, outcome: replaySkipped}
	call, err := play.Prepare(r.session, op, r.read, nil)
	if err != nil {
		one.reason = err.Error()
		return one
	}
	one.call = call
	if prev, link := r.session.Op(op).Previous(); link >= store.ByKeys && r.states[prev] != nil {
		call.Resume(r.states[prev])
	}
	conn, err := r.conn(ctx, call)
	if err != nil {
		one.reason = err.Error()
		return one
	}
	one.answer, err = conn.Send(ctx, call)
	if err != nil {
		one.reason = err.Error()
	}
	if m := wire.ParseMessage(one.answer.Message); wire.GetString(m.Result, "resultType") == mcp.ResultInputRequired {
		r.states[op] = wire.Get(m.Result, "requestState")
	}
	r.compare(&one)
	return one
}

// conn gives the connection of the call's client, a new one where there is
// none or where the last one broke.
func (r *replayRun) conn(ctx context.Context, call *play.Call) (*replayConn, error) {
	if i := slices.IndexFunc(r.conns, func(c *replayConn) bool { return c.client == call.Peer.Index }); i >= 0 {
		if c := r.conns[i]; !c.Broken() {
			return c, nil
		}
		r.conns[i].Close()
		r.conns = slices.Delete(r.conns, i, i+1)
	}
	if r.fails >= maxFails {
		return nil, r.failed
	}
	const most = 8 // clients at once
	if len(r.conns) == most {
		r.conns[0].Close()
		r.conns = r.conns[1:]
	}
	c, err := play.Dial(ctx, r.target, call.Peer, r.o)
	if err != nil {
		r.failed = err
		r.fails++
		return nil, err
	}
	r.fails = 0
	one := &replayConn{call.Peer.Index, c}
	r.conns = append(r.conns, one)
	return one, nil
}

// compare holds an answer against the recorded one. Marks of redaction are
// equal to everything: what they hide cannot be compared.
func (r *replayRun) compare(one *replayed) {
	was, is := &one.call.Recorded, &one.answer.Outcome
	one.outcome = replaySame
	switch {
	case checks.Worse(was.State, is.State):
		one.outcome = replayWorse
	case checks.Worse(is.State, was.State):
		one.outcome = replayBetter
	}
	if was.Cut || was.Message == nil || is.Message == nil || wire.Check(was.Message) != nil {
		return
	}
	for _, part := range []string{"result", "error"} {
		a, b := wire.Get(was.Message, part), wire.Get(is.Message, part)
		if a == nil || b == nil {
			continue
		}
		one.changes = checks.DiffJSON(a, b, func(path string, a, b []byte) bool {
			switch {
			case path == "/_meta" || path == "/requestState": // the server's own, and another each time
				return true
			case hides(a) || hides(b):
				one.hidden++
				return true
			case r.ignore.covers("/" + part + path):
				one.ignored++
				return true
			}
			return false
		})
		for i := range one.changes {
			one.changes[i].Path = "/" + part + one.changes[i].Path
		}
	}
	if one.outcome == replaySame && len(one.changes) > 0 {
		one.outcome = replayChanged
	}
}

// hides reports whether a value is a text in which redaction hid something.
func hides(v []byte) bool {
	s, ok := wire.Text(v)
	return ok && redact.HasMark(s)
}
