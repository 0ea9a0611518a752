package capture

import (
	"bytes"
	"time"
)

// lineHead reads the members that lines begin with, when they stand as this
// program and its relatives write them and the session is that of the line
// before: most of the work of a short line.
type lineHead struct {
	fixed          []byte // up to the value of seq
	session, label string
	day            string // date of the last ts
	midnight       int64  // when it began, in Unix seconds
}

// What stands between the values of a head.
const (
	headTime      = `,"ts":"`
	headDirection = `","direction":"`
	headTransport = `","transport":"`
	headEnd       = `",`
)

// learn takes the head of a line whose record was read the long way.
func (h *lineHead) learn(line []byte, r *Record) {
	if h.fixed != nil && h.session == r.SessionID && h.label == r.Label {
		return
	}
	o := objectWriter{append(h.fixed[:0], '{'), true}
	o.text("session_id", r.SessionID)
	o.text("server_label", r.Label)
	o.key("seq")
	h.fixed, h.session, h.label = o.b, r.SessionID, r.Label
	if !bytes.HasPrefix(line, o.b) {
		h.fixed = append(h.fixed[:0], 0) // no line begins so
	}
}

// read sets Seq, TS, Direction and Transport, and returns the offset of the
// member behind them; 0 when the line has to be read the long way.
func (h *lineHead) read(line []byte, r *Record) int {
	n := len(h.fixed)
	if n == 0 || len(line) < n+20 || !bytes.Equal(line[:n], h.fixed) {
		return 0
	}
	b := line[n:]
	var seq uint64
	i := 0
	for ; i < 18 && b[i] >= '0' && b[i] <= '9'; i++ {
		seq = seq*10 + uint64(b[i]-'0')
	}
	if i == 0 || b[0] == '0' {
		return 0
	}
	b = b[i:]
	ts, b, ok := between(b, headTime, headDirection)
	if !ok {
		return 0
	}
	dir, b, ok := between(b, headDirection, headTransport)
	if !ok {
		return 0
	}
	transport, b, ok := between(b, headTransport, headEnd)
	if !ok {
		return 0
	}
	if r.TS, ok = h.time(ts); !ok {
		return 0
	}
	r.Seq, r.Direction, r.Transport = seq, parseDirection(dir), parseTransport(transport)
	return len(line) - len(b) + len(headEnd)
}

// between gives what stands between two texts, the first of which b begins
// with, and the rest from the second one on.
func between(b []byte, first, second string) (v, rest []byte, ok bool) {
	if len(b) < len(first) || string(b[:len(first)]) != first {
		return nil, b, false
	}
	b = b[len(first):]
	i := bytes.IndexByte(b[:min(len(b), 40)], '"')
	if i < 0 || len(b) < i+len(second) || string(b[i:i+len(second)]) != second || bytes.IndexByte(b[:i], '\\') >= 0 {
		return nil, b, false
	}
	return b[:i], b[i:], true
}

// time is fastTime with the date kept from the line before.
func (h *lineHead) time(s []byte) (time.Time, bool) {
	const date = len("2006-01-02")
	if len(s) < len("2006-01-02T15:04:05Z") {
		return time.Time{}, false
	}
	if string(s[:date]) != h.day {
		t, ok := fastTime(s)
		if ok {
			h.day = string(s[:date])
			h.midnight = t.Unix() - int64(t.Hour()*3600+t.Minute()*60+t.Second())
		}
		return t, ok
	}
	hour, minute, second, nanos, ok := clock(s[date:])
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(h.midnight+int64(hour*3600+minute*60+second), int64(nanos)).UTC(), true
}
