package store

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// asked is an answer that wants input, waiting for the retry that brings it
// (2026-07-28, basic/patterns/mrtr). There is no correlation id: a retry is a
// new request that looks like the first.
type asked struct {
	op       OpIndex
	client   uint16
	method   uint32
	name     uint32
	args     uint64   // hash of the canonical arguments
	keys     []uint64 // hashes of the keys of inputRequests
	state    uint64   // hash of requestState
	hasState bool
}

// Link is how sure it is that a request is the retry of an earlier one.
type Link uint8

// The kinds of links.
const (
	NoLink  Link = iota
	Weak         // only its keys fit: shown as "maybe", never joined, never judged
	ByKeys       // same call, and it answers what was asked for
	ByState      // it brings back the same requestState
)

// Previous is the operation that this one retries, and how that is known. A
// weak link is a guess.
func (o *Operation) Previous() (OpIndex, Link) { return OpIndex(o.prev - 1), o.link }

// Next is the retry of this operation, if a sure one was seen.
func (o *Operation) Next() (OpIndex, bool) { return OpIndex(o.next - 1), o.next > 0 }

// Trip counts the requests of the chain up to this one, from 1.
func (o *Operation) Trip() int { return int(o.trip) }

// Hop is one request and its answer within a chain.
type Hop struct {
	Op     OpIndex
	Server time.Duration // from the request to its answer
	Wait   time.Duration // from the answer before to this request: the client or its user
}

// Chain is a call with all its retries, oldest first. Server and Wait add up
// to the whole.
type Chain struct {
	Hops         []Hop
	Server, Wait time.Duration
	Open         bool // the last request has no answer yet
}

// Root is the first operation of the chain that i belongs to.
func (s *Session) Root(i OpIndex) OpIndex {
	for {
		p, link := s.Op(i).Previous()
		if link <= Weak {
			return i
		}
		i = p
	}
}

// Chain returns the chain that an operation belongs to; for a call without
// retries a chain of one. now ends what is still open.
func (s *Session) Chain(i OpIndex, now time.Time) Chain {
	var c Chain
	i = s.Root(i)
	last := int64(0)
	for {
		o := s.Op(i)
		h := Hop{Op: i, Server: o.Duration(now)}
		if last > 0 {
			h.Wait = time.Duration(o.Start - last)
		}
		last = o.Finish
		c.Hops = append(c.Hops, h)
		c.Server += h.Server
		c.Wait += h.Wait
		next, ok := o.Next()
		if !ok {
			c.Open = o.State == Pending
			return c
		}
		i = next
	}
}

// inputRequired remembers an answer that wants input.
func (a *Appender) inputRequired(ev *Event, cl *client, op *Operation) {
	if !op.rev.modern() && wire.Get(ev.Msg.Result, "inputRequests") == nil && wire.Get(ev.Msg.Result, "requestState") == nil {
		return
	}
	op.WantsInput = true
	w := asked{op: ev.OpIndex, client: cl.index, method: op.method, name: op.name, args: a.args[ev.OpIndex], keys: a.memberNames(wire.Get(ev.Msg.Result, "inputRequests"))}
	if state, ok := wire.Text(wire.Get(ev.Msg.Result, "requestState")); ok {
		w.state, w.hasState = a.hash([]byte(state)), true
	}
	if len(cl.asked) >= a.limits.Asked {
		cl.asked = slices.Delete(cl.asked, 0, 1)
	}
	cl.asked = append(cl.asked, w)
}

// retry finds out whether a request is the retry of an earlier one, by the
// first of three that fits: the same requestState; the same call with keys
// that were asked for; the same name with some keys that were asked for.
func (a *Appender) retry(ev *Event, cl *client, op *Operation) {
	if !mcp.AsksForInput(a.name(op.method)) {
		return
	}
	args := a.hashCanonical(wire.Get(ev.Msg.Params, "arguments"))
	a.args[ev.OpIndex] = args
	responses := wire.Get(ev.Msg.Params, "inputResponses")
	state, hasState := wire.Text(wire.Get(ev.Msg.Params, "requestState"))
	if responses == nil && !hasState {
		return
	}
	keys := a.memberNames(responses)
	k, link := a.match(cl, op, args, keys, a.hash([]byte(state)), hasState)
	if link == NoLink {
		return
	}
	w := cl.asked[k]
	op.prev, op.link = uint32(w.op)+1, link
	if link == Weak {
		return
	}
	before := a.change(w.op)
	before.next = uint32(ev.OpIndex) + 1
	op.trip = before.trip + 1
	ev.Retries = before
	cl.asked = slices.Delete(cl.asked, k, k+1)
}

// match finds what a request follows up in the list. What was asked on another
// connection counts as sure only when it is the only thing that fits.
func (a *Appender) match(cl *client, op *Operation, args uint64, keys []uint64, state uint64, hasState bool) (int, Link) {
	other, others, weak := -1, 0, -1
	for k := len(cl.asked) - 1; k >= 0; k-- {
		if w := &cl.asked[k]; w.method == op.method && hasState && w.hasState && w.state == state {
			return k, ByState
		}
	}
	for k := len(cl.asked) - 1; k >= 0; k-- {
		w := &cl.asked[k]
		if w.method != op.method || w.name != op.name {
			continue
		}
		switch fits := w.args == args && len(keys) > 0 && subset(keys, w.keys); {
		case fits && w.client == cl.index:
			return k, ByKeys
		case fits:
			other = k
			others++
		}
		if weak < 0 && overlap(keys, w.keys) {
			weak = k
		}
	}
	switch {
	case others == 1:
		return other, ByKeys
	case weak >= 0:
		return weak, Weak
	}
	return -1, NoLink
}

func subset(a, b []uint64) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return true
}

func overlap(a, b []uint64) bool {
	return slices.ContainsFunc(a, func(k uint64) bool { return slices.Contains(b, k) })
}

// memberNames are hashes of the names of an object's members, at most maxKeys.
func (a *Appender) memberNames(v []byte) []uint64 {
	var names []uint64
	for m := wire.MembersOf(v); m.Next() && len(names) < maxKeys; {
		names = append(names, a.hash(m.Key))
	}
	return names
}

const maxKeys = 256

func (a *Appender) hash(b []byte) uint64 { return maphash.Bytes(a.seed, b) }

func (a *Appender) hashCanonical(v []byte) uint64 {
	if v == nil {
		return 0
	}
	a.scratch = wire.AppendCanonical(a.scratch[:0], v)
	return a.hash(a.scratch)
}
