package store

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Elicitation is one question that a server put to the user, and what was done
// with it. What the user submitted is never kept. A published one changes only
// by a newer version.
type Elicitation struct {
	Asked    uint32 // index of the frame that asks
	Op       OpIndex
	Key      string // of inputRequests, "" where the question is a request of its own
	Mode     string // form or url
	Message  string
	Fields   []Field
	URL      string // whole; shown with its host apart
	Host     string
	Cut      bool   // a text or the list of fields was too long and is cut
	Action   string // accept, decline or cancel; "" while unanswered
	At       int64  // when it was asked, nanoseconds since 1970
	AnswerAt int64
	Answer   uint32 // index of the frame that answers + 1
}

// Field is one field of a form: its name and type as the schema says.
type Field struct{ Name, Type, Title string }

// Bounds of what the ledger keeps of one question.
const (
	maxQuestion = 2 << 10 // bytes of a message
	maxURL      = 8 << 10
	maxFields   = 64
	maxWord     = 128 // bytes of a field's name, type or title
)

// Elicitations lists the questions of the session in the order they were asked.
func (s *Session) Elicitations() []*Elicitation {
	out := make([]*Elicitation, 0, s.elicits.Len())
	for i := range s.elicits.Len() {
		out = append(out, s.elicits.read(i).Load())
	}
	return out
}

// ask adds a question to the ledger and returns its number.
func (a *Appender) ask(ev *Event, key string, params []byte) (uint32, bool) {
	if a.s.elicits.n >= uint32(a.limits.Elicitations) {
		a.sum.MoreQuestions++
		return 0, false
	}
	e := &Elicitation{Asked: ev.Index, Op: ev.OpIndex, Mode: "form", At: ev.Frame.TS}
	if mode := wire.GetString(params, "mode"); mode != "" {
		e.Mode = e.bounded(mode, maxWord)
	}
	e.Key = e.bounded(key, maxWord)
	e.Message = e.bounded(wire.GetString(params, "message"), maxQuestion)
	e.URL = e.bounded(wire.GetString(params, "url"), maxURL)
	if u, err := url.Parse(e.URL); err == nil {
		e.Host = u.Host
	}
	for m := wire.MembersOf(wire.Get(params, "requestedSchema", "properties")); m.Next(); {
		if len(e.Fields) == maxFields {
			e.Cut = true
			break
		}
		e.Fields = append(e.Fields, Field{
			e.bounded(string(m.Key), maxWord), e.bounded(wire.GetString(m.Value, "type"), maxWord), e.bounded(wire.GetString(m.Value, "title"), maxWord),
		})
	}
	i, _ := a.s.elicits.grow()
	a.dirtyElicits[i] = e
	return i, true
}

func (e *Elicitation) bounded(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	e.Cut = true
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.ToValidUTF8(s[:n], "\uFFFD")
}

// answered notes what was done with a question.
func (a *Appender) answered(ev *Event, i uint32, result []byte) {
	e, ok := a.dirtyElicits[i]
	if !ok {
		version := *a.s.elicits.at(i).Load()
		e = &version
		a.dirtyElicits[i] = e
	}
	e.Action, e.AnswerAt, e.Answer = e.bounded(wire.GetString(result, "action"), maxWord), ev.Frame.TS, ev.Index+1
}

// elicitations keeps the ledger: questions are requests of the server up to
// 2025-11-25, and stand in inputRequests after. A retry answers its own round
// only.
func (a *Appender) elicitations(ev *Event, cl *client) {
	switch {
	case ev.Op == nil:
		return
	case ev.Frame.Kind == KindRequest && a.name(ev.Op.method) == mcp.Elicit:
		if i, ok := a.ask(ev, "", ev.Msg.Params); ok {
			cl.questions[questionKey{op: ev.OpIndex}] = i
		}
	case ev.Frame.Kind != KindRequest && a.name(ev.Op.method) == mcp.Elicit:
		key := questionKey{op: ev.OpIndex}
		if i, ok := cl.questions[key]; ok && ev.Rec.Direction == capture.C2S {
			a.answered(ev, i, ev.Msg.Result)
			delete(cl.questions, key)
		}
	case ev.Frame.Kind == KindResult && ev.Op.WantsInput:
		for m := wire.MembersOf(wire.Get(ev.Msg.Result, "inputRequests")); m.Next(); {
			if wire.GetString(m.Value, "method") != mcp.Elicit {
				continue
			}
			if i, ok := a.ask(ev, string(m.Key), wire.Get(m.Value, "params")); ok {
				cl.questions[questionKey{ev.OpIndex, a.hash(m.Key)}] = i
			}
		}
	case ev.Frame.Kind == KindRequest && ev.Op.link > Weak:
		prev, _ := ev.Op.Previous()
		for m := wire.MembersOf(wire.Get(ev.Msg.Params, "inputResponses")); m.Next(); {
			key := questionKey{prev, a.hash(m.Key)}
			if i, ok := cl.questions[key]; ok {
				a.answered(ev, i, m.Value)
				delete(cl.questions, key)
			}
		}
	}
}

// questionKey finds an open question: by the operation that asks, and within
// one round by its key.
type questionKey struct {
	op  OpIndex
	key uint64 // hash
}
