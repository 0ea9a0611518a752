package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// callsPage lists the calls of a session: a row is a request with all its
// retries, and its bar says when which side had to act.
type callsPage struct {
	table[*callRow]
	asking bool            // only calls in which the client or its user was asked
	rows   []store.OpIndex // first operations of the chains
	now    time.Time       // of what is drawn
	live   bool
	shown  []*callRow // the rows on the screen
	lines  []int      // and their numbers
	axis   axis
	open   int // rows on the screen whose time runs
	scan   callScan
	rest   time.Duration // how long an order is kept at least
}

// callScan is how far the operations were looked at.
type callScan struct {
	next      store.OpIndex
	all       []store.OpIndex
	asking    []store.OpIndex
	isAsking  map[store.OpIndex]bool
	undecided []store.OpIndex // may come to ask yet
}

// callRow is what is drawn of one call.
type callRow struct {
	op           *store.Operation // the newest of its operations
	root         *store.Operation
	chain        store.Chain
	name, method string
	server, wait time.Duration
	total        time.Duration
	live         bool
	axis         *axis
}

func (p *callsPage) at() place { return inCalls }

func (p *callsPage) name() Text {
	if p.asking {
		return "interactions"
	}
	return "calls"
}

func (p *callsPage) empty() Text {
	if p.asking {
		return "nobody was asked anything in this session"
	}
	return "no call in this session"
}

func (p *callsPage) ages() bool { return p.open > 0 }
func (p *callsPage) len() int   { return len(p.rows) }
func (p *callsPage) tail() bool { return p.by == 0 }

func (p *callsPage) look(s *store.Session) {
	*p = callsPage{table: p.table, asking: p.asking}
	p.s = s
}

func (p *callsPage) key(i int) string {
	r := newCallRow(p.s, p.rows[i], p.now, p.live)
	return r.name + " " + string(r.root.ID)
}

// frame is the request that is still open, or the first one.
func (p *callsPage) frame(i int) (uint32, bool) {
	r := newCallRow(p.s, p.rows[i], p.now, p.live)
	if r.chain.Open {
		return r.op.Request, true
	}
	return r.root.Request, true
}

func newCallRow(s *store.Session, at store.OpIndex, now time.Time, alive bool) *callRow {
	if !alive {
		now = s.Summary().Newest
	}
	c := s.Chain(at, now)
	r := &callRow{chain: c, root: s.Op(at), op: s.Op(c.Hops[len(c.Hops)-1].Op), server: c.Server, wait: c.Wait, live: alive}
	r.method, r.name = s.OpMethod(r.root), s.OpName(r.root)
	if r.name == "" {
		r.name = r.method
	}
	if !r.root.Client {
		r.server, r.wait = 0, c.Server // it is the client that answers
	}
	r.total = r.server + r.wait
	return r
}

// plan looks at the operations that are new, and at those that were open.
func (p *callsPage) plan(j job) func(context.Context) (func(), bool) {
	scan, by, down, rest, asking := p.scan, p.by, p.down, p.rest, p.asking
	return func(ctx context.Context) (func(), bool) {
		more := scan.advance(ctx, j.s, time.Now().Add(step))
		rows := scan.all
		if asking {
			rows = scan.asking
		}
		if by != 0 {
			t := time.NewTimer(rest)
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			begin := time.Now()
			rows = sortedCalls(j, rows, by, down)
			rest = min(5*time.Since(begin), 2*time.Second)
		}
		return func() { p.rows, p.scan, p.rest, p.live, p.now = rows, scan, rest, j.live, j.now }, more
	}
}

func (c *callScan) advance(ctx context.Context, s *store.Session, until time.Time) (more bool) {
	asks := func(o *store.Operation) bool { return o.WantsInput || !o.Client }
	if c.isAsking == nil {
		c.isAsking = map[store.OpIndex]bool{}
	}
	found := func(i store.OpIndex) {
		if !c.isAsking[i] {
			c.isAsking[i] = true
			c.asking = append(c.asking, i)
		}
	}
	c.undecided = slices.DeleteFunc(slices.Clone(c.undecided), func(i store.OpIndex) bool {
		o := s.Op(i)
		if asks(o) {
			found(i)
		}
		return asks(o) || o.State != store.Pending
	})
	end := s.OpLen()
	for ; c.next < end; c.next++ {
		if c.next%256 == 255 && over(ctx, until) {
			return true
		}
		o := s.Op(c.next)
		if _, link := o.Previous(); link > store.Weak {
			found(s.Root(c.next))
			continue
		}
		c.all = append(c.all, c.next)
		switch {
		case asks(o):
			found(c.next)
		case o.State == store.Pending && len(c.undecided) < maxKeyed:
			c.undecided = append(c.undecided, c.next)
		}
	}
	return false
}

func sortedCalls(j job, rows []store.OpIndex, by byte, down bool) []store.OpIndex {
	type keyed struct {
		at   store.OpIndex
		n    int64
		text string
	}
	list := make([]keyed, len(rows))
	for i, at := range rows {
		r := newCallRow(j.s, at, j.now, true)
		k := keyed{at: at}
		switch by {
		case 'S':
			k.n = r.root.Start
		case 'L':
			k.n = int64(r.total)
		case 'V':
			k.n = int64(r.server)
		case 'U':
			k.n = int64(r.wait)
		case 'I':
			k.n = int64(len(r.chain.Hops))
		case 'A':
			k.n = int64(r.op.State)
		default:
			k.text = r.name
		}
		list[i] = k
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		if down {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.n, b.n), strings.Compare(a.text, b.text))
	})
	out := make([]store.OpIndex, len(list))
	for i, k := range list {
		out[i] = k.at
	}
	return out
}

// window makes the rows that are on the screen, and the axis over their time.
func (p *callsPage) window(rows []int, now time.Time, alive bool) {
	p.now, p.live, p.lines, p.open = now, alive, rows, 0
	p.shown = p.shown[:0]
	begin, end := int64(0), int64(0)
	for _, i := range rows {
		r := newCallRow(p.s, p.rows[i], now, alive)
		r.axis = &p.axis
		p.shown = append(p.shown, r)
		if r.chain.Open {
			p.open++
		}
		if begin == 0 || r.root.Start < begin {
			begin = r.root.Start
		}
		end = max(end, r.root.Start+int64(r.chain.Server+r.chain.Wait))
	}
	p.axis = axis{begin: begin, span: time.Duration(max(end-begin, int64(time.Millisecond)))}
}

func (p *callsPage) row(i int) line {
	return row(&p.m.d, p.cols, p.shown[slices.Index(p.lines, i)])
}

func (p *callsPage) fields(i int) []field {
	return fieldsOf(p.columns(), newCallRow(p.s, p.rows[i], p.now, p.live))
}

// more is the method, which the table does not show.
func (p *callsPage) more(i int) string { return p.s.OpMethod(p.s.Op(p.rows[i])) }

func (p *callsPage) sort(letter byte) (Text, bool) {
	return p.order(p.columns(), letter, "LVUI")
}

// head has the axis over the bars.
func (p *callsPage) head(w int) line {
	p.cols = layout(p.columns(), w)
	for i := range p.cols {
		if p.cols[i].head == barHead {
			p.cols[i].head = p.axis.ticks(p.cols[i].width)
		}
	}
	return head(&p.m.d, p.cols, p.by, p.down)
}
