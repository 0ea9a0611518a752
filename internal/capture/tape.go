package capture

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// The mcp-tape v1 format, and how this program writes more than it can hold.
//
//	{"v":1,"type":"meta","startedAt":T,"label":L,"command":[..],"_mcpsnoop":R}   first line; absent after rotation
//	{"t":T,"dir":"in"|"out","raw":MESSAGE,"_mcpsnoop":R}                          a JSON frame; in is client to server
//	{"t":T,"dir":"in"|"out","raw":[M1,M2],"_mcpsnoop":[R1,R2]}                    a batch, one R for each element
//	{"t":T,"type":"stderr","text":S,"_mcpsnoop":R}                                standard error
//	{"t":T,"type":"stray","text":S,"_mcpsnoop":R}                                 any other frame that is not JSON
//	{"t":T,"type":"note","_mcpsnoop":R}                                           a line without a body, or with bytes
//	{"t":T,"type":"end","durationMs":N,"exitCode":N|"reason":S,"_mcpsnoop":R}     last line; may be absent
//
// R is the record as a line of our own log, in one piece, without the body
// that stands in the line already (raw of a message, text); raw of meta and
// end and bytes stay in R. So a tape of ours reads back without loss, whoever
// else reads it sees plain v1: types that readers do not know are skipped, and
// so are members. Where R and raw differ (another program redacted the tape),
// raw counts. An empty array as a message is no batch: its R is an object.
//
// In tapes of others seq is the number of the record in the tape, the session
// is named by the file, and a meta line that is not the first begins another
// session. Also read are {"type":"stderr","text"} without R and the event
// {"dir":"event","kind":"stderr","raw":{"text"}}; other types and directions
// are skipped, so an event never takes part in pairing.

// tapeState is what later lines of a tape take from earlier ones.
type tapeState struct {
	label    string
	seq      uint64
	sessions int // begun so far
}

func tapeFormat() *format {
	return &format{
		name:     "mcp-tape",
		prefixes: []string{`{"t":`, `{"v":1,`},
		sniff: func(b []byte) bool {
			var l tapeLine
			return l.read(b) == nil && (l.typ == "meta" && l.version == "1" || l.t != nil && (l.dir != "" || l.typ != ""))
		},
		parse: parseTape,
	}
}

// tapeLine is one line of a tape, read in place.
type tapeLine struct {
	version                  string
	typ, dir, kind           string
	t, raw, ext              []byte
	label, command, started  []byte
	exitCode, reason, source []byte
	text                     []byte
}

func (l *tapeLine) read(b []byte) error {
	w := wire.MembersOf(b)
	for w.Next() {
		v := w.Value
		switch string(w.Key) {
		case "raw":
			l.raw = b[w.Before():w.After()]
		case "_mcpsnoop":
			l.ext = v
		case "v":
			l.version = string(v)
		case "type":
			l.typ, _ = wire.Text(v)
		case "dir":
			l.dir, _ = wire.Text(v)
		case "kind":
			l.kind, _ = wire.Text(v)
		default:
			if field := l.field(string(w.Key)); field != nil {
				*field = v
			}
		}
	}
	if w.Err != nil {
		return w.Err
	}
	if rest := wire.TrimSpace(w.Rest()); len(rest) > 0 {
		return fmt.Errorf("%d bytes stand behind the record", len(rest))
	}
	if l.typ == "" && l.dir == "" {
		return ErrNotRecord
	}
	return nil
}

func (l *tapeLine) field(name string) *[]byte {
	switch name {
	case "t":
		return &l.t
	case "startedAt":
		return &l.started
	case "label":
		return &l.label
	case "command":
		return &l.command
	case "source":
		return &l.source
	case "exitCode":
		return &l.exitCode
	case "reason":
		return &l.reason
	case "text":
		return &l.text
	}
	return nil
}

// parseTape reads a line of a tape: the first record into rec, the further
// elements of a batch as the result.
func parseTape(d *decoder, b []byte, rec *Record) ([]Record, error) {
	*rec = Record{}
	var l tapeLine
	if err := l.read(b); err != nil {
		return nil, err
	}
	switch {
	case l.typ == "" && (l.dir == "in" || l.dir == "out"):
		if l.raw == nil {
			return nil, ErrNotRecord
		}
		return d.tapeMessage(&l, rec)
	case l.typ == "meta":
		d.tape.begin(&l)
		return nil, d.tapeRecord(&l, l.ext, Meta, l.started, rec)
	case l.typ == "end":
		return nil, d.tapeRecord(&l, l.ext, End, l.t, rec)
	case l.typ == "stderr", wire.TypeOf(l.ext) == wire.Object:
		return nil, d.tapeRecord(&l, l.ext, Stderr, l.t, rec)
	case l.dir == "event" && l.kind == "stderr":
		l.text = wire.Get(l.raw, "text")
		return nil, d.tapeRecord(&l, nil, Stderr, l.t, rec)
	}
	return nil, nil // not for us: DirUnknown
}

