package sshui

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/ssh"

	"github.com/mcpsnoop/mcpsnoop/internal/tui"
)

// fps is how often a viewer's program looks whether there is something to
// send: a key is answered within one of them.
const fps = 30

// serveUI runs the UI of a viewer. The library's own runner does not notice
// that a session ends while its connection goes on.
func (s *Server) serveUI(ssh.Handler) ssh.Handler {
	return func(sess ssh.Session) {
		s.wg.Add(1) // the end of the hub waits for the last screen
		defer s.wg.Done()
		v := visitorOf(sess)
		if tui.Plain(v.Env) {
			s.say(sess, "this terminal cannot show screens (TERM); here is the list, and `ssh ... help` names the commands")
			s.runCommand(sess, v, []string{"sessions"})
			return
		}
		pty, winch, _ := sess.Pty()
		ctx, cancel := running(sess)
		defer cancel()
		out := &screenWriter{w: sess, stall: s.limits.Stall, cut: func() {
			s.log.Warn("viewer cut off: it does not read", "key", v.Fingerprint, "addr", v.Addr.String())
			cancel()
			_ = sess.Close()
		}}
		src := newPaced(ctx, s.cfg.Source, s.limits, out)
		opts := s.cfg.UI(v)
		opts.Env, opts.Suspend = v.Env, false
		p := tea.NewProgram(tui.New(ctx, src, opts), programOptions(ctx, sess, out, v.Env, pty)...)
		resizes := newest(winch)
		s.wg.Go(func() { s.attend(ctx, cancel, p, resizes) })
		_, err := p.Run()
		ended := ctx.Err() != nil
		cancel()
		code := 0
		if err != nil && !ended && !errors.Is(err, tea.ErrInterrupted) {
			s.log.Error("the UI of a viewer failed", "key", v.Fingerprint, "addr", v.Addr.String(), "why", err)
			s.say(sess, "the user interface failed; the hub has written down why")
			code = exitNotRun
		}
		select {
		case <-s.closing:
			s.say(sess, "the hub has ended")
		default:
		}
		_ = sess.Exit(code)
	}
}

func programOptions(ctx context.Context, sess ssh.Session, out *screenWriter, env []string, pty ssh.Pty) []tea.ProgramOption {
	return []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(sess), tea.WithOutput(out), tea.WithEnvironment(env),
		tea.WithColorProfile(tui.Profile(env)), tea.WithWindowSize(pty.Window.Width, pty.Window.Height),
		tea.WithFPS(fps), tea.WithoutSignalHandler(),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if _, ok := msg.(tea.SuspendMsg); ok { // it is the hub that would stop
				return nil
			}
			return msg
		}),
	}
}

// attend tells a program of the sizes of its terminal, and of the end of the
// hub. It is the only one that sends to it from outside.
func (s *Server) attend(ctx context.Context, cancel func(), p *tea.Program, resizes <-chan ssh.Window) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.closing:
			stop := time.AfterFunc(s.limits.Farewell/2, cancel)
			defer stop.Stop()
			p.Quit()
			<-ctx.Done()
			return
		case w, ok := <-resizes:
			if !ok { // the session has ended, whatever the connection does
				cancel()
				return
			}
			p.Send(tea.WindowSizeMsg{Width: w.Width, Height: w.Height})
		}
	}
}

// newest passes on the newest of the values of a channel, and never lets its
// sender wait. It ends with in.
func newest(in <-chan ssh.Window) <-chan ssh.Window {
	out := make(chan ssh.Window, 1)
	go func() {
		defer close(out)
		for w := range in {
			select {
			case <-out: // an older one that nobody took
			default:
			}
			out <- w
		}
	}()
	return out
}

// screenWriter writes to a viewer, counts the bytes, and cuts off one who does
// not read.
type screenWriter struct {
	w     interface{ Write(p []byte) (int, error) }
	stall time.Duration
	cut   func()
	bytes atomic.Int64
}

func (s *screenWriter) Write(p []byte) (int, error) {
	t := time.AfterFunc(s.stall, s.cut)
	defer t.Stop()
	n, err := s.w.Write(p)
	s.bytes.Add(int64(n))
	return n, err
}
