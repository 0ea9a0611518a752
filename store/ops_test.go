package store

import (
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

func TestChainsAddUp(t *testing.T) {
	s := play(t,
		`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{"b":1,"a":[1.0]},`+modernMeta+`}}`,
		`< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"seat":{"method":"elicitation/create","params":{"mode":"url","message":"Seat?","url":"https://pay.example/x?y=1"}}},"requestState":"s1"}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book","arguments":{"a":[1],"b":1},"inputResponses":{"seat":{"action":"accept"}},"requestState":"s1",`+modernMeta+`}}`,
		`< {"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"meal":{"method":"elicitation/create","params":{"message":"Meal?","requestedSchema":{"type":"object","properties":{"dish":{"type":"string","title":"Dish"}}}}}}}}`,
		`> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"book","arguments":{"a":[1],"b":1},"inputResponses":{"meal":{"action":"decline"}},`+modernMeta+`}}`,
		`< {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}`,
	)
	c := s.Chain(2, time.Unix(2000, 0))
	if len(c.Hops) != 3 || c.Open {
		t.Fatalf("%d hops, open %v; want 3, closed", len(c.Hops), c.Open)
	}
	first, last := s.Op(c.Hops[0].Op), s.Op(c.Hops[2].Op)
	if total := time.Duration(last.Finish - first.Start); c.Server+c.Wait != total {
		t.Errorf("server %v and waiting %v do not add up to %v", c.Server, c.Wait, total)
	}
	if _, link := s.Op(1).Previous(); link != ByState {
		t.Errorf("second request is linked %v, want by its state", link)
	}
	if _, link := s.Op(2).Previous(); link != ByKeys {
		t.Errorf("third request is linked %v, want by its keys", link)
	}
	e := s.Elicitations()
	if len(e) != 2 || e[0].Action != "accept" || e[0].Host != "pay.example" || e[1].Action != "decline" || e[1].Fields[0] != (Field{"dish", "string", "Dish"}) {
		t.Errorf("ledger: %+v", e)
	}
}

func TestWeakLinksAreNotJoined(t *testing.T) {
	s := play(t,
		`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{"a":1},`+modernMeta+`}}`,
		`< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book","arguments":{"a":2},"inputResponses":{"k":{},"other":{}},`+modernMeta+`}}`,
	)
	if p, link := s.Op(1).Previous(); link != Weak || p != 0 {
		t.Errorf("link %v to %d, want weak to 0", link, p)
	}
	if _, ok := s.Op(0).Next(); ok {
		t.Error("a weak link was joined")
	}
	if s.Turn(s.Op(0)) != ClientsTurn {
		t.Error("a call that wants input waits for its client")
	}
}

// A call waits for its client while that owes the server an answer.
func TestTurnOfWhatIsOwed(t *testing.T) {
	call, ask := `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book"}}`, `< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m"}}`
	for _, tt := range []struct {
		name  string
		lines []string
		want  Turn
	}{
		{"nothing is owed", []string{call}, ServersTurn},
		{"an answer is", []string{call, ask}, ClientsTurn},
		{"it was given", []string{call, ask, `> {"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`}, ServersTurn},
		{"it was asked before the call", []string{ask, call}, ServersTurn},
	} {
		s := play(t, tt.lines...)
		for i := range s.OpLen() {
			if o := s.Op(i); o.Client && s.Turn(o) != tt.want {
				t.Errorf("%s: it is the turn of the %v, want the %v", tt.name, s.Turn(o), tt.want)
			}
		}
	}
}

func TestTasks(t *testing.T) {
	for _, tt := range []struct{ name, handle, poll string }{
		{"extension", `"resultType":"task","taskId":"t1","status":"working"`, `"resultType":"complete","taskId":"t1","status":"failed"`},
		{"core", `"task":{"taskId":"t1","status":"working"}`, `"taskId":"t1","status":"failed"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t,
				`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`,
				`< {"jsonrpc":"2.0","id":1,"result":{`+tt.handle+`}}`,
				`> {"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t1"}}`,
				`< {"jsonrpc":"2.0","id":2,"result":{`+tt.poll+`}}`,
			)
			o := s.Op(0)
			if id, state := s.Task(o); id != "t1" || state != TaskFailed || o.State != Failed || o.Polls != 1 {
				t.Errorf("task %s %v, call %v after %d polls", id, state, o.State, o.Polls)
			}
			if c := s.Summary().Calls; c.Failed != 1 || c.OK != 1 || c.Total != 2 {
				t.Errorf("counts %+v", c)
			}
		})
	}
}

func TestListingOverPages(t *testing.T) {
	s := play(t,
		`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a", "description":"d","inputSchema":{"type": "object"}}],"nextCursor":""}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":""}}`,
		`< {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"b"}]}}`,
	)
	l, ok := s.Summary().Listing(mcp.ToolsList)
	if !ok || l.Pages != 2 || l.Entries != 2 || !l.Complete {
		t.Fatalf("listing %+v", l)
	}
	if d := l.Tools[0]; d.Name != "a" || d.Bytes != len(`{"name":"a","description":"d","inputSchema":{"type":"object"}}`) || d.Description != 3 || d.Schemas != 17 {
		t.Errorf("definition %+v", d)
	}
}

func TestRevisionBelongsToTheFrame(t *testing.T) {
	s := play(t,
		`> {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modernMeta+`}}`,
		`< {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`< {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`,
		`> {"jsonrpc":"2.0","method":"notifications/initialized"}`,
	)
	for i, want := range []mcp.Revision{mcp.R5, mcp.R5, mcp.R4, mcp.R3, mcp.R3} {
		if got, _ := s.Frame(uint32(i)).Revision(); got != want {
			t.Errorf("frame %d follows %s, want %s", i, got, want)
		}
	}
}

func TestStreamsThatEnd(t *testing.T) {
	for _, tt := range []struct {
		end, rev string
		state    State
		why      string
	}{
		{"client", "2026-07-28", Cancelled, "cancelled: the client closed the stream"},
		{"client", "2025-11-25", Pending, "the client closed the event stream before the answer"},
		{"server", "2026-07-28", Pending, "the server ended the event stream before its answer"},
		{"reset", "2025-11-25", Pending, "the connection was lost before the answer"},
	} {
		s, a := NewSession("h", "", Limits{}, nil)
		for i, r := range []capture.Record{
			{Direction: capture.C2S, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`), MCPProtocolVersion: tt.rev},
			{Direction: capture.S2C, Status: 200},
			{Direction: capture.S2C, HTTP: &capture.HTTPFacts{End: tt.end}},
		} {
			r.Transport, r.ConnID, r.Exchange, r.Seq, r.TS = capture.HTTP, "c1", 1, uint64(i+1), time.Unix(1, int64(i))
			a.Append(&capture.Item{Record: r})
		}
		a.Publish()
		if o := s.Op(0); o.State != tt.state || s.Why(o) != tt.why {
			t.Errorf("%s, %s: %v, %q", tt.end, tt.rev, o.State, s.Why(o))
		}
	}
}

