package checks

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/joshdk/go-junit"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// messy is a session with findings of several signals, and bytes that a report
// must not pass on as they are.
const messy = `@init 2025-11-25
> {$J,"id":1,"method":"tools/list"}
< {$J,"id":1,"result":{"tools":[{"name":"search","description":"d","inputSchema":{"oneOf":[{}]}},{"name":"slow","description":"d","inputSchema":{"type":"object","additionalProperties":false}}]}}
> {$J,"id":2,"method":"tools/call","params":{"name":"search"}}
< {$J,"id":2,"error":{"code":-32603,"message":"boom \u001b[31m <&> 100%"}}
> {$J,"id":3,"method":"tools/call","params":{"name":"search"}}
< {$J,"id":3,"error":{"code":-32603,"message":"boom"}}
> {$J,"id":4,"method":"tools/call","params":{"name":"slow"}}
end {"exit_code":3}
`

func reportOf(t *testing.T, g Gate, scripts ...string) *Report {
	t.Helper()
	r := NewReport(g)
	for i, s := range scripts {
		p := play(t, Options{}, s)
		p.s.Path = fmt.Sprintf("/srv/ci/logs/play-%d.jsonl", i+1)
		r.Add(p.s, p.e, nil)
	}
	r.Judge()
	return r
}

