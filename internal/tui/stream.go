package tui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// stream is the list of the frames of one session, with the inspector beside
// it or in its place.
type stream struct {
	m    *Model
	id   string
	s    *store.Session // nil while the source does not have it yet
	live bool

	list    list
	view    frameView
	sel     uint32 // selected frame
	hasSel  bool
	paused  bool
	seeking bool // nextOdd looks
	moved   bool // a key or a click was given
	inspect bool // the inspector has the keys
	led     bool // it was opened for one frame
	as      Text // its part of the path, when that is not the label
	insp    inspector
	details details
	marked  map[uint32]bool
	split   bool
	cols    []placed[*frameRow] // as they were drawn last, for the mouse
}

func newStream(m *Model, id string) *stream {
	s := &stream{m: m, id: id, marked: map[uint32]bool{}}
	s.view.m = m
	s.insp.m = m
	s.details.m = m
	s.find()
	return s
}

// splitWidth is the width from which list and inspector stand side by side.
const splitWidth = 120

func (s *stream) place() place {
	if s.inspect {
		return inInspector
	}
	return inStream
}

// find looks for the session in the source; a log that was replaced comes
// back under the same id.
func (s *stream) find() {
	now := s.m.session(s.id)
	if now == nil || now == s.s {
		s.looksLive()
		return
	}
	replaced := s.s != nil
	s.s = now
	s.looksLive()
	s.view.look(now)
	s.details.look(now)
	s.insp.look(now)
	s.hasSel = false
	clear(s.marked)
	if replaced {
		s.m.say(inkWarn, "the log was replaced: this is the new one")
	}
}

// looksLive asks whether the session runs. One that turns out to is followed,
// unless somebody has selected a frame already.
func (s *stream) looksLive() {
	if s.s == nil {
		return
	}
	was := s.live
	s.live = live(s.m.src, s.s, s.m.now())
	if s.live && !was && !s.moved {
		s.list.follow = true
	}
}

func (s *stream) session() string { return s.id }

func (s *stream) close() { s.view.close() }

func (s *stream) crumb() Text {
	if s.led && s.hasSel && s.s != nil {
		return "#" + s.seq(s.sel)
	}
	if s.as != "" {
		return s.as
	}
	name := s.m.d.safe(s.id)
	if s.s != nil && s.s.Summary().Label != "" {
		name = s.m.d.safe(s.s.Summary().Label)
	}
	if s.inspect && s.hasSel && !s.split {
		return name + " " + s.m.d.g.path + " #" + s.seq(s.sel)
	}
	return name
}

func (s *stream) seq(i uint32) Text { return Text(strconv.FormatUint(s.s.Frame(i).Seq, 10)) }

// facts are who talks to whom, and how the session stands.
func (s *stream) facts() (line, line) {
	d := &s.m.d
	if s.s == nil {
		return line{}, of(span{"waiting for the log", inkDim})
	}
	now := s.m.now()
	r := newSessionRow(s.m.src, s.s, now)
	var left, right line
	if r.client != "" || r.server != "" {
		left.put(inkDim, d.safe(r.client)+" "+d.g.out+" "+d.safe(r.server))
		if r.revision != "" {
			left.put(inkDim, " "+d.g.dot+" "+d.safe(r.revision))
		}
	}
	switch {
	case s.paused:
		right.put(inkWarn, d.g.pause+" paused")
		if n := s.view.hidden(); n > 0 {
			right.put(inkWarn, " +"+count(n))
		}
	case s.list.follow && s.live:
		right.put(inkNote, d.g.follow+" follow")
	}
	if len(right.spans) > 0 {
		right.put(inkText, "  ")
	}
	e := ending(d, &r)
	right.put(e.ink, e.text)
	if n := s.rate(now); s.live && n > 0 {
		right.put(inkOK, " "+Text(strconv.FormatFloat(n, 'f', 1, 64))+"/s")
	}
	return left, right
}

// rateSpan is the time over which the rate of frames is taken.
const rateSpan = 5 * time.Second

// rate is how many frames a second came of late.
func (s *stream) rate(now time.Time) float64 {
	n := s.s.Len()
	from := searchTime(s.s, 0, n, now.Add(-rateSpan).UnixNano())
	return float64(n-from) / rateSpan.Seconds()
}

