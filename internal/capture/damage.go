package capture

import (
	"bytes"
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// maxPieces bounds how often a damaged line is tried for a record in it.
const maxPieces = 8

// damaged makes the best of a line that is no record: one problem, and the
// records that stand whole in it. A crashed writer leaves half a line and the
// next one goes on behind it; two writers without a lock weave theirs.
func (d *decoder) damaged(l sourceLine, b []byte, last bool, cause error, it *Item) (bool, error) {
	kind := NotRecord
	var found salvage
	if err := wire.Check(b); err != nil {
		kind, cause = NotJSON, err
		found = d.salvage(l, b)
	} else if wire.TypeOf(b) != wire.Object {
		cause = fmt.Errorf("%s in place of an object", wire.TypeOf(b))
	}
	switch {
	case bytes.IndexByte(b, 0) >= 0:
		kind = NULs
	case len(found.items) > 0 && !found.open:
		kind, cause = Glued, nil
		if found.lost > 0 {
			cause = fmt.Errorf("%d bytes of a torn record before it are skipped", found.lost)
		}
	case last && kind == NotJSON && len(found.items) == 0:
		kind, cause = Torn, nil
	case len(found.items) > 0, found.starts > 1:
		kind, cause = Woven, nil
	}
	p := d.problem(kind, l, cause)
	p.Length = l.size - found.whole
	for _, f := range found.items {
		d.session, d.seq = f.Record.SessionID, f.Record.Seq
	}
	d.queue = append(d.queue, found.items...)
	return d.only(it, p)
}

// salvage is what can be had from a damaged line.
type salvage struct {
	items  []Item
	starts int   // places where a record begins
	whole  int64 // bytes of the records found
	lost   int   // bytes before the last record that belong to none
	open   bool  // the line ends inside a record
}

// salvage looks for whole records in b: at its start, and wherever a line of
// this format could begin.
func (d *decoder) salvage(l sourceLine, b []byte) salvage {
	s := salvage{}
	session, seq := d.session, d.seq
	for i := 0; i < len(b) && s.starts < maxPieces; {
		s.starts++
		v, rest, err := wire.Prefix(b[i:])
		var rec Record
		if err == nil {
			_, err = d.format.parse(d, v, &rec)
		}
		if err == nil && d.likely(&rec, session, seq) {
			s.items = append(s.items, Item{Record: rec, Ref: d.ref(l, v), Line: d.line})
			s.whole += int64(len(v))
			session, seq = rec.SessionID, rec.Seq
			s.open = false
			i = len(b) - len(wire.TrimSpace(rest))
			continue
		}
		s.open = true
		if !d.format.numbered { // what follows could be a part of a message
			break
		}
		next := d.format.nextStart(b, i+1)
		if next < 0 {
			break
		}
		s.lost += next - i
		i = next
	}
	return s
}

// likely reports whether a record that was found inside a line is one of the
// log and no part of a message: it goes on with the session, or begins one.
func (d *decoder) likely(rec *Record, session string, seq uint64) bool {
	switch {
	case rec.Direction == DirUnknown:
		return false
	case !d.format.numbered:
		return true
	case rec.Seq == 0 || rec.TS.IsZero() || rec.SessionID == "":
		return false
	case rec.Direction == Meta, session == "":
		return true
	}
	return rec.SessionID == session && rec.Seq > seq
}

// nextStart finds the next place from b[i] on where a line may begin.
func (f *format) nextStart(b []byte, i int) int {
	at := -1
	for _, p := range f.prefixes {
		if k := bytes.Index(b[i:], []byte(p)); k >= 0 && (at < 0 || i+k < at) {
			at = i + k
		}
	}
	return at
}
