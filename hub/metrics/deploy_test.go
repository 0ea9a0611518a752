package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// deployed is the path of a file of deploy.
func deployed(path string) string {
	return filepath.Join("..", "..", "deploy", filepath.FromSlash(path))
}

func TestRulesOfDeploy(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"}, {"check", "rules", "mcpsnoop.rules.yml"}, {"test", "rules", "mcpsnoop.rules.test.yml"},
	} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = deployed("prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}

// expressions are those of the dashboard, as Grafana sends them.
func expressions(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(deployed("grafana/mcpsnoop.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Templating struct {
			List []struct {
				Name     string `json:"name"`
				AllValue string `json:"allValue"`
			} `json:"list"`
		} `json:"templating"`
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"__rate_interval": "10s"}
	for _, v := range board.Templating.List {
		values[v.Name] = v.AllValue
	}
	var all []string
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %q draws nothing", p.Title)
		}
		for _, q := range p.Targets {
			all = append(all, regexp.MustCompile(`\$\{?(\w+)\}?`).ReplaceAllStringFunc(q.Expr, func(v string) string {
				name := strings.Trim(v, "${}")
				if values[name] == "" {
					t.Errorf("panel %q: there is no variable %s", p.Title, v)
				}
				return values[name]
			}))
		}
	}
	if len(all) == 0 {
		t.Fatal("the dashboard has no expressions")
	}
	return all
}

// Prometheus can read each expression of the dashboard.
func TestExpressionsOfTheDashboard(t *testing.T) {
	promtool := tool(t, "promtool")
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, expr := range expressions(t) {
		fmt.Fprintf(&rules, "      - record: panel:%d\n        expr: %q\n", i, expr)
	}
	file := filepath.Join(t.TempDir(), "dashboard.rules.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// Rules, dashboard and docs speak of metrics that there are, and the docs of
// all of them.
func TestDeployNamesMetricsThatThereAre(t *testing.T) {
	h := newHub()
	m := New(Options{Source: h, Now: began, Viewers: func() int { return 0 }, Sent: func() []Delivery { return []Delivery{{Kind: "operations"}} }})
	h.play("a", began()).say(`> {"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `< {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"}]}}`, call(2, "read"), result(2))
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	known := map[string]bool{}
	for l := range strings.Lines(w.Body.String()) {
		if name := regexp.MustCompile(`^mcpsnoop_\w+`).FindString(l); name != "" {
			known[name] = true
		} else if f := strings.Fields(l); len(f) == 4 && f[1] == "TYPE" && strings.HasPrefix(f[2], "mcpsnoop_") {
			known[f[2]] = true
		}
	}
	for _, file := range []string{"prometheus/mcpsnoop.rules.yml", "prometheus/mcpsnoop.rules.test.yml", "grafana/mcpsnoop.json", "../docs/FLEET.md"} {
		b, err := os.ReadFile(deployed(file))
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for _, name := range regexp.MustCompile(`\bmcpsnoop_\w+`).FindAllString(string(b), -1) {
			said[name] = true
			if !known[name] {
				t.Errorf("%s: there is no metric %s", file, name)
			}
		}
		for name := range known {
			base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			if strings.HasSuffix(file, ".md") && !said[base] {
				t.Errorf("%s says nothing of %s", file, name)
			}
		}
	}
}

// systemd can read the units, but for the programs, which are not installed here.
func TestUnits(t *testing.T) {
	verify := tool(t, "systemd-analyze")
	units, err := filepath.Glob(deployed("systemd/*.service"))
	if err != nil || len(units) < 4 {
		t.Fatal(units, err)
	}
	dir := t.TempDir()
	for _, unit := range units {
		b, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`(?m)^(Exec\w+=)\S+`).ReplaceAll(b, []byte("${1}/bin/true"))
		file := filepath.Join(dir, filepath.Base(unit))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(verify, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", filepath.Base(unit), err, out)
		}
	}
}
