package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// Conn is a connection to a host. Close it.
type Conn struct {
	*gossh.Client
	Host *Host

	jump *Conn // what it goes through; nil for none
	done chan struct{}
	once sync.Once
	wg   sync.WaitGroup
}

// maxJumps bounds a chain of jump hosts, which may name each other.
const maxJumps = 8

// Dialer makes connections to one target. Its keys stay open in between.
type Dialer struct {
	setup *Setup
	host  *Host
	keys  *Keys
	jumps []*Dialer // the nearest first
	notes func(string)
}

// NewDialer reads what is known of a target. notes takes what the user should
// know beside errors; it may be nil.
func (s *Setup) NewDialer(ctx context.Context, t Target, notes func(string)) (*Dialer, error) {
	return s.newDialer(ctx, t, notes, 0)
}

func (s *Setup) newDialer(ctx context.Context, t Target, notes func(string), depth int) (*Dialer, error) {
	h, err := s.Resolve(t)
	if err != nil {
		return nil, err
	}
	d := &Dialer{setup: s, host: h, notes: notes}
	if len(h.Jumps) > 0 && depth >= maxJumps {
		return nil, step(StepConfig, h, errors.New("a chain of jump hosts without end"), "look for a ProxyJump that names itself; ProxyJump none ends a chain")
	}
	for i, j := range h.Jumps {
		via, err := s.newDialer(ctx, j, notes, depth+1)
		if err != nil {
			d.Close()
			return nil, err
		}
		if i > 0 { // the chain is given whole
			via.closeJumps()
		}
		d.jumps = append(d.jumps, via)
	}
	d.keys = OpenKeys(ctx, h, s.Prompt)
	return d, nil
}

// Host is what is known of the target.
func (d *Dialer) Host() *Host { return d.host }

// Close ends the connections to agents.
func (d *Dialer) Close() {
	d.closeJumps()
	if d.keys != nil {
		d.keys.Close()
	}
}

func (d *Dialer) closeJumps() {
	for _, j := range d.jumps {
		j.Close()
	}
	d.jumps = nil
}

// Mute takes away the possibility to ask: the terminal belongs to the UI now.
func (d *Dialer) Mute() {
	for _, j := range d.jumps {
		j.Mute()
	}
	d.keys.prompt = nil
	d.setup = &Setup{Home: d.setup.Home, User: d.setup.User, Env: d.setup.Env, Config: d.setup.Config, Keys: d.setup.Keys}
}

// Dial connects.
func (d *Dialer) Dial(ctx context.Context) (*Conn, error) {
	var via *Conn
	for _, j := range d.jumps {
		next, err := j.dialVia(ctx, via)
		if err != nil {
			if via != nil {
				via.Close()
			}
			return nil, err
		}
		via = next
	}
	c, err := d.dialVia(ctx, via)
	if err != nil && via != nil {
		via.Close()
	}
	return c, err
}