func TestTextReport(t *testing.T) {
	r := reportOf(t, Gate{FailOn: DefaultFailOn(), ExpectTools: []string{"search", "other"}, MaxRoundTrips: 1}, messy)
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `session play: errors=2 invalid=1 warnings=0 mismatches=0 pending=1 late_results=0 deprecated=0 missing_frames=0 schema_findings=1
  invalid  tool-input-root-type #6   search: inputSchema has no "type":"object"; clients drop the tool
  schema   js-root-composition  #6   search: oneOf at the root
  error    call-error           #8   tools/call search answered -32603 "boom \x1b[31m <&> 100%" (2 times)
  pending  request-unanswered   #11  tools/call slow: no answer from play (server) after 10ms: the server exited with code 3
--expect-tool search ok: search was called 2 times
--expect-tool other failed: other was not called
--max-round-trips 1 ok: the most is 1, of tools/call search with id 2
check failed: error,invalid,--expect-tool
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestJSONReport(t *testing.T) {
	r := reportOf(t, Gate{FailOn: []Signal{Invalid, Error}}, messy)
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Version  int
		Sessions []struct {
			Frames   int
			Calls    map[string]int
			Signals  map[string]int
			Findings []map[string]any
		}
		Assertions []any
		Failed     []string
		Exit       int
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	s := doc.Sessions[0]
	if doc.Version != 1 || doc.Exit != 1 || !slices.Equal(doc.Failed, []string{"invalid", "error"}) || doc.Assertions == nil {
		t.Errorf("version %d, exit %d, failed %v, assertions %v", doc.Version, doc.Exit, doc.Failed, doc.Assertions)
	}
	if s.Frames != 10 || s.Calls["total"] != 5 || s.Calls["ok"] != 2 || s.Calls["error"] != 2 || s.Calls["pending"] != 1 {
		t.Errorf("frames %d, calls %v", s.Frames, s.Calls)
	}
	if len(s.Signals) != len(Signals()) || s.Signals["error"] != 2 || s.Signals["late_result"] != 0 {
		t.Errorf("signals %v", s.Signals)
	}
	sums := map[string]int{}
	for _, f := range s.Findings {
		sums[f["signal"].(string)] += int(f["count"].(float64))
	}
	for _, g := range Signals() {
		if sums[string(g)] != s.Signals[g.key()] {
			t.Errorf("%s: findings sum up to %d, signals say %d", g, sums[string(g)], s.Signals[g.key()])
		}
	}
}

func TestSARIFReport(t *testing.T) {
	r := reportOf(t, Gate{FailOn: []Signal{Error}}, messy, messy)
	var b bytes.Buffer
	if err := r.WriteSARIF(&b, "/srv/ci", "1.2.3"); err != nil {
		t.Fatal(err)
	}
	valid(t, b.Bytes())
	run := readSARIF(t, b.Bytes())
	if run.Tool.Driver.Name != "mcpsnoop" || len(run.Results) != 8 {
		t.Fatalf("%s, %d results; want 8", run.Tool.Driver.Name, len(run.Results))
	}
	first := run.Results[0]
	if first.RuleID != "call-error" || first.Level != "error" {
		t.Errorf("the first result is %s at level %s; want the gated one", first.RuleID, first.Level)
	}
	if uri := first.Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "logs/play-1.jsonl" {
		t.Errorf("the location is %s", uri)
	}
	seen := map[string]bool{}
	for _, res := range run.Results {
		k := res.PartialFingerprints["primaryLocationLineHash"]
		if seen[k] {
			t.Errorf("fingerprint %s stands twice", k)
		}
		seen[k] = true
		if rule := run.Tool.Driver.Rules[res.RuleIndex]; rule.ID != res.RuleID || rule.Help.Text == "" {
			t.Errorf("rule %d is not %s", res.RuleIndex, res.RuleID)
		}
	}
}

// sarifRead is what a reader of a report looks at, spelled out from the
// specification and not from what is written.
type sarifRead struct {
	Tool struct {
		Driver struct {
			Name  string
			Rules []struct {
				ID   string
				Help struct{ Text string }
			}
		}
	}
	Results []struct {
		RuleID    string
		RuleIndex int
		Level     string
		Locations []struct {
			PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
		}
		PartialFingerprints map[string]string
	}
}

func readSARIF(t *testing.T, b []byte) sarifRead {
	t.Helper()
	var doc struct{ Runs []sarifRead }
	if err := json.Unmarshal(b, &doc); err != nil || len(doc.Runs) != 1 {
		t.Fatalf("%d runs, %v", len(doc.Runs), err)
	}
	return doc.Runs[0]
}

// Fingerprints do not depend on the run, nor on where the log lies.
func TestSARIFFingerprintsAreStable(t *testing.T) {
	prints := func(dir string) string {
		var b bytes.Buffer
		if err := reportOf(t, Gate{}, messy).WriteSARIF(&b, dir, ""); err != nil {
			t.Fatal(err)
		}
		var out []string
		for l := range strings.Lines(b.String()) {
			if strings.Contains(l, "primaryLocationLineHash") {
				out = append(out, l)
			}
		}
		return strings.Join(out, "")
	}
	if a, b := prints("/srv/ci"), prints("/elsewhere"); a != b || a == "" {
		t.Errorf("got\n%s\nand\n%s", a, b)
	}
}

func TestSARIFIsBounded(t *testing.T) {
	var s strings.Builder
	s.WriteString("@init 2025-11-25\n")
	for i := range 6000 {
		fmt.Fprintf(&s, "> {$J,\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"t%d\"}}\n", i, i)
	}
	r := reportOf(t, Gate{FailOn: []Signal{Pending}}, s.String())
	var b bytes.Buffer
	if err := r.WriteSARIF(&b, "/srv/ci", ""); err != nil {
		t.Fatal(err)
	}
	res := readSARIF(t, b.Bytes()).Results
	if len(res) != maxSARIF || res[len(res)-1].RuleID != truncatedRule {
		t.Errorf("%d results, the last is %s", len(res), res[len(res)-1].RuleID)
	}
}

func valid(t *testing.T, doc []byte) {
	t.Helper()
	f, err := os.Open("../testdata/schemas/sarif-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	schema, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///sarif.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("mem:///sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(v); err != nil {
		t.Errorf("not valid SARIF: %v\n%s", err, doc)
	}
}

func TestArtifactURI(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"/srv/ci/a b/x.jsonl", "a%20b/x.jsonl"},
		{"x.jsonl", "x.jsonl"},
		{"/var/x y.jsonl", "file:///var/x%20y.jsonl"},
		{"../../x.jsonl", "file:///x.jsonl"},
		{"-", ""},
		{"", ""},
	} {
		if got := artifactURI(tt.path, "/srv/ci"); got != tt.want {
			t.Errorf("artifactURI(%q) = %q; want %q", tt.path, got, tt.want)
		}
	}
}

func TestJUnitReport(t *testing.T) {
	r := reportOf(t, Gate{FailOn: DefaultFailOn(), ForbidTools: []string{"search"}}, messy)
	var b bytes.Buffer
	if err := r.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	fits(t, b.Bytes())
	suites, err := junit.Ingest(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(suites) != 2 || len(suites[0].Tests) != len(Signals()) || suites[0].Totals.Failed != 2 || suites[1].Totals.Failed != 1 {
		t.Fatalf("%d suites, %+v", len(suites), suites[0].Totals)
	}
	for _, test := range suites[0].Tests {
		failed := test.Status == junit.StatusFailed
		if want := test.Name == "error" || test.Name == "invalid"; failed != want {
			t.Errorf("%s: %s", test.Name, test.Status)
		}
		if failed && !strings.Contains(test.Error.Error(), "#") {
			t.Errorf("%s: the text names no frame: %v", test.Name, test.Error)
		}
	}
}

// xsd is what of an XML schema is looked at: which elements and attributes
// there are, what is required, and in which order children stand.
type xsd struct {
	Elements []xsdElement `xml:"element"`
}

type xsdElement struct {
	Name  string `xml:"name,attr"`
	Attrs []struct {
		Name string `xml:"name,attr"`
		Use  string `xml:"use,attr"`
	} `xml:"complexType>attribute"`
	Children []struct {
		Ref string `xml:"ref,attr"`
		Min string `xml:"minOccurs,attr"`
	} `xml:"complexType>sequence>element"`

	at   int  // in Children, while a document is read
	seen bool // one of Children[at]
}

// fits tests a document against the schema of JUnit reports.
func fits(t *testing.T, doc []byte) {
	t.Helper()
	b, err := os.ReadFile("../testdata/schemas/junit-4.xsd")
	if err != nil {
		t.Fatal(err)
	}
	var schema xsd
	if err := xml.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	var stack []xsdElement
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.EndElement:
			stack[len(stack)-1].end(t)
			stack = stack[:len(stack)-1]
		case xml.StartElement:
			k := slices.IndexFunc(schema.Elements, func(e xsdElement) bool { return e.Name == tok.Name.Local })
			if k < 0 {
				t.Fatalf("the schema has no element %s", tok.Name.Local)
			}
			e := schema.Elements[k]
			e.attributes(t, tok.Attr)
			if n := len(stack); n > 0 {
				stack[n-1].child(t, e.Name)
			}
			stack = append(stack, e)
		}
	}
}

func (e *xsdElement) attributes(t *testing.T, have []xml.Attr) {
	t.Helper()
	names := map[string]bool{}
	for _, a := range e.Attrs {
		names[a.Name] = true
		if a.Use == "required" && !slices.ContainsFunc(have, func(h xml.Attr) bool { return h.Name.Local == a.Name }) {
			t.Errorf("%s lacks the attribute %s", e.Name, a.Name)
		}
	}
	for _, h := range have {
		if !names[h.Name.Local] {
			t.Errorf("%s has no attribute %s", e.Name, h.Name.Local)
		}
	}
}

func (e *xsdElement) child(t *testing.T, name string) {
	t.Helper()
	for i := e.at; i < len(e.Children); i++ {
		if e.Children[i].Ref == name {
			e.at, e.seen = i, true
			return
		}
		e.lacks(t, i)
	}
	t.Errorf("%s may not stand here in %s", name, e.Name)
}

// lacks fails when the child i must stand in the element and does not.
func (e *xsdElement) lacks(t *testing.T, i int) {
	t.Helper()
	if c := e.Children[i]; c.Min != "0" && !(i == e.at && e.seen) {
		t.Errorf("%s lacks %s", e.Name, c.Ref)
	}
}

func (e *xsdElement) end(t *testing.T) {
	t.Helper()
	for i := e.at; i < len(e.Children); i++ {
		e.lacks(t, i)
	}
}

// The same by another reader of schemas, on reports of all kinds.
func TestJUnitIsValid(t *testing.T) {
	if _, err := exec.LookPath("xmllint"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("xmllint is missing: %v", err)
		}
		t.Skip("xmllint is missing")
	}
	for name, r := range map[string]*Report{
		"findings and assertions": reportOf(t, Gate{FailOn: Signals(), ForbidTools: []string{"search"}, ExpectTools: []string{"search"}}, messy, messy),
		"nothing fails":           reportOf(t, Gate{}, messy),
		"nothing found":           reportOf(t, Gate{}, "@init 2025-11-25"),
		"no session":              reportOf(t, Gate{ExpectTools: []string{"x"}}),
	} {
		var b bytes.Buffer
		if err := r.WriteJUnit(&b); err != nil {
			t.Fatal(err)
		}
		fits(t, b.Bytes())
		cmd := exec.Command("xmllint", "--noout", "--nonet", "--schema", "../testdata/schemas/junit-4.xsd", "-")
		cmd.Stdin = &b
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestGitHubReport(t *testing.T) {
	r := reportOf(t, Gate{FailOn: []Signal{Error}}, messy)
	var b bytes.Buffer
	if err := r.WriteGitHub(&b, "/srv/ci"); err != nil {
		t.Fatal(err)
	}
	const want = `::error file=logs/play-1.jsonl,line=8,title=play%3A call-error::#8 tools/call search answered -32603 "boom \x1b[31m <&> 100%25" (2 times)`
	if !strings.Contains(b.String(), want+"\n") {
		t.Errorf("got\n%s\nwant a line\n%s", b.String(), want)
	}
	if strings.Count(b.String(), "::notice ") != 3 || !strings.HasSuffix(b.String(), "check failed: error\n") {
		t.Errorf("got\n%s", b.String())
	}
}

