package sshui

import (
	"context"
	"fmt"
	"io"
	"strings"

	"charm.land/ssh"
	"charm.land/wish/v2"
)

type visitorKey struct{}

type enderKey struct{}

func visitorOf(s ssh.Session) Visitor {
	v, _ := s.Context().Value(visitorKey{}).(Visitor)
	return v
}

// endSession ends what a session runs: its client has sent a signal.
func (s *Server) endSession(ctx ssh.Context) {
	if end, ok := ctx.Value(enderKey{}).(context.CancelFunc); ok {
		end()
	}
}

// running gives a session the context of what it runs.
func running(sess ssh.Session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(sess.Context())
	sess.Context().SetValue(enderKey{}, cancel)
	return ctx, cancel
}

// allowRequest is asked before a shell, a command or a subsystem is accepted.
func (s *Server) allowRequest(sess ssh.Session, kind string) bool {
	if kind != "subsystem" {
		return true
	}
	switch sess.Subsystem() {
	case "mcpsnoop-stream":
		if s.cfg.Logs != nil {
			return true
		}
	case "sftp":
		if s.cfg.Sessions != "" {
			return true
		}
	}
	s.refused(sess.Context(), "subsystem "+sess.Subsystem())
	return false
}

// admit lets a session in, counts it and writes down what it asks for.
func (s *Server) admit(next ssh.Handler) ssh.Handler {
	return func(sess ssh.Session) {
		v, err := s.visitor(sess)
		if err != nil { // the lists have changed since the login
			s.log.Warn("session refused", "key", fingerprint(sess.PublicKey()), "addr", sess.RemoteAddr().String(), "why", err)
			s.say(sess, "your key is not let in any more")
			_ = sess.Exit(exitNotRun)
			return
		}
		if why := s.gate.enter(v.Fingerprint); why != "" {
			s.log.Warn("session refused", "key", v.Fingerprint, "addr", v.Addr.String(), "why", why)
			s.say(sess, why)
			_ = sess.Exit(exitNotRun)
			return
		}
		defer s.gate.exit(v.Fingerprint)
		sess.Context().SetValue(visitorKey{}, v)
		what := sess.RawCommand()
		switch {
		case sess.Subsystem() != "":
			what = "subsystem " + sess.Subsystem()
		case what == "" && v.PTY:
			what = "the UI"
		case what == "":
			what = "nothing"
		}
		s.log.Info("session", "asks", what, "key", v.Fingerprint, "role", v.Role.String(), "addr", v.Addr.String())
		next(sess)
	}
}

// say tells the person at the other end something.
func (s *Server) say(sess ssh.Session, text string) {
	_, _ = io.WriteString(sess.Stderr(), "mcpsnoop: "+text+"\n") // the client may be gone
}

// Exit codes that are no command's.
const exitNotRun = 2

// serveCommand runs a command, and gives the rest to the UI.
func (s *Server) serveCommand(next ssh.Handler) ssh.Handler {
	return func(sess ssh.Session) {
		v := visitorOf(sess)
		raw := sess.RawCommand()
		switch {
		case strings.TrimSpace(raw) != "":
		case v.PTY:
			next(sess)
			return
		default:
			s.runCommand(sess, v, nil)
			return
		}
		args := sess.Command()
		if len(args) == 0 {
			s.say(sess, fmt.Sprintf("cannot read the command %q: a quotation mark is not closed", raw))
			_ = sess.Exit(exitNotRun)
			return
		}
		if c, ok := sess.Context().Value(connKey{}).(*conn); ok && !v.PTY {
			c.bulk()
		}
		s.runCommand(sess, v, args)
	}
}

// runCommand runs a command until it or its client ends, or the hub does.
func (s *Server) runCommand(sess ssh.Session, v Visitor, args []string) {
	ctx, cancel := running(sess)
	defer cancel()
	stop := s.untilClosing(ctx, cancel)
	defer stop()
	if _, winch, ok := sess.Pty(); ok {
		go drain(winch) // ends with the channel; the library waits for a reader
	}
	code := s.cfg.Command(ctx, v, args, Streams{In: sess, Out: sess, Err: sess.Stderr()})
	if args == nil {
		code = exitNotRun
	}
	_ = sess.Exit(code)
}

// untilClosing calls end when the server does. stop waits for nothing.
func (s *Server) untilClosing(ctx context.Context, end func()) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	s.wg.Go(func() {
		select {
		case <-ctx.Done():
		case <-s.closing:
			end()
		}
	})
	return stop
}

func drain(c <-chan ssh.Window) {
	for range c { //nolint:revive // nobody wants to know
	}
}

// subsystem makes a handler of a subsystem out of a plain one.
func (s *Server) subsystem(run func(ctx context.Context, sess ssh.Session) error) ssh.SubsystemHandler {
	h := s.admit(func(sess ssh.Session) {
		ctx, cancel := running(sess)
		defer cancel()
		stop := s.untilClosing(ctx, func() { cancel(); _ = sess.Close() })
		defer stop()
		if c, ok := sess.Context().Value(connKey{}).(*conn); ok {
			c.bulk()
		}
		if err := run(ctx, sess); err != nil && ctx.Err() == nil {
			s.log.Info("subsystem ended", "subsystem", sess.Subsystem(), "addr", sess.RemoteAddr().String(), "why", err)
		}
	})
	return ssh.SubsystemHandler(h)
}

func (s *Server) serveLogs(ctx context.Context, sess ssh.Session) error { return s.cfg.Logs(ctx, sess) }

// refuseSubsystem is never reached: allowRequest refuses first.
func (s *Server) refuseSubsystem(sess ssh.Session) { _ = sess.Exit(exitNotRun) }

var _ wish.Middleware = (*Server)(nil).admit
