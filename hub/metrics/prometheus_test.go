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
			t.Fatalf("%s is not there: apt-get install prometheus", name)
		}
		t.Skipf("%s is not there: apt-get install prometheus", name)
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

func TestRulesOfDeploy(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"}, {"check", "rules", "mcpsnoop.rules.yml"}, {"test", "rules", "mcpsnoop.rules.test.yml"},
	} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = filepath.Join("..", "..", "deploy", "prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}

// The expressions of rules and dashboard speak of metrics that there are.
func TestDeployNamesMetricsThatThereAre(t *testing.T) {
	h := newHub()
	m := New(Options{Source: h, Now: began, Viewers: func() int { return 0 }, Sent: func() []Delivery { return []Delivery{{Kind: "operations"}} }})
	h.play("a", began()).say(`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"}]}}`, call(2, "read"), result(2))
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, file := range []string{"prometheus/mcpsnoop.rules.yml", "grafana/mcpsnoop.json"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "deploy", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.FieldsFunc(string(b), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			if strings.HasPrefix(word, "mcpsnoop_") && !strings.Contains(w.Body.String(), word) {
				t.Errorf("%s: there is no metric %s", file, word)
			}
		}
	}
}

// A real Prometheus scrapes the page, and a query gives the counts.
func TestPrometheusScrapes(t *testing.T) {
	prometheus := tool(t, "prometheus")
	h := newHub()
	m := New(Options{Source: h, Now: began})
	srv := httptest.NewServer(m.Handler())
	defer srv.Close()
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
}

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
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && got != want; time.Sleep(200 * time.Millisecond) {
		r, err := client.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
		if err != nil {
			continue // it is not up yet
		}
		var answer struct {
			Data struct {
				Result []struct {
					Value [2]any `json:"value"`
				} `json:"result"`
			} `json:"data"`
		}
		err = json.NewDecoder(r.Body).Decode(&answer)
		r.Body.Close()
		if err == nil && len(answer.Data.Result) == 1 {
			got, _ = answer.Data.Result[0].Value[1].(string)
		}
	}
	return got
}