func TestReplayedEventsCountOnce(t *testing.T) {
	s, a := NewSession("h", "", Limits{}, nil)
	event := func(id, body string) capture.Record {
		return capture.Record{Direction: capture.S2C, Raw: []byte(body), HTTP: &capture.HTTPFacts{SSE: &capture.SSEFacts{ID: id, HasID: true}}}
	}
	const answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for i, r := range []capture.Record{
		{Direction: capture.C2S, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`), Exchange: 1},
		event("1", answer),
		{Direction: capture.C2S, HTTP: &capture.HTTPFacts{Method: "GET", LastEventID: "0"}, Exchange: 2},
		event("1", answer),
		event("2", `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`),
	} {
		r.Transport, r.MCPSession, r.Seq, r.TS = capture.HTTP, "s", uint64(i+1), time.Unix(1, int64(i))
		if r.Exchange == 0 {
			r.Exchange = uint64(i/2 + 1)
		}
		a.Append(&capture.Item{Record: r})
	}
	a.Publish()
	if f := s.Frame(3); !f.Has(Replayed) || f.Has(Unpaired) {
		t.Errorf("the replayed answer has flags %b", f.Flags)
	}
	if s.Frame(1).Has(Replayed) || s.Frame(4).Has(Replayed) || s.Op(0).State != OK {
		t.Error("what came first was taken for a replay")
	}
}
