package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// sessions is the list of all sessions.
type sessions struct {
	m      *Model
	list   list
	all    []*store.Session // as the source lists them
	shown  []*store.Session // filtered and sorted
	filter string
	fits   sessionFilter
	by     byte
	down   bool
	marked map[string]bool
	cur    string // id of the selected one
	moved  bool   // somebody selected it; before that the first one is
	cols   []placed[*sessionRow]
	drift  drifts
}

func newSessions(m *Model) *sessions {
	return &sessions{m: m, marked: map[string]bool{}, drift: drifts{m: m}}
}

func (s *sessions) place() place { return inSessions }
func (s *sessions) crumb() Text  { return "sessions" }

func (s *sessions) facts() (line, line) {
	running := 0
	now := s.m.now()
	for _, x := range s.all {
		if live(s.m.src, x, now) {
			running++
		}
	}
	d := &s.m.d
	if running == 0 {
		return line{}, of(span{d.g.ended + " none live", inkDim})
	}
	return line{}, of(span{d.g.live + " " + count(running) + " live", inkOK})
}

func (s *sessions) status() (line, line) {
	d := &s.m.d
	var left, right line
	if s.filter != "" {
		left.put(inkKey, "/ ")
		left.put(inkStrong, d.safe(s.filter))
		right.put(inkText, count(len(s.shown))+" of "+plural(len(s.all), "session", "sessions"))
	} else {
		left.put(inkText, plural(len(s.all), "session", "sessions"))
		if len(s.marked) > 0 {
			left.put(inkDim, " "+d.g.dot+" ")
			left.put(inkNote, d.g.marked+" "+count(len(s.marked))+" marked")
		}
	}
	right.spans = append(right.spans, progressBar(d, s.m.src, 16).spans...)
	if notices := s.m.src.Notices(); len(notices) > 0 && len(right.spans) == 0 {
		right.put(inkWarn, d.g.warn+" "+d.safe(notices[len(notices)-1]))
	}
	return left, right
}

// progressBar says how much of the history is indexed, while it is not all.
func progressBar(d *dress, src Source, cells int) line {
	done, total := src.Progress()
	if total <= 0 || done >= total {
		return line{}
	}
	full := int(done * int64(cells) / total)
	l := of(span{" loading ", inkDim}, span{repeat(d.g.barFull, full), inkNote}, span{repeat(d.g.barFree, cells-full), inkRule})
	l.put(inkDim, " "+size(done)+" of "+size(total))
	return l
}

func (s *sessions) command() Text { return s.m.prog() + " sessions" }

func (s *sessions) session() string { return s.cur }

func (s *sessions) refresh() tea.Cmd {
	s.all = s.m.src.Sessions()
	now := s.m.now()
	s.shown = slices.DeleteFunc(slices.Clone(s.all), func(x *store.Session) bool { return !s.matches(x, now) })
	if s.by != 0 {
		s.order()
	}
	at := 0
	if s.moved {
		if at = slices.IndexFunc(s.shown, func(x *store.Session) bool { return x.ID == s.cur }); at < 0 {
			at = s.list.cur // it is gone: the one that took its place
		}
	}
	_, h := s.m.body()
	s.list.cur = at
	s.list.resize(len(s.shown), h-1)
	s.remember()
	return s.drift.load(s.shown)
}

// matches reports whether the filter lets a session through.
func (s *sessions) matches(x *store.Session, now time.Time) bool {
	if s.filter == "" {
		return true
	}
	r := newSessionRow(s.m.src, x, now)
	return s.fits.fits(s.m, &r)
}

func (s *sessions) remember() {
	s.cur = ""
	if s.list.cur < len(s.shown) {
		s.cur = s.shown[s.list.cur].ID
	}
}

