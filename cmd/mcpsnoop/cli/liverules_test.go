package cli

import (
	"fmt"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// What rules say while frames arrive can be read again, with the tool that it
// is about, and is bounded.
func TestLiveRulesSay(t *testing.T) {
	rules := newLiveRules()
	s, a := store.New(store.Limits{}).Open("s", "s.jsonl", rules.observe)
	seq := uint64(0)
	add := func(d capture.Direction, raw, text string) uint32 {
		seq++
		rec := capture.Record{SessionID: "s", Seq: seq, Direction: d, Transport: capture.Stdio}
		if raw != "" {
			rec.Raw = []byte(raw)
		} else {
			rec.Text, rec.HasText = text, true
		}
		a.Append(&capture.Item{Line: int(seq), Record: rec})
		a.Publish()
		return s.Len() - 1
	}
	add(capture.Meta, `{"command":["x"]}`, "")
	add(capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "")
	listed := add(capture.S2C, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"search","description":"d","inputSchema":{"properties":{}}}]}}`, "")
	if got := rules.Message(s, "tool-input-root-type", listed); got != `search: inputSchema has no "type":"object"; clients drop the tool` {
		t.Errorf("of the tool it says %q", got)
	}
	first := add(capture.S2C, "", "loading 0")
	for i := range 3 * maxSaid {
		add(capture.S2C, "", fmt.Sprint("loading ", i+1))
	}
	if got := rules.Message(s, "stdio-stdout-not-json", first); got != `not JSON: "loading 0"` {
		t.Errorf("of the first line it says %q", got)
	}
	if got := rules.Message(s, "stdio-stdout-not-json", listed); got != "" {
		t.Errorf("of another frame it says %q", got)
	}
	for i := range 3 * maxSaid {
		rules.keep(s, &checks.Finding{Rule: &checks.Rule{ID: "r"}, Frame: uint32(i), HasFrame: true, Message: "m"})
	}
	if n := len(rules.said[s].last); n != maxSaid {
		t.Errorf("%d sentences are kept; want %d", n, maxSaid)
	}
	if rules.Message(s, "r", 3*maxSaid-1) != "m" || rules.Message(s, "r", 0) != "m" || rules.Message(s, "r", 1) != "" {
		t.Error("the first and the newest are to be kept")
	}
	rules.there = func() []*store.Session { return nil }
	other, _ := store.NewSession("other", "o.jsonl", store.Limits{}, nil)
	rules.keep(other, &checks.Finding{Rule: &checks.Rule{ID: "r"}, HasFrame: true, Message: "m"})
	if len(rules.said) != 1 {
		t.Errorf("what was said of %d sessions is kept; want that of the one that is there", len(rules.said))
	}
}
