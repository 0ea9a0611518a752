package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// compare shows how a session differs from another one: what the servers
// offer, how the same calls end, and how long they take. The work is done
// beside Update, and again when the sessions have gone on.
type compare struct {
	m    *Model
	ids  [2]string         // before and after
	s    [2]*store.Session // nil while the source does not have them
	list list
	key  string // of the selected row
	cols []placed[*diffRow]

	result *diffResult
	rows   []diffLine // what is not folded away
	folded map[Text]bool

	busy  bool
	stop  context.CancelFunc
	far   *progressed
	seen  [2]uint64 // versions of the sessions that the result is of
	ended time.Time // when it was made
}

// progressed is how many operations of how many were looked at.
type progressed struct{ n, of atomic.Int64 }

// diffLine is a row of the list: a section, or one of its differences.
type diffLine struct {
	section *diffSection
	row     *diffRow // nil for the section itself
}

func newCompare(m *Model, before, after string) *compare {
	return &compare{m: m, ids: [2]string{before, after}, folded: map[Text]bool{}}
}

func (s *compare) place() place { return inCompare }
func (s *compare) crumb() Text  { return "compare" }

// session is the later one: what opens from here is about it.
func (s *compare) session() string { return s.ids[1] }

func (s *compare) close() {
	if s.stop != nil {
		s.stop()
	}
}

// facts are the two sessions.
func (s *compare) facts() (line, line) {
	d := &s.m.d
	var l line
	for i := range s.ids {
		if i > 0 {
			l.put(inkDim, " "+d.g.out+" ")
		}
		l.put([...]ink{inkIn, inkOut}[i], s.name(i))
	}
	right := line{}
	if s.busy && s.result != nil {
		right.put(inkNote, "comparing again")
	}
	return l, right
}

// name is the label with the end of the id.
func (s *compare) name(i int) Text {
	id := s.ids[i]
	name := s.m.d.safe(id)
	if x := s.s[i]; x != nil && x.Summary().Label != "" {
		name = s.m.d.safe(x.Summary().Label) + " " + s.m.d.safe(id[max(0, len(id)-4):])
	}
	return name
}

func (s *compare) status() (line, line) {
	d := &s.m.d
	if s.result == nil {
		return s.progress(), line{}
	}
	r := s.result
	l := of(span{plural(r.differences, "difference", "differences"), inkText})
	if r.differences == 0 {
		l = of(span{d.g.ok + " no difference", inkOK})
	}
	l.put(inkDim, " "+d.g.dot+" ")
	if r.regressions > 0 {
		l.put(inkError, d.g.warn+" "+plural(r.regressions, "regression", "regressions"))
	} else {
		l.put(inkOK, d.g.ok+" no regression")
	}
	l.put(inkDim, " "+d.g.dot+" ")
	l.put(inkText, plural(r.matched, "call", "calls")+" in both")
	for _, k := range r.uncompared {
		l.put(inkWarn, " "+d.g.dot+" "+d.g.warn+" "+Text(k)+" not listed to the end in both")
	}
	return l, line{}
}

// progress says how far the first comparison is.
func (s *compare) progress() line {
	if !s.busy {
		return of(span{"waiting for the logs", inkDim})
	}
	n, all := s.far.n.Load(), s.far.of.Load()
	l := of(span{"comparing ", inkNote})
	if all > 0 {
		d := &s.m.d
		full := int(n * 16 / all)
		l.put(inkNote, repeat(d.g.barFull, full))
		l.put(inkRule, repeat(d.g.barFree, 16-full))
		l.put(inkDim, " "+count(n)+" of "+count(all)+" operations")
	}
	l.put(inkDim, "   esc stops")
	return l
}

func (s *compare) command() Text {
	return s.m.prog() + " diff " + s.m.word(s.m.d.safe(s.ids[0])) + " " + s.m.word(s.m.d.safe(s.ids[1]))
}

// pulse is how often the progress of a comparison is drawn, and how long after
// its end a new one may begin.
const pulse = 100 * time.Millisecond

// refresh begins to compare when there is something new. The longer it takes
// the longer the pause before it is done again.
func (s *compare) refresh() tea.Cmd {
	for i := range s.ids {
		s.s[i] = s.m.session(s.ids[i])
	}
	if s.busy || s.s[0] == nil || s.s[1] == nil {
		return nil
	}
	seen := [2]uint64{s.s[0].Version(), s.s[1].Version()}
	if s.result != nil && (seen == s.seen || time.Since(s.ended) < max(2*time.Second, 20*s.result.took)) {
		return nil
	}
	return s.begin(seen)
}

