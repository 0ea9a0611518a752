package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// hangEvery spaces out the calls that never end: each costs both sides a
	// goroutine for as long as the session lasts.
	hangEvery   = 5
	reportSteps = 4
	typo        = "get_wether"
)

// progress is how far a report is.
type progress struct {
	token any
	done  float64
	total float64
}

// story is one session of the client.
type story struct {
	o        Options
	cs       *mcp.ClientSession
	calls    context.Context // of every request; see connect
	log      *lineWriter
	sent     *countWriter
	progress chan progress
	gone     chan struct{}  // closed when the connection is over
	hung     sync.WaitGroup // calls that wait until then
	open     int            // how many they are
	round    int            // from 0
	city     int            // how often the weather was asked for
}

// tell plays the rounds. It returns an error when ctx ends, when the server
// leaves, or when the server's part is not what the story needs.
func (s *story) tell(ctx context.Context) error {
	r := s.cs.InitializeResult()
	s.say("connected", "%s %s, protocol %s", r.ServerInfo.Name, r.ServerInfo.Version, r.ProtocolVersion)
	if err := s.listTools(ctx); err != nil {
		return err
	}
	for s.round = 0; s.o.Rounds == 0 || s.round < s.o.Rounds; s.round++ {
		if s.round > 0 {
			if err := s.o.Sleep(ctx, roundPauses*s.o.Pace); err != nil {
				return err
			}
		}
		if err := s.playRound(ctx); err != nil {
			return err
		}
	}
	s.say("closing", "calls without an answer: %d", s.open)
	return nil
}

func (s *story) playRound(ctx context.Context) error {
	steps := []func(context.Context) error{
		s.weather, s.search, s.hang, s.weather, s.report, s.fail, s.mistype, s.query, s.ping,
	}
	for _, step := range steps {
		if err := s.o.Sleep(ctx, s.o.Pace); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) listTools(context.Context) error {
	list, err := s.cs.ListTools(s.calls, nil)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	s.say("tools/list", "%s", strings.Join(names, ", "))
	return nil
}

func (s *story) weather(context.Context) error {
	all := weatherReports()
	city := all[s.city%len(all)].City
	s.city++
	var w weather
	if err := s.ask(toolWeather, weatherArgs{City: city}, &w); err != nil {
		return err
	}
	s.say(toolWeather, "%s: %d °C, %s", w.City, w.TemperatureC, w.Sky)
	return nil
}

func (s *story) search(context.Context) error {
	patterns := []string{"*.md", "*.go", "go.*"}
	pattern := patterns[s.round%len(patterns)]
	var found matches
	if err := s.ask(toolSearch, searchArgs{Pattern: pattern}, &found); err != nil {
		return err
	}
	s.say(toolSearch, "%s: %s", pattern, strings.Join(found.Files, ", "))
	return nil
}

// hang leaves a call open. It returns once the request is on its way, so that
// the requests of a session always stand in the same order.
func (s *story) hang(ctx context.Context) error {
	if s.round%hangEvery != 0 {
		return nil
	}
	onItsWay := s.sent.next()
	answered := make(chan struct{})
	s.hung.Go(func() {
		defer close(answered)
		_, _ = s.call(toolHang, hangArgs{Lock: "nightly-backup"}, nil)
	})
	select {
	case <-onItsWay:
	case <-answered:
	}
	if err := s.o.Sleep(ctx, hangPause); err != nil {
		return err
	}
	select {
	case <-answered:
		return errors.New(toolHang + " was answered")
	default:
	}
	s.open++
	s.say(toolHang, "no answer; left open, the other calls go on")
	return nil
}

func (s *story) report(ctx context.Context) error {
	token := fmt.Sprintf("report-%d", s.round+1)
	res, err := s.call(toolReport, reportArgs{Topic: "sales", Steps: reportSteps}, token)
	if err != nil {
		return err
	}
	if res.IsError {
		return fmt.Errorf("%s failed: %s", toolReport, text(res))
	}
	n, err := s.countProgress(ctx, token)
	if err != nil {
		return err
	}
	s.say(toolReport, "%d steps told: %s", n, text(res))
	return nil
}

// countProgress counts the notes for token up to the one that says all is
// done. They were sent before the answer, but the SDK may handle them after it.
func (s *story) countProgress(ctx context.Context, token string) (int, error) {
	for n := 1; ; n++ {
		select {
		case p := <-s.progress:
			if p.token != token {
				return n, fmt.Errorf("progress for %v; want %s", p.token, token)
			}
			if p.done >= p.total {
				return n, nil
			}
		case <-s.gone:
			return n, errors.New("the server left in the middle of a report")
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

func (s *story) fail(context.Context) error {
	res, err := s.call(toolFail, failArgs{Reason: "disk quota exceeded on /srv/reports"}, nil)
	if err != nil {
		return err
	}
	if !res.IsError {
		return errors.New(toolFail + " did not fail")
	}
	s.say(toolFail, "tool error: %s", text(res))
	return nil
}

func (s *story) mistype(context.Context) error {
	_, err := s.call(typo, weatherArgs{City: "Oslo"}, nil)
	if err == nil {
		return fmt.Errorf("%s: it was answered; want a protocol error", typo)
	}
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return fmt.Errorf("%s: want a protocol error, got: %w", typo, err)
	}
	s.say(typo, "protocol error %d: %s", wire.Code, wire.Message)
	return nil
}

func (s *story) query(context.Context) error {
	var rows queryRows
	if err := s.ask(toolQuery, queryArgs{SQL: "SELECT id, customer, total FROM orders"}, &rows); err != nil {
		return err
	}
	s.say(toolQuery, "%d rows of %s", len(rows.Rows), strings.Join(rows.Columns, ", "))
	return nil
}

func (s *story) ping(context.Context) error {
	if err := s.cs.Ping(s.calls, nil); err != nil {
		return err
	}
	s.say("ping", "answered")
	return nil
}

// call calls a tool; with a token it asks for progress.
func (s *story) call(tool string, args, token any) (*mcp.CallToolResult, error) {
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	if token != nil {
		params.SetProgressToken(token)
	}
	return s.cs.CallTool(s.calls, params)
}

// ask calls a tool and decodes its structured result into out.
func (s *story) ask(tool string, args, out any) error {
	res, err := s.call(tool, args, nil)
	if err != nil {
		return err
	}
	if res.IsError {
		return fmt.Errorf("%s failed: %s", tool, text(res))
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	return nil
}

// text is the first text of a result.
func text(res *mcp.CallToolResult) string {
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func (s *story) onProgress(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	p := progress{token: req.Params.ProgressToken, done: req.Params.Progress, total: req.Params.Total}
	select {
	case s.progress <- p:
	default: // nobody asked for so many
	}
}

func (s *story) onStray(line string) {
	s.say("stray line", "%q on the server's stdout; skipped", line)
}

func (s *story) say(what, format string, args ...any) {
	s.log.printf("%-12s  %s", what, fmt.Sprintf(format, args...))
}
