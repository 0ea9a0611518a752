package store

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Store holds the sessions that a hub or a command has opened. Safe for
// concurrent use; readers get snapshots and take no lock.
type Store struct {
	limits  Limits
	version atomic.Uint64
	list    atomic.Pointer[[]*Session]

	mu   sync.Mutex // held by writers of list
	byID map[string]*Session
}

// New makes an empty store.
func New(l Limits) *Store {
	st := &Store{limits: l.withDefaults(), byID: map[string]*Session{}}
	st.list.Store(&[]*Session{})
	return st
}

// Version changes with every publish of any session, and when sessions come or go.
func (st *Store) Version() uint64 { return st.version.Load() }

// Sessions lists the sessions in the order in which they were added. The
// caller does not change the slice.
func (st *Store) Sessions() []*Session { return *st.list.Load() }

// Get returns the session with the id, nil if there is none.
func (st *Store) Get(id string) *Session {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.byID[id]
}

// Open makes a session, whose log begins at path, and the one Appender that
// may fill it. observe may be nil; else it is asked for the session's Observer.
// A session of the same id is replaced.
func (st *Store) Open(id, path string, observe func(*Session, *Appender) Observer) (*Session, *Appender) {
	return st.OpenAt(Place{ID: id, Path: path}, observe)
}

// Place says what a session is called and where its log is.
type Place struct {
	ID         string
	RecordedAs string // its id in the log, "" for ID: it differs when the store has another log of the same session
	Path       string // of the first segment
	Origin     string // host that the log comes from, "" for this one
}

// OpenAt is Open with all that may be said about a session.
func (st *Store) OpenAt(p Place, observe func(*Session, *Appender) Observer) (*Session, *Appender) {
	id := p.ID
	s, a := NewSession(id, p.Path, st.limits, nil)
	s.Origin, s.recorded, s.store = p.Origin, p.RecordedAs, &st.version
	if observe != nil {
		a.observe = observe(s, a)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	list := slices.Clone(*st.list.Load())
	if old := st.byID[id]; old != nil {
		list = slices.DeleteFunc(list, func(x *Session) bool { return x == old })
	}
	st.byID[id] = s
	list = append(list, s)
	st.list.Store(&list)
	st.version.Add(1)
	return s, a
}

// Remove takes a session out of the list. Who holds it may go on reading it.
func (st *Store) Remove(s *Session) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.byID[s.ID] != s {
		return
	}
	delete(st.byID, s.ID)
	list := slices.DeleteFunc(slices.Clone(*st.list.Load()), func(x *Session) bool { return x == s })
	st.list.Store(&list)
	st.version.Add(1)
}
