package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// play appends one frame a line, "> json" from the client and "< json" from
// the server, and returns the session.
func play(t testing.TB, lines ...string) *Session {
	t.Helper()
	s, a := NewSession("play-1-00000000000a", "", Limits{}, nil)
	for i, l := range lines {
		it := capture.Item{Line: i + 1, Ref: capture.Ref{Segment: 1, Offset: int64(i), Length: len(l)}, Record: capture.Record{
			SessionID: s.ID, Label: "play", Seq: uint64(i + 1), TS: time.Unix(1000, int64(i)*1e6).UTC(),
			Direction: capture.S2C, Transport: capture.Stdio, Raw: []byte(l[2:]),
		}}
		if l[0] == '>' {
			it.Record.Direction = capture.C2S
		}
		a.Append(&it)
	}
	a.Publish()
	return s
}

// ops writes the operations of a session, one a line.
func ops(s *Session) string {
	out := ""
	for i := range s.OpLen() {
		o := s.Op(i)
		who := "client"
		if !o.Client {
			who = "server"
		}
		answer, _ := o.Answer()
		out += fmt.Sprintf("%s %s %s %s %v answer=%d", who, o.ID, s.OpMethod(o), s.OpName(o), o.State, int32(answer))
		if late, ok := o.Late(); ok {
			out += fmt.Sprintf(" late=%d", late)
		}
		if o.Uncertain {
			out += " uncertain"
		}
		out += "\n"
	}
	return out
}

func TestPairing(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{
			"types of ids", []string{
				`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
				`> {"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"b"}}`,
				`< {"jsonrpc":"2.0","id":"1","result":{}}`,
				`< {"jsonrpc":"2.0","id":1,"result":{"isError":true}}`,
			},
			"client 1 tools/call a error answer=3\nclient \"1\" tools/call b ok answer=2\n",
		},
		{
			"both directions", []string{
				`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
				`< {"jsonrpc":"2.0","id":1,"method":"ping"}`,
				`> {"jsonrpc":"2.0","id":1,"result":{}}`,
				`< {"jsonrpc":"2.0","id":1,"result":{}}`,
			},
			"client 1 tools/call a ok answer=3\nserver 1 ping  ok answer=2\n",
		},
		{
			"beyond 2^53", []string{
				`> {"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`,
				`> {"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
				`< {"jsonrpc":"2.0","id":9007199254740993,"result":{}}`,
			},
			"client 9007199254740992 ping  pending answer=-1\nclient 9007199254740993 ping  ok answer=2\n",
		},
		{
			"late answer", []string{
				`> {"jsonrpc":"2.0","id":1,"method":"ping"}`,
				`> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
				`< {"jsonrpc":"2.0","id":1,"result":{}}`,
			},
			"client 1 ping  cancelled answer=-1 late=2\n",
		},
		{
			"reuse in flight", []string{
				`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"north"}}`,
				`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"south"}}`,
				`< {"jsonrpc":"2.0","id":1,"result":{}}`,
			},
			"client 1 tools/call north ok answer=2 uncertain\nclient 1 tools/call south pending answer=-1 uncertain\n",
		},
		{
			"null id", []string{
				`> {"jsonrpc":"2.0","id":null,"method":"ping"}`,
				`< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
			},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ops(play(t, tt.lines...)); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// A frame before which numbers are missing says so, whether or not its
// recorder does.
func TestGapFlag(t *testing.T) {
	s, a := NewSession("s", "s.jsonl", Limits{}, nil)
	for _, r := range []capture.Record{
		{Seq: 1, Direction: capture.Meta, Raw: []byte(`{"command":["x"]}`)},
		{Seq: 2, Direction: capture.C2S, Raw: []byte(`{"jsonrpc":"2.0","method":"a"}`)},
		{Seq: 5, Direction: capture.C2S, Raw: []byte(`{"jsonrpc":"2.0","method":"b"}`)},
		{Seq: 9, Direction: capture.Meta, Raw: []byte(`{"segment":2}`)},
		{Seq: 10, Direction: capture.C2S, Raw: []byte(`{"jsonrpc":"2.0","method":"c"}`)},
		{Seq: 11, Direction: capture.C2S, Dropped: 1, Raw: []byte(`{"jsonrpc":"2.0","method":"d"}`)},
		{Seq: 12, Direction: capture.C2S, Raw: []byte(`{"jsonrpc":"2.0","method":"e"}`)},
	} {
		a.Append(&capture.Item{Record: r})
	}
	a.Publish()
	got := ""
	for i := range s.Len() {
		if s.Frame(i).Has(Gap) {
			got += s.Method(s.Frame(i))
		}
	}
	if got != "bcd" {
		t.Errorf("missing frames are said before %q; want b, c and d", got)
	}
}
