package export

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// writeJSON writes one document:
//
//	{"version":1, "generator":{"name","version"},
//	 "sessions":[…],       who talked to whom, when, and how it ended
//	 "summary":{…},        over all sessions: calls, tools with percentiles, the slowest calls
//	 "calls":[…],          one a request, in the order of their requests
//	 "findings":[…],       as in the report of check, with the session
//	 "events":[…]}         one a frame, in the order of the log, bodies as they were on the wire
//
// Members are only ever added. Calls and events name their session when there
// are several.
func writeJSON(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	d := &document{jsonWriter: jsonWriter{w: out}, in: in, sessions: in.Sessions()}
	d.open("{")
	d.num("version", 1)
	d.member("generator")
	d.open("{")
	d.text("name", "mcpsnoop")
	d.textIf("version", in.Version)
	d.close("}")
	d.list("sessions", func() {
		for _, s := range d.sessions {
			d.session(s)
		}
	})
	d.summary()
	d.list("calls", func() {
		for _, s := range d.sessions {
			d.calls(ctx, s)
		}
	})
	d.list("findings", func() {
		for _, s := range d.sessions {
			for _, f := range s.Findings {
				d.finding(s, f)
			}
		}
	})
	d.member("events")
	d.open("[")
	if err := in.Records(ctx, d.event); err != nil {
		return err
	}
	d.close("]")
	d.close("}")
	d.raw("\n")
	return out.Flush()
}

// document is the JSON that is being written.
type document struct {
	jsonWriter
	in       *Input
	sessions []*Session
}

func (d *document) list(name string, elements func()) {
	d.member(name)
	d.open("[")
	elements()
	d.close("]")
}

// of names the session where there are several.
func (d *document) of(s *Session) {
	if len(d.sessions) > 1 {
		d.text("session", s.ID)
	}
}

func (d *document) session(s *Session) {
	sum := s.Summary()
	d.open("{")
	d.text("id", s.ID)
	d.text("label", sum.Label)
	d.text("path", s.From)
	d.text("transport", sum.Transport.String())
	d.time("started", sum.Started)
	d.time("ended", endOf(sum))
	if len(sum.Meta.Command) > 0 {
		d.list("command", func() {
			for _, a := range sum.Meta.Command {
				d.string(a)
			}
		})
	}
	d.textIf("cwd", sum.Meta.Cwd)
	d.textIf("target", sum.Meta.Target)
	d.textIf("host", sum.Meta.Host)
	d.textIf("filter", sum.Meta.Filter)
	d.num("frames", int64(sum.FrameTotal()))
	d.num("missing_frames", int64(sum.Missing))
	d.num("bad_lines", int64(sum.ProblemCount))
	d.counts(sum.Calls)
	d.clients(sum)
	if sum.Ended {
		d.end(&sum.End)
	}
	d.close("}")
}

func (d *document) counts(c store.Counts) {
	d.member("calls")
	d.open("{")
	d.num("total", int64(c.Total))
	d.num("ok", int64(c.OK))
	d.num("error", int64(c.Failed))
	d.num("cancelled", int64(c.Cancelled))
	d.num("pending", int64(c.Pending))
	d.close("}")
}

// clients lists who talked to whom, one entry a client session.
func (d *document) clients(sum *store.Summary) {
	d.list("capabilities", func() {
		for _, c := range sum.Clients {
			d.open("{")
			d.textIf("protocol_version", c.Revision)
			d.party("client", c.Client, c.ClientVersion, c.ClientCaps)
			d.party("server", c.Server, c.ServerVersion, c.ServerCaps)
			d.close("}")
		}
	})
}

func (d *document) party(side, name, version, caps string) {
	d.member(side)
	d.open("{")
	d.textIf("name", name)
	d.textIf("version", version)
	if wire.Check([]byte(caps)) == nil {
		d.value("capabilities", []byte(caps))
	}
	d.close("}")
}

func (d *document) end(e *capture.EndInfo) {
	d.member("end")
	d.open("{")
	if e.ExitCode != nil {
		d.num("exit_code", int64(*e.ExitCode))
	}
	d.textIf("signal", e.Signal)
	d.textIf("reason", e.Reason)
	d.close("}")
}

func (d *document) finding(s *Session, f *checks.Finding) {
	d.open("{")
	d.of(s)
	d.text("rule", f.Rule.ID)
	d.text("signal", string(f.Signal))
	d.text("level", string(f.Level))
	d.numIf("seq", int64(f.Seq))
	d.numIf("line", int64(f.Line))
	d.num("count", int64(f.Count))
	d.textIf("id", f.ID)
	d.textIf("method", f.Method)
	d.textIf("tool", f.Tool)
	d.textIf("path", f.Path)
	d.text("message", f.Message)
	d.textIf("spec", f.Rule.Spec)
	d.close("}")
}

// kindNames are the kinds of events.
var kindNames = map[store.Kind]string{
	store.KindNone: "transport", store.KindRequest: "request", store.KindNotification: "notification", store.KindResult: "response",
	store.KindError: "response", store.KindInvalid: "invalid", store.KindStderr: "stderr", store.KindBody: "transport",
}

// event writes one frame.
func (d *document) event(e *Entry) error {
	if e.Frame == nil {
		return nil
	}
	f, rec := e.Frame, e.Rec
	d.open("{")
	d.of(e.Session)
	d.num("seq", int64(f.Seq))
	d.num("line", int64(e.Line))
	d.time("ts", f.Time())
	d.text("direction", f.Direction().String())
	d.text("kind", kindNames[f.Kind])
	d.textIf("method", e.Session.Method(f))
	d.about(e)
	d.num("size", int64(f.Size))
	d.textIf("eol", rec.EOL)
	d.yes("truncated", rec.Truncated)
	d.yes("redacted", rec.Redacted)
	d.yes("batch", rec.Batch)
	d.yes("late", f.Has(store.Late))
	d.numIf("dropped", int64(rec.Dropped))
	d.http(rec)
	switch {
	case rec.Raw != nil:
		d.value("raw", rec.Raw)
	case rec.HasText:
		d.text("text", rec.Text)
	case rec.Bytes != nil:
		d.text("bytes", base64.StdEncoding.EncodeToString(rec.Bytes))
	}
	d.close("}")
	_, err := d.w.Write(nil)
	return err
}

// about ties an event to its call: by the sequence number of the request.
func (d *document) about(e *Entry) {
	op, ok := e.Frame.Op()
	if !ok {
		if id := idOf(e.Frame, nil, e.Rec); id != "" {
			d.value("id", []byte(id))
		}
		return
	}
	o := e.Session.Op(op)
	d.value("id", []byte(o.ID))
	if e.Frame.Kind != store.KindRequest {
		d.num("request", int64(e.Session.Frame(o.Request).Seq))
	}
}

func (d *document) http(rec *capture.Record) {
	d.textIf("conn_id", rec.ConnID)
	d.numIf("exchange", int64(rec.Exchange))
	d.textIf("mcp_session", rec.MCPSession)
	if h := rec.HTTP; h != nil {
		d.textIf("http_method", h.Method)
		d.textIf("http_path", h.Path)
		d.textIf("stream_end", h.End)
	}
	d.numIf("http_status", int64(rec.Status))
	switch len(rec.AuthChallenge) {
	case 0:
	case 1:
		d.text("auth_challenge", rec.AuthChallenge[0])
	default:
		d.list("auth_challenge", func() {
			for _, c := range rec.AuthChallenge {
				d.string(c)
			}
		})
	}
}
