package checks

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// handMade is one of the exchanges made by hand.
type handMade struct {
	ID, Rule, Context string
	Frames            []handMadeFrame
}

type handMadeFrame struct {
	Dir  string
	HTTP *struct {
		Method  string
		Status  int
		Headers map[string]string
	}
	Msg json.RawMessage
	SSE []string
}

// The twenty exchanges made by hand: ten that break exactly one rule, ten that
// look wrong and are legal.
func TestExchanges(t *testing.T) {
	b, err := os.ReadFile("../testdata/cases/exchanges/exchanges.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []handMade
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		t.Run(x.ID, func(t *testing.T) {
			p := newPlayer(t, Options{})
			if strings.Contains(x.Context, "sawStart=false") {
				p.do("meta none")
			}
			if strings.Contains(x.Context, "initialize omitted") {
				p.do("@init " + strings.Fields(x.Context)[0])
			}
			for _, f := range x.Frames {
				for _, row := range f.rows() {
					p.put(row)
				}
			}
			p.a.Publish()
			p.e.Finish(p.s)
			if x.Rule != "" && p.hits(x.Rule) == 0 {
				t.Errorf("%s is silent; found\n%s", x.Rule, p.found())
			}
			for _, f := range p.e.Findings() {
				if slices.Contains(strict, f.Signal) && f.Rule.ID != x.Rule {
					t.Errorf("found\n%s", p.found())
					break
				}
			}
		})
	}
}

// rows are the log lines of a frame: one, or one for each event.
func (f *handMadeFrame) rows() []map[string]any {
	row, facts := map[string]any{"direction": "c2s", "transport": "stdio"}, map[string]any{}
	if f.Dir == "S>C" {
		row["direction"] = "s2c"
	}
	if f.HTTP != nil {
		f.headers(row, facts)
	}
	if len(f.SSE) == 0 {
		if len(f.Msg) > 0 {
			row["raw"] = f.Msg
		}
		return []map[string]any{with(row, facts)}
	}
	var out []map[string]any
	for _, ev := range f.SSE {
		one, sse := maps.Clone(row), map[string]any{}
		for _, l := range strings.Split(strings.Trim(ev, "\n"), "\n") {
			k, v, _ := strings.Cut(l, ": ")
			switch {
			case k == "data" && strings.TrimSpace(v) != "":
				one["raw"] = json.RawMessage(v)
			case k == "retry":
				n, _ := strconv.Atoi(v)
				sse[k] = n
			case k == "id" || k == "event":
				sse[k] = v
			}
		}
		all := maps.Clone(facts)
		all["sse"] = sse
		out = append(out, with(one, all))
	}
	return out
}

// headers takes the HTTP side of a frame.
func (f *handMadeFrame) headers(row, facts map[string]any) {
	row["transport"] = "http"
	heads := map[string]string{}
	for k, v := range f.HTTP.Headers {
		heads[strings.ToLower(k)] = v
	}
	take := func(to map[string]any, names ...string) {
		for _, k := range names {
			if v, ok := heads[k]; ok {
				to[strings.ReplaceAll(k, "-", "_")] = v
			}
		}
	}
	take(facts, "accept", "content-type", "origin", "host", "last-event-id")
	take(row, "mcp-method", "mcp-name", "mcp-protocol-version")
	if f.HTTP.Method != "" {
		facts["method"], facts["path"] = f.HTTP.Method, "/mcp"
		if f.HTTP.Method == http.MethodPost && facts["content_type"] == nil {
			facts["content_type"] = "application/json"
		}
	}
	if heads["mcp-session-id"] != "" {
		row["mcp_session"] = "5e1f00d5e1f00d00"
	}
	if f.HTTP.Status > 0 {
		row["status"] = f.HTTP.Status
	}
}

func with(row, facts map[string]any) map[string]any {
	if len(facts) > 0 {
		row["http"] = facts
	}
	return row
}