// order sorts what is shown by the chosen column.
func (s *sessions) order() {
	now := s.m.now()
	rows := make(map[*store.Session]sessionRow, len(s.shown))
	for _, x := range s.shown {
		r := newSessionRow(s.m.src, x, now)
		r.warnings, r.drift = s.m.rules.Count(x, LevelShould), s.drift.of(x)
		rows[x] = r
	}
	slices.SortStableFunc(s.shown, func(a, b *store.Session) int {
		x, y := rows[a], rows[b]
		if s.down {
			x, y = y, x
		}
		return compareSessions(&x, &y, s.by, &s.m.d)
	})
}

func compareSessions(a, b *sessionRow, by byte, d *dress) int {
	switch by {
	case 'C':
		return cmp.Compare(a.client, b.client)
	case 'S':
		return cmp.Compare(a.server, b.server)
	case 'V':
		return cmp.Compare(a.revision, b.revision)
	case 'L':
		return cmp.Compare(a.sum.Calls.Total, b.sum.Calls.Total)
	case 'R':
		return cmp.Compare(a.sum.Calls.Failed, b.sum.Calls.Failed)
	case 'P':
		return cmp.Compare(a.sum.Calls.Pending, b.sum.Calls.Pending)
	case 'W':
		return cmp.Compare(a.warnings, b.warnings)
	case 'D':
		return cmp.Compare(a.drift, b.drift)
	case 'Y':
		return a.sum.Newest.Compare(b.sum.Newest)
	case 'T':
		return cmp.Compare(ending(d, a).text, ending(d, b).text)
	case 'A':
		return cmp.Compare(a.age, b.age)
	case 'Z':
		return cmp.Compare(a.sum.Size, b.sum.Size)
	case 'O':
		return cmp.Compare(origin(d, a), origin(d, b))
	}
	return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
}

// sorts numbers begin with the largest, names with the first.
func largestFirst(by byte) bool { return strings.IndexByte("LRPWDYZ", by) >= 0 }

func (s *sessions) sort(letter byte) tea.Cmd {
	for _, c := range sessionColumns(&s.m.d) {
		if c.sort != letter {
			continue
		}
		if s.by == letter {
			s.down = !s.down
		} else {
			s.by, s.down = letter, largestFirst(letter)
		}
		s.m.say(inkNote, "sorted by "+c.head)
		return s.refresh()
	}
	return nil
}

func (s *sessions) do(act action) tea.Cmd {
	s.moved = true
	if s.list.do(act) {
		s.remember()
		return nil
	}
	switch act {
	case actEnter:
		return s.open()
	case actBack:
		return s.back()
	case actMark:
		s.mark()
	case actCompare:
		return s.compare()
	case actMerge:
		return s.merge()
	case actFilter:
		s.m.prompt = s.filterPrompt()
	case actDelete:
		return s.delete()
	}
	s.remember()
	return nil
}

func (s *sessions) selected() *store.Session {
	if s.list.cur < len(s.shown) {
		return s.shown[s.list.cur]
	}
	return nil
}

func (s *sessions) open() tea.Cmd {
	x := s.selected()
	if x == nil {
		return nil
	}
	s.m.src.Want(x.ID)
	return s.m.push(newStream(s.m, x.ID))
}

// back drops the filter, then the marks; below this screen there is none.
func (s *sessions) back() tea.Cmd {
	switch {
	case s.filter != "":
		s.filter, s.fits = "", nil
	case len(s.marked) > 0:
		clear(s.marked)
	default:
		s.m.say(inkNote, "this is the first screen; q quits")
	}
	return s.refresh()
}

func (s *sessions) mark() {
	x := s.selected()
	if x == nil {
		return
	}
	if s.marked[x.ID] = !s.marked[x.ID]; !s.marked[x.ID] {
		delete(s.marked, x.ID)
	}
	s.list.move(1)
	if n := len(s.marked); n > 1 {
		s.m.say(inkNote, count(n)+" marked: ")
		s.m.notice.put(inkKey, "d")
		s.m.notice.put(inkNote, " compares two, ")
		s.m.notice.put(inkKey, "m")
		s.m.notice.put(inkNote, " shows them as one stream, ")
		s.m.notice.put(inkKey, "e")
		s.m.notice.put(inkNote, " exports, ")
		s.m.notice.put(inkKey, "esc")
		s.m.notice.put(inkNote, " unmarks")
	}
}

