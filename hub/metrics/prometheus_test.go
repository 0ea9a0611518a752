package metrics

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tool finds a program that the test needs. In CI it has to be there.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not there: apt-get install what .ci/tools.txt names for it", name)
		}
		t.Skipf("%s is not there: apt-get install what .ci/tools.txt names for it", name)
	}
	return path
}

func TestPromtoolHasNothingToSay(t *testing.T) {
	promtool := tool(t, "promtool")
	h := newHub()
	page := serve(t, h)
	h.play("a", began()).say(call(1, "re\"ad\n"), result(1), call(2, "x"), "! 502")
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(page())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// A real Prometheus scrapes the page, and a query gives the counts.
func TestPrometheusScrapes(t *testing.T) {
	prometheus := tool(t, "prometheus")
	h := newHub()
	m := New(Options{Source: h, Now: began, Viewers: func() int { return 2 }, Sent: func() []Delivery { return []Delivery{{Kind: "operations", Lost: 1}} }})
	srv := httptest.NewServer(m.Handler())
	defer srv.Close()
	h.play("list", began()).say(`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `< {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
	p := h.play("a", began())
	for i := range 3000 {
		p.say(call(i, "made-up "+strconv.Itoa(i)), result(i))
	}
	dir := t.TempDir()
	config := "global: {scrape_interval: 1s}\nscrape_configs: [{job_name: mcpsnoop, static_configs: [{targets: ['" + strings.TrimPrefix(srv.URL, "http://") + "']}]}]\n"
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	cmd := exec.Command(prometheus, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--enable-feature=native-histograms", "--log.level=error")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	for query, want := range map[string]string{
		`sum(mcpsnoop_tool_calls_total)`:                            "3000",
		`histogram_count(sum(mcpsnoop_tool_call_duration_seconds))`: "3000",
		`max(mcpsnoop_calls_in_flight{server="lab\"el\n"})`:         "0",
		`count(mcpsnoop_transport_errors_total)`:                    "1",
	} {
		if got := ask(t, address, query, want); got != want {
			t.Errorf("%s is %s, want %s", query, got, want)
		}
	}
	end := time.Now().Add(30 * time.Second)
	for _, expr := range expressions(t) {
		query := "count(" + expr + ")"
		if !drawn(expr) {
			query += " or vector(1)"
		}
		got := ask1(address, query)
		for ; got == "" && time.Now().Before(end); got = ask1(address, query) {
			time.Sleep(200 * time.Millisecond) // a rate wants two scrapes
		}
		if got == "" {
			t.Errorf("the dashboard draws nothing for %s", expr)
		}
	}
}

// drawn are the expressions of the dashboard that draw nothing while all is well.
func drawn(expr string) bool { return !strings.HasSuffix(expr, "> 0") }

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ask queries until the answer is the one that is wanted, or it takes too long.
func ask(t *testing.T, address, query, want string) (got string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && got != want; time.Sleep(200 * time.Millisecond) {
		got = ask1(address, query)
	}
	return got
}

// ask1 queries once; "" is no answer, or not one.
func ask1(address, query string) (got string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return "" // it is not up yet
	}
	defer r.Body.Close()
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if json.NewDecoder(r.Body).Decode(&answer) == nil && len(answer.Data.Result) == 1 {
		got, _ = answer.Data.Result[0].Value[1].(string)
	}
	return got
}