// begin notes that a meta line begins a session.
func (s *tapeState) begin(l *tapeLine) {
	if s.sessions == 0 && s.seq > 0 { // lines without their meta line stood before
		s.sessions++
	}
	s.sessions++
	s.seq = 0
	s.label, _ = wire.Text(l.label)
}

// session is the id of the current session: the name of the file, numbered
// from the second on.
func (s *tapeState) session(name string) string {
	if s.sessions < 2 {
		return name
	}
	return name + "~" + strconv.Itoa(s.sessions)
}

// tapeMessage reads a JSON-RPC line, which may hold a batch.
func (d *decoder) tapeMessage(l *tapeLine, rec *Record) ([]Record, error) {
	l.text = nil // no member of these lines
	dir := C2S
	if l.dir == "out" {
		dir = S2C
	}
	e := wire.ElementsOf(l.raw)
	if wire.TypeOf(l.raw) != wire.Array || wire.TypeOf(l.ext) == wire.Object || !e.Next() {
		err := d.tapeRecord(l, l.ext, dir, l.t, rec)
		rec.Raw = l.raw
		return nil, err
	}
	exts := wire.ElementsOf(l.ext)
	var rest []Record
	for one := rec; ; {
		var ext []byte
		if exts.Next() {
			ext = exts.Value
		}
		if err := d.tapeRecord(l, ext, dir, l.t, one); err != nil {
			return rest, err
		}
		one.Raw, one.Batch = e.Value, true
		if !e.Next() {
			return rest, nil
		}
		rest = append(rest, Record{})
		one = &rest[len(rest)-1]
	}
}

// tapeRecord makes the record of a line: out of ext when this program wrote
// it, else out of what the line says.
func (d *decoder) tapeRecord(l *tapeLine, ext []byte, dir Direction, at []byte, rec *Record) error {
	if wire.TypeOf(ext) == wire.Object {
		if err := parseRecord(ext, rec, &d.in); err != nil {
			return err
		}
		if l.text != nil {
			rec.Text, rec.HasText = wire.Text(l.text)
		}
		d.tape.seq = max(d.tape.seq, rec.Seq)
		return nil
	}
	ts, err := tapeTime(at)
	if err != nil {
		return err
	}
	d.tape.seq++
	*rec = Record{
		SessionID: d.tape.session(d.name), Label: d.tape.label, Seq: d.tape.seq, TS: ts,
		Direction: dir, Transport: Stdio,
	}
	switch dir {
	case Meta:
		rec.Raw = l.metaJSON()
	case End:
		rec.Raw = l.endJSON()
	case Stderr:
		rec.Text, rec.HasText = wire.Text(l.text)
	}
	return nil
}

// metaJSON says in our words what a meta line of a tape says.
func (l *tapeLine) metaJSON() []byte {
	o := objectWriter{[]byte{'{'}, true}
	if wire.TypeOf(l.command) == wire.Array {
		o.key("command")
		o.b = append(o.b, l.command...)
	}
	if s, _ := wire.Text(l.source); s != "" {
		o.text("version", s)
	}
	return append(o.b, '}')
}

func (l *tapeLine) endJSON() []byte {
	o := objectWriter{[]byte{'{'}, true}
	if wire.TypeOf(l.exitCode) == wire.Number {
		o.key("exit_code")
		o.b = append(o.b, l.exitCode...)
	}
	if s, _ := wire.Text(l.reason); s != "" {
		o.text("reason", s)
	}
	return append(o.b, '}')
}

// tapeTime reads a time of a tape: RFC 3339, or milliseconds since 1970. A
// line without a time has the zero one.
func tapeTime(v []byte) (time.Time, error) {
	switch wire.TypeOf(v) {
	case wire.None, wire.Null:
		return time.Time{}, nil
	case wire.Number:
		ms, err := strconv.ParseFloat(string(v), 64)
		if err == nil && ms >= 0 && ms < 1e15 {
			return time.UnixMicro(int64(ms * 1000)).UTC(), nil
		}
	}
	return parseTime(v)
}