func (s *sessions) ages(now time.Time) bool {
	for _, x := range s.all {
		if maybeLive(x, now) && !live(s.m.src, x, now) {
			return true
		}
	}
	return false
}

func (s *sessions) mouse(x, y int, e mouse) tea.Cmd {
	s.moved = true
	switch e {
	case mouseWheelUp:
		s.list.scroll(-3)
	case mouseWheelDown:
		s.list.scroll(3)
	case mouseClick:
		if y == 0 {
			if c := columnAt(s.cols, x-2); c != 0 {
				return s.sort(c)
			}
			return nil
		}
		i := s.list.top + y - 1
		if i >= s.list.n {
			return nil
		}
		if i == s.list.cur {
			return s.open()
		}
		s.list.to(i)
	}
	s.remember()
	return nil
}

func (s *sessions) draw(w, h int) []line {
	d := &s.m.d
	s.list.resize(len(s.shown), h-1)
	s.cols = layout(sessionColumns(d), w-3)
	out := make([]line, 0, h)
	title := of(span{"  ", inkText})
	title.spans = append(title.spans, head(d, s.cols, s.by, s.down).spans...)
	out = append(out, d.w.fit(title, w, d.g.dots))
	now := s.m.now()
	for i := s.list.top; i < s.list.n && len(out) < h; i++ {
		x := s.shown[i]
		r := newSessionRow(s.m.src, x, now)
		r.spark = activity(x, 8)
		r.warnings, r.drift = s.m.rules.Count(x, LevelShould), s.drift.of(x)
		r.marked = s.marked[x.ID]
		out = append(out, d.pick(row(d, s.cols, &r), i == s.list.cur, true, r.marked, w))
	}
	if len(s.shown) == 0 && len(out) < h {
		out = append(out, s.empty(w, h-len(out))...)
	}
	for len(out) < h {
		out = append(out, d.w.fit(line{}, w, d.g.dots))
	}
	return out[:h]
}

// empty says why there is nothing, and what to do.
func (s *sessions) empty(w, h int) []line {
	d := &s.m.d
	where, prog := Text(""), s.m.prog()
	if s.m.opts.Host != "" { // what is to be run is run there, and prog may be a way to look only
		where, prog = " on "+d.safe(s.m.opts.Host), "mcpsnoop"
	}
	texts := []span{
		{"no sessions yet" + where, inkStrong},
		{"Put mcpsnoop in front of a server in the client's configuration" + where + ":", inkText},
		{"  " + prog + " -- node build/index.js", inkNote},
		{"or see a made-up one" + where + ": " + prog + " demo", inkText},
	}
	if done, total := s.m.src.Progress(); done < total {
		texts = []span{{"loading", inkDim}}
	}
	if s.filter != "" {
		texts = []span{{"no session fits the filter", inkStrong}, {"esc drops it", inkText}}
	}
	out := []line{d.w.fit(line{}, w, d.g.dots)}
	for _, t := range texts {
		out = append(out, d.w.fit(of(span{"  ", inkText}, t), w, d.g.dots))
	}
	return out[:min(len(out), h)]
}

// pick puts the signs of selection and mark before a row.
func (d *dress) pick(l line, selected, active, marked bool, w int) line {
	sign, mark := Text(" "), Text(" ")
	if marked {
		mark = d.g.marked
		l.base = baseMarked
	}
	if selected {
		sign, l.base = d.g.selected, baseSelected
		if !active {
			sign, l.base = d.g.resting, baseResting
		}
	}
	l.spans = append([]span{{sign, inkCursor}, {mark, inkNote}}, l.spans...)
	return d.w.fit(l, w, d.g.dots)
}
