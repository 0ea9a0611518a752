package checks

import (
	"math/bits"
	"strings"
	"time"
)

// hints are the annotations that a client may decide by, defaults filled in.
type hints struct{ readOnly, destructive bool }

func hintsOf(t val) hints {
	a := t.get("annotations")
	h := hints{readOnly: a.get("readOnlyHint").isTrue(), destructive: true}
	if v := a.get("destructiveHint"); v.ok() {
		h.destructive = v.isTrue()
	}
	return h
}

// oneRevision reports whether it is known which revision a frame belongs to.
func oneRevision(r Revisions) bool { return bits.OnesCount8(uint8(r)) == 1 }

// toolList is a list of tools that came on one page.
type toolList struct {
	ok      bool
	seq     uint64
	ts      int64
	fresh   int64 // until when it may be taken from a cache
	auth    string
	caps    *capset
	client  int
	notices int // tools/list_changed that had come before
	n       int
	set     uint64 // of the names, in any order
	order   uint64
}

// listOfTools describes the list at hand.
func (c *ctx) listOfTools() toolList {
	list := c.result.get("tools")
	if c.req == nil || c.req.cursor != "" || c.result.get("nextCursor").ok() || !list.isArray() {
		return toolList{}
	}
	l := toolList{
		ok: true, seq: c.rec.Seq, ts: c.ev.Frame.TS, auth: c.req.auth, caps: c.req.caps, client: c.ev.Client, notices: c.e.reg.notices,
	}
	if n, ok := c.result.get("ttlMs").num(); ok && n > 0 && n < 1e12 {
		l.fresh = l.ts + int64(n)*int64(time.Millisecond)
	}
	for _, t := range list.each() {
		h := hashText(t.get("name").raw())
		l.n++
		l.set += h * h
		l.order = l.order*1099511628211 ^ h
	}
	return l
}

// headerFault says what is wrong with the x-mcp-header annotations of an
// inputSchema, "" when nothing is.
func headerFault(s val) string {
	fault := ""
	seen := map[string]bool{}
	subschemas(s, true, 0, func(sub val, pure bool) {
		v := sub.get("x-mcp-header")
		if !v.ok() || fault != "" {
			return
		}
		k := strings.ToLower(v.str())
		t := sub.get("type")
		switch {
		case marked(v):
		case !v.isString() || !tokenChars.MatchString(v.str()):
			fault = "an x-mcp-header that is no header name"
		case seen[k]:
			fault = "two properties for one header"
		case !pure || sub.i == s.i:
			fault = "an x-mcp-header where properties alone do not lead"
		case !t.is("string") && !t.is("integer") && !t.is("boolean"):
			fault = "an x-mcp-header on a property of another type"
		}
		seen[k] = true
	})
	return fault
}

// remember takes from a definition what a later one is compared with.
func (d *toolDef) remember(c *ctx, t val) {
	d.rev, d.hints, d.text = c.rev, hintsOf(t), hashText(t.get("description").raw())
	d.task = t.at("execution", "taskSupport").str()
	in := t.get("inputSchema")
	d.shape = hashText(in.raw())
	if c.rev == R5 && c.http() {
		d.fault = headerFault(in)
	}
}
