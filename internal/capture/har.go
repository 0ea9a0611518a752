package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// HAR 1.2 files with MCP traffic, as browsers, proxies and this program's own
// export write them.
//
// A HAR file is one JSON text whose entries overlap in time, so it is read as a
// whole, up to MaxHAR bytes, and its records are given in the order of time.
// Entries that are not MCP are left out. The entries of one origin are one
// session; those with a stdio: URL, which the export makes, one a label. A
// record's place is that of its entry in the file, and Sub which record of the
// entry it is, so Bodies read it again like a line.
//
// What a HAR file does not say is not made up: of an event stream all events
// have the time of its end, and where a body was not kept there is none.
// Cookies, Authorization and the values of queries are never taken.

// MaxHAR is the longest HAR file that is read, in bytes. It is held in memory.
const MaxHAR = 256 << 20

// ErrNoMCP says that a HAR file holds no MCP traffic.
var ErrNoMCP = errors.New("a HAR file without MCP traffic")

// harHead bounds how far a file is looked at to tell that it is a HAR file.
const harHead = 4 << 10

// looksHAR reports whether b is the beginning of a HAR file; sure is false
// where more of it is needed to tell.
func looksHAR(b []byte) (yes, sure bool) {
	b = bytes.TrimPrefix(b, utf8BOM)
	for _, want := range []string{"{", `"log"`, ":", "{"} {
		b = bytes.TrimLeft(b, " \t\r\n")
		n := min(len(b), len(want))
		if string(b[:n]) != want[:n] {
			return false, true
		}
		if n < len(want) {
			return false, false
		}
		b = b[n:]
	}
	return true, true
}

// sniffHAR reads on from src until it is clear whether it is a HAR file, and
// returns all that was read. It never waits for more than it needs.
func sniffHAR(head []byte, src io.Reader) ([]byte, bool, error) {
	for {
		yes, sure := looksHAR(head)
		if sure || len(head) >= harHead {
			return head, yes, nil
		}
		var one [1]byte
		n, err := src.Read(one[:])
		head = append(head, one[:n]...)
		if errors.Is(err, io.EOF) {
			return head, false, nil
		}
		if err != nil {
			return head, false, err
		}
	}
}

// harFile is a HAR file that is given record by record.
type harFile struct {
	text     []byte
	order    []harPlace
	sessions []harSession
	bad      []Item
	metas    int // sessions whose meta record was given
	ends     int // sessions whose end record was given
	next     int

	entry entryRecords // of the place given last
	at    int
	line  int   // number of the line at lineOff
	off   int64 // of that line
}

// harPlace is where one record stands.
type harPlace struct {
	ts            int64
	start, end    int
	sub, exchange int
	session       int
}

type harSession struct {
	origin string
	id     string
	label  string
	stdio  bool
	seq    uint64
	first  int64 // time of its first record
}

