package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// over writes the log of requests on HTTP without a session: one exchange a
// line, as connection, id, rest of the params, result.
func over(method string, exchanges ...[4]string) string {
	var b strings.Builder
	for i, x := range exchanges {
		line := func(dir, raw string) {
			fmt.Fprintf(&b, `{"session_id":"play-1-00000000000a","server_label":"play","seq":%d,"ts":"2026-08-01T10:00:0%d.%03dZ","direction":%q,"transport":"http","conn_id":%q,"exchange":%d,"raw":%s}`+"\n",
				2*i+len(dir)%2, i, len(raw)%900, dir, x[0], i+1, raw)
		}
		m := method
		if x[2] != "" && x[2][0] == '!' {
			m, x[2], _ = strings.Cut(x[2][1:], " ")
		}
		line("c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, x[1], m, x[2], modernMeta))
		line("s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, x[1], x[3]))
	}
	return b.String()
}

const (
	wantsName = `"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"message":"Name?"}}}`
	bringsIt  = `"name":"greet","inputResponses":{"name":{"action":"accept","content":{"name":"x"}}},`
	done      = `"resultType":"complete","content":[]`
)

// Since 2026-07-28 a client is not bound to a connection: a retry on another
// one is joined when nothing else is like it, and when it brings the state.
func TestRetryOnAnotherConnection(t *testing.T) {
	first := `"name":"greet",`
	for _, tt := range []struct {
		name string
		log  [][4]string
		link []Link // of each request
	}{
		{"by keys", [][4]string{{"c1", "1", first, wantsName}, {"c2", "2", bringsIt, done}}, []Link{NoLink, ByKeys}},
		{"two alike: nobody can tell whose", [][4]string{{"c1", "1", first, wantsName}, {"c2", "1", first, wantsName}, {"c3", "2", bringsIt, done}}, []Link{NoLink, NoLink, Weak}},
		{"two alike, one on the same connection", [][4]string{{"c1", "1", first, wantsName}, {"c2", "1", first, wantsName}, {"c1", "2", bringsIt, done}}, []Link{NoLink, NoLink, ByKeys}},
		{"two alike, told apart by state", [][4]string{
			{"c1", "1", first, wantsName + `,"requestState":"a"`}, {"c2", "1", first, wantsName + `,"requestState":"b"`}, {"c3", "2", bringsIt + `"requestState":"a",`, done},
		}, []Link{NoLink, NoLink, ByState}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := playLog(t, Limits{}, over(mcp.ToolsCall, tt.log...))
			for i, want := range tt.link {
				prev, link := s.Op(OpIndex(i)).Previous()
				if link != want || link > Weak && prev != 0 {
					t.Errorf("request %d follows %d, link %v; want %v", i, int32(prev), link, want)
				}
			}
			last := tt.link[len(tt.link)-1]
			if e := s.Elicitations(); (e[0].Action == "accept") != (last > Weak) {
				t.Errorf("ledger %+v", e)
			}
		})
	}
}

// A task and the pages of a listing are followed over connections too.
func TestTaskAndPagesOverConnections(t *testing.T) {
	s := playLog(t, Limits{}, over(mcp.ToolsCall,
		[4]string{"c1", "1", `"name":"slow",`, `"resultType":"task","taskId":"t1","status":"working"`},
		[4]string{"c2", "2", `!tasks/get "taskId":"t1",`, `"resultType":"complete","taskId":"t1","status":"failed"`},
		[4]string{"c1", "3", `!tools/list `, `"resultType":"complete","tools":[{"name":"a"}],"nextCursor":"p2"`},
		[4]string{"c2", "4", `!tools/list "cursor":"p2",`, `"resultType":"complete","tools":[{"name":"b"}]`},
	))
	if o := s.Op(0); o.TaskState != TaskFailed || o.State != Failed || o.Polls != 1 {
		t.Errorf("task %v, call %v after %d polls", o.TaskState, o.State, o.Polls)
	}
	if l, ok := s.Summary().Listing(mcp.ToolsList); !ok || l.Pages != 2 || l.Entries != 2 || !l.Complete {
		t.Errorf("listing %+v, %v", l, ok)
	}
}

// A client that sends each request on another connection is shown once.
func TestPeers(t *testing.T) {
	var log [][4]string
	for i := range 5 {
		log = append(log, [4]string{fmt.Sprintf("c%d", i), "1", `"name":"greet",`, done})
	}
	log = append(log, [4]string{"c9", "1", `!server/discover `, `"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`})
	s := playLog(t, Limits{}, over(mcp.ToolsCall, log...))
	if n := len(s.Summary().Clients); n != 6 {
		t.Fatalf("%d clients; want one a connection", n)
	}
	if p := s.Summary().Peers(); len(p) != 1 || p[0].Server != "s" || p[0].ServerCaps == "" {
		t.Errorf("peers %+v", p)
	}
}
