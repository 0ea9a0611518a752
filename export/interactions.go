package export

import (
	"cmp"
	"context"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// interactive reports whether an operation begins a call that may take several
// requests: those are listed, whether this one did or not.
func (s *Session) interactive(i store.OpIndex) bool {
	o := s.Op(i)
	_, link := o.Previous()
	return s.hasOp(i) && o.Client && link <= store.Weak && mcp.AsksForInput(s.OpMethod(o))
}

// interactions writes one entry for each call with all its retries: how long
// the server held it, and how long it waited for the client or its user.
func (d *document) interactions(ctx context.Context, s *Session) {
	for i := range s.OpLen() {
		if i%1024 == 0 && (ctx.Err() != nil || d.failed() != nil) {
			return
		}
		if s.interactive(i) {
			d.line()
			d.interaction(s, i)
		}
	}
}

func (d *document) interaction(s *Session, i store.OpIndex) {
	o := s.Op(i)
	d.open("{")
	d.of(s)
	d.num("seq", int64(s.Frame(o.Request).Seq))
	d.value("id", []byte(o.ID))
	d.text("method", s.OpMethod(o))
	d.textIf("name", s.OpName(o))
	if _, more := o.Next(); !more { // by far the most
		took := o.Duration(d.in.Now)
		d.text("status", o.State.String())
		d.num("round_trips", 1)
		d.millis("total_ms", took)
		d.millis("server_ms", took)
		d.num("client_ms", 0)
		d.yes("open", o.State == store.Pending)
		d.close("}")
		return
	}
	c := s.Chain(i, d.in.Now)
	last := s.Op(c.Hops[len(c.Hops)-1].Op)
	d.text("status", last.State.String())
	d.num("round_trips", int64(len(c.Hops)))
	d.millis("total_ms", c.Server+c.Wait)
	d.millis("server_ms", c.Server)
	d.millis("client_ms", c.Wait)
	d.yes("open", c.Open)
	d.yes("partial", s.unwhole(c))
	d.list("hops", func() {
		for _, h := range c.Hops {
			d.hop(s, h)
		}
	})
	d.close("}")
}

// unwhole reports whether work of the chain was settled off its requests and
// their answers, as a task does.
func (s *Session) unwhole(c store.Chain) bool {
	for _, h := range c.Hops {
		if s.Op(h.Op).TaskState != store.NoTask {
			return true
		}
	}
	return false
}

func (d *document) hop(s *Session, h store.Hop) {
	o := s.Op(h.Op)
	d.open("{")
	d.num("seq", int64(s.Frame(o.Request).Seq))
	d.value("id", []byte(o.ID))
	d.text("status", o.State.String())
	d.millis("server_ms", h.Server)
	d.millis("client_ms", h.Wait)
	if a, ok := o.Answer(); ok {
		d.num("answer", int64(s.Frame(a).Seq))
		asked, err := d.bodies.asked(s, o, a)
		d.err = cmp.Or(d.err, err)
		if len(asked) > 0 {
			d.list("asked", func() {
				for _, q := range asked {
					d.open("{")
					d.text("key", q.key)
					d.text("method", q.method)
					d.close("}")
				}
			})
		}
	}
	d.close("}")
}

// question is an entry of inputRequests.
type question struct{ key, method string }

// maxAsked bounds the questions of one answer that are listed.
const maxAsked = 256

// asked lists what an answer asks the client for.
func (r *bodyReader) asked(s *Session, o *store.Operation, answer uint32) ([]question, error) {
	if !o.WantsInput {
		return nil, nil
	}
	var rec capture.Record
	if err := r.read(s, answer, &rec); err != nil {
		return nil, err
	}
	var list []question
	for m := wire.MembersOf(wire.Get(rec.Raw, "result", "inputRequests")); m.Next() && len(list) < maxAsked; {
		list = append(list, question{string(m.Key), wire.GetString(m.Value, "method")})
	}
	return list, nil
}

// asking lists the questions to users that belong to what is exported.
func (s *Session) asking() []*store.Elicitation {
	var list []*store.Elicitation
	for _, e := range s.Elicitations() {
		if s.hasOp(e.Op) {
			list = append(list, e)
		}
	}
	return list
}

// subject is the call that a question interrupts: where the server asks by a
// request of its own, nobody can tell, and it is that request.
func (s *Session) subject(e *store.Elicitation) string {
	o := s.Op(e.Op)
	if name := s.OpName(o); name != "" {
		return s.OpMethod(o) + " " + name
	}
	return s.OpMethod(o)
}

// action is what became of a question.
func action(e *store.Elicitation) string {
	switch {
	case e.Action != "":
		return e.Action
	case e.Answer > 0: // answered by an error, or by nothing known
		return "error"
	}
	return "pending"
}

// elicitations writes what users were asked, and what they did. What they
// typed is never there.
func (d *document) elicitations(s *Session) {
	for _, e := range s.asking() {
		d.line()
		d.open("{")
		d.of(s)
		d.num("seq", int64(s.Frame(e.Asked).Seq))
		d.text("operation", s.subject(e))
		d.value("id", []byte(s.Op(e.Op).ID))
		d.textIf("key", e.Key)
		d.text("mode", e.Mode)
		d.text("message", e.Message)
		d.fields(e)
		d.textIf("url", e.URL)
		d.textIf("host", e.Host)
		d.yes("truncated", e.Cut)
		d.text("action", action(e))
		d.stamp("asked", time.Unix(0, e.At))
		if e.Answer > 0 {
			d.num("answer", int64(s.Frame(e.Answer-1).Seq))
			d.millis("took_ms", time.Duration(e.AnswerAt-e.At))
		}
		d.close("}")
	}
}

func (d *document) fields(e *store.Elicitation) {
	if e.Mode != "form" {
		return
	}
	d.list("fields", func() {
		for _, f := range e.Fields {
			d.open("{")
			d.text("name", f.Name)
			d.text("type", cmp.Or(f.Type, "unknown"))
			d.textIf("title", f.Title)
			d.close("}")
		}
	})
}

// Ladder is the attempts to get one operation authorized.
type Ladder struct {
	Operation  string // "tools/call files.read"
	Attempts   int
	Succeeded  bool
	Challenges []Challenge
}

// Challenge is what one answer demands.
type Challenge struct {
	Seq              uint64
	Status           int
	Scheme           string
	Error            string
	Scope            []string
	ResourceMetadata string
	Description      string
	Raw              string
}

// ladders writes the attempts to get authorization.
func (d *document) ladders(s *Session) {
	for _, l := range s.Ladders {
		d.line()
		d.open("{")
		d.of(s)
		d.text("operation", l.Operation)
		d.num("attempts", int64(l.Attempts))
		d.member("succeeded")
		d.bool(l.Succeeded)
		d.list("challenges", func() {
			for i := range l.Challenges {
				d.challenge(&l.Challenges[i])
			}
		})
		d.close("}")
	}
}

func (d *document) challenge(c *Challenge) {
	d.open("{")
	d.num("seq", int64(c.Seq))
	d.num("status", int64(c.Status))
	d.textIf("scheme", c.Scheme)
	d.textIf("error", c.Error)
	d.list("scope", func() {
		for _, s := range c.Scope {
			d.string(s)
		}
	})
	d.textIf("resource_metadata", c.ResourceMetadata)
	d.textIf("error_description", c.Description)
	d.text("raw", c.Raw)
	d.close("}")
}

// deprecated lists the features on their way out that a frame uses.
func (s *Session) deprecated(frame uint32) []*checks.Finding {
	if s.marks == nil {
		s.marks = map[uint32][]*checks.Finding{}
		for _, f := range s.Findings {
			if f.Signal != checks.Deprecated {
				continue
			}
			for _, i := range f.Frames {
				s.marks[i] = append(s.marks[i], f)
			}
		}
	}
	return s.marks[frame]
}
