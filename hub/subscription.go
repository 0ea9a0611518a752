package hub

// Subscription tells that something changed, not what: its owner looks at
// what it shows.
type Subscription struct {
	// C has one slot, which holds a value when something has changed since it
	// was last read.
	C   <-chan struct{}
	ch  chan struct{}
	hub *Hub
}

// Subscription makes a subscription; its owner closes it.
func (h *Hub) Subscription() *Subscription {
	ch := make(chan struct{}, 1)
	sub := &Subscription{C: ch, ch: ch, hub: h}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[sub] = true
	return sub
}

// Close ends the subscription. C stays open and silent.
func (sub *Subscription) Close() {
	sub.hub.mu.Lock()
	defer sub.hub.mu.Unlock()
	delete(sub.hub.subs, sub)
}

// Subscribe is Subscription for who needs its parts: the channel, and the
// function that ends it.
func (h *Hub) Subscribe() (<-chan struct{}, func()) {
	sub := h.Subscription()
	return sub.C, sub.Close
}

// Changed tells all subscribers that something changed. It waits for nobody.
func (h *Hub) Changed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs {
		select {
		case sub.ch <- struct{}{}:
		default:
		}
	}
}
