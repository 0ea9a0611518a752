package sshui

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// Sizes of the send buffer of the kernel: small for viewers, so that what is
// old does not pile up in front of what is new, and larger for logs.
const (
	viewerBuffer = 48 << 10
	bulkBuffer   = 4 << 20
)

// conn is a connection whose writes end in time. A write that does not ends
// the connection: an error alone would leave its readers waiting.
type conn struct {
	net.Conn
	stall time.Duration
	leave func()
	once  sync.Once

	channels atomic.Int64 // open ones of type session
}

func (c *conn) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(c.stall)) // a closed connection says so in Write
	n, err := c.Conn.Write(p)
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

// SetDeadline is for reading only: that of writing is Write's own, and would
// be taken away by whoever reads at the time.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *conn) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// bulk makes the connection one that carries logs.
func (c *conn) bulk() { setBuffer(c.Conn, bulkBuffer) }

func setBuffer(c net.Conn, n int) {
	if t, ok := c.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = t.SetWriteBuffer(n) // a hint
	}
}

type connKey struct{}

// wrapConn takes a new connection, or gives nil to end it.
func (s *Server) wrapConn(ctx ssh.Context, c net.Conn) net.Conn {
	if why := s.gate.connect(c.RemoteAddr(), s.cfg.now()); why != "" {
		s.log.Warn("connection refused", "addr", c.RemoteAddr().String(), "why", why)
		return nil
	}
	setBuffer(c, viewerBuffer)
	wrapped := &conn{Conn: c, stall: s.limits.Stall}
	wrapped.leave = func() { s.forget(wrapped) }
	if !s.remember(wrapped) {
		s.gate.leave()
		return nil
	}
	ctx.SetValue(connKey{}, wrapped)
	go func() {
		defer s.wg.Done()
		s.keepAlive(ctx, wrapped)
	}()
	return wrapped
}

// remember notes a connection, for the end of the server: the library knows
// only those that have logged in. It reports false when that end has come.
func (s *Server) remember(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return false
	}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	return true
}

func (s *Server) forget(c *conn) {
	s.gate.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// closeAll closes all connections, and takes no more.
func (s *Server) closeAll() {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close() // its owner closes it again
	}
}

// keepAlive asks now and then whether the client is there, until the
// connection ends, and ends it after three times without an answer.
func (s *Server) keepAlive(ctx ssh.Context, c *conn) {
	tick := time.NewTicker(s.limits.KeepAlive)
	defer tick.Stop()
	answered := make(chan error, 1)
	asking, missed := false, 0
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-answered:
			asking, missed = false, 0
			if err != nil {
				_ = c.Close()
				return
			}
			continue
		case <-tick.C:
		}
		remote, ok := ctx.Value(ssh.ContextKeyConn).(*gossh.ServerConn)
		switch {
		case !ok: // still in the handshake, which has a deadline of its own
		case asking:
			if missed++; missed >= 3 {
				s.log.Info("viewer is gone: no answer", "addr", c.RemoteAddr().String())
				_ = c.Close()
				return
			}
		default:
			asking = true
			s.wg.Go(func() { // ends with the answer, or with the connection
				_, _, err := remote.SendRequest("keepalive@openssh.com", true, nil)
				answered <- err
			})
		}
	}
}
