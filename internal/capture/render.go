package capture

import (
	"bytes"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Redactor takes secrets out of what is recorded. Implementations are used by
// one goroutine at a time.
type Redactor interface {
	// Payload appends the JSON text raw to dst without its secrets.
	Payload(dst, raw []byte) (out []byte, changed bool)
	// Text does the same for text that is no JSON.
	Text(s string) (out string, changed bool)
	// Header does the same for the value of a routing header.
	Header(name, value string) (out string, changed bool)
}

// ClaimRedactor is a Redactor that looks at the claims of a token, too.
type ClaimRedactor interface {
	Redactor
	// Claim does the same for the value of a claim.
	Claim(name, value string) (out string, changed bool)
}

// Draft is a whole frame on its way into the log: the facts of the record,
// and the body as it stood on the wire, which the recorder will classify.
type Draft struct {
	Record           // Direction, Transport and facts; no body, Seq, TS or Size
	Body      []byte // nil for a line without a frame; owned by the recorder from then on
	Size      int64  // length on the wire when Body is only its beginning
	AllowFlow bool   // CR and LF may stand between tokens (HTTP bodies, SSE data)
}

// lineBreaks are replaced by a space each where a JSON text holds them between tokens.
const lineBreaks = "\r\n"

// frame fills in how the frame b is kept in rec: JSON as it stands, else
// text, else bytes. Several records are emitted for a batch (JSON-RPC 2.0,
// section 6), one for anything else.
func (w *recording) frame(rec *Record, b []byte, size int64, flow bool) {
	if size > int64(len(b)) {
		rec.Truncated, rec.Size = true, size
	}
	if rec.Truncated { // by how much is not always known
		w.emitText(rec, wholeRunes(b))
		return
	}
	if wire.Check(b) != nil || unfinished(rec) {
		w.emitText(rec, b)
		return
	}
	if flow && bytes.ContainsAny(b, lineBreaks) {
		rec.Reflowed = true
		reflow(b)
	}
	if wire.TypeOf(b) == wire.Array {
		if w.emitBatch(rec, b) {
			return
		}
	}
	w.emitJSON(rec, b)
}

// unfinished reports whether a frame is what an event stream left open when it
// ended: no client takes that for a message (HTML, section 9.2.6), so it must
// not be read as one here.
func unfinished(rec *Record) bool { return rec.HTTP != nil && rec.HTTP.End != "" }

// reflow replaces line breaks by spaces in place. Inside strings JSON allows
// none, so every one of them stands between tokens.
func reflow(b []byte) {
	for i, c := range b {
		if c == '\r' || c == '\n' {
			b[i] = ' '
		}
	}
}

func (w *recording) emitBatch(rec *Record, b []byte) bool {
	e := wire.ElementsOf(b)
	if !e.Next() {
		return false
	}
	for {
		v := e.Value
		more := e.Next()
		one := *rec
		one.Batch = true
		if more {
			one.EOL = ""
		}
		w.emitJSON(&one, v)
		if !more {
			return true
		}
		// What belongs to the exchange as a whole stands on its first line.
		rec.Status, rec.AuthChallenge = 0, nil
	}
}

func (w *recording) emitJSON(rec *Record, b []byte) {
	rec.Raw = b
	if w.redact != nil {
		out, changed := w.redact.Payload(w.scratch[:0], b)
		w.scratch = out[:0]
		if changed {
			rec.Raw, rec.Redacted = out, true
			if rec.Size == 0 && len(out) != len(b) {
				rec.Size = int64(len(b))
			}
		}
	}
	w.emit(rec)
}

func (w *recording) emitText(rec *Record, b []byte) {
	if !utf8.Valid(b) {
		rec.Bytes = b
		if w.redact == nil {
			w.emit(rec)
			return
		}
		// Secrets stand in the readable parts: redact those, keep the rest.
		if out, changed := w.redact.Text(string(b)); changed {
			rec.Bytes, rec.Redacted = []byte(out), true
			rec.Size = max(rec.Size, int64(len(b)))
		}
		w.emit(rec)
		return
	}
	rec.Text, rec.HasText = string(b), true
	if w.redact != nil {
		if out, changed := w.redact.Text(rec.Text); changed {
			rec.Text, rec.Redacted = out, true
			rec.Size = max(rec.Size, int64(len(b)))
		}
	}
	w.emit(rec)
}

// wholeRunes cuts off the first bytes of a character whose end was cut away.
func wholeRunes(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}
