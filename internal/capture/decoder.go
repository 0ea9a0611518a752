package capture

import (
	"bytes"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// format is one way of writing logs line by line. Of a format that is one JSON
// text as a whole, as HAR is, its entries count as lines.
type format struct {
	name     string
	prefixes []string               // how its lines begin as a rule: tells a damaged line, and where in it a record begins
	sniff    func(line []byte) bool // reports whether a whole line is of this format
	parse    func(d *decoder, b []byte, rec *Record) ([]Record, error)
	numbered bool // lines hold seq
}

// formats lists what can be read, in the order in which lines are tried.
func formats() []*format { return []*format{ownFormat(), tapeFormat(), harFormat()} }

func ownFormat() *format {
	return &format{
		name:     "mcpsnoop",
		prefixes: []string{`{"session_id":`},
		numbered: true,
		sniff: func(b []byte) bool {
			var rec Record
			return parseRecord(b, &rec, nil) == nil && (rec.SessionID != "" || rec.Seq > 0 || !rec.TS.IsZero())
		},
		parse: func(d *decoder, b []byte, rec *Record) ([]Record, error) {
			err := parseRecord(b, rec, &d.in)
			if rec.SessionID == "" {
				rec.SessionID = d.name
			}
			return nil, err
		},
	}
}

// decoder turns lines into items. It serves a Reader or a Tailer, over all
// segments of a log.
type decoder struct {
	name   string // session id where a format has none
	format *format
	in     interned
	tape   tapeState

	segment int
	line    int    // number of the current line
	queue   []Item // what the current line gave beside its first item
	given   int    // of the queue
	held    []Item // problems from before the format was known
	tried   int64  // bytes read without knowing the format
	session string // of the last record
	seq     uint64 // of the last record
	nuls    bool   // the line before was reported for its zero bytes
}

// startSegment is called before the first line of a file.
func (d *decoder) startSegment(n int) { d.segment, d.line = n, 0 }

// forget is called when the file has become another one: its format has to be
// found again.
func (d *decoder) forget() {
	d.format, d.held, d.queue, d.given, d.tried, d.nuls = nil, nil, nil, 0, 0, false
	d.session, d.seq = "", 0
}

// queued gives the next item that is due from an earlier line.
func (d *decoder) queued(it *Item) bool {
	if d.given == len(d.queue) {
		return false
	}
	*it = d.queue[d.given]
	d.given++
	return true
}

// decode reads one line and reports whether it gave an item; more may be
// queued. At the end of a log last is true for what stands behind the last line feed.
func (d *decoder) decode(l sourceLine, last bool, it *Item) (bool, error) {
	d.queue, d.given = d.queue[:0], 0
	d.line++
	b := l.b
	if d.line == 1 && l.off == 0 {
		b = bytes.TrimPrefix(b, utf8BOM)
	}
	if len(b) > 0 && (b[0] == 0 || b[len(b)-1] == 0) {
		return d.zeroed(l, b, it)
	}
	d.nuls = false
	if b = wire.TrimSpace(b); len(b) == 0 && !l.long {
		return false, nil
	}
	if d.format == nil && !d.detect(l, b) {
		d.hold(l)
		return false, d.giveUp(l)
	}
	if l.long {
		return d.only(it, d.problem(TooLong, l, nil))
	}
	rest, err := d.format.parse(d, b, &it.Record)
	if err != nil {
		return d.damaged(l, b, last, err, it)
	}
	it.Ref, it.Line, it.Problem = d.ref(l, b), d.line, nil
	return d.deliver(it, rest), nil
}

// deliver queues the further records of a line, and leaves out what nobody knows.
func (d *decoder) deliver(it *Item, rest []Record) bool {
	for i := range rest {
		next := *it
		next.Record = rest[i]
		next.Ref.Sub = i + 1
		d.queue = append(d.queue, next)
		d.session, d.seq = next.Record.SessionID, next.Record.Seq
	}
	if it.Record.Direction == DirUnknown {
		return false
	}
	if len(rest) == 0 {
		d.session, d.seq = it.Record.SessionID, it.Record.Seq
	}
	if len(d.held) > 0 { // the lines before come first
		d.queue = append(append(d.held, *it), d.queue...)
		d.held = nil
		return d.queued(it)
	}
	return true
}

// only gives a problem as the one item of its line.
func (d *decoder) only(it *Item, p *Problem) (bool, error) {
	*it = Item{Line: d.line, Problem: p, Ref: Ref{Segment: d.segment, Offset: p.Offset}}
	if len(d.held) > 0 {
		d.queue = append(append(d.queue, d.held...), *it)
		d.held = nil
		return d.queued(it), nil
	}
	return true, nil
}

// ref is the place of b, a part of the line l.
func (d *decoder) ref(l sourceLine, b []byte) Ref {
	return Ref{Segment: d.segment, Offset: l.off + int64(cap(l.b)-cap(b)), Length: len(b)}
}

func (d *decoder) problem(k ProblemKind, l sourceLine, err error) *Problem {
	return &Problem{Kind: k, Segment: d.segment, Line: d.line, Offset: l.off, Length: l.size, Err: err}
}

// detect finds the format by a line, or by the beginning of a damaged one.
func (d *decoder) detect(l sourceLine, b []byte) bool {
	for _, f := range formats() {
		if f.sniff(b) || f.begins(b) {
			d.format = f
			return true
		}
	}
	return false
}

// begins reports whether b begins as lines of the format do, or is the
// beginning of such a beginning.
func (f *format) begins(b []byte) bool {
	for _, p := range f.prefixes {
		if n := min(len(p), len(b)); n > 0 && string(b[:n]) == p[:n] {
			return true
		}
	}
	return false
}

// maxHeld bounds the problems that wait for the format to be known.
const maxHeld = 100

func (d *decoder) hold(l sourceLine) {
	if len(d.held) < maxHeld {
		p := d.problem(NotJSON, l, nil)
		d.held = append(d.held, Item{Line: d.line, Problem: p, Ref: Ref{Segment: d.segment, Offset: l.off}})
	}
}

// giveUp ends the search for the format.
func (d *decoder) giveUp(l sourceLine) error {
	if d.tried += l.size + 1; d.tried > strictLimit {
		return ErrNotLog
	}
	return nil
}

// zeroed handles a line with zero bytes at an end of it: they are reported
// once, and a record beside them is given.
func (d *decoder) zeroed(l sourceLine, b []byte, it *Item) (bool, error) {
	inner := bytes.Trim(b, "\x00")
	trimmed := wire.TrimSpace(inner)
	first := !d.nuls
	d.nuls = len(trimmed) == 0
	if d.format == nil && len(trimmed) > 0 && !d.detect(l, trimmed) {
		d.hold(l)
		return false, d.giveUp(l)
	}
	p := d.problem(NULs, l, nil)
	p.Length = int64(len(b) - len(inner))
	if len(trimmed) == 0 {
		if d.format == nil {
			d.hold(l)
			return false, d.giveUp(l)
		}
		if !first {
			return false, nil
		}
		return d.only(it, p)
	}
	rest, err := d.format.parse(d, trimmed, &it.Record)
	if err != nil {
		p.Err, p.Length = err, l.size
		return d.only(it, p)
	}
	it.Ref, it.Line, it.Problem = d.ref(l, trimmed), d.line, nil
	if !d.deliver(it, rest) {
		return d.only(it, p)
	}
	d.queue = append(d.queue, Item{Line: d.line, Problem: p, Ref: Ref{Segment: d.segment, Offset: l.off}})
	return true, nil
}

// end says how a log ended that gave no record.
func (d *decoder) end() error {
	switch {
	case d.format != nil:
		return nil
	case d.tried == 0:
		return ErrEmpty
	}
	return ErrNotLog
}
