package tui

import (
	"context"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// caller is a screen on which a call is chosen.
type caller interface {
	call() (s *store.Session, op uint32, ok bool)
}

func (s *stream) call() (*store.Session, uint32, bool) {
	if s.s == nil || !s.hasSel {
		return nil, 0, false
	}
	at, ok := s.s.Frame(s.sel).Op()
	return s.s, uint32(at), ok
}

func (s *merged) call() (*store.Session, uint32, bool) {
	if !s.hasSel {
		return nil, 0, false
	}
	at, ok := s.sel.Session.Frame(s.sel.Frame).Op()
	return s.sel.Session, uint32(at), ok
}

func (s *sheet) call() (*store.Session, uint32, bool) {
	p, ok := s.page.(*callsPage)
	if !ok || s.s == nil || s.list.cur >= len(p.rows) {
		return nil, 0, false
	}
	return s.s, uint32(p.rows[s.list.cur]), true
}

// replay sends the chosen call again, or lets its params be edited first.
func (m *Model) replay(edit bool) tea.Cmd {
	c, ok := m.top().(caller)
	if !ok {
		m.say(inkNote, "no call is chosen here: a stream has calls, and the calls of a session (i)")
		return nil
	}
	s, op, ok := c.call()
	switch {
	case !ok:
		m.say(inkWarn, "this frame belongs to no call")
		return nil
	case m.opts.Actions.Replay == nil:
		m.denied("sending calls again")
		if !m.farCommands() {
			m.sayCommand(m.prog() + " replay --where seq:" + requestSeq(s, op) + " " + m.word(m.d.safe(s.ID)))
		}
		return nil
	case edit:
		return m.editCall(s, op)
	}
	return m.planReplay(s, op, nil, func(err error) tea.Cmd {
		m.say(inkWarn, "not sent: "+m.d.safe(err.Error()))
		return nil
	})
}

// planReplay finds out what would be sent, and asks before the first time.
func (m *Model) planReplay(s *store.Session, op uint32, params []byte, failed func(error) tea.Cmd) tea.Cmd {
	replay := m.opts.Actions.Replay
	return m.work(func(context.Context) done {
		plan, err := replay.Plan(s, op, params)
		r := newReplayScreen(m, plan)
		return func(m *Model) tea.Cmd {
			if err != nil {
				return failed(err)
			}
			return m.askReplay(r)
		}
	})
}

// askReplay asks once for each session and target whether calls may be sent.
func (m *Model) askReplay(r *replayScreen) tea.Cmd {
	p := &r.plan
	key := p.Session.ID + "\x00" + p.Target + "\x00" + p.Dir
	if m.mayReplay[key] {
		return m.showReplay(r)
	}
	d := &m.d
	q := question{text: "send it to " + d.safe(p.Target) + "? y/n"}
	if p.Starts {
		q.text = "run " + d.safe(p.Target) + "? y/n"
		where := Text("where this program was started")
		if p.Dir != "" {
			where = "in " + d.safe(p.Dir)
		}
		q.more = append(q.more, "a copy of the server, "+where+", with this program's environment; it is ended after the answer")
	}
	q.more = append(q.more, d.safe(p.Method)+" "+d.safe(p.Name)+" does again what it did; asked once for this session")
	for _, n := range p.Notes {
		q.more = append(q.more, d.safe(n))
	}
	q.yes = func() tea.Cmd {
		if m.mayReplay == nil {
			m.mayReplay = map[string]bool{}
		}
		m.mayReplay[key] = true
		return m.showReplay(r)
	}
	m.ask(q)
	return nil
}

// showReplay sends a call and shows what comes back. One replay takes the
// place of another.
func (m *Model) showReplay(r *replayScreen) tea.Cmd {
	for len(m.stack) > 1 && m.top().place()&(inReplay|inEdit) != 0 {
		m.drop()
	}
	return tea.Batch(m.push(r), r.send())
}

// requestSeq is the number of a captured request in its log.
func requestSeq(s *store.Session, op uint32) Text {
	return Text(strconv.FormatUint(s.Frame(s.Op(store.OpIndex(op)).Request).Seq, 10))
}

// runAct is a word of the command line that does what a key does.
func runAct(act action) func(*Model, string) (tea.Cmd, *store.QueryError) {
	return func(m *Model, _ string) (tea.Cmd, *store.QueryError) { return m.act(act), nil }
}
