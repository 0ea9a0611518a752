package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// do does an action in the pane that has the keys.
func (s *merged) do(act action) tea.Cmd {
	s.moved = true
	var cmd tea.Cmd
	if s.inspect {
		cmd = s.doInspector(act)
	} else {
		cmd = s.doList(act)
	}
	if s.m.top() != screen(s) {
		return cmd
	}
	s.keep()
	return tea.Batch(cmd, s.show(), s.details.load(s.visible()))
}

func (s *merged) doInspector(act action) tea.Cmd {
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
	case actCopyValue, actEnter, actUp, actDown, actTop, actEnd, actPageUp, actPageDown, actLeft, actRight, actFold, actUnfold, actRaw, actNext, actPrev:
		return s.insp.do(act)
	default:
		return s.alone(act)
	}
	return nil
}

// leaveEnd moves in the list; moving up is the end of following.
func (s *merged) leaveEnd(d int) {
	if d < 0 {
		s.list.follow = false
	}
	s.list.move(d)
}

func (s *merged) doList(act action) tea.Cmd {
	switch act {
	case actDown:
		s.leaveEnd(1)
	case actEnd:
		s.list.to(s.list.n - 1)
		s.list.follow = s.live() && !s.paused
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
	default:
		return s.alone(act)
	}
	return nil
}

// alone does what is done to one frame the way the stream of its session does.
func (s *merged) alone(act action) tea.Cmd {
	if !s.hasSel {
		return nil
	}
	x := newStream(s.m, s.sel.Session.ID)
	if x.s != s.sel.Session {
		return nil
	}
	x.sel, x.hasSel = s.sel.Frame, true
	x.list = list{cur: int(s.sel.Frame), n: x.view.len()}
	return x.do(act)
}

// back drops the filter, then the order, then the screen.
func (s *merged) back() tea.Cmd {
	switch {
	case s.view.text != "":
		s.view.restore("")
		s.m.say(inkNote, "no filter any more")
	case s.view.by != 0:
		s.view.sortBy(0, false)
		s.m.say(inkNote, "by time again")
	default:
		return s.m.pop()
	}
	return s.refresh()
}

func (s *merged) follow() tea.Cmd {
	if !s.live() {
		s.m.say(inkNote, "nothing to follow: the sessions are over")
		s.list.follow = false
		s.list.to(s.list.n - 1)
		return nil
	}
	s.list.follow = !s.list.follow
	if !s.list.follow {
		s.m.say(inkNote, "no longer following; frames go on arriving below")
		return s.refresh()
	}
	s.paused = false
	s.view.hold(false)
	s.m.say(inkNote, "following the newest frame")
	return s.refresh()
}

func (s *merged) pause() tea.Cmd {
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
func (s *merged) pair() tea.Cmd {
	if !s.hasSel {
		return nil
	}
	to, why := pairOf(s.sel.Session, s.sel.Frame)
	if why != "" {
		s.m.say(inkPending, s.m.d.safe(why))
		return nil
	}
	return s.jump(store.Match{Session: s.sel.Session, Frame: to})
}

// jump selects a frame, whatever the filter says.
func (s *merged) jump(x store.Match) tea.Cmd {
	row, found := s.view.rank(x)
	if !found && s.view.folds {
		s.view.fold(false)
		row, found = s.view.rank(x)
	}
	if !found && s.view.text != "" {
		s.view.restore("")
		s.m.say(inkNote, "the filter hid it: it is off")
		row, _ = s.view.rank(x)
	}
	s.list.follow = false
	s.sel, s.hasSel = x, true
	s.list.n = s.view.len()
	s.list.to(row)
	return s.refresh()
}

// nextOdd goes to the next frame that failed, is open or is no message.
func (s *merged) nextOdd(d int) tea.Cmd {
	if s.seeking || !s.hasSel {
		return nil
	}
	from := s.sel
	read, closes := s.view.reader()
	o := oddSeek{read: read, start: s.list.cur, n: s.list.n, d: d, waits: s.list.follow && s.live()}
	return s.m.nextOdd(o, closes, &s.seeking,
		func() bool { return s.sel != from || s.m.top() != screen(s) }, s.jump)
}

func (s *merged) mark() {
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

func (s *merged) sort(letter byte) tea.Cmd {
	if s.inspect {
		return nil
	}
	for _, c := range s.columns(s.m.width, 2) {
		if c.sort != letter {
			continue
		}
		down := strings.IndexByte("DZS", letter) >= 0
		if s.view.by == letter {
			down = !s.view.down
		}
		s.list.follow = false
		s.view.sortBy(letter, down)
		s.m.say(inkNote, "sorted by "+c.head+"; esc goes back to the order of time")
		return s.refresh()
	}
	return nil
}

func (s *merged) filterPrompt() *prompt {
	return filtered{
		m: s.m, text: func() string { return s.view.text }, set: s.view.filter, restore: s.view.restore, refresh: s.refresh,
		offers: func(text string, column int) []store.Completion {
			return store.Complete(text, column, s.view.sessions...)
		},
		done: func() { s.m.sayDone("", s.command()) },
	}.prompt()
}