// dialVia connects through another connection, or directly when it is nil.
func (d *Dialer) dialVia(ctx context.Context, via *Conn) (*Conn, error) {
	if via == nil && len(d.jumps) > 0 { // a jump host has jump hosts of its own
		return d.Dial(ctx)
	}
	h := d.host
	raw, err := d.reach(ctx, via)
	if err != nil {
		return nil, err
	}
	known, err := newHostKeys(ctx, h, d.setup.Prompt, d.notes)
	if err != nil {
		_ = raw.Close() // of no use
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	// Questions may take their time: only what waits for the host is bounded.
	limit := func() { _ = raw.SetDeadline(time.Now().Add(h.ConnectTime + 20*time.Second)) }
	limit()
	d.keys.asking = func(asking bool) {
		if asking {
			_ = raw.SetDeadline(time.Time{})
		} else {
			limit()
		}
	}
	defer func() { d.keys.asking = nil }()
	if known.prompt != nil {
		known.prompt = d.keys.ask
	}
	a := clientAlgorithms()
	cfg := &gossh.ClientConfig{
		Config: gossh.Config{KeyExchanges: a.KeyExchanges, Ciphers: a.Ciphers, MACs: a.MACs},
		User:   h.RemoteUser, Auth: d.keys.methods(ctx), HostKeyCallback: known.verify, HostKeyAlgorithms: known.algorithms(),
		ClientVersion: "SSH-2.0-mcpsnoop",
	}
	conn, chans, reqs, err := gossh.NewClientConn(raw, known.name, cfg)
	if err != nil {
		_ = raw.Close() // of no use
		return nil, d.why(ctx, err)
	}
	_ = raw.SetDeadline(time.Time{})
	c := &Conn{Client: gossh.NewClient(conn, chans, reqs), Host: h, jump: via, done: make(chan struct{})}
	c.wg.Go(c.keepAlive)
	return c, nil
}

// clientAlgorithms are what is asked for: those without known weakness.
func clientAlgorithms() gossh.Algorithms {
	a := gossh.SupportedAlgorithms()
	a.MACs = []string{gossh.HMACSHA256ETM, gossh.HMACSHA512ETM, gossh.HMACSHA256, gossh.HMACSHA512}
	return a
}

// reach opens the way to the host.
func (d *Dialer) reach(ctx context.Context, via *Conn) (net.Conn, error) {
	h := d.host
	addr := net.JoinHostPort(h.HostName, strconv.Itoa(h.RemotePort))
	if via != nil {
		ctx, cancel := context.WithTimeout(ctx, h.ConnectTime)
		defer cancel()
		c, err := via.DialContext(ctx, "tcp", addr)
		return c, step(StepConnect, h, err, "%s must be able to reach %s, and allow forwarding", via.Host.Alias, addr)
	}
	if net.ParseIP(h.HostName) == nil {
		if _, err := net.DefaultResolver.LookupHost(ctx, h.HostName); err != nil {
			return nil, step(StepResolve, h, err, "is the name right? ssh_config can say another with HostName")
		}
	}
	dialer := net.Dialer{Timeout: h.ConnectTime}
	c, err := dialer.DialContext(ctx, "tcp", addr)
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
		var call *os.SyscallError
		if errors.As(err, &call) {
			err = call.Err
		}
		err = fmt.Errorf("%s: %w", addr, err)
	}
	return c, step(StepConnect, h, err, "is an SSH server listening there? the port of a hub is what it was given with --ssh-listen")
}

// why says which step of the handshake failed.
func (d *Dialer) why(ctx context.Context, err error) error {
	var s *StepError
	if errors.As(err, &s) {
		return s
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "unable to authenticate"):
		hint := "put your public key into the far end's authorized_keys"
		if d.setup.Prompt == nil {
			hint += "; passwords and questions need a terminal"
		}
		methods := ""
		if i := strings.Index(text, "attempted methods "); i >= 0 {
			methods = text[i+len("attempted methods "):]
			methods, _, _ = strings.Cut(methods, ",")
		}
		return step(StepAuth, d.host, fmt.Errorf("user %s is not let in; tried %s; %s", d.host.RemoteUser, methods, d.keys.tried()), "%s", hint)
	case strings.Contains(text, "too many authentication"), strings.Contains(text, "disconnect, reason 2"):
		return step(StepAuth, d.host, fmt.Errorf("the far end gave up: too many keys were tried; %s", d.keys.tried()), "name the right key: IdentityFile and IdentitiesOnly yes in ssh_config, or -i KEY")
	case strings.Contains(text, "passphrase"), strings.Contains(text, "the key "):
		return step(StepAuth, d.host, err, "")
	}
	return step(StepConnect, d.host, fmt.Errorf("the SSH handshake: %w", err), "does an SSH server listen at port %d?", d.host.RemotePort)
}

// keepAlive asks now and then whether the far end is there, and ends the
// connection when it does not answer.
func (c *Conn) keepAlive() {
	tick := time.NewTicker(c.Host.AliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		answered := make(chan error, 1)
		c.wg.Go(func() {
			_, _, err := c.SendRequest("keepalive@openssh.com", true, nil)
			answered <- err
		})
		timeout := time.NewTimer(c.Host.AliveEvery * time.Duration(max(1, c.Host.AliveMax-1)))
		select {
		case err := <-answered:
			timeout.Stop()
			if err == nil {
				continue
			}
		case <-timeout.C:
		case <-c.done:
			timeout.Stop()
			return
		}
		_ = c.Client.Close() // whoever reads from it is told
		return
	}
}

// Close ends the connection and what it goes through.
func (c *Conn) Close() error {
	err := error(nil)
	c.once.Do(func() {
		close(c.done)
		err = c.Client.Close()
		if c.jump != nil {
			_ = c.jump.Close() // the end is the end
		}
		c.wg.Wait()
	})
	return err
}
