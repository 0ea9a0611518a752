package export

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// The json format is what its schema says, and the schema knows all of it.
func TestJSONFitsItsSchema(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "schema", "export.v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("export.json", closed(text)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("export.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]*Input{"story": judged(t, storyLog, nil), "simple": inputOf(t, story), "two": inputOf(t, story, []string{`0 stderr x`})} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(write(t, "json", in)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// closed makes a schema refuse members that it does not list: it lists what
// this version writes, and readers are to skip what later ones add.
func closed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, sub := range v {
			closed(sub)
		}
		if _, ok := v["properties"].(map[string]any); ok {
			v["additionalProperties"] = false
		}
	case []any:
		for _, sub := range v {
			closed(sub)
		}
	}
	return v
}

// The collector's own reader reads the otlp format, and every attribute is one
// of the conventions or ours.
func TestOTLPIsReadByTheCollector(t *testing.T) {
	var u ptrace.JSONUnmarshaler
	traces, err := u.UnmarshalTraces([]byte(write(t, "otlp", judged(t, storyLog, nil))))
	if err != nil {
		t.Fatal(err)
	}
	if n := traces.ResourceSpans().Len(); n != 2 {
		t.Fatalf("%d resources; want one a session", n)
	}
	if v, _ := traces.ResourceSpans().At(0).Resource().Attributes().Get("mcpsnoop.session.missing_frames"); v.Int() != 3 {
		t.Errorf("missing frames are %d; want 3", v.Int())
	}
	known := map[string]bool{}
	for _, k := range strings.Fields(`mcp.method.name mcp.protocol.version mcp.resource.uri mcp.session.id error.type gen_ai.tool.name gen_ai.prompt.name
		gen_ai.operation.name gen_ai.tool.call.arguments gen_ai.tool.call.result jsonrpc.request.id jsonrpc.protocol.version rpc.response.status_code
		network.transport network.protocol.name network.protocol.version server.address server.port client.address client.port`) {
		known[k] = true
	}
	chains := 0
	for _, rs := range traces.ResourceSpans().All() {
		for _, sp := range rs.ScopeSpans().At(0).Spans().All() {
			sp.Attributes().Range(func(k string, v pcommon.Value) bool {
				if !known[k] && !strings.HasPrefix(k, "mcpsnoop.") {
					t.Errorf("%s: attribute %s is neither in the conventions nor ours", sp.Name(), k)
				}
				if k == "mcpsnoop.chain.trips" {
					chains++
					if id := sp.TraceID().String(); v.Int() != 3 || id != "0af7651916cd43dd8448eb211c80319c" || sp.TraceState().AsRaw() != "v=1" {
						t.Errorf("the chain has %d trips in trace %s", v.Int(), id)
					}
				}
				return true
			})
		}
	}
	if chains != 1 {
		t.Errorf("%d chains; want 1", chains)
	}
}

// HAR says the server's share as wait and the rest as blocked.
func TestHARTimings(t *testing.T) {
	var doc struct {
		Log struct {
			Comment string
			Entries []struct {
				Time    float64
				Timings struct{ Blocked, Send, Wait, Receive float64 }
				Ours    struct {
					Name string
					Hops []json.RawMessage
				} `json:"_mcpsnoop"`
			}
		}
	}
	if err := json.Unmarshal([]byte(write(t, "har", judged(t, storyLog, nil))), &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(doc.Log.Comment, "3 frames are missing") {
		t.Errorf("the comment is %q", doc.Log.Comment)
	}
	found := false
	for _, e := range doc.Log.Entries {
		if sum := e.Timings.Blocked + e.Timings.Send + e.Timings.Wait + e.Timings.Receive; sum != e.Time {
			t.Errorf("%s: the timings add up to %v; want %v", e.Ours.Name, sum, e.Time)
		}
		if e.Ours.Name == "book_flight" {
			found = true
			if e.Timings.Wait != 1150 || e.Timings.Blocked != 18100 || len(e.Ours.Hops) != 3 {
				t.Errorf("wait %v, blocked %v, %d hops; want 1150, 18100, 3", e.Timings.Wait, e.Timings.Blocked, len(e.Ours.Hops))
			}
		}
	}
	if !found {
		t.Error("the chain is no entry")
	}
}

// A validator that others wrote accepts the har format.
func TestHARValidates(t *testing.T) {
	dir := filepath.Join("..", "testdata", "npm")
	_, err := exec.LookPath("node")
	if _, err2 := os.Stat(filepath.Join(dir, "node_modules", "har-validator")); err != nil || err2 != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("node and har-validator are needed: %v, %v", err, err2)
		}
		t.Skip("node or har-validator is missing (make servers)")
	}
	for name, in := range map[string]*Input{"story": judged(t, storyLog, nil), "simple": inputOf(t, story)} {
		cmd := exec.Command("node", filepath.Join(dir, "validate_har.js"))
		cmd.Stdin = bytes.NewReader([]byte(write(t, "har", in)))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
