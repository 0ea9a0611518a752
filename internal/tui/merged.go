package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// merged is the stream of several sessions as one, by time, each row with the
// letter of its session.
type merged struct {
	m    *Model
	ids  []string // of the sessions; nil for all there are
	lane map[*store.Session]*lane
	all  []*lane // in the order of their letters

	list    list
	view    mergedView
	sel     store.Match // selected frame
	hasSel  bool
	paused  bool
	seeking bool // nextOdd looks
	moved   bool // a key or a click was given
	inspect bool // the inspector has the keys
	insp    inspector
	details mergedDetails
	marked  map[store.Match]bool
	split   bool
	cols    []placed[*frameRow] // as they were drawn last, for the mouse
}

// lane is one of the sessions.
type lane struct {
	s      *store.Session
	letter Text
	ink    ink
	name   Text
	tail   Text // of the id, where others have the same name
	live   bool
}

// maxLanes is how many sessions are merged at most: there is a letter for each.
const maxLanes = 52

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// laneInks are the colours of the sessions, beside their letters. Red and
// yellow mean something else.
var laneInks = [...]ink{inkIn, inkOut, inkString, inkNumber, inkNote, inkPending}

// newMerged merges the sessions with some ids; all there are for nil.
func newMerged(m *Model, ids []string) *merged {
	s := &merged{m: m, ids: ids, lane: map[*store.Session]*lane{}, marked: map[store.Match]bool{}}
	s.view.m, s.insp.m, s.details.m = m, m, m
	s.view.look(nil)
	s.find()
	return s
}

// find looks for the sessions in the source. A log that was replaced comes
// back under the same id, and takes the letter of the one before. While the
// list stands still no session comes or goes.
func (s *merged) find() {
	now := s.m.now()
	if !s.paused {
		s.findLanes()
	}
	wasLive := s.live()
	for _, l := range s.all {
		l.live = live(s.m.src, l.s, now)
	}
	if s.live() && !wasLive && !s.moved {
		s.list.follow = true
	}
}

func (s *merged) findLanes() {
	var sessions []*store.Session
	changed := false
	for _, x := range s.chosen() {
		if l := s.lane[x]; l != nil {
			sessions = append(sessions, x)
			continue
		}
		changed = true
		sessions = append(sessions, x)
		s.join(x)
	}
	if changed || len(sessions) != len(s.view.sessions) {
		for x := range s.lane {
			if !slices.Contains(sessions, x) {
				delete(s.lane, x)
			}
		}
		s.all = slices.DeleteFunc(s.all, func(l *lane) bool { return s.lane[l.s] == nil })
		s.name()
		s.view.look(sessions)
		if s.hasSel && s.lane[s.sel.Session] == nil {
			s.hasSel = false
		}
	}
}

// chosen are the sessions to merge, those that came first in front: their
// letters stay.
func (s *merged) chosen() []*store.Session {
	var known, fresh []*store.Session
	for _, x := range s.m.src.Sessions() {
		switch {
		case s.ids != nil && !slices.Contains(s.ids, x.ID):
		case s.lane[x] != nil:
			known = append(known, x)
		default:
			fresh = append(fresh, x)
		}
	}
	slices.SortFunc(known, func(a, b *store.Session) int { return slices.Index(s.all, s.lane[a]) - slices.Index(s.all, s.lane[b]) })
	all := append(known, fresh...)
	return all[:min(len(all), maxLanes)]
}

// join gives a session a letter: that of the log it replaces, or a free one.
func (s *merged) join(x *store.Session) {
	l := &lane{s: x}
	for i, old := range s.all {
		if old.s.ID == x.ID {
			l.letter, l.ink, s.all[i] = old.letter, old.ink, l
			delete(s.lane, old.s)
			s.lane[x] = l
			return
		}
	}
	for i := range letters {
		t := Text(letters[i : i+1])
		if !slices.ContainsFunc(s.all, func(l *lane) bool { return l.letter == t }) {
			l.letter, l.ink = t, laneInks[i%len(laneInks)]
			break
		}
	}
	s.all = append(s.all, l)
	s.lane[x] = l
}

// name names the sessions, so that no two have the same name.
func (s *merged) name() {
	d := &s.m.d
	times := map[string]int{}
	for _, l := range s.all {
		times[l.s.Summary().Label]++
	}
	for _, l := range s.all {
		label := l.s.Summary().Label
		l.name, l.tail = d.safe(label), ""
		switch n := len(l.s.ID); {
		case label == "":
			l.name = d.safe(l.s.ID)
		case times[label] > 1 && n > 4:
			l.tail = d.safe(l.s.ID[n-4:])
		}
	}
}

