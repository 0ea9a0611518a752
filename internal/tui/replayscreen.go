package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// replayScreen is a call that is sent again, and its answer beside the recorded
// one.
type replayScreen struct {
	m    *Model
	plan ReplayPlan

	sending bool
	began   time.Time
	stop    context.CancelFunc
	answer  *ReplayAnswer // nil before there is one
	err     error         // why there is none

	rows  []answerRow // of the comparison
	diffs int         // rows that differ
	asked []jsonRow   // of the request

	list list
	body replayBody // the comparison as lines
	busy bool       // it is being made
	lead int        // lines before it, as they were drawn last
}

// newReplayScreen makes the screen of a call that is about to be sent. The
// recorded answer may be long, so it is made beside Update.
func newReplayScreen(m *Model, p ReplayPlan) *replayScreen {
	return &replayScreen{m: m, plan: p, rows: compareAnswers(p.Recorded.Message, nil), asked: requestRows(p.Request), stop: func() {}}
}

// requestRows are the rows of a request as it is sent.
func requestRows(message []byte) []jsonRow {
	o := jsonOutline{}
	o.value(0, "", message, nil)
	return o.rows
}

func (r *replayScreen) place() place    { return inReplay }
func (r *replayScreen) session() string { return r.plan.Session.ID }

func (r *replayScreen) call() (*store.Session, uint32, bool) {
	return r.plan.Session, r.plan.Op, true
}

func (r *replayScreen) crumb() Text { return "replay #" + requestSeq(r.plan.Session, r.plan.Op) }

func (r *replayScreen) facts() (line, line) {
	d := &r.m.d
	left := of(span{d.safe(r.plan.Method), inkDim})
	if r.plan.Name != "" {
		left.put(inkStrong, " "+d.safe(r.plan.Name))
	}
	if r.plan.Edited {
		left.put(inkWarn, " edited")
	}
	return left, of(r.state())
}

// state says how far it is.
func (r *replayScreen) state() span {
	g := r.m.d.g
	switch {
	case r.sending:
		return span{g.clock[0] + " sending", inkPending}
	case r.err != nil:
		return span{g.bad + " no answer", inkError}
	case r.answer == nil:
		return span{"not sent", inkDim}
	case r.answer.State == store.Failed:
		return span{g.bad + " error", inkError}
	}
	return span{g.ok + " " + Text(r.answer.State.String()), inkOK}
}

func (r *replayScreen) status() (line, line) {
	switch {
	case r.sending:
		return of(span{"waiting for " + waited(r.m.now().Sub(r.began)) + "; ", inkPending}, span{"esc", inkKey}, span{" gives up", inkDim}), line{}
	case r.answer == nil:
		return line{}, line{}
	case r.plan.Recorded.Message == nil || r.answer.Message == nil:
		return of(span{"nothing to compare", inkDim}), line{}
	case r.diffs == 0:
		return of(span{r.m.d.g.ok + " the same answer", inkOK}), line{}
	}
	return of(span{plural(r.diffs, "line differs", "lines differ"), inkWarn}), line{}
}

func (r *replayScreen) command() Text { return r.m.d.safe(r.plan.Command) }

func (r *replayScreen) sort(byte) tea.Cmd   { return nil }
func (r *replayScreen) ages(time.Time) bool { return r.sending }

// refresh makes the lines of the comparison for the width of the screen, beside
// Update: there may be thousands.
func (r *replayScreen) refresh() tea.Cmd {
	w := r.m.width
	if r.busy || r.body.width == w || w <= 0 {
		return nil
	}
	r.busy = true
	pen := replayPen{d: r.m.d, both: r.both()}
	rows, asked, title := r.rows, r.asked, r.title()
	r.body.width = w
	return r.m.work(func(context.Context) done {
		body := pen.body(rows, asked, title, w)
		return func(m *Model) tea.Cmd {
			again := r.body.width != w
			r.busy = false
			r.body.lines, r.body.odd = body.lines, body.odd
			if again || m.width != w {
				return r.refresh()
			}
			return nil
		}
	})
}

// close gives up what is under way, because the screen goes.
func (r *replayScreen) close() { r.stop() }

// send sends the call and waits for its answer beside Update.
func (r *replayScreen) send() tea.Cmd {
	m, replay, plan := r.m, r.m.opts.Actions.Replay, r.plan
	ctx, stop := context.WithCancel(m.ctx)
	r.sending, r.began, r.stop = true, m.now(), stop
	r.answer, r.err = nil, nil
	return m.work(func(context.Context) done {
		defer stop()
		a, err := replay.Send(ctx, plan)
		gone := ctx.Err() != nil
		rows := compareAnswers(plan.Recorded.Message, a.Message)
		return func(m *Model) tea.Cmd {
			r.sending, r.body.width, r.list.top = false, 0, 0
			r.answer, r.err, r.rows, r.diffs = &a, err, rows, 0
			if plan.Recorded.Message != nil && a.Message != nil {
				r.diffs = differences(rows)
			}
			switch {
			case m.top() != screen(r):
			case gone && err != nil:
				m.say(inkNote, "given up: what was started for it has ended")
			default:
				m.sayDone("", r.command())
			}
			return r.refresh()
		}
	})
}

func (r *replayScreen) do(act action) tea.Cmd {
	switch act {
	case actBack:
		if r.sending {
			r.stop()
			return nil
		}
		return r.m.pop()
	case actDown:
		r.list.scroll(1)
	case actUp:
		r.list.scroll(-1)
	case actTop:
		r.list.scroll(-r.list.n)
	case actEnd:
		r.list.scroll(r.list.n)
	case actPageDown:
		r.list.scroll(max(1, r.list.height-1))
	case actPageUp:
		r.list.scroll(-max(1, r.list.height-1))
	case actNext:
		r.jump(1)
	case actPrev:
		r.jump(-1)
	}
	return nil
}

// jump scrolls to the next difference.
func (r *replayScreen) jump(d int) {
	to := -1
	for _, at := range r.body.odd {
		at += r.lead
		if d > 0 && at > r.list.top {
			to = at
			break
		}
		if d < 0 && at < r.list.top {
			to = at
		}
	}
	switch {
	case to < 0 || d > 0 && r.list.top+r.list.height >= r.list.n:
		r.m.say(inkNote, "no difference from here on")
	default:
		r.list.scroll(to - r.list.top)
	}
}

func (r *replayScreen) mouse(_, _ int, e mouse) tea.Cmd {
	switch e {
	case mouseWheelUp:
		r.list.scroll(-3)
	case mouseWheelDown:
		r.list.scroll(3)
	}
	return nil
}

func (r *replayScreen) copies() ([]copyItem, string) {
	var items []copyItem
	if r.answer != nil && r.answer.Message != nil {
		items = append(items, r.m.textItem("the answer", string(r.answer.Message)))
	}
	items = append(items, r.m.textItem("the request", string(r.plan.Request)))
	if r.plan.Command != "" {
		items = append(items, r.m.commandItem("the command", r.command()))
	}
	return items, "replay " + r.plan.Session.ID + string(requestSeq(r.plan.Session, r.plan.Op))
}
