package store

// Loss says what became of the way on which an answer was to come.
type Loss uint8

// The ways to lose an answer.
const (
	NotLost     Loss = iota
	StreamEnded      // the server ended the event stream before the answer
	StreamReset      // the connection broke
	ClientLeft       // the client closed the event stream
)

// streamEnd notes what the end of an event stream means for the calls that
// wait on it. From 2026-07-28 on, closing the stream is how a client cancels
// (basic/patterns/cancellation); before, it says nothing about the call, whose
// answer may come on a resumed stream.
func (a *Appender) streamEnd(ev *Event, x *exchange) {
	if x == nil {
		return
	}
	for _, i := range x.ids {
		if a.peek(i).State != Pending {
			continue
		}
		op := a.change(i)
		switch ev.Rec.HTTP.End {
		case "client":
			op.Lost = ClientLeft
			if op.rev.modern() {
				a.giveUp(ev, op, i)
			}
		case "server":
			op.Lost = StreamEnded
		case "reset":
			op.Lost = StreamReset
		}
	}
}

// replayed reports whether a frame is an event that was seen before and that a
// resumed stream brought again (2025-11-25, transports#resumability-and-redelivery).
func (a *Appender) replayed(ev *Event, cl *client, x *exchange) bool {
	if x == nil || ev.Rec.HTTP == nil || ev.Rec.HTTP.SSE == nil || !ev.Rec.HTTP.SSE.HasID || ev.Rec.HTTP.SSE.ID == "" {
		return false
	}
	// Some servers number the events of each stream anew: only the same event
	// with the same id is a replay.
	a.scratch = append(append(append(a.scratch[:0], ev.Rec.HTTP.SSE.ID...), 0), ev.Rec.Raw...)
	h := a.hash(a.scratch)
	if x.resumed && cl.events[h] {
		return true
	}
	if len(cl.events) < a.limits.Events {
		cl.events[h] = true
	}
	return false
}
