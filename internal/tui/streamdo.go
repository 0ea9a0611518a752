package tui

import (
	"context"
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
	case actUp:
		s.leaveEnd(-1)
	case actTop:
		s.list.follow = false
		s.list.to(0)
	case actEnd:
		s.list.to(s.list.n - 1)
		s.list.follow = s.live && !s.paused
	case actPageDown:
		s.list.page(1)
	case actPageUp:
		s.list.follow = false
		s.list.page(-1)
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
	at, ok := s.s.Frame(s.sel).Op()
	if !ok {
		s.m.say(inkWarn, "this frame belongs to no call")
		return nil
	}
	op := s.s.Op(at)
	to := op.Request
	if s.sel == op.Request {
		var ok bool
		if to, ok = op.Answer(); !ok {
			if to, ok = op.Late(); !ok {
				if to, ok = op.Cancel(); !ok {
					s.m.say(inkPending, "no answer: "+s.m.d.safe(s.s.Why(op)))
					return nil
				}
			}
		}
	}
	return s.jump(to)
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

// nextOdd goes to the next frame that failed, is open or is no message, and
// past the last one round to the other end. Who follows stands at the end and
// has seen none of them: the call that waits longest comes first then. It may
// have to look at all frames, so it looks beside Update.
func (s *stream) nextOdd(d int) tea.Cmd {
	if s.seeking {
		return nil
	}
	s.seeking = true
	o := oddSeek{s: s.s, from: s.list.cur, n: s.list.n, d: d, read: s.view.reader(), open: s.list.follow && s.live}
	return s.m.work(func(ctx context.Context) done {
		row, round := o.next(ctx)
		return func(m *Model) tea.Cmd {
			s.seeking = false
			switch {
			case s.s != o.s || s.list.cur != o.from:
				return nil // something else was done meanwhile
			case row < 0:
				m.say(inkNote, "no other failed, open or odd frame")
				return nil
			}
			cmd := s.jump(o.read(row))
			if round != "" {
				m.say(inkNote, round)
			}
			return cmd
		}
	})
}

// oddSeek looks for the next odd row of a list.
type oddSeek struct {
	s       *store.Session
	from, n int
	d       int  // 1 or -1
	open    bool // past the end the oldest open call goes before others
	read    func(row int) uint32
}

// next is the row, -1 when there is no other, and what to say of the way when
// it leads past an end.
func (o *oddSeek) next(ctx context.Context) (row int, round Text) {
	for row = o.from + o.d; row >= 0 && row < o.n; row += o.d {
		if ctx.Err() != nil || isOdd(o.s, o.read(row)) {
			return row, ""
		}
	}
	first, round := -1, Text("none further on: from the top again")
	if row = 0; o.d < 0 {
		row, round = o.n-1, "none before: from the end again"
	}
	for ; row != o.from && ctx.Err() == nil; row += o.d {
		switch i := o.read(row); {
		case o.open && o.waits(i):
			return row, "the call that waits longest"
		case first < 0 && isOdd(o.s, i):
			first = row
			if !o.open {
				return first, round
			}
		}
	}
	return first, round
}

// waits reports whether a frame is the request of a call that is open.
func (o *oddSeek) waits(i uint32) bool {
	f := o.s.Frame(i)
	at, ok := f.Op()
	return ok && f.Kind == store.KindRequest && o.s.Op(at).State == store.Pending
}

// isOdd reports whether a frame is worth a look: a call that did not go well,
// or bytes that are none of the protocol's.
func isOdd(s *store.Session, i uint32) bool {
	f := s.Frame(i)
	if f.Kind == store.KindInvalid || f.Status >= 400 || f.Flags&(store.Late|store.Unpaired|store.Gap) != 0 {
		return true
	}
	if at, ok := f.Op(); ok && f.Kind == store.KindRequest && s.Op(at).State != store.OK {
		return true
	}
	worst, _ := (&markFindings{}).Worst(s, i)
	return worst >= LevelShould
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

// filterPrompt asks for a filter and shows what it lets through while it is
// typed. A word of the filter language that is still being typed, and one that
// is wrong, leave the list as it was before.
func (s *stream) filterPrompt() *prompt {
	before := s.view.text
	p := &prompt{kind: promptFilter, sign: "/ ", chosen: -1, history: s.m.recent}
	p.input.set(before)
	set := func(text string) (tea.Cmd, *store.QueryError) {
		wrong := s.view.filter(s.m.expand(strings.TrimSpace(text)))
		if wrong != nil {
			s.view.restore(before)
		}
		return s.refresh(), wrong
	}
	p.change = func(text string) (tea.Cmd, *store.QueryError) {
		if half(text, p.offers) {
			text = before
		}
		return set(text)
	}
	p.accept = func(text string) (tea.Cmd, *store.QueryError) {
		cmd, wrong := set(text)
		if wrong == nil {
			cmd = tea.Batch(cmd, s.m.remember(s.view.text))
			s.m.sayDone("", s.command())
		}
		return cmd, wrong
	}
	p.cancel = func() tea.Cmd {
		s.view.restore(before)
		return s.refresh()
	}
	p.offer = func(text string, column int) []store.Completion {
		if s.s == nil {
			return nil
		}
		if saved := s.m.savedOffers(text, column-1); saved != nil {
			return saved
		}
		return store.Complete(text, column, s.s)
	}
	return p
}

// half reports whether a filter ends in the beginning of a word of the filter
// language.
func half(text string, offers []store.Completion) bool {
	word := text[strings.LastIndexAny(text, " (")+1:]
	if word == "" || strings.ContainsAny(word, ":<>=\"/") {
		return false
	}
	for _, o := range offers {
		if strings.HasPrefix(o.Text, strings.TrimLeft(word, "-")) && strings.ContainsAny(o.Text, ":<>=") {
			return true
		}
	}
	return false
}
