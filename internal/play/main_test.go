package play

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// roleEnv makes the test binary a server.
const roleEnv = "MCPSNOOP_PLAY_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(roles[role]())
	}
	goleak.VerifyTestMain(m)
}

// roles are the servers that the test binary can be.
var roles = map[string]func() int{
	"sdk": func() int {
		if err := sdkServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	"dies": func() int {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Fprintln(os.Stderr, "cannot open the data base")
		fmt.Println("stray")
		_ = line
		return 3
	},
	"silent": func() int {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	},
	"deaf": func() int {
		signal.Ignore(syscall.SIGTERM)
		_ = exec.Command("sleep", "60").Start() //nolint:noctx // it is left behind on purpose
		fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"pid":` + fmt.Sprint(os.Getpid()) + `}}`)
		time.Sleep(time.Minute)
		return 0
	},
	"huge": func() int {
		fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("x", 4096) + `"}}`)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	},
	"asks": func() int {
		in := bufio.NewScanner(os.Stdin)
		for _, ask := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create", "x/own"} {
			fmt.Printf(`{"jsonrpc":"2.0","id":"q","method":%q}`+"\n", ask)
		}
		var got []string
		for in.Scan() {
			if got = append(got, in.Text()); len(got) == 6 {
				break
			}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":1,"result":{"replies":[%s]}}`+"\n", strings.Join(got[1:], ","))
		return 0
	},
}

type addArgs struct {
	A int `json:"a"`
	B int `json:"b"`
}

// sdkServer is a server of the official SDK.
func sdkServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "adder", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "add"}, func(_ context.Context, _ *sdk.CallToolRequest, in addArgs) (*sdk.CallToolResult, any, error) {
		if in.A < 0 {
			return nil, nil, errors.New("no negative numbers")
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(in.A + in.B)}}}, nil, nil
	})
	return s
}

// role is a target that is the test binary in a role.
func role(name string) Target {
	return Target{Command: []string{os.Args[0]}, Env: append(os.Environ(), roleEnv+"="+name, "GORACE=atexit_sleep_ms=0")}
}

// fake is a clock that stands still.
type fakeClock struct{}

func (fakeClock) Now() time.Time                { return time.Unix(0, 0) }
func (fakeClock) Since(time.Time) time.Duration { return 3 * time.Millisecond }

func options() Options { return Options{Clock: fakeClock{}, Timeout: 20 * time.Second} }

// log is a session read from lines of a log; each line is a direction and a
// message, or a whole line of a log.
func log(t *testing.T, lines ...string) (*store.Session, ReadFunc) {
	t.Helper()
	var b strings.Builder
	for i, l := range lines {
		dir, raw, _ := strings.Cut(l, " ")
		if strings.HasPrefix(l, "{") {
			dir, raw = "", l
		}
		head := fmt.Sprintf(`{"session_id":"s-1-abcdefabcdef","server_label":"s","seq":%d,"ts":"2026-03-02T15:00:%02dZ"`, i+1, i)
		switch dir {
		case "":
			b.WriteString(head + "," + strings.TrimPrefix(raw, "{") + "\n")
		default:
			b.WriteString(head + `,"direction":"` + dir + `","transport":"stdio","raw":` + raw + "}\n")
		}
	}
	path := filepath.Join(t.TempDir(), "s-1-abcdefabcdef.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := capture.OpenSession(capture.OS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, a := store.NewSession("s-1-abcdefabcdef", path, store.Limits{}, nil)
	var it capture.Item
	for r.Next(&it) == nil {
		if it.Problem != nil {
			t.Fatalf("the log of the test: %v", it.Problem)
		}
		a.Append(&it)
	}
	a.Publish()
	bodies := capture.NewBodies(capture.OS{})
	t.Cleanup(func() { _ = bodies.Close() })
	return s, func(s *store.Session, frame uint32) (capture.Record, error) {
		var rec capture.Record
		_, err := store.ReadFrame(s, frame, bodies, &rec, nil)
		return rec, err
	}
}

const (
	oldHello  = `c2s {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"editor","version":"9"}}}`
	oldAnswer = `s2c {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"adder","version":"1"}}}`
	meta5     = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"editor","version":"9"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// last prepares the newest operation of a log.
func last(t *testing.T, lines ...string) *Call {
	t.Helper()
	s, read := log(t, lines...)
	c, err := Prepare(s, s.OpLen()-1, read, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// oldCall is a call of add in a session of 2025-11-25, newCall in one of 2026-07-28.
func oldCall(t *testing.T) *Call {
	t.Helper()
	return last(t, oldHello, oldAnswer,
		`c2s {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"progressToken":"p"}}}`,
		`s2c {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"3"}]}}`)
}

func newCall(t *testing.T) *Call {
	t.Helper()
	return last(t, `c2s {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},`+meta5+`}}`,
		`s2c {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"3"}]}}`)
}

func header(kv ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(kv); i += 2 {
		h.Add(kv[i], kv[i+1])
	}
	return h
}
