package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

func TestLoopbackUnlessSaid(t *testing.T) {
	for in, want := range map[string]string{
		"7000": "127.0.0.1:7000", ":7000": "127.0.0.1:7000", "0.0.0.0:7000": "0.0.0.0:7000", "[::]:7000": "[::]:7000",
		"localhost:7000": "localhost:7000", "[::1]:0": "[::1]:0", "": "", "x": "", "1:2:3": "", "70000": "", "127.0.0.1:": "",
	} {
		got, err := loopbackUnlessSaid(in)
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("loopbackUnlessSaid(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// pipeLines gives what is written line by line.
type pipeLines struct {
	mu    sync.Mutex
	text  string
	lines chan string
}

func (p *pipeLines) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text += string(b)
	for {
		line, rest, ok := strings.Cut(p.text, "\n")
		if !ok {
			return len(b), nil
		}
		p.text = rest
		p.lines <- line
	}
}

func TestHTTPCommand(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if string(b) != `{"jsonrpc":"2.0","id":1,"method":"ping"}` || r.Header.Get("X-Key") != "k3y" {
			t.Errorf("the server got %q, header %v", b, r.Header)
		}
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer s.Close()
	dir := t.TempDir()
	errs := &pipeLines{lines: make(chan string, 100)}
	app := &App{
		Args: []string{"http", "--target", s.URL + "/mcp?key=s3cret", "--listen", "127.0.0.1:0", "--target-header", "X-Key: k3y"},
		Env:  []string{"MCPSNOOP_HOME=" + dir}, Dir: dir, Clock: SystemClock{}, FS: capture.OS{}, OS: "linux", Streams: Streams{Out: io.Discard, Err: errs},
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	code := make(chan int)
	go func() { code <- app.Run(ctx) }()
	m := regexp.MustCompile(`^mcpsnoop: listening on (http://127\.0\.0\.1:\d+/mcp), passing on to http://\S+; recording to (\S+)$`).FindStringSubmatch(<-errs.lines)
	if m == nil {
		t.Fatal("it does not say where it listens")
	}
	resp, err := http.Post(m[1], "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	stop()
	if c := <-code; c != 0 || string(b) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("exit %d, answer %q", c, b)
	}
	log, err := os.ReadFile(m[2])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"direction":"meta"`, `"target":"`, `"method":"POST"`, `"result":{}`, `"reason":"stopped","frames":2`} {
		if !strings.Contains(string(log), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	if strings.Contains(string(log), "s3cret") || strings.Contains(string(log), "k3y") || filepath.Dir(m[2]) != filepath.Join(dir, "sessions") {
		t.Errorf("log %s:\n%s", m[2], log)
	}
}

func TestHTTPUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                                   "no target: give the URL of the server with --target",
		"--target http://x/mcp":              "no address: give a port to listen on with --listen",
		"--target ftp://x --listen 1":        `the target "ftp://x" is not an http or https URL`,
		"--target http://u:p@x --listen 1":   "holds a user name",
		"--target http://x --listen nowhere": `--listen "nowhere": "nowhere" is not a port`,
		"--target http://x --listen 0 --target-header K":           `--target-header "K": a header is NAME: VALUE`,
		"--target http://x --listen 0 --target-header Host:secret": `--target-header "Host": Host belongs to the connection`,
		"--target http://x --listen 0 --tls-ca none.pem":           "read the certificates in none.pem: no such file",
		"--target http://x --listen 0 --taget y":                   "did you mean --target?",
	} {
		var out, errs strings.Builder
		app := &App{Args: append([]string{"http"}, strings.Fields(args)...), Env: []string{"MCPSNOOP_HOME=" + t.TempDir()}, Dir: t.TempDir(), Clock: SystemClock{}, FS: capture.OS{}, OS: "linux", Streams: Streams{Out: &out, Err: &errs}}
		if code := app.Run(context.Background()); code != exitNotRun || out.Len() > 0 || !strings.Contains(errs.String(), want) || strings.Contains(errs.String(), "secret") || strings.Contains(errs.String(), "u:p") {
			t.Errorf("http %s: exit %d, out %q, said %q; want %q", args, code, out.String(), errs.String(), want)
		}
	}
}
