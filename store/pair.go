package store

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// request opens an operation. A request whose id is null opens none: nothing
// could ever answer it.
func (a *Appender) request(ev *Event, cl *client, x *exchange) {
	method := a.s.names.number(ev.Msg.Method)
	ev.Frame.method = method
	if ev.Msg.ID.Type() != wire.String && ev.Msg.ID.Type() != wire.Number {
		ev.Frame.Flags |= Unpaired
		return
	}
	i, _ := a.s.ops.grow()
	op := &Operation{
		ID: ev.Msg.ID, Start: ev.Frame.TS, Request: ev.Index, method: method, name: a.target(ev.Msg),
		client: cl.index, exchange: ev.Frame.exchange, Client: ev.Rec.Direction == capture.C2S, rev: ev.Frame.rev, trip: 1,
	}
	a.dirty[OpIndex(i)] = op // stored by Publish
	ev.Op, ev.OpIndex = op, OpIndex(i)
	key := opKey{op.Client, op.ID}
	if open := cl.open[key]; len(open) > 0 {
		for _, o := range open {
			other := a.change(o)
			other.Uncertain = true
			ev.Twin = other
		}
		op.Uncertain = true
	}
	cl.open[key] = append(cl.open[key], ev.OpIndex)
	if x != nil && op.Client {
		x.ids = append(x.ids, ev.OpIndex)
		x.rev = op.rev
	}
	if token := wire.Get(ev.Msg.Params, "_meta", "progressToken"); token != nil {
		cl.token[tokenKey{op.Client, wire.ParseID(token)}] = ev.OpIndex
		op.hasToken = true
	}
	if cursor := wire.Get(ev.Msg.Params, "cursor"); cursor != nil && listMethods[a.name(method)] != "" {
		a.cursors[ev.OpIndex], _ = wire.Text(cursor)
	}
	a.sum.Calls.Total++
	a.sum.Calls.Pending++
	a.retry(ev, cl, op)
	a.taskMessage(ev, cl)
	a.handshake(ev, cl)
}

// target is what a request addresses, as the method table says.
func (a *Appender) target(m *wire.Message) uint32 {
	known, ok := mcp.LookupMethod(m.Method)
	if !ok || known.Target == "" {
		return 0
	}
	s, _ := wire.Text(wire.Get(m.Params, known.Target))
	return a.s.names.number([]byte(s))
}

// change returns the version of an operation that the appender may write to.
func (a *Appender) change(i OpIndex) *Operation {
	if o, ok := a.dirty[i]; ok {
		return o
	}
	version := *a.s.ops.at(uint32(i)).Load()
	a.dirty[i] = &version
	return &version
}

// response ties an answer to its request: on HTTP first within its exchange,
// then by the client session; ids are never looked up anywhere else.
func (a *Appender) response(ev *Event, cl *client, x *exchange) {
	toClient := ev.Rec.Direction == capture.S2C
	key := opKey{toClient, ev.Msg.ID}
	i, ok := a.inExchange(x, key)
	if !ok {
		open := cl.open[key]
		if len(open) == 0 {
			ev.Frame.Flags |= Unpaired
			a.lateAnswer(ev, cl, key)
			return
		}
		i = open[0]
	}
	op := a.change(i)
	ev.Op, ev.OpIndex = op, i
	ev.Frame.method = op.method
	ev.Frame.rev = op.rev
	op.answer, op.Finish = ev.Index+1, ev.Frame.TS
	op.Cut = ev.Frame.Has(Truncated)
	a.close(cl, key, i)
	a.sum.Calls.Pending--
	if a.failed(ev, op) {
		op.State = Failed
		a.sum.Calls.Failed++
	} else {
		op.State = OK
		a.sum.Calls.OK++
	}
	a.result(ev, cl, op)
	delete(a.args, i)
	a.handshake(ev, cl)
}

// result looks into what an answer hands over: input that is wanted, a task,
// a page of a listing.
func (a *Appender) result(ev *Event, cl *client, op *Operation) {
	if ev.Frame.Kind == KindResult {
		switch wire.GetString(ev.Msg.Result, "resultType") {
		case mcp.ResultInputRequired:
			a.inputRequired(ev, cl, op)
		case mcp.ResultTask:
			a.handle(ev, cl, op)
		case "":
			if wire.TypeOf(wire.Get(ev.Msg.Result, "task")) == wire.Object {
				a.handle(ev, cl, op)
			}
		}
		a.page(ev, cl)
	}
	a.taskMessage(ev, cl)
}

