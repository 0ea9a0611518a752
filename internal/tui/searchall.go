package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// searchAll is a search over all sessions: what was found in each, the session
// with the newest lines first. It goes on while one looks at it, and again
// when sessions have gone on.
type searchAll struct {
	m     *Model
	text  string
	query *store.Query
	list  list
	key   hitKey // of the selected row
	cols  []placed[*frameRow]
	split bool

	groups  []*hitGroup
	lines   []hitLine
	hits    int    // frames found
	shown   int    // of them, on lines
	frames  uint64 // that were looked at
	now     uint32 // of them, in the session at hand
	done    map[*store.Session]searchedAt
	work    *searcher
	stop    context.CancelFunc
	busy    bool
	stopped bool // by its user
	rested  time.Time

	details mergedDetails
	insp    inspector
}

// hitLine is a row of the list: a session, a frame found in it, or how many
// more there are.
type hitLine struct {
	group *hitGroup
	kind  hitKind
	frame uint32
}

type hitKind uint8

const (
	hitSession hitKind = iota
	hitFrame
	hitMore
)

// hitKey finds a line again.
type hitKey struct {
	s     *store.Session
	kind  hitKind
	frame uint32
}

func (l hitLine) match() store.Match { return store.Match{Session: l.group.s, Frame: l.frame} }

func (l hitLine) key() hitKey { return hitKey{l.group.s, l.kind, l.frame} }

func newSearchAll(m *Model) *searchAll {
	s := &searchAll{m: m}
	s.details.m, s.insp.m = m, m
	return s
}

func (s *searchAll) place() place { return inSearch }
func (s *searchAll) crumb() Text  { return "search" }

func (s *searchAll) session() string {
	if l, ok := s.selected(); ok {
		return l.group.s.ID
	}
	return ""
}

func (s *searchAll) close() { s.halt() }

// halt ends what is being done.
func (s *searchAll) halt() {
	if s.stop != nil {
		s.stop()
	}
	if !s.busy && s.work != nil {
		s.work.close()
	}
	s.work = nil
}

// search begins to look for something else.
func (s *searchAll) search(text string) *store.QueryError {
	q, wrong := compileFilter(text, s.m.now())
	if wrong != nil {
		return wrong
	}
	if q.All() {
		return &store.QueryError{Column: 1, Msg: "what is to be found? words, or those of a filter"}
	}
	s.halt()
	s.text, s.query, s.stopped = text, q, false
	s.groups, s.lines, s.hits, s.shown, s.frames, s.now = nil, nil, 0, 0, 0, 0
	s.done = map[*store.Session]searchedAt{}
	s.list, s.key = list{}, hitKey{}
	return nil
}

// restPause is how long a search rests before it looks at what has come since.
const restPause = 2 * time.Second

// refresh goes on with the search.
func (s *searchAll) refresh() tea.Cmd {
	s.split = s.m.width >= splitWidth
	s.settle()
	return tea.Batch(s.goOn(), s.show())
}

func (s *searchAll) goOn() tea.Cmd {
	if s.busy || s.stopped || s.query == nil {
		return nil
	}
	if s.work == nil {
		queue := s.due()
		if len(queue) == 0 {
			return nil
		}
		s.work = &searcher{q: s.query, bodies: s.m.src.Bodies(), queue: queue}
	}
	work := s.work
	ctx, stop := context.WithCancel(s.m.ctx)
	s.busy, s.stop = true, stop
	return s.m.work(func(context.Context) done {
		defer stop()
		found := work.step(ctx, pulse)
		return func(m *Model) tea.Cmd {
			s.busy = false
			if s.work != work { // it looks for something else by now
				work.close()
				return m.top().refresh()
			}
			s.take(found)
			if !found.more {
				s.work, s.rested = nil, time.Now()
			}
			return m.top().refresh()
		}
	})
}

