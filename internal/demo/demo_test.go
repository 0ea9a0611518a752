package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// roleEnv makes the test binary play one of the roles below instead of testing.
const roleEnv = "MCPSNOOP_DEMO_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); role {
	case "":
		goleak.VerifyTestMain(m)
	case "server":
		if err := newServer(os.Stdout, os.Stderr, noSleep).run(context.Background(), os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "dead": // leaves before it has said a word
		os.Exit(3)
	case "deaf": // does not care that its input has ended
		go func() { _ = newServer(os.Stdout, os.Stderr, noSleep).run(context.Background(), os.Stdin) }()
		select {}
	}
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// tape keeps what passes through it.
type tape struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

type taped struct {
	io.Writer
	io.Closer
}

// session is what passed between the two programs.
type session struct{ c2s, s2c, stderr, log string }

// play runs client and server in this process, with two pipes between them.
func play(t *testing.T, ctx context.Context, o Options) (session, error) {
	t.Helper()
	var c2s, s2c, stderr, log tape
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()

	served := make(chan error, 1)
	go func() {
		s := newServer(io.MultiWriter(&s2c, serverOut), &stderr, noSleep)
		err := s.run(context.Background(), serverIn)
		_ = serverOut.Close()
		served <- err
	}()

	if o.Sleep == nil {
		o.Sleep = noSleep
	}
	o.Log = &log
	run, stop := context.WithCancel(ctx)
	defer stop()
	err := converse(run, stop, o.withDefaults(), clientIn, taped{io.MultiWriter(&c2s, clientOut), clientOut})
	if err := <-served; err != nil {
		t.Errorf("server: %v", err)
	}
	// Without pauses the server may log one call after the next has come in.
	logged := slices.Sorted(strings.Lines(stderr.String()))
	return session{c2s.String(), s2c.String(), strings.Join(logged, ""), log.String()}, err
}

type frame struct {
	ID     json.RawMessage
	Method string
	Params struct{ Name string }
	Result struct{ IsError bool }
	Error  *struct{ Code int }
}

// count names and counts the frames of one stream.
func count(t *testing.T, stream string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for line := range strings.Lines(stream) {
		var f frame
		switch err := json.Unmarshal([]byte(line), &f); {
		case err != nil:
			n["stray"]++
		case f.Params.Name != "" && f.Method == "tools/call":
			n["tools/call "+f.Params.Name]++
		case f.Method != "":
			n[f.Method]++
		case f.Error != nil:
			n[fmt.Sprintf("error %d", f.Error.Code)]++
		case f.Result.IsError:
			n["tool error"]++
		default:
			n["result"]++
		}
	}
	return n
}

func TestStory(t *testing.T) {
	for _, tt := range []struct {
		rounds   int
		c2s, s2c map[string]int
	}{
		{1, map[string]int{
			"initialize": 1, "notifications/initialized": 1, "tools/list": 1, "ping": 1,
			"tools/call get_weather": 2, "tools/call search_files": 1, "tools/call hang": 1, "tools/call slow_report": 1,
			"tools/call fail": 1, "tools/call get_wether": 1, "tools/call slow_query": 1,
		}, map[string]int{
			"result": 8, "tool error": 1, "error -32602": 1, "notifications/progress": 4, "stray": 1,
		}},
		{6, map[string]int{
			"initialize": 1, "notifications/initialized": 1, "tools/list": 1, "ping": 6,
			"tools/call get_weather": 12, "tools/call search_files": 6, "tools/call hang": 2, "tools/call slow_report": 6,
			"tools/call fail": 6, "tools/call get_wether": 6, "tools/call slow_query": 6,
		}, map[string]int{
			"result": 38, "tool error": 6, "error -32602": 6, "notifications/progress": 24, "stray": 6,
		}},
	} {
		t.Run(fmt.Sprintf("rounds=%d", tt.rounds), func(t *testing.T) {
			got, err := play(t, t.Context(), Options{Rounds: tt.rounds})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.c2s, count(t, got.c2s)); d != "" {
				t.Errorf("client to server, -want +got:\n%s", d)
			}
			if d := cmp.Diff(tt.s2c, count(t, got.s2c)); d != "" {
				t.Errorf("server to client, -want +got:\n%s", d)
			}
			if want, n := tt.c2s["tools/call hang"], len(unanswered(t, got)); n != want {
				t.Errorf("%d requests without an answer; want %d", n, want)
			}
		})
	}
}

