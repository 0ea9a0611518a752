package store

import (
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// Ladder is the attempts of one client at one operation, from the first that
// was refused for want of authorization to the first that was let through
// (basic/authorization, Step-Up Authorization Flow). One that was published
// never changes.
type Ladder struct {
	Operation string // the method and what it addresses, or the HTTP method and path
	Count     int    // attempts, the one that was let through included
	Succeeded bool
	Attempts  []Attempt // the first Limits.Attempts of them
}

// Attempt is one request of a ladder and how it was answered.
type Attempt struct {
	Request, Answer uint32 // frame indices
	Seq             uint64 // of the answer
	TS              int64  // of the answer, nanoseconds since 1970
	Status          int
	Demands         []Demand           // of the answer, in order
	Auth            *capture.AuthFacts // of the request, where they were observed
	Stated          mcp.Revision       // that the request or its header states, "" when it does not
}

// Demand is one WWW-Authenticate field: what the server wrote, and what that
// means. A reading may be wrong; the field is the evidence.
type Demand struct {
	Raw        string
	Challenges []mcp.Challenge
	Fault      string // why it could not be read to its end, "" when it could
}

// Bearer is the first Bearer challenge of the attempt, nil when there is none
// or the field that holds it cannot be read to its end.
func (a *Attempt) Bearer() *mcp.Challenge {
	for i := range a.Demands {
		d := &a.Demands[i]
		for k := range d.Challenges {
			if d.Fault == "" && d.Challenges[k].Is(mcp.Bearer) {
				return &d.Challenges[k]
			}
		}
	}
	return nil
}

// Refused reports whether the answer asks for authorization. A 403 without a
// challenge may be an ordinary denial.
func (a *Attempt) Refused() bool { return a.Status == 401 || a.Status >= 400 && len(a.Demands) > 0 }

// Last is the newest attempt that is kept.
func (l *Ladder) Last() *Attempt { return &l.Attempts[len(l.Attempts)-1] }

// ReadDemands reads the WWW-Authenticate fields of an answer.
func ReadDemands(fields []string) []Demand {
	var out []Demand
	for _, f := range fields {
		d := Demand{Raw: f}
		if len(d.Raw) > maxDemand {
			d.Raw = d.Raw[:maxDemand]
		}
		var err error
		if d.Challenges, err = mcp.ParseChallenges(d.Raw); err != nil {
			d.Fault = err.Error()
		}
		if out = append(out, d); len(out) == maxDemands {
			break
		}
	}
	return out
}

// Bounds of what is kept of one answer.
const (
	maxDemand  = 8 << 10 // bytes of a field
	maxDemands = 16
)

// The methods of HTTP that are told apart here, where nothing needs net/http.
const (
	httpPost = "POST"
	httpGet  = "GET"
)

// authState is what the appender remembers to build ladders.
type authState struct {
	open  map[ladderKey]int // ladders without a success, by their index in the summary
	conns map[string]*ask   // the newest request of each connection, in logs without exchange numbers
}

// ladderKey tells attempts apart: two clients at one operation are on ladders
// of their own. A client that has no session yet is known by its name alone.
type ladderKey struct{ session, agent, operation string }

// ask is what is remembered of a request until it is answered.
type ask struct {
	method, name         uint32
	frame                uint32
	session, agent       string
	verb, path           string
	auth                 *capture.AuthFacts
	set, other, answered bool
}

// authorize takes a frame over HTTP into the ladders.
func (a *Appender) authorize(ev *Event, x *exchange) {
	rec := ev.Rec
	if rec.Transport != capture.HTTP || rec.Direction == capture.Stderr {
		return
	}
	q := a.askOf(rec, x)
	if q == nil {
		return
	}
	if rec.Direction == capture.C2S {
		q.take(ev, a)
		return
	}
	if rec.Status == 0 || !q.set || q.answered || q.other {
		return
	}
	q.answered = true
	a.climb(ev, q)
}

// askOf is where the request of a record is remembered.
func (a *Appender) askOf(rec *capture.Record, x *exchange) *ask {
	if x != nil {
		return &x.ask
	}
	if rec.Exchange > 0 {
		return nil
	}
	q := a.auth.conns[rec.ConnID]
	if rec.Direction == capture.S2C {
		return q
	}
	if a.auth.conns == nil || len(a.auth.conns) >= a.limits.Exchanges {
		a.auth.conns = map[string]*ask{} // what was asked on other connections before is forgotten
	}
	q = &ask{}
	a.auth.conns[rec.ConnID] = q
	return q
}

// take remembers a request. Of several messages in one body the first counts.
func (q *ask) take(ev *Event, a *Appender) {
	if q.set {
		return
	}
	rec := ev.Rec
	*q = ask{set: true, frame: ev.Index, method: ev.Frame.method, session: rec.MCPSession, auth: rec.Auth}
	if ev.Op != nil {
		q.name = ev.Op.name
	}
	if h := rec.HTTP; h != nil {
		q.agent, q.verb, q.path = h.UserAgent, h.Method, h.Path
		// A POST without a message goes to no MCP endpoint, or cannot be told from one that does.
		q.other = h.Doc != "" || q.method == 0 && (h.Method == httpPost || h.Method == httpGet && !strings.Contains(h.Accept, "text/event-stream"))
	}
}

// operation names what was tried.
func (q *ask) operation(a *Appender) string {
	switch {
	case q.method == 0:
		return strings.TrimSpace(q.verb + " " + q.path)
	case a.name(q.name) == "":
		return a.name(q.method)
	}
	return a.name(q.method) + " " + a.name(q.name)
}

// climb adds an answer to the ladder of its operation, if there is one or it
// begins one.
func (a *Appender) climb(ev *Event, q *ask) {
	t := Attempt{Request: q.frame, Answer: ev.Index, Seq: ev.Rec.Seq, TS: ev.Frame.TS, Status: ev.Rec.Status, Auth: q.auth}
	if len(a.auth.open) == 0 && t.Status < 400 {
		return
	}
	if v, how := a.s.frames.at(q.frame).Revision(); how == RevStated && a.name(q.method) != mcp.Initialize {
		t.Stated = v
	}
	t.Demands = ReadDemands(ev.Rec.AuthChallenge)
	key := ladderKey{q.session, q.agent, q.operation(a)}
	i, on := a.auth.open[key]
	if !on {
		if !t.Refused() || len(a.sum.Ladders) >= a.limits.Ladders {
			return
		}
		if a.auth.open == nil {
			a.auth.open = map[ladderKey]int{}
		}
		i = len(a.sum.Ladders)
		key.session, key.agent = strings.Clone(key.session), strings.Clone(key.agent)
		a.auth.open[key] = i
	}
	a.sum.Ladders = slices.Clone(a.sum.Ladders) // readers have the list as it was
	if !on {
		a.sum.Ladders = append(a.sum.Ladders, &Ladder{Operation: key.operation})
	}
	l := *a.sum.Ladders[i]
	l.Count++
	if len(l.Attempts) < a.limits.Attempts {
		l.Attempts = append(l.Attempts, t)
	}
	if t.Status >= 200 && t.Status < 300 {
		l.Succeeded = true
		delete(a.auth.open, key)
	}
	a.sum.Ladders[i] = &l
	ev.Ladder, ev.Attempt = &l, &t
}