// due are the sessions that were not looked at yet, and after a rest those
// that have gone on.
func (s *searchAll) due() []*store.Session {
	var out []*store.Session
	rested := time.Since(s.rested) > restPause
	for _, x := range s.m.src.Sessions() {
		if at, ok := s.done[x]; !ok || rested && at.version != x.Version() {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b *store.Session) int { return b.Summary().Newest.Compare(a.Summary().Newest) })
	return out
}

// take puts what was found in place.
func (s *searchAll) take(f searched) {
	for _, d := range f.done {
		s.frames += uint64(d.frames - s.done[d.s].frames)
		s.done[d.s] = d
	}
	s.now = f.frames
	for _, g := range f.groups {
		at := slices.IndexFunc(s.groups, func(x *hitGroup) bool { return x.s.ID == g.s.ID })
		if at >= 0 {
			g.folded = s.groups[at].folded
			s.groups[at] = g
		} else {
			s.groups = append(s.groups, g)
		}
	}
	s.unfold()
}

// unfold makes the lines anew, and finds the selected one again.
func (s *searchAll) unfold() {
	s.lines, s.hits, s.shown = s.lines[:0], 0, 0
	for _, g := range s.groups {
		s.hits += int(g.total)
		s.lines = append(s.lines, hitLine{group: g, kind: hitSession})
		frames := g.frames[len(g.frames)-min(len(g.frames), maxFound-s.shown):]
		s.shown += len(frames)
		if g.folded {
			continue
		}
		if int(g.total) > len(frames) {
			s.lines = append(s.lines, hitLine{group: g, kind: hitMore})
		}
		for _, i := range frames {
			s.lines = append(s.lines, hitLine{g, hitFrame, i})
		}
	}
	s.settle()
}

// settle finds the selected line again. Before anything is selected that is
// the first frame.
func (s *searchAll) settle() {
	if s.key.s == nil {
		s.list.cur = max(0, slices.IndexFunc(s.lines, func(l hitLine) bool { return l.kind == hitFrame }))
	} else if i := slices.IndexFunc(s.lines, func(l hitLine) bool { return l.key() == s.key }); i >= 0 {
		s.list.top += i - s.list.cur
		s.list.cur = i
	}
	_, h := s.m.body()
	s.list.resize(len(s.lines), h-1)
}

func (s *searchAll) selected() (hitLine, bool) {
	if s.list.cur < len(s.lines) {
		return s.lines[s.list.cur], true
	}
	return hitLine{}, false
}

func (s *searchAll) keep() {
	s.key = hitKey{}
	if l, ok := s.selected(); ok {
		s.key = l.key()
	}
}

// show reads what the rows say, and on a wide screen the selected frame.
func (s *searchAll) show() tea.Cmd {
	var frames []store.Match
	for i := s.list.top; i < min(len(s.lines), s.list.top+s.list.height); i++ {
		if l := s.lines[i]; l.kind == hitFrame {
			frames = append(frames, l.match())
		}
	}
	cmd := s.details.load(frames)
	l, ok := s.selected()
	if !ok || l.kind != hitFrame || !s.split {
		return cmd
	}
	if s.insp.s != l.group.s {
		s.insp.look(l.group.s)
	}
	return tea.Batch(cmd, s.insp.show(l.frame, true))
}

func (s *searchAll) do(act action) tea.Cmd {
	if s.list.do(act) {
		s.keep()
		return s.show()
	}
	switch act {
	case actBack:
		return s.back()
	case actEnter:
		return s.open()
	case actFilter:
		s.m.prompt = searchPrompt(s.m, s)
	case actLeft, actRight:
		if l, ok := s.selected(); ok {
			l.group.folded = act == actLeft
			s.key = hitKey{s: l.group.s}
			s.unfold()
		}
	case actFold, actUnfold:
		for _, g := range s.groups {
			g.folded = act == actFold
		}
		if l, ok := s.selected(); ok {
			s.key = hitKey{s: l.group.s}
		}
		s.unfold()
	case actNext, actPrev:
		s.nextSession(act == actNext)
	}
	s.keep()
	return s.show()
}

