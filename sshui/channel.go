package sshui

import (
	"context"
	"strings"
	"sync"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// Bounds on what a client may send before its session is served.
const (
	maxEnv     = 64
	maxEnvSize = 16 << 10
)

// sessionContext is the context of one session: that of the library is the
// connection's, which carries several.
type sessionContext struct {
	ssh.Context
	ctx context.Context

	mu     sync.Mutex
	values map[any]any
}

func (c *sessionContext) Done() <-chan struct{} { return c.ctx.Done() }
func (c *sessionContext) Err() error            { return c.ctx.Err() }

func (c *sessionContext) Value(key any) any {
	c.mu.Lock()
	v, ok := c.values[key]
	c.mu.Unlock()
	if ok {
		return v
	}
	return c.Context.Value(key)
}

func (c *sessionContext) SetValue(key, value any) {
	c.mu.Lock()
	c.values[key] = value
	c.mu.Unlock()
}

// filteredChannel is a channel whose requests pass a filter first.
type filteredChannel struct {
	gossh.NewChannel
	filter func(in <-chan *gossh.Request, out chan<- *gossh.Request)
	wg     *sync.WaitGroup
}

func (f filteredChannel) Accept() (gossh.Channel, <-chan *gossh.Request, error) {
	ch, in, err := f.NewChannel.Accept()
	if err != nil {
		return nil, nil, err
	}
	out := make(chan *gossh.Request)
	f.wg.Go(func() {
		defer close(out)
		f.filter(in, out)
	})
	return ch, out, nil
}

// serveSession handles a channel of type session. It gives the session a
// context that ends when its channel does.
func (s *Server) serveSession(srv *ssh.Server, c *gossh.ServerConn, newChan gossh.NewChannel, ctx ssh.Context) {
	if of, ok := ctx.Value(connKey{}).(*conn); ok {
		defer of.channels.Add(-1)
		if of.channels.Add(1) > int64(s.limits.SessionsPerKey) {
			_ = newChan.Reject(gossh.ResourceShortage, "too many sessions on this connection")
			return
		}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	sctx := &sessionContext{Context: ctx, ctx: inner, values: map[any]any{}}
	filter := func(in <-chan *gossh.Request, out chan<- *gossh.Request) {
		defer cancel()
		s.filterRequests(sctx, in, out)
	}
	ssh.DefaultSessionHandler(srv, c, filteredChannel{newChan, filter, &s.wg}, sctx)
}

// filterRequests passes on what a session may ask for.
func (s *Server) filterRequests(ctx ssh.Context, in <-chan *gossh.Request, out chan<- *gossh.Request) {
	env, size := 0, 0
	for req := range in {
		switch {
		case strings.HasPrefix(req.Type, "auth-agent-req"), req.Type == "x11-req":
			s.refused(ctx, req.Type)
			_ = req.Reply(false, nil)
			continue
		case req.Type == "signal", req.Type == "break":
			if req.Type == "signal" && signalEnds(req.Payload) {
				s.endSession(ctx)
			}
			_ = req.Reply(true, nil)
			continue
		case req.Type == "env":
			var kv struct{ Key, Value string }
			env, size = env+1, size+len(req.Payload)
			if gossh.Unmarshal(req.Payload, &kv) != nil || !envAllowed(kv.Key) || env > maxEnv || size > maxEnvSize {
				_ = req.Reply(false, nil)
				continue
			}
		}
		out <- req
	}
}

// envAllowed reports whether the client's value of a variable is taken: those
// that say what its terminal can do and which language it speaks.
func envAllowed(name string) bool {
	switch name {
	case "COLORTERM", "COLORFGBG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LANG", "LANGUAGE", "TZ", "TMUX", "STY", "TERM_PROGRAM", "TERM_PROGRAM_VERSION":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

func signalEnds(payload []byte) bool {
	var sig struct{ Name string }
	if gossh.Unmarshal(payload, &sig) != nil {
		return false
	}
	switch sig.Name {
	case "INT", "TERM", "HUP", "KILL", "QUIT":
		return true
	}
	return false
}

// refuseChannel refuses the channels that are no session: forwarded ports,
// sockets, tunnels.
func (s *Server) refuseChannel(_ *ssh.Server, _ *gossh.ServerConn, newChan gossh.NewChannel, ctx ssh.Context) {
	s.refused(ctx, newChan.ChannelType())
	_ = newChan.Reject(gossh.Prohibited, "a hub forwards nothing")
}

// refuseRequest refuses what concerns the whole connection.
func (s *Server) refuseRequest(ctx ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	switch req.Type {
	case "keepalive@openssh.com", "no-more-sessions@openssh.com", "hostkeys-prove-00@openssh.com":
	default:
		s.refused(ctx, req.Type)
	}
	return false, nil
}

func (s *Server) refused(ctx ssh.Context, what string) {
	key, _ := ctx.Value(ssh.ContextKeyPublicKey).(ssh.PublicKey)
	s.log.Warn("refused", "what", what, "key", fingerprint(key), "addr", ctx.RemoteAddr().String())
}