func (s *merged) live() bool { return slices.ContainsFunc(s.all, func(l *lane) bool { return l.live }) }

func (s *merged) place() place {
	if s.inspect {
		return inInspector
	}
	return inStream
}

// session is that of the selected frame: sheets that are opened are its.
func (s *merged) session() string {
	if s.hasSel {
		return s.sel.Session.ID
	}
	return ""
}

func (s *merged) close() { s.view.close() }

func (s *merged) crumb() Text {
	t := "merged " + count(len(s.all))
	if s.hasSel && (s.inspect && !s.split || s.m.top() != screen(s)) {
		return t + " " + s.m.d.g.path + " " + s.frameName(s.sel)
	}
	return t
}

// frameName is a session and a number: A github #31.
func (s *merged) frameName(x store.Match) Text {
	if l := s.lane[x.Session]; l != nil {
		return l.letter + " " + l.title() + " " + seqOf(x.Session, x.Frame)
	}
	return seqOf(x.Session, x.Frame)
}

// facts are who is who.
func (s *merged) facts() (line, line) {
	d := &s.m.d
	var left, right line
	for i, l := range s.all {
		if i > 0 {
			left.put(inkText, "  ")
		}
		left.put(l.ink, l.letter)
		left.put(inkDim, " "+l.title())
	}
	switch {
	case s.paused:
		right.put(inkWarn, d.g.pause+" paused")
		if n := s.view.rows.Held(); n > 0 {
			right.put(inkWarn, " +"+count(n))
		}
	case s.list.follow && s.live():
		right.put(inkNote, d.g.follow+" follow")
	}
	if len(right.spans) > 0 {
		right.put(inkText, "  ")
	}
	running := 0
	for _, l := range s.all {
		if l.live {
			running++
		}
	}
	if running > 0 {
		right.put(inkOK, d.g.live+" "+count(running)+" live")
	} else {
		right.put(inkDim, d.g.ended+" none live")
	}
	return left, right
}

// title is the name with what tells it from others.
func (l *lane) title() Text {
	if l.tail != "" {
		return l.name + " " + l.tail
	}
	return l.name
}

func (s *merged) status() (line, line) {
	d := &s.m.d
	var left, right line
	if s.insp.search != "" && s.inspect {
		left.put(inkKey, "/ ")
		left.put(inkStrong, d.safe(s.insp.search))
		return left, s.insp.found()
	}
	var sum store.Summary
	frames := uint32(0)
	for _, l := range s.all {
		x := l.s.Summary()
		frames += l.s.Len()
		sum.Calls.Total += x.Calls.Total
		sum.Calls.Failed += x.Calls.Failed
		sum.Calls.Pending += x.Calls.Pending
		sum.Calls.Cancelled += x.Calls.Cancelled
		sum.Missing += x.Missing
		sum.Repeats += x.Repeats
		sum.ProblemCount += x.ProblemCount
	}
	if s.view.text != "" {
		left.put(inkKey, "/ ")
		left.put(inkStrong, d.safe(s.view.text))
		right.put(inkText, count(s.view.len())+" of "+plural(frames, "frame", "frames"))
		if p, busy := s.view.progress(); busy {
			right.put(inkNote, " "+d.g.dot+" looked at "+count(p.Seen))
		}
		return left, s.named(right)
	}
	left = counts(d, &sum, frames, s.live())
	left.spans = append(left.spans, flood(d, sum.Repeats, s.view.folds).spans...)
	if n := len(s.m.src.Sessions()); s.ids == nil && n > maxLanes {
		right.put(inkWarn, d.g.warn+" "+count(maxLanes)+" of "+count(n)+" sessions; mark those you want")
	}
	right.spans = append(right.spans, progressBar(d, s.m.src, 10).spans...)
	return left, s.named(right)
}

// named puts the name of the selected frame's session in the place of what
// else is said, where its row has no room for it.
func (s *merged) named(l line) line {
	if x := s.lane[s.sel.Session]; x != nil && s.hasSel && s.m.width < namesWidth {
		return of(span{" ", inkText}, span{x.letter + " " + x.title(), x.ink})
	}
	return l
}

// namesWidth is the width from which rows have the names of their sessions
// beside the letters.
const namesWidth = 60

