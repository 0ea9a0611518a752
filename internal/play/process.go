package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// process is a server that was started for a replay, and the link to it over
// its standard streams.
type process struct {
	o    *Options
	cmd  *exec.Cmd
	near [3]*os.File // our ends of its streams

	lines  chan line     // of its standard output; closed at the end of it
	leave  chan struct{} // closed when nobody reads lines any more
	exited chan struct{} // closed when the process has ended
	ended  string        // how, then
	silent chan struct{} // closed when its standard error has ended
	work   sync.WaitGroup
	stderr tail
}

// line is a line of a server's standard output.
type line struct {
	bytes []byte
	size  int64
	cut   bool
}

// startProcess starts a copy of a server in a process group of its own.
func startProcess(t *Target, o *Options) (link, error) {
	if len(t.Command) == 0 {
		return nil, errors.New("start the server: no command")
	}
	if fi, err := os.Stat(t.Dir); t.Dir != "" && (err != nil || !fi.IsDir()) {
		return nil, fmt.Errorf("start %s: its working directory %s is not there any more", t.Command[0], t.Dir)
	}
	p := &process{o: o, lines: make(chan line), leave: make(chan struct{}), exited: make(chan struct{}), silent: make(chan struct{})}
	p.cmd = exec.Command(t.Command[0], t.Command[1:]...) //nolint:gosec // the user was shown this command and said yes
	p.cmd.Dir, p.cmd.Env = t.Dir, t.Env
	ownGroup(p.cmd)
	far, err := p.pipes()
	if err != nil {
		return nil, err
	}
	err = p.cmd.Start()
	closeAll(far[:])
	if err != nil {
		closeAll(p.near[:])
		return nil, startError(t, err)
	}
	p.work.Go(func() { p.read() })
	p.work.Go(func() {
		defer close(p.silent)
		p.stderr.fill(p.near[2])
	})
	p.work.Go(func() {
		_ = p.cmd.Wait() // what became of it is in the state
		p.ended = howEnded(p.cmd.ProcessState)
		close(p.exited)
	})
	return p, nil
}

func startError(t *Target, err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("start %s: %w", t.Command[0], err)
}

// pipes makes the streams of the process. They are files and not exec's pipes,
// so that reading and writing can be given up at any time, whoever holds the
// other end.
func (p *process) pipes() (far [3]*os.File, err error) {
	for i := range far {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(far[:])
			closeAll(p.near[:])
			return far, fmt.Errorf("make the pipes to the server: %w", err)
		}
		if i == 0 {
			far[i], p.near[i] = r, w
		} else {
			p.near[i], far[i] = r, w
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = far[0], far[1], far[2]
	return far, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe: nothing is held back in it
		}
	}
}

// read cuts the standard output into lines until it ends.
func (p *process) read() {
	defer close(p.lines)
	s := wire.Splitter{Max: p.o.MaxAnswer}
	give := func(l wire.Line) {
		select {
		case p.lines <- line{append([]byte(nil), l.Bytes...), l.Size, l.Truncated}:
		case <-p.leave:
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := p.near[1].Read(buf)
		s.Feed(buf[:n], give)
		if err != nil {
			s.Close(give)
			return
		}
	}
}

// ask writes a request and waits for the line that answers it.
func (p *process) ask(ctx context.Context, r *request, t *talk) ([]byte, error) {
	if err := p.tell(ctx, r.body); err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			p.giveUp(r.id)
			return nil, context.Cause(ctx)
		case l, ok := <-p.lines:
			if !ok {
				return nil, p.died()
			}
			if len(l.bytes) == 0 {
				continue
			}
			if l.cut {
				return nil, fmt.Errorf("the server wrote a line of %d bytes: longer than what is read (%d)", l.size, p.o.MaxAnswer)
			}
			answers, reply := t.take(l.bytes, r.id)
			if answers {
				return l.bytes, nil
			}
			if reply != nil {
				if err := p.tell(ctx, reply); err != nil {
					return nil, err
				}
			}
		}
	}
}

// giveUp tells the server that nobody waits any more, if it listens.
func (p *process) giveUp(id int64) {
	ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	_ = p.tell(ctx, cancelled(id)) // it is told to end in a moment anyway
}

// tell writes a message. A server that does not read keeps it until ctx ends.
func (p *process) tell(ctx context.Context, message []byte) error {
	w := p.near[0]
	stop := context.AfterFunc(ctx, func() { _ = w.SetWriteDeadline(time.Unix(1, 0)) })
	_, err := w.Write(append(append([]byte(nil), message...), '\n'))
	if !stop() {
		return context.Cause(ctx)
	}
	if err != nil {
		return p.died()
	}
	return nil
}

// settle is how long the end of a process may come behind that of its streams.
const settle = 500 * time.Millisecond

// died says how the server ended, whose streams have. Its last words are
// waited for.
func (p *process) died() error {
	if !ended(p.exited, settle) {
		return errors.New("the server closed its standard output before it answered")
	}
	ended(p.silent, settle)
	return fmt.Errorf("the server ended (%s) before it answered", p.ended)
}

// close ends the process: first by the end of its input, as the specification
// has it (basic/lifecycle#stdio), then by signals to its whole group.
func (p *process) close() {
	close(p.leave)
	_ = p.near[0].Close() // that is the request to end
	for _, step := range []func(*exec.Cmd){terminate, kill} {
		if ended(p.exited, p.o.Grace) {
			break
		}
		step(p.cmd)
	}
	<-p.exited
	kill(p.cmd) // what it has started and left behind
	closeAll(p.near[1:])
	p.work.Wait()
}

// ended reports whether something has ended within the time.
func ended(what <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-what:
		return true
	case <-t.C:
		return false
	}
}

// notes are the last lines of the standard error.
func (p *process) notes() []string { return p.stderr.take() }

// maxTail bounds what is kept of the standard error, in bytes; maxTailLines what
// is told of it.
const (
	maxTail      = 8 << 10
	maxTailLines = 8
)

// tail keeps the end of a stream.
type tail struct {
	mu   sync.Mutex
	kept []byte
	size int64
}

// fill reads the stream to its end.
func (t *tail) fill(r *os.File) {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		t.mu.Lock()
		t.size += int64(n)
		t.kept = append(t.kept, buf[:n]...)
		if len(t.kept) > 2*maxTail {
			t.kept = append(t.kept[:0], t.kept[len(t.kept)-maxTail:]...)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take gives the last lines and forgets them.
func (t *tail) take() []string {
	t.mu.Lock()
	text := strings.TrimRight(strings.ToValidUTF8(string(t.kept), "\uFFFD"), "\n")
	t.kept = nil
	t.mu.Unlock()
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if n := len(lines) - maxTailLines; n > 0 {
		lines = lines[n:]
	}
	for i, l := range lines {
		lines[i] = "stderr: " + clip(strings.TrimRight(l, "\r"), maxMessageLength)
	}
	return lines
}
