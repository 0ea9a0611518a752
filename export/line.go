package export

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Style colours parts of a line. The zero value colours nothing.
type Style struct{ On bool }

// The colours: those of the terminal's own palette, so that they fit it.
const (
	plainColour = ""
	dimColour   = "2"
	redColour   = "31"
	cyanColour  = "36"
	blueColour  = "34"
	warnColour  = "33"
)

func (s Style) append(dst []byte, colour, text string) []byte {
	return s.end(append(s.begin(dst, colour), text...), colour)
}

func (s Style) begin(dst []byte, colour string) []byte {
	if !s.On || colour == plainColour {
		return dst
	}
	return append(append(append(dst, "\x1b["...), colour...), 'm')
}

func (s Style) end(dst []byte, colour string) []byte {
	if !s.On || colour == plainColour {
		return dst
	}
	return append(dst, "\x1b[0m"...)
}

// padTo appends spaces up to a length.
func padTo(dst []byte, n int) []byte {
	for len(dst) < n {
		dst = append(dst, ' ')
	}
	return dst
}

// clockLayout is how a line shows time: UTC, as the log has it.
const clockLayout = "15:04:05.000Z"

// excerptLen is how much of a body a line shows, in bytes.
const excerptLen = 160

// AppendLine appends one line about a frame: its number, when, which way, what
// it is, what it is about, what came of it, and the beginning of what it says.
// It ends without a line feed, and holds no character that acts on a terminal
// but the colours of style.
func AppendLine(dst []byte, s *store.Session, f *store.Frame, rec *capture.Record, style Style) []byte {
	dst = appendHeadline(dst, s, f, rec, style)
	if text := excerpt(f, rec); text != "" {
		dst = append(dst, "  "...)
		dst = style.append(dst, dimColour, text)
	}
	return dst
}

// appendHeadline appends the line without the excerpt.
func appendHeadline(dst []byte, s *store.Session, f *store.Frame, rec *capture.Record, style Style) []byte {
	dst = style.begin(dst, dimColour)
	from := len(dst)
	dst = padTo(strconv.AppendUint(append(dst, '#'), f.Seq, 10), from+5)
	dst = f.Time().AppendFormat(append(dst, ' '), clockLayout)
	dst = append(style.end(dst, dimColour), ' ')
	dst = style.begin(dst, directionColour(f))
	dst = padTo(append(dst, f.Direction().String()...), len(dst)+6)
	dst = append(style.end(dst, directionColour(f)), ' ')
	dst = padTo(append(dst, f.Kind.String()...), len(dst)+7)
	if m := s.Method(f); m != "" {
		dst = AppendSafe(append(dst, ' '), m)
	}
	op, hasOp := f.Op()
	var o *store.Operation
	if hasOp {
		o = s.Op(op)
		if name := s.OpName(o); name != "" {
			dst = AppendSafe(append(dst, ' '), name)
		}
	}
	if id := idOf(f, o, rec); id != "" {
		dst = AppendSafe(append(dst, " id="...), string(id))
	}
	dst = appendHTTP(dst, rec)
	dst = appendOutcome(dst, f, o, rec, style)
	return appendMarks(dst, f, rec, style)
}

func directionColour(f *store.Frame) string {
	switch f.Direction() {
	case capture.C2S:
		return cyanColour
	case capture.S2C:
		return blueColour
	}
	return plainColour
}

// idOf is the id that the frame itself states.
func idOf(f *store.Frame, o *store.Operation, rec *capture.Record) wire.ID {
	switch f.Kind {
	case store.KindRequest, store.KindResult, store.KindError:
		if o != nil {
			return o.ID
		}
		return wire.ParseID(wire.Get(rec.Raw, "id"))
	}
	return ""
}

// appendHTTP appends the HTTP side of a frame.
func appendHTTP(dst []byte, rec *capture.Record) []byte {
	if h := rec.HTTP; h != nil && h.Method != "" {
		dst = AppendSafe(append(dst, ' '), h.Method)
		dst = AppendSafe(append(dst, ' '), h.Path)
	}
	if rec.Status > 0 {
		dst = strconv.AppendInt(append(dst, " HTTP "...), int64(rec.Status), 10)
	}
	for _, c := range rec.AuthChallenge {
		dst = AppendSafe(append(dst, " WWW-Authenticate: "...), c)
	}
	if rec.HTTP != nil && rec.HTTP.End != "" {
		dst = AppendSafe(append(dst, " stream ended by "...), rec.HTTP.End)
	}
	return dst
}

// appendOutcome appends how a call ended, on its answer, and how long it took.
func appendOutcome(dst []byte, f *store.Frame, o *store.Operation, rec *capture.Record, style Style) []byte {
	switch {
	case f.Kind == store.KindError:
		e := wire.Get(rec.Raw, "error")
		dst = style.append(append(dst, ' '), redColour, "error "+Safe(string(clipBytes(wire.Get(e, "code"), 40))))
		if msg := wire.GetString(e, "message"); msg != "" {
			dst = AppendSafe(append(dst, ' '), strconv.Quote(clipText(msg, excerptLen)))
		}
	case f.Kind == store.KindResult && o != nil && o.ToolError:
		dst = style.append(append(dst, ' '), redColour, "failed")
	case f.Kind == store.KindResult && o != nil:
		dst = append(dst, " ok"...)
	default:
		return dst
	}
	if o != nil && o.Finish > 0 && !f.Has(store.Late) {
		dst = append(dst, ' ')
		dst = append(dst, Duration(time.Duration(o.Finish-o.Start))...)
	}
	return dst
}

// appendMarks appends what is odd about the copy of the frame.
func appendMarks(dst []byte, f *store.Frame, rec *capture.Record, style Style) []byte {
	if f.Flags&(store.Late|store.Unpaired|store.Gap|store.NoEOL|store.Truncated) == 0 {
		return dst
	}
	for _, m := range []struct {
		on   bool
		text string
	}{
		{f.Has(store.Late), "late"},
		{f.Has(store.Unpaired), "answers nothing that was seen"},
		{f.Has(store.Gap) && rec.Dropped > 0, fmt.Sprintf("after %d lost frames", rec.Dropped)},
		{f.Has(store.Gap) && rec.Dropped == 0, "after frames that are missing"},
		{f.Has(store.NoEOL), "no line end"},
		{f.Has(store.Truncated), fmt.Sprintf("cut, was %d bytes", rec.Size)},
	} {
		if m.on {
			dst = style.append(append(dst, ' '), warnColour, "["+m.text+"]")
		}
	}
	return dst
}

// excerpt is the beginning of what a frame says: arguments of a request, the
// result of a response, the text of anything else.
func excerpt(f *store.Frame, rec *capture.Record) string {
	var b []byte
	switch f.Kind {
	case store.KindRequest, store.KindNotification:
		b = wire.Get(rec.Raw, "params")
		if args := wire.Get(b, "arguments"); args != nil {
			b = args
		}
	case store.KindResult:
		b = wire.Get(rec.Raw, "result")
	case store.KindError:
		b = wire.Get(rec.Raw, "error", "data")
	default:
		b = bodyText(rec)
	}
	return string(AppendSafe(nil, clipBytes(b, excerptLen)))
}

// bodyText is the body as text; bytes that are no text are escaped when they
// are shown.
func bodyText(rec *capture.Record) []byte { return rec.Body() }

// clipBytes cuts b at a character and says so.
func clipBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return append(b[:n:n], "…"...)
}

func clipText(s string, n int) string { return string(clipBytes([]byte(s), n)) }

// Duration writes a duration for people: three digits and a unit.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.3f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