func (s *stream) status() (line, line) {
	d := &s.m.d
	var left, right line
	if s.s == nil {
		return left, progressBar(d, s.m.src, 16)
	}
	sum := s.s.Summary()
	if s.insp.search != "" && s.inspect {
		left.put(inkKey, "/ ")
		left.put(inkStrong, d.safe(s.insp.search))
		right = s.insp.found()
		return left, right
	}
	if s.view.text != "" {
		left.put(inkKey, "/ ")
		left.put(inkStrong, d.safe(s.view.text))
		right.put(inkText, count(s.view.len())+" of "+plural(s.s.Len(), "frame", "frames"))
		if p, busy := s.view.progress(); busy {
			right.put(inkNote, " "+d.g.dot+" looked at "+count(p.Seen))
		}
		return left, right
	}
	left = counts(d, sum, s.s.Len(), s.live)
	left.spans = append(left.spans, flood(d, sum.Repeats, s.view.folds).spans...)
	if n := s.m.rules.Count(s.s, LevelShould); n > 0 {
		left.put(inkDim, " "+d.g.dot+" ")
		left.put(inkWarn, d.g.warn+" "+plural(n, "finding", "findings"))
	}
	right.spans = append(right.spans, progressBar(d, s.m.src, 10).spans...)
	return left, right
}

// counts says in words what is in a session.
func counts(d *dress, sum *store.Summary, frames uint32, live bool) line {
	var l line
	add := func(n uint64, i ink, t Text) {
		if n > 0 {
			l.put(inkDim, " "+d.g.dot+" ")
			l.put(i, t)
		}
	}
	l.put(inkText, plural(frames, "frame", "frames"))
	c := sum.Calls
	if live {
		add(c.Pending, inkPending, d.g.open+" "+count(c.Pending)+" open")
	} else {
		add(c.Pending, inkWarn, d.g.gone+" "+count(c.Pending)+" without an answer")
	}
	add(c.Failed, inkError, d.g.bad+" "+count(c.Failed)+" failed")
	add(1, inkText, plural(c.Total, "call", "calls"))
	add(c.Cancelled, inkWarn, count(c.Cancelled)+" cancelled")
	add(sum.Missing, inkWarn, d.g.warn+" "+plural(sum.Missing, "frame lost", "frames lost"))
	add(uint64(sum.ProblemCount), inkWarn, d.g.warn+" "+plural(sum.ProblemCount, "damaged line", "damaged lines"))
	return l
}

func (s *stream) command() Text {
	t := s.m.prog() + " tail"
	if s.list.follow && s.live {
		t += " -f"
	}
	if s.view.text != "" {
		t += " --where " + s.m.word(s.m.d.safe(s.view.text))
	}
	return t + " " + s.m.word(s.m.d.safe(s.id))
}

// refresh takes over what has changed in the source.
func (s *stream) refresh() tea.Cmd {
	s.find()
	if s.s == nil {
		return nil
	}
	if !s.live {
		s.list.follow = false
	}
	s.split = s.m.width >= splitWidth
	cmd := s.view.advance()
	s.settle()
	return tea.Batch(cmd, s.insp.show(s.shownFrame()), s.details.load(s.visible()))
}

// settle finds the selected frame among the rows again: rows before it may
// have come or gone.
func (s *stream) settle() {
	_, h := s.m.body()
	n := s.view.len()
	if s.hasSel && !s.list.follow {
		row, _ := s.view.rank(s.sel)
		moved := row - s.list.cur
		s.list.cur = row
		s.list.top += moved
	}
	s.list.resize(n, h-1)
	s.keep()
}

// keep remembers which frame is selected.
func (s *stream) keep() {
	if s.list.cur < s.view.len() {
		s.sel, s.hasSel = s.view.at(s.list.cur), true
	} else if s.view.len() == 0 {
		s.hasSel = false
	}
}

// shownFrame is what the inspector shows, while it is on the screen.
func (s *stream) shownFrame() (uint32, bool) { return s.sel, s.hasSel && (s.split || s.inspect) }

// visible are the frames on the screen.
func (s *stream) visible() []uint32 { return s.view.rows(s.list.top, s.list.height) }

func (s *stream) ages(now time.Time) bool {
	if s.s == nil {
		return false
	}
	if !s.live {
		return maybeLive(s.s, now)
	}
	if s.rate(now) > 0 {
		return true
	}
	if s.inspect && !s.split {
		return s.insp.ages()
	}
	for _, i := range s.visible() {
		r := newFrameRow(s.s, i, now, true, s.m.opts.Zone)
		if r.ages() {
			return true
		}
	}
	return s.split && s.insp.ages()
}
