package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The names of the tools.
const (
	toolWeather = "get_weather"
	toolSearch  = "search_files"
	toolReport  = "slow_report"
	toolQuery   = "slow_query"
	toolFail    = "fail"
	toolHang    = "hang"
)

// How long the slow tools take: one step of a report, and a query.
const (
	reportStep = 350 * time.Millisecond
	queryTime  = 1200 * time.Millisecond
)

const maxReportSteps = 20

type weatherArgs struct {
	City string `json:"city"`
}

type weather struct {
	City         string `json:"city"`
	TemperatureC int    `json:"temperature_c"`
	Sky          string `json:"sky"`
}

type searchArgs struct {
	Pattern string `json:"pattern"`
}

type matches struct {
	Files []string `json:"files"`
}

type reportArgs struct {
	Topic string `json:"topic"`
	Steps int    `json:"steps"`
}

type queryArgs struct {
	SQL string `json:"sql"`
}

type queryRows struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

type failArgs struct {
	Reason string `json:"reason"`
}

type hangArgs struct {
	Lock string `json:"lock"`
}

// weatherReports is what get_weather knows, in the order in which the client
// asks for it.
func weatherReports() []weather {
	return []weather{
		{"Oslo", 7, "light rain"},
		{"Lisbon", 21, "clear"},
		{"Nairobi", 24, "a few clouds"},
		{"Osaka", 17, "overcast"},
		{"Montréal", -3, "snow"},
		{"Valparaíso", 15, "fog"},
	}
}

// files is what search_files searches.
func files() []string {
	return []string{"README.md", "docs/guide.md", "docs/faq.md", "main.go", "main_test.go", "go.mod"}
}

// The schemas are written out: those that the SDK infers hold constructs that
// some clients refuse, and a demo should not have to explain them.
func (s *server) addTools(m *mcp.Server) {
	mcp.AddTool(m, &mcp.Tool{
		Name: toolWeather, Title: "Weather", Description: "The weather in a city.",
		InputSchema: schema(`"city":{"type":"string","description":"Name of the city"}`, `"city"`),
		OutputSchema: schema(`"city":{"type":"string"},"temperature_c":{"type":"integer"},"sky":{"type":"string"}`,
			`"city","temperature_c","sky"`),
	}, s.getWeather)
	mcp.AddTool(m, &mcp.Tool{
		Name: toolSearch, Title: "Search files", Description: "The files whose names match a pattern. Prints a debug line where it should not.",
		InputSchema:  schema(`"pattern":{"type":"string","description":"Pattern for the file name, as in *.md"}`, `"pattern"`),
		OutputSchema: schema(`"files":{"type":"array","items":{"type":"string"}}`, `"files"`),
	}, s.searchFiles)
	mcp.AddTool(m, &mcp.Tool{
		Name: toolReport, Title: "Report", Description: "Writes a report step by step and tells how far it is.",
		InputSchema: schema(`"topic":{"type":"string","description":"What the report is about"},`+
			`"steps":{"type":"integer","description":"Number of steps, 1 to 20"}`, `"topic","steps"`),
	}, s.slowReport)
	mcp.AddTool(m, &mcp.Tool{
		Name: toolQuery, Title: "Query", Description: "Answers a query slowly, without a word in between.",
		InputSchema: schema(`"sql":{"type":"string","description":"The query"}`, `"sql"`),
		OutputSchema: schema(`"columns":{"type":"array","items":{"type":"string"}},`+
			`"rows":{"type":"array","items":{"type":"array","items":{"type":"string"}}}`, `"columns","rows"`),
	}, s.slowQuery)
	mcp.AddTool(m, &mcp.Tool{
		Name: toolFail, Title: "Fail", Description: "Fails with the reason it is given.",
		InputSchema: schema(`"reason":{"type":"string","description":"Why it fails"}`, `"reason"`),
	}, s.fail)
	mcp.AddTool(m, &mcp.Tool{
		Name: toolHang, Title: "Hang", Description: "Waits for a lock that nobody releases. Never answers.",
		InputSchema: schema(`"lock":{"type":"string","description":"Name of the lock"}`, `"lock"`),
	}, s.hang)
}

// schema returns the schema of an object with these properties.
func schema(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
}

func (s *server) getWeather(_ context.Context, _ *mcp.CallToolRequest, in weatherArgs) (*mcp.CallToolResult, weather, error) {
	for _, w := range weatherReports() {
		if w.City == in.City {
			return nil, w, nil
		}
	}
	return nil, weather{}, fmt.Errorf("no weather station in %q", in.City)
}

func (s *server) searchFiles(_ context.Context, _ *mcp.CallToolRequest, in searchArgs) (*mcp.CallToolResult, matches, error) {
	found := matches{Files: []string{}}
	for _, f := range files() {
		ok, err := path.Match(in.Pattern, path.Base(f))
		if err != nil {
			return nil, matches{}, fmt.Errorf("pattern %q: %w", in.Pattern, err)
		}
		if ok {
			found.Files = append(found.Files, f)
		}
	}
	s.out.printf("DEBUG search_files: %d of %d files match", len(found.Files), len(files()))
	return nil, found, nil
}

func (s *server) slowReport(ctx context.Context, req *mcp.CallToolRequest, in reportArgs) (*mcp.CallToolResult, any, error) {
	if in.Steps < 1 || in.Steps > maxReportSteps {
		return nil, nil, fmt.Errorf("steps is %d; want 1 to %d", in.Steps, maxReportSteps)
	}
	token := req.Params.GetProgressToken()
	for i := 1; i <= in.Steps; i++ {
		if err := s.sleep(ctx, reportStep); err != nil {
			return nil, nil, err
		}
		if token == nil {
			continue
		}
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token,
			Progress:      float64(i),
			Total:         float64(in.Steps),
			Message:       fmt.Sprintf("section %d of %d", i, in.Steps),
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return textResult(fmt.Sprintf("Report on %s: %d sections.", in.Topic, in.Steps)), nil, nil
}

func (s *server) slowQuery(ctx context.Context, _ *mcp.CallToolRequest, _ queryArgs) (*mcp.CallToolResult, queryRows, error) {
	if err := s.sleep(ctx, queryTime); err != nil {
		return nil, queryRows{}, err
	}
	return nil, queryRows{
		Columns: []string{"id", "customer", "total"},
		Rows:    [][]string{{"1041", "Ada", "129.00"}, {"1042", "Grace", "18.50"}, {"1043", "Linus", "64.20"}},
	}, nil
}

func (s *server) fail(_ context.Context, _ *mcp.CallToolRequest, in failArgs) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New(in.Reason)
}

// hang waits until its request is cancelled or the server's input ends. In the
// second case the SDK writes nothing any more: the call stays without an answer.
func (s *server) hang(ctx context.Context, _ *mcp.CallToolRequest, _ hangArgs) (*mcp.CallToolResult, any, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
