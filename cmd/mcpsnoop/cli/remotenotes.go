package cli

import (
	"slices"
	"sync"
)

// noteBox takes what the user should know of connections. It goes to the
// standard error, but for the time when the UI has the terminal.
type noteBox struct {
	app *App

	mu      sync.Mutex
	recent  []string // the newest last, each text once
	count   uint64   // of all
	changed func()   // tells the UI; nil while there is none
}

// maxNotes bounds what is kept for the UI, which shows the newest.
const maxNotes = 50

func (n *noteBox) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.recent = slices.DeleteFunc(n.recent, func(s string) bool { return s == text })
	if len(n.recent) == maxNotes {
		n.recent = slices.Delete(n.recent, 0, 1)
	}
	n.recent = append(n.recent, text)
	n.count++
	if n.changed != nil {
		n.changed()
		return
	}
	n.app.note("%s", text)
}

// show gives notes to a UI until release.
func (n *noteBox) show(changed func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed = changed
}

// release gives notes back to the standard error.
func (n *noteBox) release() { n.show(nil) }

// mirrorSource is a hub of mirrors: what is to be said of it is how their
// connections are now, which the list of a hub, where nothing is said twice,
// would not tell.
type mirrorSource struct {
	*hubSource
	notes *noteBox
}

// Notices are those of the hub, then those of the connections.
func (m *mirrorSource) Notices() []string {
	m.notes.mu.Lock()
	defer m.notes.mu.Unlock()
	return slices.Concat(m.hubSource.Notices(), m.notes.recent)
}

// Version changes with notes, too.
func (m *mirrorSource) Version() uint64 {
	m.notes.mu.Lock()
	defer m.notes.mu.Unlock()
	return m.hubSource.Version() + m.notes.count
}
