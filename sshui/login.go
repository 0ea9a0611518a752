package sshui

import (
	"errors"
	"net"
	"strings"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

func fingerprint(key gossh.PublicKey) string {
	if key == nil {
		return "none"
	}
	if cert, ok := key.(*gossh.Certificate); ok {
		key = cert.Key
	}
	return gossh.FingerprintSHA256(key)
}

// offered is asked about a key that a client may not have: it decides nothing
// but whether to go on. Who a session belongs to is decided in admit, by the
// key that signed.
func (s *Server) offered(ctx ssh.Context, key ssh.PublicKey) bool {
	_, err := s.cfg.Auth.Check(key, ctx.RemoteAddr(), s.cfg.now())
	if err != nil {
		s.log.Info("key refused", "key", fingerprint(key), "addr", ctx.RemoteAddr().String(), "user", ctx.User(), "why", err)
	}
	return err == nil
}

// verified is told of the key that has signed.
func (s *Server) verified(c gossh.ConnMetadata, key gossh.PublicKey, p *gossh.Permissions, _ string) (*gossh.Permissions, error) {
	g, err := s.cfg.Auth.Check(key, c.RemoteAddr(), s.cfg.now())
	if err != nil {
		return nil, ssh.ErrPermissionDenied
	}
	s.log.Info("login", "key", g.Fingerprint, "comment", g.Comment, "role", g.Role.String(), "addr", c.RemoteAddr().String(), "user", c.User(), "client", string(c.ClientVersion()))
	return p, nil
}

// failed is told of connections that did not come to a login.
func (s *Server) failed(c net.Conn, err error) {
	var denied *gossh.ServerAuthError
	switch {
	case strings.Contains(err.Error(), "too many authentication"):
		s.log.Warn("login failed", "addr", c.RemoteAddr().String(), "why", "too many keys were tried; the client can name the right one: ssh -i KEY -o IdentitiesOnly=yes")
	case errors.As(err, &denied):
		s.log.Warn("login failed", "addr", c.RemoteAddr().String(), "why", "no key of the client is let in")
	default:
		s.log.Info("connection ended before the login", "addr", c.RemoteAddr().String(), "why", err)
	}
}

// allowPTY refuses a terminal to keys that may not have one.
func (s *Server) allowPTY(ctx ssh.Context, _ ssh.Pty) bool {
	key, _ := ctx.Value(ssh.ContextKeyPublicKey).(ssh.PublicKey)
	if key == nil {
		return false
	}
	g, err := s.cfg.Auth.Check(key, ctx.RemoteAddr(), s.cfg.now())
	return err == nil && !g.NoPTY
}

// visitor says whose a session is: the key that signed decides, by what the
// lists say now.
func (s *Server) visitor(sess ssh.Session) (Visitor, error) {
	v := Visitor{User: sess.User(), Addr: sess.RemoteAddr(), Env: sess.Environ()}
	key := sess.PublicKey()
	if key == nil {
		return v, errors.New("no key")
	}
	g, err := s.cfg.Auth.Check(key, sess.RemoteAddr(), s.cfg.now())
	if err != nil {
		return v, err
	}
	v.Grant = g
	if pty, _, ok := sess.Pty(); ok {
		v.PTY = true
		v.Env = append(v.Env, "TERM="+pty.Term)
		if !speaksLocale(v.Env) && pty.Modes[opIUTF8] == 1 {
			v.Env = append(v.Env, "LC_CTYPE=C.UTF-8")
		}
	}
	return v, nil
}

// opIUTF8 is the terminal mode of RFC 8160: the terminal takes UTF-8.
const opIUTF8 = 42

// speaksLocale reports whether the client has told its language.
func speaksLocale(env []string) bool {
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if v != "" && (k == "LANG" || k == "LC_ALL" || k == "LC_CTYPE") {
			return true
		}
	}
	return false
}