func (a *Appender) inExchange(x *exchange, key opKey) (OpIndex, bool) {
	if x == nil || !key.client {
		return 0, false
	}
	for _, i := range x.ids {
		if o := a.peek(i); o.ID == key.id && o.State == Pending {
			return i, true
		}
	}
	return 0, false
}

// peek reads the newest version of an operation, published or not.
func (a *Appender) peek(i OpIndex) *Operation {
	if o, ok := a.dirty[i]; ok {
		return o
	}
	return a.s.ops.at(uint32(i)).Load()
}

// failed reports whether an answer says that the call failed: a JSON-RPC
// error, or a tool's result with isError true.
func (a *Appender) failed(ev *Event, op *Operation) bool {
	if ev.Msg.Kind == wire.Error {
		return true
	}
	if a.name(op.method) == mcp.ToolsCall && string(wire.Get(ev.Msg.Result, "isError")) == "true" {
		op.ToolError = true
		return true
	}
	return false
}

// close takes an operation out of what may still be answered.
func (a *Appender) close(cl *client, key opKey, i OpIndex) {
	open := slices.DeleteFunc(cl.open[key], func(o OpIndex) bool { return o == i })
	if len(open) == 0 {
		delete(cl.open, key)
	} else {
		cl.open[key] = open
	}
	if !a.peek(i).hasToken {
		return
	}
	for token, o := range cl.token {
		if o == i {
			delete(cl.token, token)
		}
	}
}

// lateAnswer ties an answer to the operation that was cancelled before it came.
func (a *Appender) lateAnswer(ev *Event, cl *client, key opKey) {
	i, ok := cl.cancelled[key]
	if !ok {
		return
	}
	delete(cl.cancelled, key)
	op := a.change(i)
	op.late = ev.Index + 1
	ev.Op, ev.OpIndex = op, i
	ev.Frame.method = op.method
	ev.Frame.Flags = ev.Frame.Flags&^Unpaired | Late
}

// notification ties what belongs to an operation to it: progress and cancels.
func (a *Appender) notification(ev *Event, cl *client) {
	ev.Frame.method = a.s.names.number(ev.Msg.Method)
	switch string(ev.Msg.Method) {
	case mcp.CancelledNote:
		a.cancel(ev, cl)
	case mcp.ProgressNote:
		a.progress(ev, cl)
	case mcp.TaskStatus, mcp.TasksNote:
		a.taskMessage(ev, cl)
	}
}

func (a *Appender) cancel(ev *Event, cl *client) {
	id := wire.Get(ev.Msg.Params, "requestId")
	key := opKey{ev.Rec.Direction == capture.C2S, wire.ParseID(id)}
	open := cl.open[key]
	if len(open) == 0 {
		ev.Frame.Flags |= Unpaired
		return
	}
	i := open[len(open)-1]
	ev.Op, ev.OpIndex = a.change(i), i
	a.giveUp(ev, ev.Op, i)
}

// giveUp marks an operation as cancelled by the frame of ev.
func (a *Appender) giveUp(ev *Event, op *Operation, i OpIndex) {
	cl := a.clients.list[op.client]
	key := opKey{op.Client, op.ID}
	op.cancel, op.Finish, op.State = ev.Index+1, ev.Frame.TS, Cancelled
	a.sum.Calls.Pending--
	a.sum.Calls.Cancelled++
	a.close(cl, key, i)
	delete(a.args, i)
	if len(cl.cancelled) < a.limits.Cancelled {
		cl.cancelled[key] = i
	}
}

func (a *Appender) progress(ev *Event, cl *client) {
	// Progress runs against the request.
	key := tokenKey{ev.Rec.Direction == capture.S2C, wire.ParseID(wire.Get(ev.Msg.Params, "progressToken"))}
	i, ok := cl.token[key]
	if !ok {
		return
	}
	op := a.change(i)
	op.Progress++
	op.LastSign = ev.Frame.TS
	ev.Op, ev.OpIndex = op, i
}
