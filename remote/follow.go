package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Pauses between tries to connect again.
const (
	firstPause = 300 * time.Millisecond
	lastPause  = 5 * time.Second
)

// clockNote is the difference of clocks that is worth a word.
const clockNote = time.Second

// Follower keeps a mirror up to date, over as many connections as it takes.
type Follower struct {
	Dialer *Dialer
	Mirror *Mirror
	Where  Where

	conn *Conn // of Connect, for the first Run
	far  Far
}

// Connect makes the first connection, while there is somebody to ask.
func (f *Follower) Connect(ctx context.Context) error {
	conn, err := f.Dialer.Dial(ctx)
	if err != nil {
		return err
	}
	far, err := Open(ctx, conn, f.Where)
	if err != nil {
		_ = conn.Close() // of no use
		return err
	}
	if ahead, known := far.Ahead(); known && (ahead > clockNote || ahead < -clockNote) {
		word := "ahead of"
		if ahead < 0 {
			word, ahead = "behind", -ahead
		}
		f.Mirror.note("%s: its clock is %s %s the one here", conn.Host.Alias, ahead.Round(100*time.Millisecond), word)
	}
	f.conn, f.far = conn, far
	return nil
}

// Disconnect ends the first connection, where it is not to be used.
func (f *Follower) Disconnect() {
	if f.conn != nil {
		_ = f.far.Close() // nothing was asked for
		_ = f.conn.Close()
		f.conn, f.far = nil, nil
	}
}

// Kind says what answers, once connected.
func (f *Follower) Kind() string {
	if f.far == nil {
		return "nothing"
	}
	return f.far.Kind()
}

// Once copies all there is, and ends.
func (f *Follower) Once(ctx context.Context) error {
	if f.conn == nil {
		if err := f.Connect(ctx); err != nil {
			return err
		}
	}
	return f.serve(ctx, true)
}

// Run copies all there is and what comes, until ctx ends, which is no error.
// A connection that breaks is made again; an error is one that lasts.
func (f *Follower) Run(ctx context.Context) error {
	pause := firstPause
	host := f.Dialer.Host()
	for {
		var err error
		before := f.Mirror.copied.Load()
		if f.conn == nil {
			err = f.Connect(ctx)
			if err == nil {
				f.Mirror.note("%s: connected again", host.Alias)
			}
		}
		if err == nil {
			err = f.serve(ctx, false)
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // being asked to end is how it ends
		case lasting(err):
			return err
		}
		if f.Mirror.copied.Load() > before {
			pause = firstPause
		}
		f.Mirror.note("%s: the connection is gone (%v); trying again", host.Alias, err)
		if !sleep(ctx, pause/2+rand.N(pause)) {
			return nil
		}
		pause = min(2*pause, lastPause)
	}
}

// errEnded is what a far end that says goodbye gives.
var errEnded = errors.New("the far end has ended it")

// serve uses the connection until it breaks, or once.
func (f *Follower) serve(ctx context.Context, once bool) error {
	conn, far := f.conn, f.far
	f.conn, f.far = nil, nil
	stop := context.AfterFunc(ctx, func() { _ = conn.Client.Close() })
	defer func() {
		stop()
		_ = far.Close() // what it has given is written
		_ = conn.Close()
	}()
	files, err := far.List(ctx)
	for err == nil {
		if err = f.Mirror.Sync(ctx, far, files); err != nil || once {
			break
		}
		files, err = far.Wait(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return step(StepCopy, conn.Host, fmt.Errorf("through %s: %w", far.Kind(), err), "run it again: it goes on where it ended")
	}
	if once {
		return nil
	}
	return errEnded
}
