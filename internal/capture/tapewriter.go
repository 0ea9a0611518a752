package capture

import (
	"bytes"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// TapeWriter turns records into an mcp-tape v1 (the comment at the top of this
// file). The zero value is ready; one goroutine uses it.
type TapeWriter struct {
	began time.Time
	batch Record // first record of the batch that is held back
	raws  []byte // its elements, with commas between
	exts  []byte
}

// Append appends the lines for r. Elements of one batch are held back until
// the next record that is none of it, or Flush.
func (w *TapeWriter) Append(dst []byte, r *Record) []byte {
	if w.raws != nil && !w.sameBatch(r) {
		dst = w.Flush(dst)
	}
	if w.began.IsZero() {
		w.began = r.TS
	}
	if r.Batch && r.Raw != nil && (r.Direction == C2S || r.Direction == S2C) {
		w.hold(r)
		return dst
	}
	return w.line(dst, r)
}

// Flush appends what is held back; call it after the last record.
func (w *TapeWriter) Flush(dst []byte) []byte {
	if w.raws == nil {
		return dst
	}
	o := objectWriter{append(dst, '{'), true}
	o.time("t", w.batch.TS)
	o.text("dir", tapeDir(w.batch.Direction))
	o.key("raw")
	o.b = append(append(append(o.b, '['), w.raws...), ']')
	o.key("_mcpsnoop")
	o.b = append(append(append(o.b, '['), w.exts...), ']')
	w.raws, w.exts = nil, nil
	return append(o.b, '}', '\n')
}

// sameBatch reports whether r goes on with the batch that is held back.
func (w *TapeWriter) sameBatch(r *Record) bool {
	b := &w.batch
	return r.Batch && r.Raw != nil && r.Direction == b.Direction && r.SessionID == b.SessionID &&
		r.TS.Equal(b.TS) && r.Exchange == b.Exchange && r.ConnID == b.ConnID
}

func (w *TapeWriter) hold(r *Record) {
	if w.raws == nil {
		w.batch = *r
		w.batch.Raw = nil
	} else {
		w.raws, w.exts = append(w.raws, ','), append(w.exts, ',')
	}
	w.raws = append(w.raws, r.Raw...)
	w.exts = appendExt(w.exts, r, false)
}

func (w *TapeWriter) line(dst []byte, r *Record) []byte {
	o := objectWriter{append(dst, '{'), true}
	keep := false // the body stays in our member
	switch {
	case r.Direction == Meta:
		keep = true
		w.began = r.TS
		o.num("v", 1)
		o.text("type", "meta")
		o.time("startedAt", r.TS)
		o.text("label", r.Label)
		o.key("command")
		if c := wire.Get(r.Raw, "command"); wire.TypeOf(c) == wire.Array {
			o.b = append(o.b, c...)
		} else {
			o.b = append(o.b, '[', ']')
		}
	case r.Direction == End:
		keep = true
		w.endLine(&o, r)
	case r.Raw != nil && r.Direction != Stderr:
		o.time("t", r.TS)
		o.text("dir", tapeDir(r.Direction))
		o.key("raw")
		o.b = append(o.b, r.Raw...)
	default:
		keep = !r.HasText
		o.time("t", r.TS)
		o.text("type", tapeType(r))
		if r.HasText {
			o.text("text", r.Text)
		}
	}
	o.key("_mcpsnoop")
	o.b = appendExt(o.b, r, keep)
	return append(o.b, '}', '\n')
}

func (w *TapeWriter) endLine(o *objectWriter, r *Record) {
	o.time("t", r.TS)
	o.text("type", "end")
	o.num("durationMs", max(0, r.TS.Sub(w.began).Milliseconds()))
	if code := wire.Get(r.Raw, "exit_code"); code != nil {
		o.key("exitCode")
		o.b = append(o.b, code...)
		return
	}
	reason := wire.GetString(r.Raw, "reason")
	if reason == "" {
		reason = "producer_shutdown"
	}
	o.text("reason", reason)
}

// appendExt appends r as our member, with or without its body.
func appendExt(dst []byte, r *Record, body bool) []byte {
	c := *r
	if !body {
		c.Raw, c.Text, c.HasText = nil, "", false
	}
	dst = AppendRecord(dst, &c)
	return bytes.TrimSuffix(dst, []byte{'\n'})
}

func tapeDir(d Direction) string {
	if d == S2C {
		return "out"
	}
	return "in"
}

func tapeType(r *Record) string {
	switch {
	case r.Direction == Stderr && r.HasText:
		return "stderr"
	case r.HasText:
		return "stray"
	}
	return "note"
}

func (o *objectWriter) time(name string, t time.Time) {
	o.key(name)
	o.b = append(t.UTC().AppendFormat(append(o.b, '"'), "2006-01-02T15:04:05.000Z"), '"')
}
