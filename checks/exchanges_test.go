package checks

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The twenty exchanges made by hand: ten that break exactly one rule, ten that
// look wrong and are legal.
func TestExchanges(t *testing.T) {
	b, err := os.ReadFile("../testdata/cases/exchanges/exchanges.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		ID, Rule, Context string
		Frames            []struct {
			Dir  string
			HTTP *struct {
				Method  string
				Status  int
				Headers map[string]string
			}
			Msg json.RawMessage
			SSE []string
		}
	}
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
				row := map[string]any{"direction": "c2s", "transport": "stdio"}
				if f.Dir == "S>C" {
					row["direction"] = "s2c"
				}
				facts := map[string]any{}
				if h := f.HTTP; h != nil {
					row["transport"] = "http"
					heads := map[string]string{}
					for k, v := range h.Headers {
						heads[strings.ToLower(k)] = v
					}
					for _, k := range []string{"accept", "content-type", "origin", "host", "last-event-id"} {
						if v, ok := heads[k]; ok {
							facts[strings.ReplaceAll(k, "-", "_")] = v
						}
					}
					for _, k := range []string{"mcp-method", "mcp-name", "mcp-protocol-version"} {
						if v, ok := heads[k]; ok {
							row[strings.ReplaceAll(k, "-", "_")] = v
						}
					}
					if h.Method != "" {
						facts["method"], facts["path"] = h.Method, "/mcp"
						if h.Method == "POST" && facts["content_type"] == nil {
							facts["content_type"] = "application/json"
						}
					}
					if heads["mcp-session-id"] != "" {
						row["mcp_session"] = "5e1f00d5e1f00d00"
					}
					if h.Status > 0 {
						row["status"] = h.Status
					}
				}
				if len(f.SSE) == 0 {
					if len(f.Msg) > 0 {
						row["raw"] = f.Msg
					}
					p.put(with(row, facts))
				}
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
					f := maps.Clone(facts)
					f["sse"] = sse
					p.put(with(one, f))
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

func with(row, facts map[string]any) map[string]any {
	if len(facts) > 0 {
		row["http"] = facts
	}
	return row
}