// back stops the search first.
func (s *searchAll) back() tea.Cmd {
	if s.work == nil {
		return s.m.pop()
	}
	s.halt()
	s.stopped = true
	s.m.say(inkNote, "stopped; esc goes back, / and enter search again")
	return nil
}

// nextSession goes to the first line of the next session with hits.
func (s *searchAll) nextSession(down bool) {
	d := 1
	if !down {
		d = -1
	}
	for i := s.list.cur + d; i >= 0 && i < len(s.lines); i += d {
		if s.lines[i].kind == hitSession {
			s.list.to(i)
			return
		}
	}
}

// open shows a frame in its session, all frames of it that were found, or
// folds what was found in a session.
func (s *searchAll) open() tea.Cmd {
	l, ok := s.selected()
	if !ok {
		return nil
	}
	switch l.kind {
	case hitFrame:
		return s.m.openAt(l.group.s.ID, l.frame)
	case hitMore:
		return s.m.openFiltered(l.group.s.ID, s.text, s.m.label(l.group.s))
	}
	l.group.folded = !l.group.folded
	s.keep()
	s.unfold()
	return nil
}

// label is the name of a session with the end of its id.
func (m *Model) label(x *store.Session) Text {
	l := x.Summary().Label
	if l == "" {
		return m.d.safe(x.ID)
	}
	return m.d.safe(l) + " " + m.d.safe(x.ID[max(0, len(x.ID)-4):])
}

func (s *searchAll) sort(byte) tea.Cmd { return nil }

func (s *searchAll) ages(now time.Time) bool {
	for i := s.list.top; i < min(len(s.lines), s.list.top+s.list.height); i++ {
		if l := s.lines[i]; l.kind == hitFrame {
			r := newFrameRow(l.group.s, l.frame, now, live(s.m.src, l.group.s, now), s.m.opts.Zone)
			if r.ages() {
				return true
			}
		}
	}
	return s.work == nil && !s.stopped && len(s.due()) > 0
}

// copies are those of a frame; of a session its path and its id.
func (s *searchAll) copies() ([]copyItem, string) {
	l, ok := s.selected()
	switch {
	case !ok:
		return nil, ""
	case l.kind == hitFrame:
		return s.m.frameCopies(l.group.s, l.frame, nil)
	}
	return append(s.m.sessionItems(l.group.s), s.m.commandItem("the command", s.command())), l.group.s.ID
}

func (s *searchAll) several() []*store.Session {
	var out []*store.Session
	for _, g := range s.groups {
		out = append(out, g.s)
	}
	return out
}

func (s *searchAll) where() string { return s.text }

// searchPrompt asks what to look for, for a search that is shown or a new one.
func searchPrompt(m *Model, old *searchAll) *prompt {
	p := &prompt{kind: promptFilter, sign: "search all: ", chosen: -1, history: m.recent}
	if old != nil {
		p.input.set(old.text)
	}
	p.cancel = func() tea.Cmd { return nil }
	p.accept = func(text string) (tea.Cmd, *store.QueryError) { return m.searchFor(strings.TrimSpace(text), old) }
	p.offer = func(text string, column int) []store.Completion {
		all := m.src.Sessions()
		return store.Complete(text, column, all[:min(len(all), 20)]...)
	}
	return p
}

// searchFor begins a search, in the screen that is there for it or a new one.
func (m *Model) searchFor(text string, s *searchAll) (tea.Cmd, *store.QueryError) {
	fresh := s == nil
	if fresh {
		s = newSearchAll(m)
	}
	if wrong := s.search(text); wrong != nil {
		return nil, wrong
	}
	m.remember(text)
	if fresh {
		return m.push(s), nil
	}
	return s.refresh(), nil
}

func runSearch(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	old, _ := m.top().(*searchAll)
	cmd, wrong := m.searchFor(arg, old)
	if wrong != nil {
		wrong.Column += len("search ")
	}
	return cmd, wrong
}
