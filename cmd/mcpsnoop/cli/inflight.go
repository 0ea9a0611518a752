package cli

import "sync"

// inFlight is work that outlives what asked for it by the time it takes to
// clean up: a copy of a server that has to end before the program does. The
// zero value and nil are ready; nil waits for nothing.
type inFlight struct {
	mu   sync.Mutex
	over bool
	work sync.WaitGroup
}

// begin notes a piece of work; false means that the program is about to end
// and that it is not to begin.
func (f *inFlight) begin() bool {
	if f == nil {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.work.Add(1)
	}
	return !f.over
}

// end ends a piece of work.
func (f *inFlight) end() {
	if f != nil {
		f.work.Done()
	}
}

// wait lets nothing begin any more and waits for what has begun. Whose context
// has ended is soon done.
func (f *inFlight) wait() {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.over = true
	f.mu.Unlock()
	f.work.Wait()
}
