package shim

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// DefaultGrace is how long a server that was asked to end may take.
const DefaultGrace = 5 * time.Second

// Clock is where a run takes its time from. It must be safe for concurrent use.
type Clock interface {
	Now() time.Time
	After(time.Duration) <-chan time.Time
}

// Options say what to run and between which streams.
type Options struct {
	// Argv is the server's command line. Argv[0] is looked up as execvp does:
	// in PATH of Env, or as a path relative to Dir when it holds a slash.
	Argv []string
	Env  []string // of the server, exactly
	Dir  string   // working directory of the server; "" means the current one

	// The client's ends. They stay the caller's, who must not use Stdin and
	// Stdout while Run runs: when the other side of one of them has gone, what
	// lies behind its descriptor is replaced by the null device. Their mode
	// (blocking or not) is shared with the client and never changed.
	Stdin, Stdout, Stderr *os.File

	Grace time.Duration // 0 means DefaultGrace

	// Recorder takes what passes; nil means that nothing is recorded. Run
	// closes it.
	Recorder *capture.Recorder

	// Signals are what the process receives; see Notify. A nil channel is fine.
	Signals <-chan os.Signal

	// Self is the path of a program that calls GuardianMain when its first
	// argument is GuardianArg: the guardian. "" means none, and then a killed
	// shim may leave the server behind.
	Self string

	Warn  func(string) // told of trouble that does not end the run; must not block; nil means nobody
	Clock Clock        // nil means the system's
}

// Run starts the server, passes bytes on until it has ended, and returns the
// exit code that the shim is to end with. The error is nil when the server
// ran, however it ended, and a *StartError when it could not be started. The
// log is complete when Run returns.
func Run(ctx context.Context, o Options) (exitCode int, err error) {
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	r, err := start(o)
	if err != nil {
		code := codeOf(err)
		if o.Recorder != nil {
			o.Recorder.Close(capture.EndInfo{ExitCode: &code, Reason: "could not start"})
		}
		return code, err
	}
	return r.run(ctx), nil
}

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// run is one server and what passes to and from it.
type run struct {
	o     Options
	child *child
	plan  plan

	c2s, s2c, errs *pump
	ended          chan *pump // pumps that are through
	exits          chan exit
}

// exit is how the server ended.
type exit struct {
	code   int    // exit code, or 128+n
	signal string // that ended it, or ""
}

func start(o Options) (*run, error) {
	c, err := startChild(&o)
	if err != nil {
		return nil, err
	}
	r := &run{o: o, child: c, ended: make(chan *pump, 3), exits: make(chan exit, 1)}
	r.plan = plan{grace: o.Grace, started: o.Clock.Now()}
	stdin, stdout, stderr := borrow(o.Stdin), borrow(o.Stdout), borrow(o.Stderr)
	r.c2s = r.newPump(capture.C2S, stdin, c.stdin)
	r.s2c = r.newPump(capture.S2C, c.stdout, stdout)
	r.errs = r.newPump(capture.Stderr, c.stderr, stderr)
	r.errs.drain = true
	for _, p := range []*pump{r.s2c, r.c2s, r.errs} {
		go func() {
			p.run()
			r.ended <- p
		}()
	}
	go func() { r.exits <- c.wait() }()
	return r, nil
}

// run is the loop that decides; everything else only reports to it.
func (r *run) run(ctx context.Context) int {
	var how exit
	cancelled := ctx.Done()
	for {
		do, wake := r.plan.step(r.look())
		switch do {
		case passTerm:
			r.child.signal(sigTerm)
			continue
		case killAll:
			r.child.kill()
			continue
		case hangUp:
			r.s2c.closeOut()
			continue
		case finish:
			return r.finish(how)
		}
		select {
		case p := <-r.ended:
			r.pumpEnded(p)
		case how = <-r.exits:
			r.plan.serverExited(r.o.Clock.Now())
		case s := <-r.o.Signals:
			r.signalled(s)
		case <-cancelled:
			cancelled = nil
			r.plan.because("cancelled")
			r.signalled(sigTerm)
		case <-r.o.Clock.After(wake):
		}
	}
}

// look gathers what the plan has to know about now.
func (r *run) look() facts {
	f := facts{now: r.o.Clock.Now(), output: later(r.s2c.moved(), r.errs.moved()), talk: r.s2c.moved()}
	f.piped = r.plan.outEnded && r.plan.errEnded
	f.writing = r.s2c.busy() || r.errs.busy()
	if !r.plan.exited.IsZero() {
		f.alone = r.child.alone()
	}
	return f
}

func (r *run) pumpEnded(p *pump) {
	now := r.o.Clock.Now()
	switch p {
	case r.c2s:
		if p.why == readEnded {
			r.plan.clientLeft(now)
		}
	case r.s2c:
		r.plan.outputEnded(now)
		if p.why == writeFailed {
			r.plan.clientLeft(now)
		}
	case r.errs:
		r.plan.errEnded = true
	}
}

func (r *run) signalled(s os.Signal) {
	switch classify(s) {
	case endsIt:
		if r.plan.signal(r.o.Clock.Now(), s) {
			r.child.signal(s)
		}
	case stopsUs:
		r.child.signal(s)
		stopSelf()
	case justPass:
		r.child.signal(s)
	}
}

// finish closes the record and lets go of all that was started.
func (r *run) finish(how exit) int {
	r.child.release()
	if r.plan.exited.IsZero() { // not even SIGKILL has ended it: it hangs in the kernel
		how = exit{code: 128 + 9, signal: "SIGKILL"}
		r.o.Warn("the server does not end, not even when killed; leaving it")
	}
	for _, p := range []*pump{r.c2s, r.s2c, r.errs} {
		p.end()
	}
	if r.o.Recorder == nil {
		return how.code
	}
	end := capture.EndInfo{Signal: how.signal, Reason: r.plan.reason}
	if how.signal == "" {
		end.ExitCode = &how.code
	}
	r.closeRecorder(end)
	return how.code
}

// closeRecorder waits for the log, unless somebody insists: a signal ends the
// wait for a disk that stands still.
func (r *run) closeRecorder(end capture.EndInfo) {
	closed := make(chan uint64, 1)
	go func() { closed <- r.o.Recorder.Close(end) }()
	for {
		select {
		case lost := <-closed:
			if lost > 0 {
				r.o.Warn(fmt.Sprintf("%d frames are not in the session log; the log says where", lost))
			}
			return
		case s := <-r.o.Signals:
			if classify(s) == endsIt && r.plan.signals > 0 {
				r.o.Warn("the session log is not complete: ended while it was being written")
				return
			}
			if classify(s) == endsIt {
				r.plan.signals++
			}
		}
	}
}
