package store

// Publish lets readers see all that was appended. Without anything new it does
// nothing. What refers to something is published after it, so that a reader
// that goes from an operation to its frames, or from a frame to its operation,
// always finds them.
func (a *Appender) Publish() {
	if !a.fresh {
		return
	}
	a.fresh = false
	s := a.s
	s.names.list.publish()
	s.connIDs.list.publish()
	s.marks.rules.list.publish()
	s.frames.share()
	s.links.share()
	s.ops.share()
	for i, o := range a.dirty {
		p := s.ops.at(uint32(i))
		old := p.Load()
		a.count(old, o, i)
		p.Store(o) // from here on it is never written to
		if old != nil && filterable(old, o) {
			_, c := s.changes.grow()
			*c = i
		}
	}
	clear(a.dirty)
	for i, e := range a.dirtyElicits {
		s.elicits.at(i).Store(e)
	}
	clear(a.dirtyElicits)
	a.publishTools()
	s.elicits.publish()
	s.ops.publish()
	s.conns.publish()
	s.links.publish()
	s.peaks.publish()
	s.frames.publish()
	a.publishMarks()
	s.changes.publish()
	a.publishSummary()
	s.version.Add(1)
	if s.store != nil {
		s.store.Add(1)
	}
}

func (a *Appender) publishSummary() {
	sum := a.sum
	sum.Clients = a.clientInfos()
	sum.Problems = a.sum.Problems[:len(a.sum.Problems):len(a.sum.Problems)]
	a.s.sum.Store(&sum)
}

// clientInfos lists what is known of the clients; the list of the last Publish
// is used again when nothing has changed.
func (a *Appender) clientInfos() []ClientInfo {
	if last := a.s.sum.Load(); last != nil && len(last.Clients) == len(a.clients.list) {
		same := true
		for i, c := range a.clients.list {
			same = same && last.Clients[i] == c.info
		}
		if same {
			return last.Clients
		}
	}
	out := make([]ClientInfo, len(a.clients.list))
	for i, c := range a.clients.list {
		out[i] = c.info
	}
	return out
}

// filterable reports whether a query can tell two versions of an operation apart.
func filterable(old, new *Operation) bool {
	return old.State != new.State || old.TaskState != new.TaskState || old.Finish != new.Finish ||
		(old.late > 0) != (new.late > 0) || old.next != new.next || old.prev != new.prev || old.link != new.link ||
		old.signals != new.signals || len(old.marked()) != len(new.marked()) || old.Status != new.Status ||
		old.task != new.task || old.name != new.name || old.rev != new.rev
}

// tie adds a frame to the list of its operation's frames, and keeps what a
// query asks of an operation beside its own members.
func (a *Appender) tie(ev *Event, x *exchange) {
	_, link := a.s.links.grow()
	if ev.Op == nil && x != nil && len(x.ids) > 0 && ev.Frame.Status >= 400 {
		a.refused(ev, x)
	}
	if ev.Op != nil {
		op := a.change(ev.OpIndex)
		*link, op.last = op.last, ev.Index+1
		op.Status = max(op.Status, ev.Frame.Status)
	}
	if ev.Rec.ConnID == "" && a.s.conns.n == 0 {
		return
	}
	for a.s.conns.n <= ev.Index {
		_, c := a.s.conns.grow()
		if a.s.conns.n > ev.Index {
			*c = a.s.connIDs.number([]byte(ev.Rec.ConnID))
		}
	}
}

// refused ties an HTTP error to the requests whose exchange it answers. No
// JSON-RPC answer will come for them any more: the exchange is over, and they
// have failed.
func (a *Appender) refused(ev *Event, x *exchange) {
	i := x.ids[0]
	ev.Op, ev.OpIndex = a.change(i), i
	ev.Frame.op, ev.Frame.method = uint32(i)+1, ev.Op.method
	for _, i := range x.ids {
		op := a.change(i)
		if op.State != Pending {
			continue
		}
		op.State, op.Finish, op.Status = Failed, ev.Frame.TS, ev.Frame.Status
		a.sum.Calls.Pending--
		a.sum.Calls.Failed++
		a.close(a.clients.list[op.client], opKey{op.Client, op.ID}, i)
		delete(a.args, i)
	}
}

// Conn is the client connection that the frame i came on, "" when not known.
func (s *Session) Conn(i uint32) string {
	if i >= s.conns.Len() {
		return ""
	}
	return *s.connIDs.list.read(*s.conns.read(i))
}

// OpFrames calls visit with the frames of an operation, the newest first, until
// it returns false.
func (s *Session) OpFrames(o *Operation, visit func(i uint32) bool) {
	for k := o.last; k > 0 && visit(k-1); {
		k = *s.links.read(k - 1)
	}
}

// maxHops bounds how far a chain is followed for a query, in both directions.
const maxHops = 256

// related calls visit with the operations of the chain that i belongs to, the
// oldest first: its retries count as one operation with it.
func (s *Session) related(i OpIndex, visit func(OpIndex, *Operation)) {
	o := s.Op(i)
	for range maxHops {
		p, link := o.Previous()
		if link <= Weak {
			break
		}
		i, o = p, s.Op(p)
	}
	for range 2 * maxHops {
		visit(i, o)
		next, ok := o.Next()
		if !ok {
			return
		}
		i, o = next, s.Op(next)
	}
}
