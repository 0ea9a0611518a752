package checks

import (
	"math/bits"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// ctx is what a rule sees: the frame, the message in it, and what was known
// before it. It is valid during one call.
type ctx struct {
	e    *Engine
	ev   *store.Event
	rec  *capture.Record
	cl   *client
	x    *exchange // nil on stdio
	req  *request  // the request itself; on a response the one it answers, nil when it answers none
	rule *Rule

	root   val
	params val
	result val
	fail   val // the error member
	meta   val // _meta of params or of result
	item   val // what a narrower trigger is about: a block, a tool, a capabilities object
	base   val // what paths are counted from; the zero val is root

	q *question // that item answers

	method string // also on responses
	mi     int    // its number in the catalogue, 0 when it is not known
	tool   string // what is addressed
	rev    Revisions
	sure   bool   // rev was stated or negotiated, not inferred
	weaker Signal // of the finding at hand, where the rule as a whole has a stronger one; "" for none
	less   bool   // the fault at hand is less than the rule's signal
	spared bool   // the client of the options does not mind the fault at hand

	missing uint64           // frames missing before this one
	problem *capture.Problem // the line that cannot be read
	s       *store.Session   // at the end
}

func (c *ctx) c2s() bool   { return c.rec.Direction == capture.C2S }
func (c *ctx) s2c() bool   { return c.rec.Direction == capture.S2C }
func (c *ctx) stdio() bool { return c.rec.Transport == capture.Stdio }
func (c *ctx) http() bool  { return c.rec.Transport == capture.HTTP }

// facts are what the recorder wrote down of HTTP; never nil.
func (c *ctx) facts() *capture.HTTPFacts {
	if c.rec.HTTP != nil {
		return c.rec.HTTP
	}
	return &noFacts
}

var noFacts capture.HTTPFacts

// run calls the rules of one occasion that can apply.
func (c *ctx) run(t trigger) {
	for _, r := range c.rules(t) {
		c.rule = r
		r.check(c)
	}
	c.rule = nil
}

// sets is the number of different sets of revisions and transports.
const sets = int(AnyRev+1) * int(AnyTransport+1)

// rules are those that can apply to the frame on one occasion. They are picked
// once for each kind of frame.
func (c *ctx) rules(t trigger) []*Rule {
	var on Transports
	switch {
	case c.rec == nil:
	case c.stdio():
		on = OnStdio
	case c.http():
		on = OnHTTP
	}
	i := triggerIndex(t)
	if c.e.picked[i] == nil {
		c.e.picked[i] = make([]*[sets][]*Rule, len(c.e.cat.runs[i]))
	}
	at := c.e.picked[i][c.mi]
	if at == nil {
		at = new([sets][]*Rule)
		c.e.picked[i][c.mi] = at
	}
	k := int(c.rev)*int(AnyTransport+1) + int(on)
	if at[k] == nil {
		at[k] = c.pick(t, on)
	}
	return at[k]
}

func (c *ctx) pick(t trigger, on Transports) []*Rule {
	out := []*Rule{}
	for _, r := range c.e.cat.runs[triggerIndex(t)][c.mi] {
		if (c.rev.within(r.Revisions) || t == onEnd) && on&^r.Transports == 0 && !c.e.ignored(r) && !c.old(r) {
			out = append(out, r)
		}
	}
	return out
}

// old reports whether a rule is one of Streamable HTTP while the server uses
// the transport before it.
func (c *ctx) old(r *Rule) bool {
	return c.e.web.oldSSE && r.Transports == OnHTTP && r.Revisions&R1 == 0
}

func triggerIndex(t trigger) int {
	return bits.TrailingZeros32(uint32(t))
}

// hit reports that the rule is broken at v, a value of the message.
func (c *ctx) hit(v val, format string, args ...any) {
	base := c.base
	if !base.ok() {
		base = c.root
	}
	path := ""
	if v.ok() && base.ok() {
		if path = "(more)"; c.e.hits[c.rule] < maxHits {
			path = v.path(base)
		}
	}
	c.hitAt(path, format, args...)
}

// hitLess reports like hit, with the signal warn where the rule as a whole has
// a stronger one.
func (c *ctx) hitLess(v val, format string, args ...any) {
	sure := c.less
	c.less = true
	c.hit(v, format, args...)
	c.less = sure
}

// hitAt reports that the rule is broken at a path.
func (c *ctx) hitAt(path, format string, args ...any) {
	name := c.tool
	if name == "" {
		name = c.method
	}
	c.e.hits[c.rule]++
	if c.e.mute[c.rule] {
		return
	}
	f := c.e.found.find(subject{c.rule, name, path})
	if f.Count == 0 {
		c.fill(f)
		f.Path = clip(path, maxSubjectLen)
		f.Message, f.Client = message(format, args...), ""
		if says := c.e.profile.says(c.rule.ID); says != "" && !c.spared {
			f.Client = says
			f.Message += "; " + says
		}
	}
	c.count(f, 1)
}

// count adds n to a finding.
func (c *ctx) count(f *Finding, n int) {
	frame, ok := uint32(0), false
	if c.ev != nil && c.ev.Frame != nil {
		frame, ok = c.ev.Index, true
	}
	f.add(frame, ok)
	f.Count += n - 1
	if ok {
		c.e.mark(frame, f)
	}
}

// mark tells who asked for it that a finding stands on a frame.
func (e *Engine) mark(frame uint32, f *Finding) {
	if e.opts.Mark != nil {
		e.opts.Mark(frame, f.Rule.ID, store.Signal(f.Signal.index()))
	}
	if e.opts.Found != nil && f.Frame == frame && len(f.Frames) == 1 {
		e.opts.Found(f)
	}
}

// pos is where a finding stands when it is not the frame at hand.
type pos struct {
	seq          uint64
	line         int
	segment      int
	frame        uint32
	op           store.OpIndex
	hasOp        bool
	id           string
	method, tool string
}

// pos is where the frame at hand stands.
func (c *ctx) pos() pos {
	return pos{
		seq: c.rec.Seq, line: c.ev.Item.Line, segment: c.ev.Item.Ref.Segment, frame: c.ev.Index, op: c.ev.OpIndex, hasOp: c.ev.Op != nil,
		id: string(c.ev.Msg.ID), method: c.method, tool: c.tool,
	}
}

// hitPos reports that the rule was broken on another frame.
func (c *ctx) hitPos(p pos, path, format string, args ...any) *Finding {
	if c.e.mute[c.rule] {
		return &Finding{Rule: c.rule}
	}
	name := p.tool
	if name == "" {
		name = p.method
	}
	f := c.e.found.find(subject{c.rule, name, path})
	if f.Count == 0 {
		f.Seq, f.Line, f.Segment, f.Frame, f.HasFrame, f.Op, f.HasOp = p.seq, p.line, p.segment, p.frame, true, p.op, p.hasOp
		f.ID, f.Method, f.Tool = clip(p.id, maxSubjectLen), clip(p.method, maxSubjectLen), clip(p.tool, maxSubjectLen)
		f.Path, f.Message = clip(path, maxSubjectLen), message(format, args...)
	}
	f.add(p.frame, true)
	c.e.mark(p.frame, f)
	return f
}

// fill says where a finding stands.
func (c *ctx) fill(f *Finding) {
	f.Method, f.Tool = clip(c.method, maxSubjectLen), clip(c.tool, maxSubjectLen)
	if c.weaker != "" {
		f.Signal, f.Level = c.weaker, Note
	}
	if f.Signal == Invalid && (c.less || c.rule.Revisions != AnyRev && !c.sure) {
		f.Signal, f.Level = Warn, Should // a lesser fault, or the revision is a guess
	}
	if c.ev == nil {
		return
	}
	f.Seq, f.Line, f.Segment = c.rec.Seq, c.ev.Item.Line, c.ev.Item.Ref.Segment
	if c.ev.Frame != nil {
		f.Frame, f.HasFrame = c.ev.Index, true
	}
	if c.ev.Op != nil {
		f.Op, f.HasOp = c.ev.OpIndex, true
	}
	if c.ev.Msg.ID != "" {
		f.ID = clip(string(c.ev.Msg.ID), maxSubjectLen)
	} else if c.req != nil {
		f.ID = clip(string(c.req.id), maxSubjectLen)
	}
}

// about names the call for a message: the method and what it addresses.
func (c *ctx) about() string { return about(c.method, c.tool) }

func about(method, tool string) string {
	switch {
	case method == "":
		return "message"
	case tool == "":
		return clip(method, maxSubjectLen)
	}
	return clip(method, maxSubjectLen) + " " + clip(tool, maxSubjectLen)
}

// read fills in the members of the message.
func (c *ctx) read() {
	c.params, c.result, c.fail = c.root.get("params"), c.root.get("result"), c.root.get("error")
	c.meta = c.params.get("_meta")
	if !c.meta.ok() {
		c.meta = c.result.get("_meta")
	}
	if m := c.ev.Msg.Method; m != nil {
		c.name(m)
	}
}

// name sets the method.
func (c *ctx) name(m []byte) {
	if i := c.e.cat.method[string(m)]; i > 0 {
		c.mi, c.method = i, mcp.Methods()[i-1].Name
		return
	}
	c.mi, c.method = 0, c.e.intern(m)
}

// target is what a request addresses.
func (c *ctx) target() string {
	if c.mi == 0 || !c.params.isObject() {
		return ""
	}
	if t := mcp.Methods()[c.mi-1].Target; t != "" {
		if v := c.params.get(t); v.isString() {
			return c.e.intern([]byte(v.str()))
		}
	}
	return ""
}
