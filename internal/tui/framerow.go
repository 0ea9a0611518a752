package tui

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// frameRow is what the stream shows of one frame.
type frameRow struct {
	f      *store.Frame
	op     *store.Operation // nil for none
	method string
	name   string // tool, prompt or resource
	id     string
	delta  time.Duration // since the frame before it in the log
	first  bool          // it is the first one of the log
	after  uint64        // number of the frame before it; 0 for none
	now    time.Time
	live   bool
	zone   *time.Location
	detail string // wire text from its body, "" when it is not known yet
	worst  Level
	found  int
	marked bool
	lane   *lane // its session, where there are several
	run    int   // like notifications after it that are folded into the row
}

// newFrameRow reads a frame of s out of the index.
func newFrameRow(s *store.Session, i uint32, now time.Time, live bool, zone *time.Location) frameRow {
	r := frameRow{f: s.Frame(i), now: now, live: live, zone: zone, first: i == 0}
	if i > 0 {
		before := s.Frame(i - 1)
		r.delta, r.after = time.Duration(r.f.TS-before.TS), before.Seq
	}
	r.method = s.Method(r.f)
	if at, ok := r.f.Op(); ok {
		r.op = s.Op(at)
		r.name = s.OpName(r.op)
		r.id = string(r.op.ID)
		if r.method == "" {
			r.method = s.OpMethod(r.op)
		}
	}
	return r
}

// since counts the difference from another frame than the one before it in the
// log.
func (r *frameRow) since(f *store.Frame) { r.delta, r.first = time.Duration(r.f.TS-f.TS), false }

// isRequest reports whether the frame begins its operation.
func (r *frameRow) isRequest() bool { return r.f.Kind == store.KindRequest }

// ages reports whether the row shows a time that runs.
func (r *frameRow) ages() bool {
	return r.live && r.isRequest() && r.op != nil && r.op.State == store.Pending
}

// arrow is the way of the frame.
func arrow(d *dress, r *frameRow) span {
	switch r.f.Direction() {
	case capture.C2S:
		return span{d.g.out, inkOut}
	case capture.S2C:
		return span{d.g.in, inkIn}
	}
	return span{d.g.dot, inkDim}
}

// lost says how many frames are missing just before this one. Numbers that
// lines about the log itself have taken are among them.
func lost(r *frameRow) Text {
	switch n := r.f.Seq - r.after - 1; {
	case !r.f.Has(store.Gap):
		return ""
	case r.after == 0 || r.f.Seq <= r.after+1:
		return "lost"
	default:
		return shortCount(n) + " lost"
	}
}

// what names a frame: the method and the tool, or what kind of answer it is.
func what(d *dress, r *frameRow) []span {
	method, name := d.safe(r.method), d.safe(r.name)
	target := func(i ink, t Text) []span {
		out := []span{{t, i}}
		if name != "" {
			return append(out, span{" " + name, inkStrong})
		}
		return out
	}
	switch r.f.Kind {
	case store.KindRequest:
		return target(inkText, method)
	case store.KindNotification:
		if r.run > 0 {
			return []span{{method, inkDim}, {" x" + count(r.run+1), inkNote}}
		}
		return []span{{method, inkDim}}
	case store.KindResult:
		return answer(d, r, "result", method, name)
	case store.KindError:
		return answer(d, r, "error", method, name)
	case store.KindInvalid:
		return append([]span{{"not a message ", inkWarn}}, detail(d, r, inkText)...)
	case store.KindStderr:
		return append([]span{{"stderr ", inkDim}}, detail(d, r, inkDim)...)
	case store.KindBody:
		return append([]span{{"body ", inkDim}}, detail(d, r, inkText)...)
	}
	return httpWhat(d, r)
}

func answer(d *dress, r *frameRow, word, method, name Text) []span {
	i := inkDim
	if r.op != nil && r.op.State == store.Failed {
		i = inkError
	}
	if r.op != nil && r.op.ToolError {
		word = "isError"
	}
	if name == "" {
		name = method
	}
	out := []span{{d.g.relay + " " + word + " ", i}}
	if name == "" {
		return append(out, span{"to nothing that was seen", inkWarn})
	}
	return append(out, span{name, inkDim})
}

func httpWhat(d *dress, r *frameRow) []span {
	switch {
	case r.f.Has(store.StreamHead):
		return []span{{"stream opens", inkDim}}
	case r.f.Has(store.StreamEnd):
		return append([]span{{"stream ends ", inkDim}}, detail(d, r, inkDim)...)
	case r.f.Direction() == capture.S2C:
		return append([]span{{"http ", inkDim}}, detail(d, r, inkText)...)
	}
	return append([]span{{"http ", inkDim}}, detail(d, r, inkText)...)
}

