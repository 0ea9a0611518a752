package checks

import (
	"slices"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Caching over several requests.
var cacheVaryRules = []Rule{
	{
		ID: "cache-public-varies", Signal: Warn, Level: Should, Revisions: R5, Transports: OnHTTP, on: onResult, methods: cacheable, check: cacheVaries,
		Title: "A result that may be cached for everybody depends on who asks",
		Help:  "One credential was given the same result twice, and another one in between was given a different one. A cache hands the data of one user to another.",
		Fix:   `Send "cacheScope":"private".`,
		Spec:  cachePage + "#security-considerations",
	},
	{
		ID: "cache-poll-exact", Signal: Info, Level: Note, Revisions: R5, on: onRequest, methods: cacheable, check: cachePolled,
		Title: "A client that has nothing to do reads anew whenever ttlMs is over",
		Help:  "ttlMs says how long a result may be used, not when to ask again.",
		Fix:   "Read when the result is needed; subscribe where changes matter.",
		Spec:  cachePage + "#freshness-calculation",
	},
}

// given is a result that may be cached for everybody, and to whom it went.
type given struct {
	auth  string
	hash  uint64
	seq   uint64
	until int64
}

// varies are the last two results of each cacheable request.
type varies map[uint64][2]given

// cacheKey is a hash of what a cacheable result may depend on when it is
// public; 0 when that is not known or nobody is named.
func (c *ctx) cacheKey() uint64 {
	if !c.http() || c.rev != R5 || !c.c2s() || c.authOf() == "" || !slices.Contains(cacheable, c.method) || marked(c.params) {
		return 0
	}
	h := hashText(c.method) ^ hashText(c.meta.get(mcp.MetaVersion).raw())*31 ^ hashText(c.meta.get(mcp.MetaClientCaps).raw())*37
	return h ^ hashMembers(c.params, "_meta")
}

// hashMembers is a hash of an object but for some members, in any order.
func hashMembers(v val, but ...string) uint64 {
	h := uint64(1)
	for _, m := range v.each() {
		if k := m.key(); !slices.Contains(but, k) {
			h += (hashText(k) ^ hashText(wire.AppendCanonical(nil, m.raw()))) * 1099511628211
		}
	}
	return h
}

func cacheVaries(c *ctx) {
	if c.req == nil || c.req.cacheKey == 0 || !c.result.get("cacheScope").is("public") || !c.complete() || len(c.result.raw()) > maxSchema || marked(c.result) {
		return
	}
	ttl := millis(c.result.get("ttlMs"))
	if ttl == 0 {
		return
	}
	if c.e.varies == nil || len(c.e.varies) >= maxInputs {
		c.e.varies = varies{}
	}
	now := given{c.req.auth, hashMembers(c.result, "_meta", "ttlMs", "cacheScope", "resultType"), c.rec.Seq, c.ev.Frame.TS + ttl}
	last := c.e.varies[c.req.cacheKey]
	c.e.varies[c.req.cacheKey] = [2]given{last[1], now}
	a, b := last[0], last[1]
	if a.seq > 0 && a.auth == now.auth && b.auth != now.auth && a.hash == now.hash && b.hash != now.hash && c.ev.Frame.TS < a.until {
		c.hitAt("/result/cacheScope", "the result is that of #%d, and #%d with another credential differs", a.seq, b.seq)
	}
}

// poller is how a client reads one cacheable result again.
type poller struct {
	until int64 // how long the last result holds; 0 when that is not known
	ttl   int64
	calls int // messages of the client up to its request
	times int // how often it was read just then, with nothing in between
}

func cachePolled(c *ctx) {
	p := c.cl.polls[c.pollKey()]
	if p == nil || p.until == 0 || !c.c2s() || c.req.cursor != "" {
		return
	}
	late := c.ev.Frame.TS - p.until
	if c.cl.shake.calls != p.calls || late < -p.ttl/50 || late > p.ttl/50+int64(50*time.Millisecond) {
		p.times = 0
		return
	}
	if p.times++; p.times >= 3 {
		c.hitAt("", "%d times in a row %d ms after the answer, with no other message of the client in between", p.times, p.ttl/1e6)
	}
}

func (c *ctx) pollKey() uint64 { return hashText(c.method) ^ hashMembers(c.params, "_meta") }

// learnPolls notes when a cacheable result is over.
func (c *ctx) learnPolls() {
	if c.rev != R5 || c.req == nil || !c.req.client || c.req.pollKey == 0 {
		return
	}
	cl := c.cl
	if cl.polls == nil {
		cl.polls = map[uint64]*poller{}
	}
	p := cl.polls[c.req.pollKey]
	switch {
	case p != nil:
	case len(cl.polls) >= maxPolls:
		return
	default:
		p = &poller{}
		cl.polls[c.req.pollKey] = p
	}
	p.until, p.ttl, p.calls = 0, millis(c.result.get("ttlMs")), cl.shake.calls
	if p.ttl > 0 {
		p.until = c.ev.Frame.TS + p.ttl
	}
}
