package sshui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"charm.land/ssh"
	"charm.land/wish/v2"
	gossh "golang.org/x/crypto/ssh"

	"github.com/mcpsnoop/mcpsnoop/internal/tui"
)

// Config is what a Server needs. Fields without a word about nil must be set.
type Config struct {
	HostKey gossh.Signer
	Auth    *Authorizer
	Source  tui.Source
	Limits  Limits

	// UI gives the options of a viewer's UI. What an operator may do more than
	// a viewer is in them, or is not.
	UI func(Visitor) tui.Options
	// Command runs a command and returns its exit code. args is what the
	// client asked for, in words; nil asks for the help on Streams.Err.
	Command func(ctx context.Context, v Visitor, args []string, streams Streams) int
	// Logs serves the subsystem mcpsnoop-stream; nil refuses it.
	Logs func(ctx context.Context, rw io.ReadWriter) error
	// Sessions is the folder that sftp reads; "" refuses the subsystem.
	Sessions string

	Log *slog.Logger     // nil says nothing
	Now func() time.Time // nil is time.Now
}

func (c *Config) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// Visitor is who asks for something.
type Visitor struct {
	Grant
	User string // the name it gave; it decides nothing
	Addr net.Addr
	Env  []string // of its terminal, KEY=VALUE; TERM only where there is one
	PTY  bool
}

// Streams are the three standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Server serves viewers. Use New.
type Server struct {
	cfg    Config
	limits Limits
	log    *slog.Logger
	gate   *gate
	srv    *ssh.Server

	closing chan struct{} // closed when viewers are asked to end
	wg      sync.WaitGroup

	mu    sync.Mutex
	conns map[*conn]struct{} // nil when the server has ended
}

// New makes a server; Serve starts it.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.HostKey == nil:
		return nil, errors.New("an SSH server needs a host key")
	case cfg.Auth == nil: // the library would let everybody in
		return nil, errors.New("an SSH server needs to know whom to let in")
	}
	s := &Server{cfg: cfg, limits: cfg.Limits.orDefault(), log: cfg.Log, closing: make(chan struct{}), conns: map[*conn]struct{}{}}
	s.gate = newGate(s.limits)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	opts := []ssh.Option{
		wish.WithVersion("mcpsnoop"),
		ssh.EmulatePty(), // with one of the kernel, resizes are lost
		ssh.WrapConn(s.wrapConn),
		wish.WithPublicKeyAuth(s.offered),
		// The last of these runs first.
		wish.WithMiddleware(s.serveUI, s.serveCommand, s.admit),
		s.options,
	}
	if cfg.Logs != nil {
		opts = append(opts, wish.WithSubsystem("mcpsnoop-stream", s.subsystem(s.serveLogs)))
	}
	if cfg.Sessions != "" {
		opts = append(opts, wish.WithSubsystem("sftp", s.subsystem(s.serveFiles)))
	}
	opts = append(opts, wish.WithSubsystem("default", s.refuseSubsystem))
	srv, err := wish.NewServer(opts...)
	if err != nil {
		return nil, fmt.Errorf("set up the SSH server: %w", err)
	}
	s.srv = srv
	return s, nil
}

// options sets what wish has no words for.
func (s *Server) options(srv *ssh.Server) error {
	srv.HostSigners = []ssh.Signer{s.cfg.HostKey}
	srv.HandshakeTimeout = s.limits.Handshake
	srv.ServerConfigCallback = s.serverConfig
	srv.PtyCallback = s.allowPTY
	srv.ConnectionFailedCallback = s.failed
	srv.SessionRequestCallback = s.allowRequest
	srv.ChannelHandlers = map[string]ssh.ChannelHandler{"session": s.serveSession, "default": s.refuseChannel}
	srv.RequestHandlers = map[string]ssh.RequestHandler{"default": s.refuseRequest}
	return nil
}

func (s *Server) serverConfig(ctx ssh.Context) *gossh.ServerConfig {
	a := Algorithms()
	return &gossh.ServerConfig{
		Config:                    gossh.Config{KeyExchanges: a.KeyExchanges, Ciphers: a.Ciphers, MACs: a.MACs},
		PublicKeyAuthAlgorithms:   a.PublicKeyAuths,
		MaxAuthTries:              s.limits.AuthTries,
		VerifiedPublicKeyCallback: s.verified,
	}
}

// Serve takes connections until ctx ends. Then viewers are asked to end, and
// cut off when they have not after a while. It returns when all is over; the
// end of ctx is no error.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- s.srv.Serve(l) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	close(s.closing)
	bye, cancel := context.WithTimeout(context.Background(), s.limits.Farewell)
	defer cancel()
	_ = s.srv.Shutdown(bye) // its error says that some did not end; Close ends them
	_ = s.srv.Close()
	s.closeAll()
	s.wg.Wait()
	if err != nil && !errors.Is(err, ssh.ErrServerClosed) {
		return fmt.Errorf("serve SSH: %w", err)
	}
	return nil
}
