package httpproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// DefaultGrace is how long requests in flight may take when the proxy ends.
const DefaultGrace = 5 * time.Second

// Times on connections.
const (
	dialTime   = 30 * time.Second
	lingerTime = time.Second // for a client to take its last answer
	maxBackoff = time.Second // between tries to accept
)

// Options say where requests go and what is kept of them.
type Options struct {
	Target *Target

	// Headers are set on each request to the target, in place of those that
	// the client sent under the same names.
	Headers []Header

	// Recorder takes what passes; nil means that nothing is recorded. It stays
	// the caller's, who closes it when Serve has returned.
	Recorder *capture.Recorder
	MaxFrame int // bytes of a body or event that are kept; 0 means capture.DefaultMaxFrame

	Grace time.Duration // 0 means DefaultGrace
	Names []string      // names of this machine that mean the proxy in Host, beside the loopback names
	NoMap bool          // addresses in what the server says stay as they are

	// Forward makes an explicit proxy, in place of one that stands before
	// Target: clients say where their requests go. Target and Recorder are nil.
	Forward *ForwardOptions

	// ObserveAuth records facts derived from credentials, never a credential.
	ObserveAuth bool

	Warn func(string) // told of trouble that does not end the proxy; nil means nobody
}

// Header is one header field.
type Header struct{ Name, Value string }

// ParseHeader reads "Name: value".
func ParseHeader(s string) (Header, error) {
	name, value, ok := strings.Cut(s, ":")
	value = strings.Trim(value, " \t")
	if !ok || !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
		return Header{}, errors.New("a header is NAME: VALUE")
	}
	switch strings.ToLower(name) {
	case "host", "connection", "content-length", "transfer-encoding", "te", "upgrade", "keep-alive", "proxy-connection":
		return Header{}, fmt.Errorf("%s belongs to the connection and cannot be set", name)
	}
	return Header{name, value}, nil
}

// Proxy passes HTTP on between clients and one target, or with Forward those
// that they name. Make it with New; it
// serves one listener, once.
type Proxy struct {
	home     route    // where requests go, unless forward decides
	forward  *forward // nil for a reverse proxy
	headers  []Header
	maxFrame int
	grace    time.Duration
	own      own
	noMap    bool
	creds    *credentials
	warn     func(string)

	conns atomic.Uint64
	work  sync.WaitGroup // client connections
	ctx   context.Context
	h2    *http2Side

	closing atomic.Bool

	mu     sync.Mutex
	pairs  map[*pair]struct{}
	warned map[string]bool
}

// New makes a proxy. It starts nothing.
func New(o Options) *Proxy {
	p := &Proxy{
		headers: o.Headers, maxFrame: o.MaxFrame, grace: o.Grace, warn: o.Warn,
		own: own{names: o.Names}, noMap: o.NoMap, creds: newCredentials(o.ObserveAuth, o.Headers),
		pairs: map[*pair]struct{}{}, warned: map[string]bool{},
	}
	p.home = route{o.Target, &book{rec: o.Recorder, target: o.Target, old: oldTransport{target: o.Target, noMap: o.NoMap}}}
	if o.Forward != nil {
		p.forward = &forward{p: p, opts: *o.Forward, targets: map[string]*Target{}, books: map[string]*book{}}
		p.noMap = true // the client knows the servers by their own names
	}
	if p.maxFrame == 0 {
		p.maxFrame = capture.DefaultMaxFrame
	}
	if p.grace == 0 {
		p.grace = DefaultGrace
	}
	if p.warn == nil {
		p.warn = func(string) {}
	}
	return p
}

// Serve accepts connections until ctx ends. Then it takes no more requests,
// cuts event streams, gives others in flight the grace time, and returns nil
// when nothing of what it started is left. It closes l.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		p.own.port = strconv.Itoa(a.Port)
	}
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithCancel(context.WithoutCancel(ctx)) // requests in flight outlive ctx
	defer cancel()
	p.h2 = newHTTP2(p)
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	err := p.accept(ctx, l)
	l.Close()
	p.shutdown(cancel)
	return err
}

func (p *Proxy) accept(ctx context.Context, l net.Listener) error {
	for wait := time.Duration(0); ; {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case err == nil:
			wait = 0
			p.start(c)
			continue
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept connections on %s: %w", l.Addr(), err)
		}
		// Too many open files, most likely: it passes when others are closed.
		p.warnOnce("accept", fmt.Sprintf("cannot accept a connection: %v; trying again", err))
		wait = min(max(2*wait, 5*time.Millisecond), maxBackoff)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

func (p *Proxy) start(c net.Conn) {
	pr := newPair(p, c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pairs[pr] = struct{}{}
	p.work.Go(func() {
		pr.run()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pairs, pr)
	})
}

// shutdown ends all connections: what idles or streams at once, the rest after
// the grace time.
func (p *Proxy) shutdown(cancel context.CancelFunc) {
	end := func(all bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.closing.Store(true)
		for pr := range p.pairs {
			pr.end(all)
		}
	}
	end(false)
	p.h2.shutdown()
	done := make(chan struct{})
	go func() {
		p.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		cancel()
		p.h2.close()
		end(true)
		<-done
	}
	p.h2.close()
}

// warnOnce tells of a kind of trouble the first time only.
func (p *Proxy) warnOnce(what, text string) {
	p.mu.Lock()
	first := !p.warned[what] && len(p.warned) < maxWarnings
	if first {
		p.warned[what] = true
	}
	p.mu.Unlock()
	if first {
		text, _ = p.creds.known.Text(text)
		p.warn(text)
	}
}

const maxWarnings = 100

// secretPath names the default paths of an authorization server (2025-03-26,
// basic/authorization#fallbacks): what goes there are secrets, no messages.
func secretPath(path string) bool {
	switch path {
	case "/authorize", "/token", "/register", "/revoke", "/introspect":
		return true
	}
	return false
}