func (s *compare) begin(seen [2]uint64) tea.Cmd {
	a, b, src := s.s[0], s.s[1], s.m.src
	ctx, stop := context.WithCancel(s.m.ctx)
	far := &progressed{}
	s.busy, s.stop, s.far = true, stop, far
	work := s.m.work(func(context.Context) done {
		defer stop()
		r := compareTwo(src, a, b, func(n, of int) bool {
			far.n.Store(int64(n))
			far.of.Store(int64(of))
			return ctx.Err() == nil
		})
		return func(m *Model) tea.Cmd {
			s.busy = false
			if r != nil && s.s == [2]*store.Session{a, b} {
				s.take(r)
				s.seen, s.ended = seen, time.Now()
			}
			return m.top().refresh()
		}
	})
	return tea.Batch(work, s.beat(far))
}

// beat draws the progress now and then, while it is the same comparison.
func (s *compare) beat(of *progressed) tea.Cmd {
	return s.m.work(func(context.Context) done {
		s.m.sleep(pulse)
		return func(*Model) tea.Cmd {
			if !s.busy || s.far != of {
				return nil
			}
			return s.beat(of)
		}
	})
}

// take shows a result, with what was folded and selected before.
func (s *compare) take(r *diffResult) {
	first := s.result == nil
	s.result = r
	for _, x := range r.sections {
		x.folded = s.folded[x.name]
	}
	s.unfold()
	if first {
		s.list.cur = 0
		if len(s.rows) > 1 {
			s.list.cur = 1 // the first difference
		}
	}
	s.keep()
}

// unfold makes the rows anew, and finds the selected one again.
func (s *compare) unfold() {
	s.rows = s.rows[:0]
	for _, x := range s.result.sections {
		s.rows = append(s.rows, diffLine{section: x})
		if !x.folded {
			for _, r := range x.rows {
				s.rows = append(s.rows, diffLine{x, r})
			}
		}
	}
	if i := slices.IndexFunc(s.rows, func(l diffLine) bool { return l.key() == s.key }); i >= 0 {
		s.list.cur = i
	}
	s.list.resize(len(s.rows), s.list.height)
}

func (l diffLine) key() string {
	if l.row == nil {
		return string(l.section.name)
	}
	return string(l.section.name) + "\x00" + l.row.name + "\x00" + l.row.more + "\x00" + l.row.what + l.row.path
}

func (s *compare) keep() {
	s.key = ""
	if l, ok := s.selected(); ok {
		s.key = l.key()
	}
}

func (s *compare) selected() (diffLine, bool) {
	if s.list.cur < len(s.rows) {
		return s.rows[s.list.cur], true
	}
	return diffLine{}, false
}

func (s *compare) do(act action) tea.Cmd {
	if act == actBack {
		return s.m.pop()
	}
	if s.result == nil {
		return nil
	}
	if s.list.do(act) {
		s.keep()
		return nil
	}
	switch act {
	case actEnter:
		return s.open(1)
	case actPair:
		return s.open(0)
	case actLeft, actRight:
		s.fold(act == actLeft)
	case actFold, actUnfold:
		for _, x := range s.result.sections {
			x.folded = act == actFold
			s.folded[x.name] = x.folded
		}
		if l, ok := s.selected(); ok && act == actFold {
			s.key = string(l.section.name)
		}
		s.unfold()
	case actNext, actPrev:
		s.nextRegression(act == actNext)
	}
	s.keep()
	return nil
}

// fold folds the section of the selected row, or unfolds it.
func (s *compare) fold(on bool) {
	l, ok := s.selected()
	if !ok {
		return
	}
	l.section.folded = on
	s.folded[l.section.name] = on
	if on {
		s.key = string(l.section.name)
	}
	s.unfold()
}

// nextRegression goes to the next difference that is for the worse.
func (s *compare) nextRegression(down bool) {
	d, n := 1, len(s.rows)
	if !down {
		d = -1
	}
	for k := 1; k <= n; k++ {
		i := ((s.list.cur+d*k)%n + n) % n
		if r := s.rows[i].row; r != nil && r.regression {
			s.list.to(i)
			return
		}
	}
	s.m.say(inkNote, "nothing has become worse")
}

