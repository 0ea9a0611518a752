package shim

import (
	"os"
	"time"
)

// Times of the end, beside the grace time.
const (
	maxGraces = 3                       // output after the client's end of file extends the grace time up to this many times
	quietTime = 500 * time.Millisecond  // without output, after which nothing more is expected from what is left
	leftTime  = 1500 * time.Millisecond // that it may then take, and the longest it may go on talking is the grace time
	slowTime  = 30 * time.Second        // that a client may take to read the last output
	eofTime   = 50 * time.Millisecond   // between the end of the server's output and its exit; later the client is told
	aloneTick = 25 * time.Millisecond   // between looks at whether the group is empty
	idleTick  = time.Hour
)

// action is what the plan wants done next.
type action uint8

const (
	wait     action = iota
	passTerm        // ask the group to end
	killAll         // kill the group
	hangUp          // close the client's end of the server's output
	finish          // nothing is left to wait for
)

// facts are what a step of the plan is decided on, beside what it was told.
type facts struct {
	now     time.Time
	output  time.Time // when the server last wrote anything
	talk    time.Time // when it last wrote to standard output
	piped   bool      // its output has ended on both pipes
	writing bool      // the client has not taken all of it
	alone   bool      // nothing is left of its group
}

// plan decides how a run ends. It holds no clock, starts nothing and sends
// nothing: it is told what happened and says what to do and when to ask again.
type plan struct {
	grace   time.Duration
	started time.Time

	left    time.Time // the client closed an end
	exited  time.Time // the server itself has ended
	asked   time.Time // the group was asked to end
	killAt  time.Time // it will be killed then
	killed  time.Time
	signals int       // that asked us to end
	last    os.Signal // the newest of them
	lastAt  time.Time
	reason  string // what began the end, for the log

	outAt              time.Time // the server's output ended then
	outEnded, errEnded bool
	hungUp             bool
}

func (p *plan) because(reason string) {
	if p.reason == "" {
		p.reason = reason
	}
}

func (p *plan) clientLeft(now time.Time) {
	if p.left.IsZero() {
		p.left = now
		p.because("client closed")
	}
}

func (p *plan) outputEnded(now time.Time) { p.outEnded, p.outAt = true, now }

func (p *plan) serverExited(now time.Time) {
	p.exited = now
	p.because("server exited")
}

// echoTime is how close the same signal is one delivered twice: to the process
// and to its group, by the terminal and by the shell.
const echoTime = 20 * time.Millisecond

// signal notes a signal that asks us to end and reports whether to pass it on:
// the first one is, a second kills.
func (p *plan) signal(now time.Time, s os.Signal) (pass bool) {
	if p.signals > 0 && s == p.last && now.Sub(p.lastAt) < echoTime {
		return false
	}
	p.signals++
	p.last, p.lastAt = s, now
	p.because("signal " + signalName(s))
	if p.signals > 1 {
		p.killAt = now
		return false
	}
	p.asked, p.killAt = now, now.Add(p.grace)
	return true
}

// step says what to do now, or how long nothing is to be done unless something
// happens.
func (p *plan) step(f facts) (action, time.Duration) {
	if p.killed.IsZero() && !p.killAt.IsZero() && !f.now.Before(p.killAt) {
		p.killed = f.now
		return killAll, 0
	}
	if !p.exited.IsZero() {
		return p.afterExit(f)
	}
	if !p.killed.IsZero() {
		return p.until(f, p.killed.Add(max(p.grace, time.Second)), finish)
	}
	if p.outEnded && !p.hungUp && !f.now.Before(p.outAt.Add(eofTime)) {
		p.hungUp = true
		return hangUp, 0
	}
	next := p.killAt
	if p.outEnded && !p.hungUp {
		next = sooner(next, p.outAt.Add(eofTime))
	}
	if !p.left.IsZero() && p.asked.IsZero() {
		due := later(p.left, f.talk).Add(p.grace)
		due = sooner(due, p.left.Add(maxGraces*p.grace))
		if !f.now.Before(due) {
			return p.ask(f.now, p.grace), 0
		}
		next = sooner(next, due)
	}
	if next.IsZero() {
		return wait, idleTick
	}
	return wait, next.Sub(f.now)
}

// afterExit waits for the last output and for what the server left behind.
func (p *plan) afterExit(f facts) (action, time.Duration) {
	if f.piped && f.alone {
		return finish, 0
	}
	if f.alone || !p.killed.IsZero() {
		// Only what the client has not taken is left, or pipes that somebody
		// out of reach holds.
		if f.writing && f.now.Before(p.patience()) {
			return wait, aloneTick
		}
		from := later(p.exited, p.killed)
		return p.until(f, sooner(later(from, f.output).Add(quietTime), from.Add(p.grace)), finish)
	}
	if !p.asked.IsZero() { // it has its grace time still
		return wait, min(aloneTick, p.killAt.Sub(f.now))
	}
	quiet := sooner(later(p.exited, f.output).Add(quietTime), p.exited.Add(p.grace))
	if f.piped || !f.now.Before(quiet) {
		return p.ask(f.now, min(leftTime, p.grace)), 0
	}
	return wait, min(aloneTick, quiet.Sub(f.now))
}

// patience is until when a client may take the last output.
func (p *plan) patience() time.Time {
	switch {
	case p.signals > 0:
		return later(p.exited, p.lastAt).Add(quietTime)
	case !p.left.IsZero():
		return p.exited.Add(p.grace)
	}
	return p.exited.Add(slowTime)
}

func (p *plan) ask(now time.Time, grace time.Duration) action {
	p.asked, p.killAt = now, now.Add(grace)
	return passTerm
}

func (p *plan) until(f facts, t time.Time, then action) (action, time.Duration) {
	if !f.now.Before(t) {
		return then, 0
	}
	return wait, min(aloneTick, t.Sub(f.now))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sooner takes a zero time as never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
