package sshui

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what clients can take. The zero value of a field means the
// default that is said there.
type Limits struct {
	Conns          int // at once; 512
	Sessions       int // at once, of all keys; 512
	SessionsPerKey int // 128
	AuthTries      int // keys that are refused before a connection ends; 20

	ConnsPerSecond float64       // new ones of one address, in the long run; 20
	ConnBurst      int           // and at once; 200
	Handshake      time.Duration // until a client has proved who it is; 30 s

	KeepAlive time.Duration // between questions whether the client is there; 30 s. It is cut after three without an answer.
	Stall     time.Duration // a write that takes longer ends the viewer; 60 s
	Redraw    time.Duration // shortest time between two changes that a viewer is told of; 200 ms
	BytesPerS int           // what changes may cost a viewer; 16 KiB
	Farewell  time.Duration // how long viewers have to end; 3 s
}

func (l Limits) orDefault() Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&l.Conns, 512)
	def(&l.Sessions, 512)
	def(&l.SessionsPerKey, 128)
	def(&l.AuthTries, 20)
	def(&l.ConnBurst, 200)
	def(&l.BytesPerS, 16<<10)
	if l.ConnsPerSecond <= 0 {
		l.ConnsPerSecond = 20
	}
	dur(&l.Handshake, 30*time.Second)
	dur(&l.KeepAlive, 30*time.Second)
	dur(&l.Stall, 60*time.Second)
	dur(&l.Redraw, 200*time.Millisecond)
	dur(&l.Farewell, 3*time.Second)
	return l
}

// maxAddresses bounds the addresses whose rate is remembered; when there are
// more, all start anew.
const maxAddresses = 4096

// gate counts connections and sessions.
type gate struct {
	limits Limits

	mu       sync.Mutex
	conns    int
	sessions int
	keys     map[string]int
	rates    map[netip.Addr]*rate.Limiter
}

func newGate(l Limits) *gate {
	return &gate{limits: l, keys: map[string]int{}, rates: map[netip.Addr]*rate.Limiter{}}
}

// connect reports why a new connection is not taken, "" when it is. leave
// takes it back.
func (g *gate) connect(from net.Addr, now time.Time) string {
	addr := addrOf(from)
	if addr.Is6() { // one subscriber has a whole /64
		if p, err := addr.Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns >= g.limits.Conns {
		return "too many connections"
	}
	r := g.rates[addr]
	if r == nil {
		if len(g.rates) >= maxAddresses {
			clear(g.rates)
		}
		r = rate.NewLimiter(rate.Limit(g.limits.ConnsPerSecond), g.limits.ConnBurst)
		g.rates[addr] = r
	}
	if !r.AllowN(now, 1) {
		return "too many connections from this address in a short time"
	}
	g.conns++
	return ""
}

func (g *gate) leave() {
	g.mu.Lock()
	g.conns--
	g.mu.Unlock()
}

// enter reports why a new session of a key is not taken, "" when it is. exit
// takes it back.
func (g *gate) enter(fingerprint string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.sessions >= g.limits.Sessions:
		return "the hub has as many sessions as it takes; try again later"
	case g.keys[fingerprint] >= g.limits.SessionsPerKey:
		return "your key has as many sessions as the hub takes; end one of them"
	}
	g.sessions++
	g.keys[fingerprint]++
	return ""
}

func (g *gate) exit(fingerprint string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions--
	if g.keys[fingerprint]--; g.keys[fingerprint] <= 0 {
		delete(g.keys, fingerprint)
	}
}
