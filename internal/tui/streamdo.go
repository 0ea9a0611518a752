package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// do does an action in the pane that has the keys.
func (s *stream) do(act action) tea.Cmd {
	if s.s == nil {
		if act == actBack {
			return s.m.pop()
		}
		return nil
	}
	s.moved = true
	var cmd tea.Cmd
	if s.inspect {
		cmd = s.doInspector(act)
	} else {
		cmd = s.doList(act)
	}
	s.keep()
	return tea.Batch(cmd, s.insp.show(s.shownFrame()), s.details.load(s.visible()))
}

func (s *stream) doInspector(act action) tea.Cmd {
	switch act {
	case actBack:
		if s.insp.search != "" {
			s.insp.search, s.insp.hits = "", nil
			return nil
		}
		s.inspect = false
	case actPane:
		s.inspect = !s.split
		if s.inspect {
			s.m.say(inkNote, "there is one pane below "+count(splitWidth)+" columns; esc goes back to the list")
		}
	case actPair:
		return s.pair()
	case actNextFrame:
		s.leaveEnd(1)
	case actPrevFrame:
		s.leaveEnd(-1)
	case actFilter:
		s.m.prompt = s.insp.searchPrompt()
	default:
		return s.insp.do(act)
	}
	return nil
}

// leaveEnd moves in the list; moving up is the end of following.
func (s *stream) leaveEnd(d int) {
	if d < 0 {
		s.list.follow = false
	}
	s.list.move(d)
}

func (s *stream) doList(act action) tea.Cmd {
	switch act {
	case actDown:
		s.leaveEnd(1)
	case actEnd:
		s.list.to(s.list.n - 1)
		s.list.follow = s.live && !s.paused
	case actPageDown:
		s.list.page(1)
	case actUp, actTop, actPageUp:
		s.list.follow = false
		s.list.do(act)
	case actEnter:
		s.inspect = s.hasSel
	case actPane:
		if s.inspect = s.split && s.hasSel; !s.split {
			s.m.say(inkNote, "there is one pane below "+count(splitWidth)+" columns; "+s.m.d.g.key+" shows the frame")
		}
	case actBack:
		return s.back()
	case actFilter:
		s.m.prompt = s.filterPrompt()
	case actFollow:
		return s.follow()
	case actPause:
		return s.pause()
	case actPair:
		return s.pair()
	case actNext:
		return s.nextOdd(1)
	case actPrev:
		return s.nextOdd(-1)
	case actRuns:
		s.view.fold(!s.view.folds)
		s.m.say(inkNote, foldNote(s.view.folds))
		return s.refresh()
	case actMark:
		s.mark()
	}
	return nil
}

// back drops the filter, then the order, then the screen.
func (s *stream) back() tea.Cmd {
	switch {
	case s.view.text != "":
		s.view.restore("")
		s.m.say(inkNote, "no filter any more")
	case s.view.by != 0:
		s.view.sortBy(0, false)
		s.m.say(inkNote, "in the order of the log again")
	case len(s.m.stack) > 1:
		return s.m.pop()
	default:
		s.m.say(inkNote, "this is the first screen; q quits")
		return nil
	}
	return s.refresh()
}

func (s *stream) follow() tea.Cmd {
	if !s.live {
		s.m.say(inkNote, "nothing to follow: "+s.ended())
		s.list.follow = false
		s.list.to(s.list.n - 1)
		return nil
	}
	s.list.follow = !s.list.follow
	if s.list.follow {
		s.paused = false
		s.view.hold(false)
		s.m.sayDone("following the newest frame", s.command())
	} else {
		s.m.say(inkNote, "no longer following; frames go on arriving below")
	}
	return s.refresh()
}

// ended says how the session ended.
func (s *stream) ended() Text {
	r := newSessionRow(s.m.src, s.s, s.m.now())
	return "the session is over (" + Text(strings.TrimLeft(string(ending(&s.m.d, &r).text), string(s.m.d.g.ended+s.m.d.g.gone+s.m.d.g.bad+" "))) + ")"
}

