package store

import (
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// The ledger is bounded, and says what it has no room for: questions, and
// texts of any length in them.
func TestLedgerIsBounded(t *testing.T) {
	long := strings.Repeat("k", 5000)
	ask := func(key string) string {
		return `"` + key + `":{"method":"elicitation/create","params":{"message":"` + long + `","mode":"` + long + `"}}`
	}
	s := playLog(t, Limits{Elicitations: 2}, over(mcp.ToolsCall,
		[4]string{"c1", "1", `"name":"greet",`, `"resultType":"input_required","inputRequests":{` + ask(long) + `,` + ask("b") + `,` + ask("c") + `}`},
		[4]string{"c1", "2", `"name":"greet","inputResponses":{"` + long + `":{"action":"` + long + `"},"b":{"action":"decline"},"c":{"action":"accept"}},`, done},
	))
	e := s.Elicitations()
	if len(e) != 2 || s.Summary().MoreQuestions != 1 {
		t.Fatalf("%d questions kept, %d not; want 2 and 1", len(e), s.Summary().MoreQuestions)
	}
	if e[1].Action != "decline" {
		t.Errorf("the second question was answered %q", e[1].Action)
	}
	for name, text := range map[string]string{"key": e[0].Key, "message": e[0].Message, "mode": e[0].Mode, "action": e[0].Action} {
		if len(text) == 0 || len(text) > maxQuestion {
			t.Errorf("%d bytes of the %s are kept", len(text), name)
		}
	}
	if !e[0].Cut {
		t.Error("what is cut does not say so")
	}
}