// A report with nothing wrong has lists, not nulls, and passes.
func TestCleanReport(t *testing.T) {
	r := reportOf(t, Gate{FailOn: DefaultFailOn()}, "@init 2025-11-25")
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if r.Exit != 0 || strings.Contains(b.String(), "null") {
		t.Errorf("exit %d\n%s", r.Exit, b.String())
	}
	b.Reset()
	if err := r.WriteSARIF(&b, "/srv/ci", ""); err != nil {
		t.Fatal(err)
	}
	valid(t, b.Bytes())
}

func TestParseSignals(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"error,invalid", "error,invalid"}, {"none", ""}, {"", ""}, {"late-result, warn,late-result", "late-result,warn"},
		{"all", words(Signals())},
	} {
		got, err := ParseSignals(tt.in)
		if err != nil || words(got) != tt.want {
			t.Errorf("ParseSignals(%q) = %s, %v; want %s", tt.in, words(got), err, tt.want)
		}
	}
	if _, err := ParseSignals("warning"); err == nil || !strings.Contains(err.Error(), `"warning"`) {
		t.Errorf("got %v; want an error that names the word", err)
	}
}

// Findings beyond the bound are counted, one finding a rule.
func TestFindingsAreBounded(t *testing.T) {
	r := Rule{ID: "x", Signal: Warn}
	var f findings
	for i := range maxFindings + 500 {
		f.find(subject{&r, fmt.Sprint(i), ""}).Count++
	}
	if n := len(f.list); n != maxFindings+1 {
		t.Fatalf("%d findings", n)
	}
	if n := f.list[maxFindings].Count; n != 500 {
		t.Errorf("the last one has count %d; want 500", n)
	}
}

