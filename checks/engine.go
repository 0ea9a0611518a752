package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Options say what an Engine looks for.
type Options struct {
	Ignore []string // ids of rules that are not run
	Client string   // a client whose documented limits count for the signal schema: of Clients, "all", or ""

	Definitions bool // keep what the server offers, for Engine.Definitions

	// WriterGone says that nobody writes the log any more: when it has no last
	// line, that is a finding.
	WriterGone bool

	// Mark, when not nil, is told each frame that a finding stands on, also
	// those of repeats: what store.Appender.Mark takes. It is called from
	// Observe and Finish.
	Mark func(frame uint32, rule string, g store.Signal)

	// Found, when not nil, is told each finding as it is made, on the frame
	// where it stands first. It is called as Mark is, and must not keep it.
	Found func(f *Finding)
}

// Engine judges one session. It is the observer of the session's appender;
// after the last record Finish adds what only the end can tell. One goroutine
// uses it.
type Engine struct {
	opts Options
	skip map[*Rule]bool
	mute map[*Rule]bool // run all the same, so that a wider rule does not say it instead
	cat  *catalogue

	picked [triggers][]*[sets][]*Rule // by method and set, what run has picked so far

	log       logState
	clients   []*client
	open      map[store.OpIndex]*request
	spare     *request // an answered one, to be used again
	exchanges map[uint64]*exchange
	order     []uint64 // of exchanges, oldest first
	guess     *exchange
	names     map[string]string
	caps      map[uint64]*capset
	peer      peer
	reg       registry
	asks      asks
	elicits   elicits
	odd       oddities
	tasks     tasks
	varies    varies
	listed    listed
	web       web
	frag      fragments
	batch     batchState
	stale     []store.OpIndex // cancelled operations, oldest first

	heaviest most[int64] // the largest result
	auth     authSeen
	loops    loopSeen
	attempts most[int] // of one authorization ladder

	profile *profile // of Options.Client; nil for none
	survey  survey   // of the tool at hand
	links   []links  // of its schemas

	defs       Definitions
	baseline   *Baseline         // of SetBaseline
	unverified string            // likewise
	others     map[string]string // tool to the label of another server

	hits  map[*Rule]int // on the frame at hand
	scans int
	found findings
	tree  tree
	c     ctx
	done  bool
}

var _ store.Observer = (*Engine)(nil)

// NewEngine makes the engine for one session.
func NewEngine(o Options) *Engine {
	e := &Engine{
		opts: o, cat: theCatalogue(), skip: map[*Rule]bool{}, mute: map[*Rule]bool{},
		open: map[store.OpIndex]*request{}, exchanges: map[uint64]*exchange{}, names: map[string]string{},
		caps: map[uint64]*capset{}, hits: map[*Rule]int{},
	}
	for _, id := range o.Ignore {
		switch r := e.cat.byID[id]; {
		case r == nil:
		case r.on&onProblem == 0 && r.accuses() && r.ID != shapeRule:
			e.mute[r] = true
		default:
			e.skip[r] = true
		}
	}
	e.profile = profileOf(o.Client)
	for i := range e.cat.rules {
		if r := &e.cat.rules[i]; r.strict && o.Client != allClients && e.profile.limit(r.ID) == nil {
			e.skip[r] = true
		}
	}
	return e
}

func (e *Engine) ignored(r *Rule) bool { return len(e.skip) > 0 && e.skip[r] }

// Findings lists what was found so far, in the order of the log. The list is
// the caller's, the findings are not to be changed, and later records may
// raise their counts.
func (e *Engine) Findings() []*Finding { return e.found.sorted() }

// Observe judges one record.
func (e *Engine) Observe(ev *store.Event) {
	c := &e.c
	*c = ctx{e: e, ev: ev, rec: ev.Rec, rev: AnyRev}
	if len(e.hits) > 0 {
		clear(e.hits)
	}
	e.gaps(c)
	switch ev.Rec.Direction {
	case capture.Meta:
		e.meta(ev)
		return
	case capture.C2S, capture.S2C:
	case capture.Stderr, capture.End, capture.DirUnknown:
		return
	}
	c.cl, c.x = e.client(ev.Client), e.exchange(ev.Rec)
	if ev.Rec.Raw != nil && !ev.Rec.Truncated && e.tree.parse(ev.Rec.Raw) {
		c.root = e.tree.root()
	}
	c.read()
	if c.paired() {
		c.req = e.open[ev.OpIndex]
	}
	c.revise()
	if ev.Msg.Kind == wire.Request {
		c.req = c.newRequest()
		c.tool = c.req.tool
	} else if c.req != nil && c.isAnswer() {
		c.method, c.mi, c.tool = c.req.method, c.req.mi, c.req.tool
	}
	if ev.Rec.Truncated {
		c.run(onCut)
	}
	c.judge()
	c.learn()
	c.learnDefinitions()
}