func (s *stream) pause() tea.Cmd {
	s.paused = !s.paused
	s.view.hold(s.paused)
	if s.paused {
		s.list.follow = false
		s.m.say(inkNote, "paused: the list stands still while recording goes on; p lets it go on")
	} else {
		s.m.say(inkNote, "going on")
	}
	return s.refresh()
}

// pair jumps between a request and its answer.
func (s *stream) pair() tea.Cmd {
	if !s.hasSel {
		return nil
	}
	to, why := pairOf(s.s, s.sel)
	switch why {
	case "":
		return s.jump(to)
	case noCall:
		s.m.say(inkWarn, noCall)
	default:
		s.m.say(inkPending, s.m.d.safe(why))
	}
	return nil
}

// noCall says why a frame has no pair.
const noCall = "this frame belongs to no call"

// pairOf is the other end of the call that a frame belongs to, or why there is
// none.
func pairOf(s *store.Session, frame uint32) (to uint32, why string) {
	at, ok := s.Frame(frame).Op()
	if !ok {
		return 0, noCall
	}
	op := s.Op(at)
	if frame != op.Request {
		return op.Request, ""
	}
	for _, end := range []func() (uint32, bool){op.Answer, op.Late, op.Cancel} {
		if to, ok := end(); ok {
			return to, ""
		}
	}
	return 0, "no answer: " + s.Why(op)
}

// jump selects a frame, whatever the filter says.
func (s *stream) jump(frame uint32) tea.Cmd {
	row, found := s.view.rank(frame)
	if !found && s.view.folds {
		s.view.fold(false)
		row, found = s.view.rank(frame)
	}
	if !found && s.view.text != "" {
		s.view.restore("")
		s.m.say(inkNote, "the filter hid it: it is off")
		row, _ = s.view.rank(frame)
	}
	s.list.follow = false
	s.sel, s.hasSel = frame, true
	s.list.n = s.view.len()
	s.list.to(row)
	return s.refresh()
}

// nextOdd goes to the next frame that failed, is open or is no message.
func (s *stream) nextOdd(d int) tea.Cmd {
	if s.seeking {
		return nil
	}
	session, from, read := s.s, s.list.cur, s.view.reader()
	rows := func(row, n int) (out []store.Match) {
		for k := range n {
			out = append(out, store.Match{Session: session, Frame: read(row + k)})
		}
		return out
	}
	o := oddSeek{read: rows, start: from, n: s.list.n, d: d, waits: s.list.follow && s.live}
	return s.m.nextOdd(o, func() {}, &s.seeking,
		func() bool { return s.s != session || s.list.cur != from },
		func(x store.Match) tea.Cmd { return s.jump(x.Frame) })
}

func (s *stream) mark() {
	if !s.hasSel {
		return
	}
	if s.marked[s.sel] {
		delete(s.marked, s.sel)
	} else {
		s.marked[s.sel] = true
	}
	s.list.follow = false
	s.list.move(1)
}

func (s *stream) sort(letter byte) tea.Cmd {
	if s.inspect || s.s == nil {
		return nil
	}
	for _, c := range frameColumns(&s.m.d, s.m.width, 2) {
		if c.sort != letter {
			continue
		}
		down := strings.IndexByte("DZS", letter) >= 0
		if s.view.by == letter {
			down = !s.view.down
		}
		s.list.follow = false
		s.view.sortBy(letter, down)
		s.m.say(inkNote, "sorted by "+c.head+"; esc goes back to the order of the log")
		return s.refresh()
	}
	return nil
}

func (s *stream) filterPrompt() *prompt {
	return filtered{
		m: s.m, text: func() string { return s.view.text }, set: s.view.filter, restore: s.view.restore, refresh: s.refresh,
		offers: func(text string, column int) []store.Completion {
			if s.s == nil {
				return nil
			}
			return store.Complete(text, column, s.s)
		},
		done: func() { s.m.sayDone("", s.command()) },
	}.prompt()
}
