package tui

import (
	"strconv"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// frameFacts says in words what is known of a frame, the most telling first.
// rec may be nil while the body is being read.
func frameFacts(d *dress, s *store.Session, i uint32, rec *capture.Record, r *frameRow, found []Finding) []line {
	out := []line{nameFact(d, r)}
	if t := lost(r); t != "" {
		l := of(span{d.g.warn + " " + t + " just before this frame", inkWarn})
		if r.after > 0 && r.f.Seq > r.after+1 {
			l.put(inkText, ": the log goes from #"+count(r.after)+" to #"+count(r.f.Seq))
		}
		out = append(out, l)
	}
	if r.op != nil {
		out = append(out, opFacts(d, s, i, r)...)
	}
	for _, f := range found {
		out = append(out, findingFact(d, f)...)
	}
	out = append(out, whenFact(d, r))
	if rec != nil {
		out = append(out, recordFacts(d, rec)...)
	}
	return out
}

// nameFact is what the frame is and which way it went.
func nameFact(d *dress, r *frameRow) line {
	var l line
	kind := map[store.Kind]Text{
		store.KindNone: "http exchange", store.KindRequest: "request", store.KindNotification: "notification",
		store.KindResult: "result", store.KindError: "error answer", store.KindInvalid: "not a JSON-RPC message",
		store.KindStderr: "standard error of the server", store.KindBody: "http body",
	}[r.f.Kind]
	l.put(inkStrong, kind)
	if r.id != "" {
		l.put(inkText, " "+idText(d, r))
	}
	if r.method != "" {
		l.put(inkText, " "+d.safe(r.method))
	}
	if r.name != "" {
		l.put(inkStrong, " "+d.safe(r.name))
	}
	switch r.f.Direction() {
	case capture.C2S:
		l.put(inkOut, "  client "+d.g.out+" server")
	case capture.S2C:
		l.put(inkIn, "  server "+d.g.out+" client")
	}
	return l
}

// opFacts is how the operation of the frame goes on.
func opFacts(d *dress, s *store.Session, i uint32, r *frameRow) []line {
	op := r.op
	ref := func(at uint32) Text { return "#" + Text(strconv.FormatUint(s.Frame(at).Seq, 10)) }
	var l line
	l.spans = append(l.spans, opState(d, op, r.live)...)
	answer, answered := op.Answer()
	cancel, cancelled := op.Cancel()
	switch {
	case r.f.Has(store.Late):
		l.put(inkText, " "+d.g.dot+" came after the cancel "+ref(cancel))
	case i != op.Request:
		l.put(inkText, " "+d.g.dot+" belongs to request "+ref(op.Request)+", "+duration(time.Duration(r.f.TS-op.Start))+" earlier")
	case answered:
		l.put(inkText, " after "+duration(op.Duration(r.now))+" "+d.g.both+" "+ref(answer))
	case cancelled:
		l.put(inkText, " after "+duration(op.Duration(r.now))+" by "+ref(cancel))
	case r.live:
		l.put(inkPending, " "+d.g.dot+" no answer for "+waited(op.Duration(r.now)))
	default:
		l.put(inkText, " "+d.g.dot+" "+d.safe(s.Why(op)))
	}
	out := []line{l}
	if op.State == store.Pending && r.live {
		out = append(out, turnFact(d, s, op, r.now))
	}
	if op.Uncertain {
		out = append(out, of(span{d.g.warn + " its id was in flight twice: which answer is whose is a guess", inkWarn}))
	}
	return out
}

// turnFact says who has to act and when they last gave a sign of life.
func turnFact(d *dress, s *store.Session, op *store.Operation, now time.Time) line {
	l := of(span{"turn ", inkDim}, span{Text(s.Turn(op).String()), inkStrong})
	if op.LastSign > 0 {
		l.put(inkText, ", last sign of life "+waited(now.Sub(time.Unix(0, op.LastSign)))+" ago")
		if op.Progress > 0 {
			l.put(inkText, ", "+plural(op.Progress, "progress message", "progress messages"))
		}
	} else {
		l.put(inkText, ", no sign of life since")
	}
	return l
}

// fixLead begins what is to be done about a finding.
const fixLead = Text("  fix ")

// findingFact is a rule that the frame breaks, and what to change.
func findingFact(d *dress, f Finding) []line {
	i, word := inkDim, Text("note")
	switch f.Level {
	case LevelMust:
		i, word = inkError, "must"
	case LevelShould:
		i, word = inkWarn, "should"
	}
	l := of(span{d.g.warn + " " + word + " ", i}, span{d.safe(f.Rule), inkStrong})
	if f.Times > 1 {
		l.put(inkDim, " x"+count(f.Times))
	}
	l.put(inkText, " "+d.safe(f.Message))
	out := []line{l}
	if f.Fix != "" {
		out = append(out, of(span{fixLead, inkDim}, span{d.safe(f.Fix), inkText}))
	}
	return out
}

// whenFact is time, size and place of the frame.
func whenFact(d *dress, r *frameRow) line {
	t := r.f.Time().In(r.zone)
	l := of(span{Text(t.Format("2006-01-02 15:04:05.000000")), inkText})
	if !r.first {
		l.put(inkDim, " "+deltaText(r))
	}
	l.put(inkDim, " "+d.g.dot+" ")
	l.put(inkText, size(r.f.Size))
	l.put(inkDim, " "+d.g.dot+" line "+count(r.f.Line)+" of the log")
	return l
}

// recordFacts is what the log says of the frame beside its body.
func recordFacts(d *dress, rec *capture.Record) []line {
	var out []line
	odd := func(t Text) { out = append(out, of(span{d.g.warn + " " + t, inkWarn})) }
	fact := func(name, value Text) {
		if value != "" {
			out = append(out, of(span{name + " ", inkDim}, span{value, inkText}))
		}
	}
	if rec.Truncated {
		odd("the copy was cut: " + size(len(rec.Body())) + " of " + size(rec.WireSize()) + " are kept; all of it was passed on")
	}
	if rec.Dropped > 0 {
		odd("the recorder could not keep up, and lost " + plural(rec.Dropped, "frame", "frames") + " here")
	}
	if rec.EOL == "none" {
		odd("the stream ended inside this line")
	}
	if rec.Redacted {
		fact("redacted", "secrets were taken out before it was written")
	}
	if rec.Batch {
		fact("batch", "one of several messages of a JSON-RPC batch")
	}
	if rec.EOL != "" && rec.EOL != "none" {
		fact("line end", d.safe(rec.EOL))
	}
	return append(out, httpFacts(d, rec)...)
}
