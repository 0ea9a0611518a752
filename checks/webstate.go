package checks

// bury notes that a session has ended.
func (w *web) bury(session string, ts int64) {
	if w.dead == nil {
		w.dead = map[string]int64{}
	}
	if _, ok := w.dead[session]; !ok && len(w.dead) < maxClients {
		w.dead[session] = ts
	}
}

// event notes on which exchange an event was sent first. The oldest are not
// forgotten one by one: when the set is full it begins anew.
func (w *web) event(key uint64, x *exchange) {
	if w.events == nil || len(w.events) >= maxEventIDs {
		w.events = map[uint64]uint64{}
	}
	if _, ok := w.events[key]; !ok && !x.resumed {
		w.events[key] = x.num
	}
}

// message does the same for a message with an id.
func (w *web) message(key uint64, x *exchange) {
	if w.sent == nil || len(w.sent) >= maxEventIDs {
		w.sent = map[uint64]uint64{}
	}
	if _, ok := w.sent[key]; !ok {
		w.sent[key] = x.num
	}
}
