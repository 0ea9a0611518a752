package hub

// Aside forgets a log at once, because the caller is about to move its files
// away: nobody is to see it vanish bit by bit, and be told that it was lost.
// It reports whether the log was followed.
func (h *Hub) Aside(path string) bool {
	found := false
	for _, s := range h.sources {
		if d, ok := s.(*Directory); ok && d.aside(path) {
			found = true
		}
	}
	return found
}

// Back follows a log again that was put aside, whatever the limit of the
// history: its files are back, or were never moved.
func (h *Hub) Back(path string) {
	for _, s := range h.sources {
		if d, ok := s.(*Directory); ok {
			d.back(path)
		}
	}
}

// aside says what becomes of a log that is on the way out or in.
type aside uint8

const (
	asideGone aside = iota + 1 // it is not looked at while it is still listed
	asideBack                  // it is followed as soon as it is listed
)

func (d *Directory) aside(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.logs[path]
	if f == nil {
		return false
	}
	d.moved[path] = asideGone
	d.forget(f)
	return true
}

func (d *Directory) back(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.moved[path] == 0 && d.logs[path] != nil {
		return // it was never away
	}
	d.moved[path] = asideBack
	select {
	case d.rescan <- struct{}{}:
	default:
	}
}
