package export

import (
	"cmp"
	"context"
	"slices"
	"strings"
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
		took := o.Duration(s.until())
		d.text("status", o.State.String())
		d.num("round_trips", 1)
		d.millis("total_ms", took)
		d.millis("server_ms", took)
		d.num("client_ms", 0)
		d.yes("open", o.State == store.Pending)
		d.close("}")
		return
	}
	c := s.Chain(i, s.until())
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

// ladders writes the attempts to get authorization.
func (d *document) ladders(s *Session) {
	for _, l := range s.Summary().Ladders {
		if s.picked != nil && !slices.ContainsFunc(l.Attempts, func(a store.Attempt) bool { return s.has(a.Request) }) {
			continue
		}
		d.line()
		d.open("{")
		d.of(s)
		d.text("operation", l.Operation)
		d.num("attempts", int64(l.Count))
		d.member("succeeded")
		d.bool(l.Succeeded)
		d.list("challenges", func() {
			for i := range l.Attempts {
				d.challenge(&l.Attempts[i])
			}
		})
		d.close("}")
	}
}

// challenge writes what an answer demands: the first Bearer challenge, else
// the first one, and all of it as the server wrote it. An attempt that was let
// through demands nothing.
func (d *document) challenge(a *store.Attempt) {
	if !a.Refused() {
		return
	}
	c := a.Bearer()
	var raw []string
	for i := range a.Demands {
		raw = append(raw, a.Demands[i].Raw)
		if c == nil && len(a.Demands[i].Challenges) > 0 {
			c = &a.Demands[i].Challenges[0]
		}
	}
	d.open("{")
	d.num("seq", int64(a.Seq))
	d.num("status", int64(a.Status))
	if c != nil {
		d.textIf("scheme", c.Scheme)
		d.param("error", c, mcp.ParamError)
	}
	d.list("scope", func() {
		if c == nil {
			return
		}
		for _, s := range c.Scopes() {
			d.string(s)
		}
	})
	if c != nil {
		d.param("resource_metadata", c, mcp.ParamResourceMetadata)
		d.param("error_description", c, mcp.ParamErrorDescription)
	}
	d.text("raw", strings.Join(raw, ", "))
	d.close("}")
}

// param writes a parameter of a challenge, when it is there.
func (d *document) param(name string, c *mcp.Challenge, param string) {
	v, _ := c.Get(param)
	d.textIf(name, v)
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