// command writes the same as lines of text.
func (s *merged) command() Text {
	t := s.m.prog() + " export -T text"
	if s.view.text != "" {
		t += " --where " + s.m.word(s.m.d.safe(s.view.text))
	}
	for _, l := range s.all {
		t += " " + s.m.word(s.m.d.safe(l.s.ID))
	}
	return t
}

// refresh takes over what has changed in the source.
func (s *merged) refresh() tea.Cmd {
	s.find()
	if !s.live() {
		s.list.follow = false
	}
	s.split = s.m.width >= splitWidth
	cmd := s.view.advance()
	s.settle()
	return tea.Batch(cmd, s.show(), s.details.load(s.visible()))
}

// settle finds the selected frame among the rows again: rows before it may
// have come or gone.
func (s *merged) settle() {
	_, h := s.m.body()
	if s.hasSel && !s.list.follow {
		row, _ := s.view.rank(s.sel)
		moved := row - s.list.cur
		s.list.cur = row
		s.list.top += moved
	}
	s.list.resize(s.view.len(), h-1)
	s.keep()
}

// keep remembers which frame is selected.
func (s *merged) keep() {
	if x, ok := s.view.at(s.list.cur); ok {
		s.sel, s.hasSel = x, true
	} else if s.list.n == 0 {
		s.hasSel = false
	}
}

// show lets the inspector show the selected frame, while it is on the screen.
func (s *merged) show() tea.Cmd {
	if !s.hasSel || !s.split && !s.inspect {
		return nil
	}
	if s.insp.s != s.sel.Session {
		search, bytes := s.insp.search, s.insp.bytes
		s.insp.look(s.sel.Session)
		s.insp.search, s.insp.bytes = search, bytes
	}
	s.insp.lane = s.lane[s.sel.Session]
	return s.insp.show(s.sel.Frame, true)
}

// visible are the frames on the screen.
func (s *merged) visible() []store.Match { return s.view.window(s.list.top, s.list.height) }

func (s *merged) ages(now time.Time) bool {
	for _, l := range s.all {
		if !l.live && maybeLive(l.s, now) {
			return true
		}
	}
	if !s.live() {
		return false
	}
	if s.inspect && !s.split {
		return s.insp.ages()
	}
	for _, x := range s.visible() {
		r := newFrameRow(x.Session, x.Frame, now, s.lane[x.Session].live, s.m.opts.Zone)
		if r.ages() {
			return true
		}
	}
	return s.split && s.insp.ages()
}

// merge shows the marked sessions as one stream; without marks those that are
// listed.
func (s *sessions) merge() tea.Cmd {
	var ids []string
	switch {
	case len(s.marked) > 1:
		for _, x := range s.all {
			if s.marked[x.ID] {
				ids = append(ids, x.ID)
			}
		}
	case len(s.marked) == 1:
		s.m.say(inkWarn, "one session is marked: mark another one with space, or esc and m for all")
		return nil
	case s.filter != "":
		for _, x := range s.shown {
			ids = append(ids, x.ID)
		}
	}
	if len(s.shown) == 0 {
		s.m.say(inkWarn, "there is nothing to merge")
		return nil
	}
	return s.m.openMerged(ids)
}

// openMerged shows sessions as one stream, all for nil.
func (m *Model) openMerged(ids []string) tea.Cmd {
	for _, id := range ids {
		m.src.Want(id)
	}
	s := newMerged(m, ids)
	cmd := m.push(s)
	m.sayDone("", s.command())
	return cmd
}

// runMerge takes the ids or labels of sessions. Without them it does what the
// key does in the list of sessions, and elsewhere merges all.
func runMerge(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	if arg == "" {
		if s, ok := m.top().(*sessions); ok {
			return s.merge(), nil
		}
		return m.openMerged(nil), nil
	}
	list, wrong := m.sessionsCalled(arg, len("merge ")+1, maxLanes)
	if wrong != nil {
		return nil, wrong
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return m.openMerged(ids), nil
}

// sessionsCalled are the sessions with the labels or ids that words begin
// with, some of each, the newest first. The words stand at a column.
func (m *Model) sessionsCalled(words string, column, each int) ([]*store.Session, *store.QueryError) {
	var out []*store.Session
	for word := range strings.FieldsSeq(words) {
		found := 0
		for _, s := range m.src.Sessions() {
			if found < each && (s.Summary().Label == word || strings.HasPrefix(s.ID, word)) && !slices.Contains(out, s) {
				found++
				out = append(out, s)
			}
		}
		if found == 0 {
			return nil, &store.QueryError{Column: column, Msg: "no other session is called " + word}
		}
		column += len(word) + 1
	}
	return out, nil
}