// open shows what a row is about in one of the sessions, the later one first;
// what stands in the other one alone is shown there. A section folds.
func (s *compare) open(side int) tea.Cmd {
	l, ok := s.selected()
	switch {
	case !ok:
		return nil
	case l.row == nil:
		s.fold(!l.section.folded)
		return nil
	case !l.row.in(side):
		side = 1 - side
	}
	x := s.s[side]
	if x == nil || !l.row.in(side) {
		s.m.say(inkNote, "no frame stands for this row")
		return nil
	}
	as := s.name(side)
	if f := l.row.filter[side]; f != "" {
		return s.m.openFiltered(x.ID, f, as)
	}
	if at := uint32(l.row.at[side]); at < x.Len() {
		return s.m.openAt(x.ID, at)
	}
	return nil
}

// in reports whether the row has something in a session.
func (r *diffRow) in(side int) bool {
	return r.filter[side] != "" || r.at[side] >= 0 && r.filter[1-side] == ""
}

func (s *compare) sort(byte) tea.Cmd { return nil }

// ages asks to be drawn again while a session goes on, so that it is compared
// again when the pause is over.
func (s *compare) ages(now time.Time) bool {
	for _, x := range s.s {
		if x != nil && live(s.m.src, x, now) {
			return true
		}
	}
	return false
}

func (s *compare) copies() ([]copyItem, string) {
	items := []copyItem{s.m.commandItem("the command", s.command())}
	if l, ok := s.selected(); ok && l.row != nil {
		items = append(items, s.m.textItem("the row", l.row.text()))
	}
	return items, s.ids[0] + s.ids[1] + s.key
}

func (s *compare) several() []*store.Session {
	return slices.DeleteFunc(slices.Clone(s.s[:]), func(x *store.Session) bool { return x == nil })
}

func (s *compare) where() string { return "" }

// compare compares the two marked sessions, or the marked one with the
// selected one: the earlier is the one before. Without marks, one whose
// definitions have drifted is compared with the session that they were trusted
// in.
func (s *sessions) compare() tea.Cmd {
	var two []*store.Session
	for _, x := range s.all {
		if s.marked[x.ID] {
			two = append(two, x)
		}
	}
	if x := s.selected(); len(two) == 1 && x != nil && x != two[0] {
		two = append(two, x)
	}
	switch len(two) {
	case 0:
		if x := s.selected(); x != nil && s.drift.of(x) > 0 {
			if base := s.m.session(s.drift.with(x)); base != nil {
				s.m.say(inkNote, "compared with the session whose definitions were trusted")
				return s.m.openCompare(base, x)
			}
		}
		s.m.say(inkWarn, "mark two sessions with space, then d compares them")
		return nil
	case 1:
		s.m.say(inkWarn, "one session is marked: mark another one with space, or go to it, then d")
		return nil
	case 2:
	default:
		s.m.say(inkWarn, count(len(two))+" sessions are marked: d compares two; m shows all of them as one stream")
		return nil
	}
	inTime(two)
	return s.m.openCompare(two[0], two[1])
}

// inTime sorts sessions by their beginning.
func inTime(list []*store.Session) {
	slices.SortStableFunc(list, byStart)
}

func byStart(a, b *store.Session) int {
	return cmp.Or(a.Summary().Started.Compare(b.Summary().Started), cmp.Compare(a.ID, b.ID))
}

func (m *Model) openCompare(before, after *store.Session) tea.Cmd {
	m.src.Want(before.ID)
	m.src.Want(after.ID)
	return m.push(newCompare(m, before.ID, after.ID))
}

// runCompare takes two sessions, the earlier first; without them it does what
// the key does in the list of sessions.
func runCompare(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	if s, ok := m.top().(*sessions); ok && arg == "" {
		return s.compare(), nil
	}
	list, wrong := m.sessionsCalled(arg, len("compare ")+1, 1)
	if wrong != nil {
		return nil, wrong
	}
	if len(list) != 2 {
		return nil, &store.QueryError{Column: len("compare ") + 1, Msg: "which two sessions? tab lists them"}
	}
	if words := strings.Fields(arg); words[0] == words[1] { // the last two of a server
		inTime(list)
	}
	return m.openCompare(list[0], list[1]), nil
}