// readHAR reads a whole HAR file.
func readHAR(src io.Reader, name string) (*harFile, error) {
	text, err := io.ReadAll(io.LimitReader(src, MaxHAR+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxHAR {
		return nil, fmt.Errorf("a HAR file is read up to %d MiB, and this one is longer: export less of it", MaxHAR>>20)
	}
	h := &harFile{text: text, at: -1, line: 1}
	from := 0
	if bytes.HasPrefix(text, utf8BOM) {
		from = len(utf8BOM)
	}
	if err := wire.Check(text[from:]); err != nil {
		return nil, fmt.Errorf("a HAR file that is not whole JSON: %w", err)
	}
	log, logAt := member(text[from:], "log")
	entries, entriesAt := member(log, "entries")
	if wire.TypeOf(entries) != wire.Array {
		return nil, ErrNotLog
	}
	for e := wire.ElementsOf(entries); e.Next(); {
		start := from + logAt + entriesAt + e.Start
		h.add(start, start+len(e.Value), name)
	}
	if len(h.order) == 0 {
		return nil, ErrNoMCP
	}
	slices.SortStableFunc(h.order, func(a, b harPlace) int { return cmp.Compare(a.ts, b.ts) })
	return h, nil
}

// member finds a member and where it stands.
func member(v []byte, name string) (value []byte, at int) {
	for m := wire.MembersOf(v); m.Next(); {
		if string(m.Key) == name {
			return m.Value, m.Start
		}
	}
	return nil, 0
}

// add notes the records of one entry.
func (h *harFile) add(start, end int, name string) {
	e, ok := parseEntry(h.text[start:end])
	if !ok {
		return
	}
	if e.err != nil {
		h.bad = append(h.bad, Item{Ref: Ref{Segment: 1, Offset: int64(start)}, Problem: &Problem{Kind: NotRecord, Segment: 1, Offset: int64(start), Length: int64(end - start), Err: e.err}})
		return
	}
	exchange := len(h.order) + 1
	s := h.session(e, name)
	for sub := range e.records {
		ts := e.records[sub].TS.UnixNano()
		h.order = append(h.order, harPlace{ts: ts, start: start, end: end, sub: sub, exchange: exchange, session: s})
		h.sessions[s].first = min(h.sessions[s].first, ts)
	}
}

// session finds or begins the session of an entry.
func (h *harFile) session(e *entryRecords, name string) int {
	i := slices.IndexFunc(h.sessions, func(s harSession) bool { return s.origin == e.origin })
	if i >= 0 {
		return i
	}
	i = len(h.sessions)
	s := harSession{origin: e.origin, id: name, label: e.label, stdio: e.stdio, first: e.records[0].TS.UnixNano()}
	if i > 0 {
		s.id = fmt.Sprintf("%s~%d", name, i+1)
	}
	h.sessions = append(h.sessions, s)
	return i
}

// give fills it with the next record, and returns io.EOF behind the last.
func (h *harFile) give(it *Item) error {
	if h.metas < len(h.sessions) {
		h.metas++
		h.meta(&h.sessions[h.metas-1], it)
		return nil
	}
	if len(h.bad) > 0 {
		*it, h.bad = h.bad[0], h.bad[1:]
		it.Line = h.lineOf(it.Ref.Offset)
		it.Problem.Line = it.Line
		return nil
	}
	if h.next == len(h.order) {
		return h.end(it)
	}
	p := h.order[h.next]
	h.next++
	if h.at != p.start {
		e, _ := parseEntry(h.text[p.start:p.end])
		h.entry, h.at = *e, p.start
	}
	s := &h.sessions[p.session]
	s.seq++
	rec := h.entry.records[p.sub]
	rec.SessionID, rec.Label, rec.Seq = s.id, s.label, s.seq
	if !s.stdio {
		rec.Exchange = uint64(p.exchange)
	}
	*it = Item{Record: rec, Ref: Ref{Segment: 1, Offset: int64(p.start), Length: p.end - p.start, Sub: p.sub}, Line: h.lineOf(int64(p.start))}
	return nil
}

// meta makes the first record of a session.
func (h *harFile) meta(s *harSession, it *Item) {
	s.seq++
	raw := []byte("{}")
	transport := Stdio
	if !s.stdio {
		raw = append(wire.AppendString([]byte(`{"target":`), s.origin), '}')
		transport = HTTP
	}
	*it = Item{Line: 1, Ref: Ref{Segment: 1}, Record: Record{
		SessionID: s.id, Label: s.label, Seq: s.seq, TS: unixTime(s.first), Direction: Meta, Transport: transport, Raw: raw,
	}}
}

// end makes the last record of each session: the file is whole.
func (h *harFile) end(it *Item) error {
	if h.ends == len(h.sessions) {
		return io.EOF
	}
	h.ends++
	h.meta(&h.sessions[h.ends-1], it)
	it.Record.Direction, it.Record.TS = End, unixTime(h.order[len(h.order)-1].ts)
	it.Record.Raw = []byte(`{"reason":"imported"}`)
	return nil
}

// lineOf is the number of the line that holds an offset. It is cheap for
// places near each other.
func (h *harFile) lineOf(off int64) int {
	if off < h.off {
		h.line -= bytes.Count(h.text[off:h.off], []byte{'\n'})
	} else {
		h.line += bytes.Count(h.text[h.off:off], []byte{'\n'})
	}
	h.off = off
	return h.line
}

// harFormat is a HAR entry as a line, for Bodies. Whole files are told apart
// by their beginning.
func harFormat() *format {
	return &format{
		name:  "HAR",
		sniff: func([]byte) bool { return false },
		parse: func(_ *decoder, b []byte, rec *Record) ([]Record, error) {
			*rec = Record{}
			e, ok := parseEntry(b)
			if !ok {
				return nil, ErrNotRecord
			}
			if e.err != nil {
				return nil, e.err
			}
			*rec = e.records[0]
			return e.records[1:], nil
		},
	}
}

// originOf names the far end of a URL.
func originOf(u *url.URL) string { return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) }