// gaps keeps the numbers of the log.
func (e *Engine) gaps(c *ctx) {
	seq := c.rec.Seq
	if e.log.lastSeq > 0 && seq > e.log.lastSeq+1 {
		c.missing = seq - e.log.lastSeq - 1
		e.log.lossy = true
		c.run(onGap)
	}
	e.log.lastSeq = max(e.log.lastSeq, seq)
	e.log.lastTS = max(e.log.lastTS, c.rec.TS.UnixNano())
}

// meta takes the first line of the log.
func (e *Engine) meta(ev *store.Event) {
	info := capture.ParseMeta(ev.Rec.Raw)
	if info.Segment <= 1 && e.log.lastSeq == ev.Rec.Seq && len(e.clients) == 0 {
		e.log.meta = true
	}
	e.log.target = info.Target
	if f := fingerprint(&info); f != "" && info.Segment <= 1 {
		e.log.fingerprint = f
	}
	e.log.filtered = e.log.filtered || info.Filter != ""
}

// Finish judges what only the end of the log can tell: what has no answer and
// which lines could not be read. It is called once, after the appender has
// published everything.
func (e *Engine) Finish(s *store.Session) {
	if e.done {
		return
	}
	e.done = true
	c := &e.c
	*c = ctx{e: e, rev: AnyRev, s: s}
	c.endFragment()
	problems := s.Summary().Problems
	for i := range problems {
		c.problem = &problems[i]
		c.run(onProblem)
	}
	c.problem = nil
	c.run(onEnd)
}

// paired reports whether the frame is tied to an operation by what it says: a
// response by its id, and not only by the exchange that it came in.
func (c *ctx) paired() bool {
	o := c.ev.Op
	if o == nil || !c.isAnswer() {
		return o != nil && c.ev.Msg.Kind != wire.Other
	}
	answer, ok := o.Answer()
	late, isLate := o.Late()
	return ok && answer == c.ev.Index || isLate && late == c.ev.Index
}

// isAnswer reports whether the message is a response.
func (c *ctx) isAnswer() bool {
	return c.ev.Msg.Kind == wire.Result || c.ev.Msg.Kind == wire.Error
}

// isMessage reports whether the frame is to be judged as a JSON-RPC message:
// not a document of the authorization server, and not the body of an HTTP
// error, which need not be one.
func (c *ctx) isMessage() bool {
	if c.ev.Frame.Kind == store.KindBody || c.facts().Doc != "" {
		return false
	}
	if c.eventName() != "" {
		return false // an event that carries no messages
	}
	return c.rec.Status < 400 || c.root.get("jsonrpc").ok()
}

// judge runs the rules of the frame.
func (c *ctx) judge() {
	if c.http() {
		c.judgeHTTP()
	}
	if c.stdio() && c.fragment() {
		return
	}
	switch {
	case c.hasBytes():
		c.run(onBytes)
	case c.rec.HasText && !c.rec.Truncated:
		c.run(onText)
	case c.root.ok() && c.facts().Doc == "":
		c.run(onJSON)
		if c.root.isObject() && c.isMessage() {
			c.judgeMessage()
		}
	case c.isAnswer(): // a cut copy, or too much: only who and what is known
		c.judgeHuge()
		c.run(onOutcome)
	}
}

func (c *ctx) judgeMessage() {
	c.run(onMessage)
	c.judgeParts()
	switch c.ev.Msg.Kind {
	case wire.Request:
		c.run(onRequest)
	case wire.Notification:
		c.run(onNotification)
	case wire.Result:
		c.run(onResult)
	case wire.Error:
		c.run(onError)
	case wire.Other:
	}
	if c.isAnswer() {
		c.run(onOutcome)
	}
	c.run(onShape)
}

func (c *ctx) judgeHTTP() {
	if c.c2s() {
		c.run(onHTTPRequest)
		c.seeRequest()
		return
	}
	if c.rec.Status > 0 {
		c.run(onHTTPResponse)
		c.climb()
	}
	c.seeGets()
	if c.facts().SSE != nil {
		c.run(onEvent)
	}
	if c.facts().End != "" {
		c.run(onStreamEnd)
	}
}

// search goes over all open requests, unless that was done too often already.
func (e *Engine) search(yield func(r *request) bool) {
	if e.scans++; e.scans > maxScans {
		return
	}
	for _, r := range e.open {
		if !yield(r) {
			return
		}
	}
}

// intern keeps one copy of the names that repeat.
func (e *Engine) intern(s []byte) string {
	if n, ok := e.names[string(s)]; ok {
		return n
	}
	n := string(s)
	if len(e.names) < maxTools && len(n) <= maxSubjectLen {
		e.names[n] = n
	}
	return n
}
