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
//	{"version":1, "generator":{"name","version"}, "where":…,
//	 "missing_frames":N,   lost ones, over all sessions
//	 "sessions":[…],       who talked to whom, when, and how it ended
//	 "summary":{…},        over all sessions: calls, tools, the slowest calls, what definitions weigh
//	 "calls":[…],          one a request, in the order of their requests
//	 "interactions":[…],   one a call with all its retries: who took the time
//	 "elicitations":[…],   what servers asked users for
//	 "authorization":[…],  attempts to get authorization, one entry an operation
//	 "findings":[…],       as in the report of check, with the session
//	 "events":[…]}         one a frame, in the order of the log, bodies as they were on the wire
//
// Members are only ever added; docs/schema/export.v1.json says what may stand
// there. Everything names its session when there are several. Each element
// stands on a line of its own, so that tools for lines can be used on it.
func writeJSON(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	d := newDocument(out, in)
	d.open("{")
	d.head()
	d.list("calls", func() {
		for _, s := range d.sessions {
			d.calls(ctx, s)
		}
	})
	d.list("interactions", func() {
		for _, s := range d.sessions {
			d.interactions(ctx, s)
		}
	})
	d.tail()
	d.member("events")
	d.open("[")
	err := in.Records(ctx, func(e *Entry) error {
		if e.Frame == nil {
			return nil
		}
		d.line()
		d.event(e)
		return d.failed()
	})
	if err != nil {
		return err
	}
	d.close("]")
	d.close("}")
	d.raw("\n")
	if err := d.failed(); err != nil {
		return err
	}
	return out.Flush()
}

// document is the JSON that is being written.
type document struct {
	jsonWriter
	in       *Input
	sessions []*Session
	bodies   *bodyReader
	facts    []byte // of one HTTP line
	err      error  // of reading a frame again, the first
}

func newDocument(out *bufio.Writer, in *Input) *document {
	return &document{jsonWriter: jsonWriter{w: out}, in: in, sessions: in.Sessions(), bodies: newBodyReader(in)}
}

// failed gives the first error, of writing or of reading again.
func (d *document) failed() error {
	if _, err := d.w.Write(nil); err != nil {
		return err
	}
	return d.err
}

// head writes what is known before calls are listed.
func (d *document) head() {
	d.num("version", 1)
	d.member("generator")
	d.open("{")
	d.text("name", "mcpsnoop")
	d.textIf("version", d.in.Version)
	d.close("}")
	d.textIf("where", d.in.Where.String())
	missing := uint64(0)
	for _, s := range d.sessions {
		missing += s.Summary().Missing
	}
	d.num("missing_frames", int64(missing))
	d.list("sessions", func() {
		for _, s := range d.sessions {
			d.line()
			d.session(s)
		}
	})
	d.summary()
}

// tail writes what stands between the calls and the events.
func (d *document) tail() {
	d.list("elicitations", func() {
		for _, s := range d.sessions {
			d.elicitations(s)
		}
	})
	d.list("authorization", func() {
		for _, s := range d.sessions {
			d.ladders(s)
		}
	})
	d.list("findings", func() {
		for _, s := range d.sessions {
			for _, f := range s.Findings {
				if s.hasFinding(f) {
					d.line()
					d.finding(s, f)
				}
			}
		}
	})
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
	d.num("frames", s.frameCount())
	d.num("missing_frames", int64(sum.Missing))
	d.num("bad_lines", int64(sum.ProblemCount))
	if sum.MoreQuestions > 0 {
		d.num("elicitations_omitted", int64(sum.MoreQuestions))
	}
	d.counts(s.counts())
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
		for _, c := range sum.Peers() {
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
	d.textIf("fix", f.Rule.Fix)
	d.textIf("spec", f.Rule.Spec)
	d.close("}")
}

// kindNames are the kinds of events.
var kindNames = [...]string{
	store.KindNone: "transport", store.KindRequest: "request", store.KindNotification: "notification", store.KindResult: "response",
	store.KindError: "response", store.KindInvalid: "invalid", store.KindStderr: "stderr", store.KindBody: "transport",
}

// event writes one frame.
func (d *document) event(e *Entry) {
	d.open("{")
	d.eventFacts(e)
	switch rec := e.Rec; {
	case rec.Raw != nil:
		d.value("raw", rec.Raw)
	case rec.HasText:
		d.text("text", rec.Text)
	case rec.Bytes != nil:
		d.text("bytes", base64.StdEncoding.EncodeToString(rec.Bytes))
	}
	d.close("}")
}

// eventFacts writes all of a frame but its body.
func (d *document) eventFacts(e *Entry) {
	f, rec := e.Frame, e.Rec
	d.of(e.Session)
	d.num("seq", int64(f.Seq))
	d.num("line", int64(e.Line))
	d.stamp("ts", f.Time())
	d.text("direction", f.Direction().String())
	d.text("kind", kindNames[f.Kind])
	d.textIf("method", e.Session.Method(f))
	d.about(e)
	d.num("size", int64(f.Size))
	d.textIf("eol", rec.EOL)
	d.yes("truncated", rec.Truncated)
	d.yes("redacted", rec.Redacted)
	d.yes("batch", rec.Batch)
	d.yes("reflowed", rec.Reflowed)
	d.yes("late", f.Has(store.Late))
	d.numIf("dropped", int64(rec.Dropped))
	d.numIf("orig_seq", int64(rec.OrigSeq))
	d.http(rec)
	d.deprecations(e)
}

// deprecations marks a feature that is on its way out, with what takes its place.
func (d *document) deprecations(e *Entry) {
	marks := e.Session.deprecated(e.Index)
	if len(marks) == 0 {
		return
	}
	d.list("deprecated", func() {
		for _, f := range marks {
			d.open("{")
			d.text("rule", f.Rule.ID)
			d.text("message", f.Message)
			d.textIf("replacement", f.Rule.Fix)
			d.close("}")
		}
	})
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

// http writes what is known of the HTTP side.
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
	if rec.HTTP == nil && rec.Auth == nil && rec.MCPMethod == "" && rec.MCPName == "" && rec.MCPProtocolVersion == "" && rec.MCPParamHeaders == nil {
		return
	}
	d.facts = capture.AppendRecord(d.facts[:0], &capture.Record{
		HTTP: rec.HTTP, Auth: rec.Auth, MCPMethod: rec.MCPMethod, MCPName: rec.MCPName,
		MCPProtocolVersion: rec.MCPProtocolVersion, MCPParamHeaders: rec.MCPParamHeaders,
	})
	for m := wire.MembersOf(d.facts); m.Next(); {
		switch name := string(m.Key); name {
		case "http", "auth", "mcp_method", "mcp_name", "mcp_protocol_version", "mcp_param_headers":
			d.value(name, m.Value)
		}
	}
}
