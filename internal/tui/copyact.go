package tui

import (
	"bytes"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// copyItem is one of the things that y copies here, the likeliest first: y
// again takes the next.
type copyItem struct {
	what Text
	do   func(m *Model) tea.Cmd
}

// copier is a screen from which something can be copied.
type copier interface {
	// copies are the things, and key says of what, so that moving on begins
	// with the first again.
	copies() (items []copyItem, key string)
}

// copyTurn is how far y has gone through the things of one place.
type copyTurn struct {
	key  string
	next int
	hint Text // what y again would copy
}

// copyNext copies the next thing of what is selected.
func (m *Model) copyNext() tea.Cmd {
	c, ok := m.top().(copier)
	if !ok {
		m.say(inkNote, "nothing to copy here")
		return nil
	}
	items, key := c.copies()
	if len(items) == 0 {
		m.say(inkWarn, "nothing to copy")
		return nil
	}
	if m.turn.key != key {
		m.turn = copyTurn{key: key}
	}
	i := m.turn.next % len(items)
	m.turn.next = i + 1
	m.turn.hint = ""
	if len(items) > 1 {
		m.turn.hint = items[(i+1)%len(items)].what
	}
	return items[i].do(m)
}

// hintNext says what y again would copy.
func (m *Model) hintNext() {
	if m.turn.hint != "" {
		m.notice.put(inkDim, ", ")
		m.notice.put(inkKey, "y")
		m.notice.put(inkDim, " again: "+m.turn.hint)
		m.turn.hint = ""
	}
}

// text is a thing that is there already.
func (m *Model) textItem(what Text, text string) copyItem {
	return copyItem{what, func(m *Model) tea.Cmd { return m.copy(text, what, "") }}
}

// commandItem is a command.
func (m *Model) commandItem(what, command Text) copyItem {
	return copyItem{what, func(m *Model) tea.Cmd { return m.copy(string(command), what, command) }}
}

// sessionItems are what can be copied of a session itself.
func (m *Model) sessionItems(s *store.Session) []copyItem {
	return []copyItem{
		m.textItem("the path of the log", s.Path),
		m.textItem("the session's id", s.ID),
	}
}

func (s *sessions) copies() ([]copyItem, string) {
	m, list := s.m, s.targets()
	switch len(list) {
	case 0:
		return nil, ""
	case 1:
		open := m.prog() + " open "
		if m.farCommands() {
			open = m.prog() + " tail "
		}
		return append(m.sessionItems(list[0]), m.commandItem("the command", open+m.word(m.d.safe(list[0].ID)))), list[0].ID
	}
	var paths, ids []string
	for _, x := range list {
		paths, ids = append(paths, x.Path), append(ids, x.ID)
	}
	n := count(len(list))
	return []copyItem{
		m.textItem("the paths of "+n+" logs", strings.Join(paths, "\n")),
		m.textItem(n+" ids", strings.Join(ids, "\n")),
	}, strings.Join(ids, " ")
}

func (s *stream) copies() ([]copyItem, string) {
	if s.s == nil || !s.hasSel {
		return nil, ""
	}
	return s.m.frameCopies(s.s, s.sel, s.m.valueItem(&s.insp, s.inspect))
}

func (s *merged) copies() ([]copyItem, string) {
	if !s.hasSel {
		return nil, ""
	}
	return s.m.frameCopies(s.sel.Session, s.sel.Frame, s.m.valueItem(&s.insp, s.inspect))
}

func (s *merged) several() []*store.Session {
	var out []*store.Session
	for _, l := range s.all {
		out = append(out, l.s)
	}
	return out
}

func (s *merged) where() string { return s.view.text }

// valueItem is the value of the line that the inspector is at, while it has
// the keys.
func (m *Model) valueItem(p *inspector, on bool) []copyItem {
	if !on || p.mode != bodyJSON {
		return nil
	}
	return []copyItem{{"the value", func(m *Model) tea.Cmd {
		cmd := p.copyValue()
		if cmd == nil {
			m.hintNext()
		}
		return cmd
	}}}
}

// frameCopies are what can be copied of a frame: it, its call in the ways in
// which one could be made again, and its session.
func (m *Model) frameCopies(s *store.Session, frame uint32, more []copyItem) ([]copyItem, string) {
	items := append([]copyItem{{"the frame", func(m *Model) tea.Cmd { return copyFrame(m, s, frame) }}}, more...)
	if at, ok := s.Frame(frame).Op(); ok {
		op := s.Op(at)
		if s.Summary().Transport == httpTransport && op.Client {
			items = append(items, copyItem{"the call as curl", func(m *Model) tea.Cmd { return m.copyCurl(s, op.Request) }})
		}
		if m.opts.Actions.Replay != nil && op.Client {
			items = append(items, copyItem{"the replay command", func(m *Model) tea.Cmd { return m.copyReplay(s, uint32(at)) }})
		}
		if id := string(op.ID); id != "" {
			show := m.prog() + " tail --where " + m.word("id:"+m.d.safe(id)) + " " + m.word(m.d.safe(s.ID))
			items = append(items, m.commandItem("the call as a command", show))
		}
	}
	return append(items, m.sessionItems(s)...), s.ID + string(seqOf(s, frame))
}

// copyReplay copies the command that sends the call again.
func (m *Model) copyReplay(s *store.Session, op uint32) tea.Cmd {
	replay := m.opts.Actions.Replay
	return m.work(func(context.Context) done {
		plan, err := replay.Plan(s, op, nil)
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.say(inkWarn, "not copied: "+m.d.safe(err.Error()))
			case plan.Command == "":
				m.say(inkWarn, "not copied: no command sends this call again")
			default:
				return m.copy(plan.Command, "the replay command", "")
			}
			m.hintNext()
			return nil
		}
	})
}

// copyCurl copies the request as a command of curl.
func (m *Model) copyCurl(s *store.Session, request uint32) tea.Cmd {
	src, target := m.src, s.Summary().Meta.Target
	return m.work(func(context.Context) done {
		rec, err := src.Body(s, request)
		var text string
		if err == nil {
			text = curl(&rec, target, bytes.Clone(rec.Body()))
		}
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.say(inkError, "not copied: "+m.d.safe(err.Error()))
			case rec.Truncated:
				m.say(inkWarn, "not copied: the request was recorded cut")
			default:
				return m.copy(text, "the call as curl", "")
			}
			m.hintNext()
			return nil
		}
	})
}
