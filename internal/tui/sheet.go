package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// sheet is a table of what is known of one session: its findings, tools,
// calls and so on. Its page makes the rows beside Update, in steps, and only
// when the session has changed; what is drawn is a screen of them.
type sheet struct {
	m    *Model
	id   string
	s    *store.Session // nil while the source does not have it yet
	live bool
	page page
	list list
	key  string // of the selected row; the rows before it may come and go

	filter rowFilter
	pane   pane

	moved bool   // somebody selected a row
	above int    // lines above the table, as it was drawn last
	busy  bool   // the page is at work
	seen  uint64 // version of the session that the rows are of
	made  bool   // there are rows of some version
	stale bool   // the rows have to be made anew, whatever the version
}

// page is what one kind of sheet consists of.
type page interface {
	at() place
	name() Text
	command() Text // the word of the command that prints the same
	// look turns to a session and forgets what was known of another.
	look(s *store.Session)
	// plan takes what the work needs and gives the work: it goes on with the
	// rows for about the time of a step, away from Update, where publish then
	// puts them in place. more says that it is not all.
	plan(j job) func(ctx context.Context) (publish func(), more bool)
	status() (line, line)
	len() int
	lead(w int) []line    // lines above the table
	head(w int) line      // the column titles of a table w cells wide
	row(i int) line       // a row of it
	fields(i int) []field // the cells of a row, in words
	note(i, w int) []line // what is known of the row beside
	empty() Text
	key(i int) string              // by which a row is found again
	frame(i int) (uint32, bool)    // where enter leads
	sort(letter byte) (Text, bool) // what it is now sorted by
	column(x int) byte             // the letter that sorts by what stands at x
	ages() bool
}

// job is what a page is given to work with.
type job struct {
	s    *store.Session
	src  Source
	now  time.Time
	live bool
}

func newSheet(m *Model, id string, p page) *sheet {
	s := &sheet{m: m, id: id, page: p}
	s.pane.insp.m = m
	s.find()
	return s
}

// find looks for the session; a log that was replaced comes back under its id.
func (s *sheet) find() {
	now := s.m.session(s.id)
	if now != nil && now != s.s {
		s.s, s.made, s.key = now, false, ""
		s.page.look(now)
		s.pane.insp.look(now)
	}
	if s.s != nil {
		s.live = live(s.m.src, s.s, s.m.now())
	}
}

func (s *sheet) place() place {
	if s.inPane() {
		return inInspector
	}
	return s.page.at()
}

func (s *sheet) session() string { return s.id }
func (s *sheet) crumb() Text     { return s.page.name() }

func (s *sheet) command() Text {
	if p, ok := s.page.(interface{ whole() Text }); ok {
		return s.m.prog() + " " + p.whole()
	}
	return s.m.prog() + " " + s.page.command() + " " + s.m.word(s.m.d.safe(s.id))
}

// facts are those of the session, when it is not on the path already.
func (s *sheet) facts() (line, line) {
	if s.s == nil {
		return line{}, of(span{"waiting for the log", inkDim})
	}
	d := &s.m.d
	r := newSessionRow(s.m.src, s.s, s.m.now())
	left := line{}
	if below := len(s.m.stack) - 2; below < 0 || s.m.stack[below].place() == inSessions {
		left.put(inkDim, d.safe(r.name))
	} else if r.server != "" {
		left.put(inkDim, d.safe(r.client)+" "+d.g.out+" "+d.safe(r.server))
	}
	return left, of(ending(d, &r))
}

func (s *sheet) status() (line, line) {
	if s.s == nil {
		return line{}, progressBar(&s.m.d, s.m.src, 16)
	}
	left, right := s.page.status()
	switch {
	case s.inPane() && s.pane.insp.search != "":
		left, right = of(span{"/ ", inkKey}, span{s.m.d.safe(s.pane.insp.search), inkStrong}), s.pane.insp.found()
	case s.filter.on():
		left = of(span{"/ ", inkKey}, span{s.m.d.safe(s.filter.text), inkStrong})
		right = of(span{count(s.count()) + " of " + plural(s.page.len(), "row", "rows"), inkText})
		if s.filter.busy {
			right.put(inkNote, " "+s.m.d.g.dot+" looked at "+count(s.filter.seen))
		}
	}
	if s.busy && !s.made {
		right = of(span{"looking", inkNote})
	}
	return left, right
}

