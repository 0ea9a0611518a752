package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// shownChanges is how many places of an answer are told to people.
const shownChanges = 8

// writeText reports a replay for people.
func (r *replayRun) writeText(out io.Writer) error {
	w := &errWriter{w: out}
	sent := len(r.calls) - r.count[replaySkipped]
	fmt.Fprintf(w, "replay of %s: %d of %d calls sent to %s\n", safe(r.session.ID), sent, len(r.calls), safe(r.target.String()))
	for i := range r.calls {
		r.writeCall(w, &r.calls[i])
	}
	var parts []string
	for o, n := range r.count {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, replayWords[o]))
		}
	}
	fmt.Fprintln(w, strings.Join(parts, ", "))
	return w.err
}

func (r *replayRun) writeCall(w io.Writer, c *replayed) {
	op := r.session.Op(c.op)
	what := r.session.OpMethod(op)
	if name := r.session.OpName(op); name != "" {
		what += " " + name
	}
	line := fmt.Sprintf("  %-7s  #%d %s", replayWords[c.outcome], r.session.Frame(op.Request).Seq, safe(what))
	if c.answer == nil {
		fmt.Fprintf(w, "%s: %s\n", line, safe(c.reason))
		return
	}
	fmt.Fprintf(w, "%s: %s, was %s\n", line, ending(c.answer.State, c.answer.Took, c.answer.Message != nil), ending(c.call.Recorded.State, c.call.Recorded.Took, c.call.Recorded.Message != nil))
	var more []string
	if c.reason != "" {
		more = append(more, c.reason)
	}
	if c.outcome == replayWorse && c.answer.Message != nil {
		more = append(more, failure(c.answer.Message))
	}
	for i := range c.changes {
		if i == shownChanges {
			more = append(more, fmt.Sprintf("and %d more; --format json has them", len(c.changes)-i))
			break
		}
		more = append(more, c.changes[i].String())
	}
	more = append(append(more, c.hints()...), c.call.Notes...)
	for _, m := range append(more, c.answer.Notes...) {
		fmt.Fprintf(w, "           %s\n", safe(m))
	}
}

// hints say what was not compared.
func (c *replayed) hints() []string {
	var out []string
	if c.hidden > 0 {
		out = append(out, fmt.Sprintf("not compared, for redaction hid it: %d", c.hidden))
	}
	if c.ignored > 0 {
		out = append(out, fmt.Sprintf("left out by --ignore-path: %d", c.ignored))
	}
	return out
}

// ending is how a call ended, in words.
func ending(s store.State, took time.Duration, answered bool) string {
	if !answered {
		return "no answer"
	}
	return fmt.Sprintf("%s in %s", s, took.Round(10*time.Microsecond))
}

// failure is what a server says of a call that failed.
func failure(message []byte) string {
	m := wire.ParseMessage(message)
	if m.Kind == wire.Error {
		return fmt.Sprintf("error %s %q", wire.Get(m.Error, "code"), wire.GetString(m.Error, "message"))
	}
	for e := wire.ElementsOf(wire.Get(m.Result, "content")); e.Next(); {
		if text := wire.GetString(e.Value, "text"); text != "" {
			const most = 200
			if len(text) > most {
				text = strings.ToValidUTF8(text[:most], "") + "..."
			}
			return fmt.Sprintf("isError %q", text)
		}
	}
	return "isError"
}

type (
	replayJSON struct {
		Version int              `json:"version"`
		Session string           `json:"session"`
		Target  string           `json:"target"`
		Calls   []replayCallJSON `json:"calls"`
		Summary map[string]int   `json:"summary"`
		Exit    int              `json:"exit"`
	}
	replayCallJSON struct {
		Seq      uint64             `json:"seq"`
		ID       json.RawMessage    `json:"id"`
		Method   string             `json:"method"`
		Name     string             `json:"name,omitempty"`
		Outcome  string             `json:"outcome"`
		Recorded *replayEndJSON     `json:"recorded,omitempty"`
		Replayed *replayEndJSON     `json:"replayed,omitempty"`
		Changes  []replayChangeJSON `json:"changes,omitempty"`
		Hidden   int                `json:"hidden,omitempty"`
		Ignored  int                `json:"ignored,omitempty"`
		Reason   string             `json:"reason,omitempty"`
		Notes    []string           `json:"notes,omitempty"`
	}
	replayEndJSON struct {
		Status   string  `json:"status"`
		Answered bool    `json:"answered"`
		Took     float64 `json:"duration_ms"`
	}
	replayChangeJSON struct {
		Path string `json:"path"`
		Old  string `json:"old,omitempty"` // JSON text
		New  string `json:"new,omitempty"`
	}
)

// writeJSON reports a replay for programs.
func (r *replayRun) writeJSON(w io.Writer) error {
	out := replayJSON{Version: 1, Session: r.session.ID, Target: r.target.String(), Calls: []replayCallJSON{}, Summary: map[string]int{}}
	for o, n := range r.count {
		out.Summary[replayWords[o]] = n
	}
	if r.count[replayWorse] > 0 {
		out.Exit = exitFound
	}
	for i := range r.calls {
		out.Calls = append(out.Calls, r.callJSON(&r.calls[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(out)
}

func (r *replayRun) callJSON(c *replayed) replayCallJSON {
	op := r.session.Op(c.op)
	out := replayCallJSON{
		Seq: r.session.Frame(op.Request).Seq, ID: json.RawMessage(op.ID), Method: r.session.OpMethod(op), Name: r.session.OpName(op),
		Outcome: replayWords[c.outcome], Hidden: c.hidden, Ignored: c.ignored, Reason: c.reason,
	}
	if c.call != nil {
		out.Recorded = &replayEndJSON{c.call.Recorded.State.String(), c.call.Recorded.Message != nil, millis(c.call.Recorded.Took)}
		out.Notes = append(out.Notes, c.call.Notes...)
	}
	if c.answer != nil {
		out.Replayed = &replayEndJSON{c.answer.State.String(), c.answer.Message != nil, millis(c.answer.Took)}
		out.Notes = append(out.Notes, c.answer.Notes...)
	}
	for _, ch := range c.changes {
		out.Changes = append(out.Changes, replayChangeJSON(ch))
	}
	return out
}
