package tui

import (
	"strconv"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// axis is the time that the bars lie over.
type axis struct {
	begin int64
	span  time.Duration
}

// barHead is the title of the bars, until the axis takes its place.
const barHead = Text("WHEN")

// ticks are the marks of the axis, in round numbers, at least ten cells apart.
func (a *axis) ticks(w int) Text {
	every := time.Millisecond
	for _, next := range [...]int{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10e3, 20e3, 60e3, 120e3, 300e3, 600e3, 1200e3, 3600e3, 2 * 3600e3, 6 * 3600e3, 24 * 3600e3} {
		if a.cell(every, w) >= 10 {
			break
		}
		every = time.Duration(next) * time.Millisecond
	}
	for a.cell(every, w) < 10 && every < 1<<60 {
		every *= 2
	}
	out, at := Text(""), 0
	for t := time.Duration(0); t <= a.span; t += every {
		label := tickText(t)
		x := a.cell(t, w)
		if x+len(label) > w || t > 0 && x <= at {
			break
		}
		out += blanks(x-at) + label
		at = x + len(label)
	}
	return out
}

// cell is where a time since the beginning falls.
func (a *axis) cell(t time.Duration, w int) int {
	return int(float64(t) / float64(a.span) * float64(w))
}

// tickText writes a round time.
func tickText(t time.Duration) Text {
	switch {
	case t == 0:
		return "0s"
	case t%time.Second != 0:
		return Text(strconv.FormatInt(int64(t/time.Millisecond), 10)) + "ms"
	case t%time.Minute != 0:
		return Text(strconv.FormatInt(int64(t/time.Second), 10)) + "s"
	case t%time.Hour != 0:
		return Text(strconv.FormatInt(int64(t/time.Minute), 10)) + "m"
	}
	return Text(strconv.FormatInt(int64(t/time.Hour), 10)) + "h"
}

// bar draws a call over the axis: solid while the server has it, hatched while
// the client or its user has. A very short one is a thin stroke, an open one
// ends in a clock.
func (r *callRow) bar(d *dress, w int) []span {
	if w <= 0 {
		return nil
	}
	cells := make([]byte, w) // 0 nothing, 1 waiting, 2 server
	fill := func(from, to time.Duration, what byte) {
		a, b := min(r.axis.cell(from, w), w-1), min(r.axis.cell(to, w), w)
		for x := max(a, 0); x < max(b, a+1); x++ {
			cells[x] = max(cells[x], what)
		}
	}
	at := time.Duration(r.root.Start - r.axis.begin)
	last := byte(2)
	if !r.root.Client {
		last = 1
	}
	for _, h := range r.chain.Hops {
		if h.Wait > 0 {
			fill(at, at+h.Wait, 1)
		}
		at += h.Wait
		fill(at, at+h.Server, last)
		at += h.Server
	}
	ink := inkOut
	if r.op.State == store.Failed {
		ink = inkError
	}
	return r.paint(d, cells, ink)
}

// paint writes the cells as signs.
func (r *callRow) paint(d *dress, cells []byte, i ink) []span {
	signs := [3]Text{" ", d.g.barFree, d.g.barFull}
	inks := [3]ink{inkText, inkPending, i}
	used, end := 0, 0
	for x, c := range cells {
		if c > 0 {
			used, end = used+1, x
		}
	}
	if used == 1 && !r.chain.Open {
		signs[2] = d.g.resting
	}
	var l line
	for x, c := range cells {
		if x == end && r.chain.Open && used > 0 {
			l.put(openInk(r.live), r.clock(d))
			continue
		}
		l.put(inks[c], signs[c])
	}
	return l.spans
}

func openInk(alive bool) ink {
	if alive {
		return inkPending
	}
	return inkWarn
}

// clock is the sign of an open call, by its age.
func (r *callRow) clock(d *dress) Text {
	if !r.live {
		return d.g.gone
	}
	return d.g.clock[min(int(r.total/(15*time.Second)), 3)]
}

func (p *callsPage) columns() []column[*callRow] {
	d := &p.m.d
	took := func(i ink, t time.Duration) []span {
		if t == 0 {
			return []span{{d.g.dot, inkDim}}
		}
		return []span{{duration(t), i}}
	}
	return []column[*callRow]{
		{head: "CALL", sort: 'C', min: 14, want: 18, grow: 1, rank: 0, cell: func(r *callRow, _ int) []span { return callName(d, r) }},
		{head: "ID", min: 5, rank: 9, cell: func(r *callRow, _ int) []span { return []span{{callID(d, r), inkDim}} }},
		{head: "START", sort: 'S', min: 8, rank: 7, cell: func(r *callRow, _ int) []span {
			return []span{{Text(time.Unix(0, r.root.Start).In(p.m.opts.Zone).Format("15:04:05")), inkDim}}
		}},
		{head: barHead, min: 8, want: 16, grow: 4, rank: 2, cell: func(r *callRow, w int) []span { return r.bar(d, w) }},
		{head: "TOTAL", sort: 'L', min: 7, rank: 1, right: true, cell: func(r *callRow, _ int) []span { return r.totalCell(d) }},
		{head: "SERVER", sort: 'V', min: 6, rank: 5, right: true, cell: func(r *callRow, _ int) []span { return took(inkText, r.server) }},
		{head: "USER", sort: 'U', min: 6, rank: 4, right: true, cell: func(r *callRow, _ int) []span { return took(inkPending, r.wait) }},
		{head: "TRIPS", sort: 'I', min: 5, rank: 6, right: true, cell: func(r *callRow, _ int) []span { return []span{{shortCount(len(r.chain.Hops)), inkText}} }},
		{head: "STATUS", sort: 'A', min: 11, rank: 3, cell: func(r *callRow, _ int) []span { return opState(d, r.op, r.live) }},
	}
}

func callName(d *dress, r *callRow) []span {
	way := span{d.g.out + " ", inkOut}
	if !r.root.Client {
		way = span{d.g.in + " ", inkIn}
	}
	return []span{way, {d.safe(r.name), inkStrong}}
}

// callID is the id of the request, and that of its last retry.
func callID(d *dress, r *callRow) Text {
	t := d.safe(string(r.root.ID))
	if r.op != r.root {
		t += d.g.out + d.safe(string(r.op.ID))
	}
	return t
}

func (r *callRow) totalCell(d *dress) []span {
	if r.chain.Open {
		return []span{{r.clock(d) + " " + waited(r.total), openInk(r.live)}}
	}
	return []span{{duration(r.total), inkText}}
}

func (p *callsPage) lead(int) []line { return nil }

func (p *callsPage) command() Text { return "tail --where kind:request" }

func (p *callsPage) status() (line, line) {
	d := &p.m.d
	left := of(span{plural(len(p.rows), "call", "calls"), inkText})
	n := p.s.Summary().Calls.Pending
	switch {
	case p.asking:
		left.put(inkText, " in which the client was asked")
	case n > 0 && p.live:
		left.put(inkDim, " "+d.g.dot+" ")
		left.put(inkPending, d.g.open+" "+count(n)+" open")
	case n > 0:
		left.put(inkDim, " "+d.g.dot+" ")
		left.put(inkWarn, d.g.gone+" "+count(n)+" without an answer")
	}
	right := of(span{d.g.barFull, inkOut}, span{" server ", inkDim}, span{d.g.barFree, inkPending}, span{" user", inkDim})
	return left, right
}

// note tells a call trip by trip, and of an open one whose turn it is.
func (p *callsPage) note(i, _ int) []line {
	d := &p.m.d
	r := newCallRow(p.s, p.rows[i], p.now, p.live)
	l := of(opState(d, r.op, r.live)...)
	l.put(inkText, " "+d.g.dot+" "+d.safe(r.method)+" "+d.g.dot+" in all "+duration(r.total))
	out := []line{l}
	if r.chain.Open && r.live {
		out = append(out, turnFact(d, p.s, r.op, p.now))
	} else if why := p.s.Why(r.op); why != "" {
		out = append(out, of(span{"why ", inkDim}, span{d.safe(why), inkWarn}))
	}
	if r.op.Progress > 0 || r.op.Polls > 0 {
		out = append(out, of(span{plural(r.op.Progress, "progress message", "progress messages") + ", " + plural(r.op.Polls, "poll of its task", "polls of its task"), inkText}))
	}
	for k, h := range r.chain.Hops {
		op := p.s.Op(h.Op)
		t := of(span{"trip " + count(k+1) + "   ", inkDim}, span{seqOf(p.s, op.Request), inkText})
		if h.Wait > 0 {
			t.put(inkPending, "  "+d.g.barFree+" after "+duration(h.Wait)+" with the client or its user")
		}
		side := Text(" with the server")
		if !r.op.Client {
			side = " with the client"
		}
		t.put(inkText, "  "+d.g.barFull+" "+duration(h.Server)+side)
		if op.WantsInput {
			t.put(inkNote, ", which then asks for input")
		}
		out = append(out, t)
	}
	return out
}