func (s *sheet) ages(now time.Time) bool {
	return s.s != nil && (s.live && s.page.ages() || !s.live && maybeLive(s.s, now))
}

// refresh takes over what has changed, and begins to look when something has.
func (s *sheet) refresh() tea.Cmd {
	s.find()
	s.settle()
	if s.s == nil || s.busy {
		return nil
	}
	version := s.s.Version()
	if s.made && version == s.seen && !s.stale {
		return s.showPane()
	}
	s.busy, s.stale = true, false
	session := s.s
	gather := s.page.plan(job{s: session, src: s.m.src, now: s.m.now(), live: s.live})
	return s.m.work(func(ctx context.Context) done {
		publish, more := gather(ctx)
		return func(m *Model) tea.Cmd {
			s.busy = false
			if s.s != session || ctx.Err() != nil {
				return s.refresh()
			}
			publish()
			s.made, s.seen = true, version
			s.stale = s.stale || more
			s.settle()
			return tea.Batch(s.look(), s.showPane(), s.refresh())
		}
	})
}

// settle finds the selected row again.
func (s *sheet) settle() {
	n := s.count()
	if p, ok := s.page.(interface{ tail() bool }); ok && !s.moved && p.tail() {
		s.list.cur = n - 1
	}
	if s.key != "" && (s.list.cur >= n || s.page.key(s.row(s.list.cur)) != s.key) {
		for i := range min(n, maxKeyed) {
			if s.page.key(s.row(i)) == s.key {
				s.list.top += i - s.list.cur
				s.list.cur = i
				break
			}
		}
	}
	s.list.resize(n, s.list.height)
}

// maxKeyed is how many rows are looked at for the one that was selected.
const maxKeyed = 2000

func (s *sheet) keep() {
	s.key = ""
	if s.list.cur < s.count() {
		s.key = s.page.key(s.row(s.list.cur))
	}
}

func (s *sheet) do(act action) tea.Cmd {
	s.moved = true
	if s.inPane() {
		return s.doPane(act)
	}
	if s.list.do(act) {
		s.keep()
		return s.showPane()
	}
	switch act {
	case actPane:
		return s.turnPane()
	case actFilter:
		s.m.prompt = s.filterPrompt()
	case actEnter:
		return s.enter()
	case actBack:
		return s.back()
	}
	s.keep()
	return nil
}

func (s *sheet) back() tea.Cmd {
	switch {
	case s.filter.on():
		s.filter.set("")
		s.settle()
		return s.showPane()
	case s.beside():
		s.pane.open = false
		return nil
	}
	if len(s.m.stack) > 1 {
		return s.m.pop()
	}
	s.m.say(inkNote, "this is the first screen; q quits")
	return nil
}

// enter shows the frame that the row is about, in the stream around it.
func (s *sheet) enter() tea.Cmd {
	s.keep()
	if s.s == nil || s.list.cur >= s.count() {
		return nil
	}
	i := s.row(s.list.cur)
	if g, ok := s.page.(interface{ goes(i int) string }); ok {
		if filter := g.goes(i); filter != "" {
			if cmd := s.m.openFiltered(s.id, filter, s.m.d.safe(s.page.key(i))); cmd != nil {
				return cmd
			}
		}
	}
	frame, ok := s.page.frame(i)
	if !ok || frame >= s.s.Len() {
		s.m.say(inkNote, "no frame stands for this row")
		return nil
	}
	return s.m.openAt(s.id, frame)
}

func (s *sheet) sort(letter byte) tea.Cmd {
	by, ok := s.page.sort(letter)
	if !ok {
		return nil
	}
	s.m.say(inkNote, "sorted by "+by)
	s.stale = true
	return s.refresh()
}

func (s *sheet) mouse(x, y int, e mouse) tea.Cmd {
	s.moved = true
	if s.mousePane(x, y, e) {
		return nil
	}
	s.pane.keys = false
	switch e {
	case mouseWheelUp:
		s.list.scroll(-3)
	case mouseWheelDown:
		s.list.scroll(3)
	case mouseClick:
		y -= s.above
		if y == 0 {
			if c := s.page.column(x - 2); c != 0 {
				return s.sort(c)
			}
		}
		i, ok := s.list.under(y)
		if !ok {
			return nil
		}
		if i == s.list.cur {
			return s.enter()
		}
		s.list.to(i)
	}
	s.keep()
	return s.showPane()
}