// Duration assertions take the retries of a call as one with it.
func TestDurations(t *testing.T) {
	const script = `> {$J,"id":1,"method":"tools/call","params":{"name":"a",$M({"elicitation":{}})}}
wait 100ms
< {$J,"id":1,"result":{"resultType":"input_required","requestState":"s"}}
wait 5s
> {$J,"id":2,"method":"tools/call","params":{"name":"a","requestState":"s",$M({"elicitation":{}})}}
wait 100ms
< {$J,"id":2,"result":{"resultType":"complete","content":[]}}
`
	for _, tt := range []struct {
		g    Gate
		exit int
	}{
		{Gate{MaxDuration: 10 * time.Second}, 0}, {Gate{MaxDuration: time.Second}, 1},
		{Gate{MaxServerDuration: time.Second}, 0}, {Gate{MaxServerDuration: 100 * time.Millisecond}, 1},
		{Gate{MaxRoundTrips: 2}, 0}, {Gate{MaxRoundTrips: 1}, 1},
		{Gate{MaxResultBytes: 1000}, 0}, {Gate{MaxResultBytes: 10}, 1},
	} {
		if r := reportOf(t, tt.g, script); r.Exit != tt.exit {
			t.Errorf("%+v: exit %d; want %d: %+v", tt.g, r.Exit, tt.exit, r.Assertions)
		}
	}
}

// A tool whose name is a part of another word is named all the same.
func TestTextNamesTheTool(t *testing.T) {
	for _, c := range []struct{ tool, message, want string }{
		{"y", "annotations: /readOnlyHint was true and is false", "y: annotations: /readOnlyHint was true and is false"},
		{"y", `"y" is new`, `"y" is new`},
		{"read", "tools/call read answered -1, not read_all", "tools/call read answered -1, not read_all"},
		{"read", "not read_all", "read: not read_all"},
		{"x", "", "x: "},
	} {
		if got := (&Finding{Tool: c.tool, Message: c.message}).text(); got != c.want {
			t.Errorf("%q of %q: %q; want %q", c.tool, c.message, got, c.want)
		}
	}
}
