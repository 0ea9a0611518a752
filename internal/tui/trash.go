package tui

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// deletion is what one key has deleted, and what another can bring back.
type deletion struct {
	ids  []string
	what Text
}

// maxDeletions is how many steps can be undone.
const maxDeletions = 100

// targets are the marked sessions, without marks the selected one.
func (s *sessions) targets() []*store.Session {
	var out []*store.Session
	for _, x := range s.all {
		if s.marked[x.ID] {
			out = append(out, x)
		}
	}
	if x := s.selected(); x != nil && len(out) == 0 {
		out = append(out, x)
	}
	return out
}

// naming is how sessions are called: the name of one, the number of several.
func (m *Model) naming(list []*store.Session) Text {
	if len(list) != 1 {
		return plural(len(list), "session", "sessions")
	}
	x := list[0]
	name := x.Summary().Label
	if name == "" || name == x.ID {
		return m.d.safe(x.ID)
	}
	return m.d.safe(name) + " (" + m.d.safe(x.ID) + ")"
}

// short is how a session is called where there is little room: as in the list.
func (m *Model) short(x *store.Session) Text {
	r := newSessionRow(m.src, x, m.now())
	t := Text("")
	for _, s := range nameCell(&m.d, &r) {
		t += s.text
	}
	return t
}

// denied says that this viewer cannot do a thing.
func (m *Model) denied(what Text) {
	why := m.opts.Actions.Denied
	if why == "" {
		why = "not from here"
	}
	m.say(inkWarn, what+": "+why)
}

// delete asks whether the chosen sessions are to go to the trash.
func (s *sessions) delete() tea.Cmd {
	m := s.m
	list := s.targets()
	switch {
	case len(list) == 0:
		m.say(inkWarn, "no session to delete")
		return nil
	case m.opts.Actions.Trash == nil:
		m.denied("deleting")
		return nil
	}
	var running, doomed []*store.Session
	bytes := int64(0)
	now := m.now()
	for _, x := range list {
		if live(m.src, x, now) {
			running = append(running, x)
			continue
		}
		doomed = append(doomed, x)
		bytes += x.Summary().Size
	}
	if len(doomed) == 0 {
		m.say(inkWarn, "not deleted: "+m.naming(running)+" still runs; end its server or its client first")
		return nil
	}
	q := question{text: "move " + m.naming(doomed) + ", " + size(bytes) + ", to the trash? y/n"}
	q.more = append(q.more, "the log lies in trash/ of the state folder then; u brings it back while this program runs")
	if len(running) > 0 {
		q.more = append(q.more, m.naming(running)+" still running: left alone")
	}
	if n := s.inSameLogs(doomed); n > 0 {
		q.more = append(q.more, plural(n, "other session lies", "other sessions lie")+" in the same log and goes with it")
	}
	q.yes = func() tea.Cmd { return m.deleteAll(doomed) }
	m.ask(q)
	return nil
}

// inSameLogs counts the sessions beside those of list that their logs hold.
func (s *sessions) inSameLogs(list []*store.Session) int {
	n := 0
	for _, x := range s.all {
		if !slices.Contains(list, x) && slices.ContainsFunc(list, func(y *store.Session) bool { return x.Path == y.Path && x.Origin == y.Origin }) {
			n++
		}
	}
	return n
}

// deleteAll moves sessions to the trash, as one step that can be undone.
func (m *Model) deleteAll(list []*store.Session) tea.Cmd {
	trash := m.opts.Actions.Trash
	command := trash.Command(list)
	names := make([]Text, len(list))
	for i := range list {
		names[i] = m.short(list[i])
	}
	return m.work(func(ctx context.Context) done {
		var gone []int
		var errs []error
		for i, x := range list {
			if err := trash.Delete(ctx, x); err != nil {
				errs = append(errs, err)
			} else {
				gone = append(gone, i)
			}
		}
		return func(m *Model) tea.Cmd {
			step := deletion{}
			for _, i := range gone {
				step.ids = append(step.ids, list[i].ID)
				step.what = names[i]
			}
			if n := len(gone); n > 1 {
				step.what = plural(n, "session", "sessions")
			}
			if len(gone) > 0 {
				m.deleted = append(m.deleted, step)
				m.deleted = m.deleted[max(0, len(m.deleted)-maxDeletions):]
				m.sayDone(step.what+" moved to the trash; u brings back", m.d.safe(command))
			}
			if len(errs) > 0 {
				m.say(inkError, m.d.safe(errors.Join(errs...).Error()))
				if len(gone) > 0 {
					m.notice.put(inkNote, "; "+step.what+" moved to the trash, u brings back")
				}
			}
			for _, id := range step.ids {
				m.unmark(id)
			}
			return m.top().refresh()
		}
	})
}

// unmark takes the mark from a session that is gone.
func (m *Model) unmark(id string) {
	for _, x := range m.stack {
		if s, ok := x.(*sessions); ok {
			delete(s.marked, id)
		}
	}
}

// undelete brings back what was deleted last.
func (m *Model) undelete() tea.Cmd {
	trash, n := m.opts.Actions.Trash, len(m.deleted)
	switch {
	case trash == nil:
		m.denied("bringing back")
		return nil
	case n == 0:
		m.say(inkNote, "nothing was deleted since this program was started")
		return nil
	}
	step := m.deleted[n-1]
	m.deleted = m.deleted[:n-1]
	return m.work(func(ctx context.Context) done {
		var left []string
		var errs []error
		for _, id := range step.ids {
			if err := trash.Restore(ctx, id); err != nil {
				errs, left = append(errs, err), append(left, id)
			}
		}
		return func(m *Model) tea.Cmd {
			if len(errs) > 0 {
				m.deleted = append(m.deleted, deletion{ids: left, what: step.what})
				m.say(inkError, m.d.safe(errors.Join(errs...).Error()))
				return m.top().refresh()
			}
			m.say(inkOK, step.what+" came back from the trash")
			if k := len(m.deleted); k > 0 {
				m.notice.put(inkNote, "; u brings back "+m.deleted[k-1].what)
			}
			return m.top().refresh()
		}
	})
}