func detail(d *dress, r *frameRow, i ink) []span {
	if r.detail == "" {
		return nil
	}
	return []span{{d.safe(r.detail), i}}
}

// took is the duration of an operation, on the row of its request.
func took(d *dress, r *frameRow) []span {
	switch {
	case r.op == nil || !r.isRequest():
		return nil
	case r.op.State != store.Pending:
		i := inkText
		if r.op.Duration(r.now) < 10*time.Millisecond {
			i = inkDim
		}
		return []span{{duration(r.op.Duration(r.now)), i}}
	case r.live:
		waiting := r.op.Duration(r.now)
		return []span{{d.g.clock[min(int(waiting/(15*time.Second)), 3)] + " " + waited(waiting), inkPending}}
	}
	return []span{{d.g.dot, inkDim}}
}

// stands is the state of the operation or of the frame, as a sign and a word.
func stands(d *dress, r *frameRow) []span {
	out := state(d, r)
	if r.f.Status >= 400 {
		out = []span{{d.g.bad + " " + Text(strconv.Itoa(int(r.f.Status))), inkError}}
	} else if len(out) == 0 && r.f.Status > 0 {
		out = []span{{"  " + Text(strconv.Itoa(int(r.f.Status))), inkDim}}
	}
	if r.found > 0 && r.worst >= LevelShould {
		i, word := inkWarn, Text(" should")
		if r.worst == LevelMust {
			i, word = inkError, " must"
		}
		if len(out) > 0 {
			word = ""
			out = append(out, span{" ", inkText})
		}
		out = append(out, span{repeat(d.g.warn, min(r.found, 2)) + word, i})
	}
	return out
}

func state(d *dress, r *frameRow) []span {
	switch r.f.Kind {
	case store.KindInvalid:
		return []span{{d.g.bad + " invalid", inkError}}
	case store.KindRequest:
		if r.op == nil {
			return []span{{d.g.warn + " no id", inkWarn}}
		}
		return opState(d, r.op, r.live)
	case store.KindResult, store.KindError:
		switch {
		case r.f.Has(store.Late):
			return []span{{d.g.late + " late", inkWarn}}
		case r.f.Has(store.Unpaired):
			return []span{{d.g.warn + " unpaired", inkWarn}}
		case r.op != nil && r.op.State == store.Failed:
			return []span{{d.g.bad + " failed", inkError}}
		}
	}
	if r.f.Has(store.Gap) {
		return []span{{d.g.warn + " lost", inkWarn}}
	}
	return nil
}

// opState says where an operation stands.
func opState(d *dress, op *store.Operation, live bool) []span {
	_, late := op.Late()
	switch {
	case late:
		return []span{{d.g.late + " late", inkWarn}}
	case op.State == store.OK:
		return []span{{d.g.ok + " ok", inkOK}}
	case op.State == store.Failed:
		return []span{{d.g.bad + " failed", inkError}}
	case op.State == store.Cancelled:
		return []span{{d.g.gone + " cancelled", inkWarn}}
	case live:
		return []span{{d.g.open + " open", inkPending}}
	}
	return []span{{d.g.gone + " no answer", inkWarn}}
}

// clock is the time of day of a frame; with parts, down to the millisecond.
func clock(r *frameRow, parts bool) Text {
	if parts {
		return Text(r.f.Time().In(r.zone).Format("15:04:05.000"))
	}
	return Text(r.f.Time().In(r.zone).Format("15:04:05"))
}

func deltaText(r *frameRow) Text {
	if r.first {
		return ""
	}
	if r.delta < 50*time.Microsecond {
		return "+0"
	}
	return "+" + duration(r.delta)
}

// idText is the id as it stands in the JSON, its quotes with it.
func idText(d *dress, r *frameRow) Text { return d.safe(r.id) }

// detailOf takes the words out of a body that tell frames of a kind apart:
// arguments, the text of a result, the error.
func detailOf(rec *capture.Record, kind store.Kind) string {
	if kind == store.KindNone || !rec.HasBody() {
		return httpDetail(rec)
	}
	body := rec.Body()
	if rec.Raw == nil {
		return short(strings.TrimSpace(string(body[:min(len(body), maxDetail)])))
	}
	return short(messageDetail(body, kind))
}

// maxDetail is how many bytes of a detail are kept for a row.
const maxDetail = 400

func short(s string) string {
	s = s[:min(len(s), maxDetail)]
	return strings.Clone(strings.ToValidUTF8(s, ""))
}

func httpDetail(rec *capture.Record) string {
	h := rec.HTTP
	if h == nil {
		return ""
	}
	switch {
	case h.End != "":
		return "closed by the " + h.End
	case h.Method != "":
		return h.Method + " " + h.Path
	case h.Location != "":
		return "to " + h.Location
	}
	return h.ContentType
}