// unanswered returns the ids of requests that got no answer.
func unanswered(t *testing.T, s session) []string {
	t.Helper()
	open := map[string]bool{}
	for _, stream := range []string{s.c2s, s.s2c} {
		for line := range strings.Lines(stream) {
			var f frame
			if json.Unmarshal([]byte(line), &f) != nil || f.ID == nil {
				continue
			}
			if f.Method != "" {
				open[string(f.ID)] = true
			} else {
				delete(open, string(f.ID))
			}
		}
	}
	return slices.Sorted(maps.Keys(open))
}

func TestStoryIsTold(t *testing.T) {
	got, err := play(t, t.Context(), Options{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := `connected     demo-server 1.0.0, protocol 2025-11-25
tools/list    fail, get_weather, hang, search_files, slow_query, slow_report
get_weather   Oslo: 7 °C, light rain
stray line    "DEBUG search_files: 3 of 6 files match" on the server's stdout; skipped
search_files  *.md: README.md, docs/guide.md, docs/faq.md
`
	if !strings.HasPrefix(got.log, want) {
		t.Errorf("the story starts with\n%s; want\n%s", got.log, want)
	}
	want = `hang          no answer; left open, the other calls go on
get_weather   Lisbon: 21 °C, clear
slow_report   4 steps told: Report on sales: 4 sections.
fail          tool error: disk quota exceeded on /srv/reports
get_wether    protocol error -32602: unknown tool "get_wether"
slow_query    3 rows of id, customer, total
ping          answered
closing       calls without an answer: 1
`
	if !strings.HasSuffix(got.log, want) {
		t.Errorf("the story ends with\n%s; want\n%s", got.log, want)
	}
	for _, line := range []string{"demo-server: ready\n", "demo-server: call hang\n", "demo-server: bye\n"} {
		if !strings.Contains(got.stderr, line) {
			t.Errorf("standard error is %q; want %q in it", got.stderr, line)
		}
	}
}

// Screenshots and goldens are taken of this session, so it must not vary.
func TestStoryIsTheSameEachTime(t *testing.T) {
	first, err := play(t, t.Context(), Options{Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := play(t, t.Context(), Options{Rounds: 3})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first, again, cmp.AllowUnexported(session{})); d != "" {
			t.Fatalf("another run differs:\n%s", d)
		}
	}
}

func TestStoryGoesOnUntilTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pauses := 0
	got, err := play(t, ctx, Options{Sleep: func(ctx context.Context, _ time.Duration) error {
		if pauses++; pauses == 25 { // in the third round
			cancel()
		}
		return ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v; want %v", err, context.Canceled)
	}
	if n := count(t, got.c2s)["tools/call search_files"]; n != 3 {
		t.Errorf("%d searches; want one in each of 3 rounds", n)
	}
	if n := count(t, got.c2s)["notifications/cancelled"]; n != 0 {
		t.Errorf("%d calls cancelled; want none", n)
	}
}

// What a tool offers is shown in the demo; it should not need excuses.
func TestToolsAreWellDefined(t *testing.T) {
	got, err := play(t, t.Context(), Options{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{`"$schema"`, `"additionalProperties"`, `"anyOf"`, `["null"`} {
		if strings.Contains(got.s2c, word) {
			t.Errorf("the listing holds %s, which some clients refuse", word)
		}
	}
	if n := strings.Count(got.s2c, `"inputSchema":{"type":"object","properties":{`); n != 6 {
		t.Errorf("%d tools with an input schema in full; want 6", n)
	}
}
