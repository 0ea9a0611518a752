package wire

import (
	"bytes"
	"math"
)

// Event is one event of an event stream, as a client would dispatch it (HTML,
// section 9.2.6, "Interpreting an event stream"). An event without data never
// becomes one: what it said of id and retry is given with the next.
type Event struct {
	Type string // of the event; "" means that no event field named one
	Data []byte // its data lines joined by LF, at most Max bytes; the receiver's from then on
	Size int64  // length of all of the data

	ID       string // last id field since the event before, when HasID
	HasID    bool
	Retry    int64 // last retry field since the event before, in milliseconds, when HasRetry
	HasRetry bool
}

// Events cuts an event stream into its events while it holds at most Max bytes
// of the data of one; what is longer is cut while it streams, and its size is
// counted. The zero Max means no bound. Lines end in LF, CR or CR LF and may be
// split anywhere; an event is given as soon as the byte that ends it has come.
// It serves one stream and one goroutine.
type Events struct {
	Max int

	begun  int  // bytes of a byte order mark seen at the start; 3 when past it
	skipLF bool // the last line ended in a CR that was the last byte of a chunk

	line   []byte // beginning of a field line that earlier chunks brought
	inData bool   // the line is a data field; its value goes to data directly
	long   bool   // the line is longer than maxField: it is skipped unless it is data

	data  []byte
	size  int64
	lines int // data lines of the event so far

	next    Event // fields of the event that is being read
	pending Event // id and retry that no event has carried yet
}

// Bounds on what is kept of a line that is no data.
const maxField = 4 << 10

const byteOrderMark = "\xEF\xBB\xBF"

// Feed takes the next chunk and calls emit for each event that ends in it.
func (s *Events) Feed(chunk []byte, emit func(Event)) {
	chunk = s.start(chunk)
	// The next LF and CR at or behind the current place: each byte is searched once.
	lf, cr := -1, -1
	for at := 0; at < len(chunk); {
		if s.skipLF {
			s.skipLF = false
			if chunk[at] == '\n' {
				at++
				continue
			}
		}
		lf, cr = indexFrom(chunk, '\n', at, lf), indexFrom(chunk, '\r', at, cr)
		end := min(lf, cr)
		if end == len(chunk) {
			s.hold(chunk[at:])
			return
		}
		if s.inData || len(s.line) > 0 || s.long {
			s.hold(chunk[at:end])
			s.endHeld(emit)
		} else {
			s.field(chunk[at:end], emit)
		}
		s.skipLF = chunk[end] == '\r'
		at = end + 1
	}
}

// indexFrom is the index of c in b at or behind from, len(b) when there is
// none. known is an earlier answer, which still holds while it is not passed.
func indexFrom(b []byte, c byte, from, known int) int {
	if known >= from {
		return known
	}
	if k := bytes.IndexByte(b[from:], c); k >= 0 {
		return from + k
	}
	return len(b)
}

// start takes the one byte order mark off that a stream may begin with.
func (s *Events) start(chunk []byte) []byte {
	for s.begun < len(byteOrderMark) && len(chunk) > 0 {
		if chunk[0] != byteOrderMark[s.begun] {
			held := byteOrderMark[:s.begun]
			s.begun = len(byteOrderMark)
			s.hold([]byte(held))
			return chunk
		}
		s.begun++
		chunk = chunk[1:]
	}
	return chunk
}

// Open gives what of an event has come when the stream ends, and reports
// whether there is any: by the standard such an event is never dispatched.
func (s *Events) Open() (Event, bool) {
	if s.begun > 0 && s.begun < len(byteOrderMark) {
		s.hold([]byte(byteOrderMark[:s.begun]))
		s.begun = len(byteOrderMark)
	}
	if !s.inData && len(s.line) > 0 {
		s.field(s.line, func(Event) {})
	}
	ev := s.next
	ev.Data, ev.Size = s.data, s.size
	return ev, s.lines > 0
}

// Pending gives the id and retry that came since the last event with data.
func (s *Events) Pending() (Event, bool) { return s.pending, s.pending.HasID || s.pending.HasRetry }

// hold keeps the beginning of a line.
func (s *Events) hold(p []byte) {
	if len(p) == 0 {
		return
	}
	if s.inData {
		s.append(p)
		return
	}
	room := min(len(p), maxField-len(s.line))
	s.line = append(s.line, p[:room]...)
	if value, ok := dataValue(s.line); ok && len(s.line) > len("data: ") {
		s.beginData()
		s.append(value)
		s.append(p[room:])
		s.line, s.inData = s.line[:0], true
		return
	}
	s.long = s.long || room < len(p)
}

// dataValue is the value of a data field as far as the line has come.
func dataValue(line []byte) ([]byte, bool) {
	v, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil, false
	}
	if len(v) > 0 && v[0] == ' ' {
		v = v[1:]
	}
	return v, true
}

// endHeld ends a line whose beginning earlier chunks brought.
func (s *Events) endHeld(emit func(Event)) {
	switch {
	case s.inData:
	case s.long:
		if len(s.line) > 0 && s.line[0] != ':' {
			s.field(s.line, emit) // a name and value so long are cut like data
		}
	default:
		s.field(s.line, emit)
	}
	s.line, s.inData, s.long = s.line[:0], false, false
}

// beginData puts the LF between two data lines.
func (s *Events) beginData() {
	if s.lines > 0 {
		s.append([]byte{'\n'})
	}
	s.lines++
}

func (s *Events) append(p []byte) {
	keep := p
	if s.Max > 0 {
		keep = p[:min(len(p), max(0, s.Max-len(s.data)))]
	}
	s.data = append(s.data, keep...)
	s.size += int64(len(p))
}

// field takes one whole line.
func (s *Events) field(line []byte, emit func(Event)) {
	if len(line) == 0 {
		s.dispatch(emit)
		return
	}
	name, value, found := bytes.Cut(line, []byte{':'})
	if found && len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) { // a comment has an empty name
	case "data":
		s.beginData()
		s.append(value)
	case "event":
		if string(value) == "message" {
			s.next.Type = "message"
		} else {
			s.next.Type = string(value)
		}
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			s.pending.ID, s.pending.HasID = string(value), true
		}
	case "retry":
		if n, ok := digits(value); ok {
			s.pending.Retry, s.pending.HasRetry = n, true
		}
	}
}

// digits reads a number of ASCII digits alone; what is too large is the largest.
func digits(v []byte) (int64, bool) {
	var n int64
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n > (math.MaxInt64-9)/10 {
			n = math.MaxInt64
			continue
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(v) > 0
}

// dispatch ends an event: without data there is none to give.
func (s *Events) dispatch(emit func(Event)) {
	if s.size > 0 {
		ev := s.pending
		ev.Type, ev.Data, ev.Size = s.next.Type, s.data, s.size
		s.pending = Event{}
		s.data = nil // it is the receiver's now
		s.next, s.lines, s.size = Event{}, 0, 0
		emit(ev)
		return
	}
	s.next, s.lines, s.size, s.data = Event{}, 0, 0, s.data[:0]
}
