package checks

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostileTools is a list of tools whose schemas are deep, refer to themselves
// and hold regular expressions that back-tracking engines never end on.
func hostileTools(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"t%d","description":"d","title":"T","inputSchema":`, i)
		for range 99 {
			fmt.Fprintf(&b, `{"type":"object","properties":{"p%d":`, i)
		}
		b.WriteString(`{"type":"string","pattern":"^(a+)+(b|c*)*$"}`)
		b.WriteString(strings.Repeat("}}", 98))
		b.WriteString(`,"r":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"x":{"allOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}}}}}}`)
	}
	return b.String()
}

// A list that is too long for one tree is judged all the same, tool by tool.
func TestHostileTools(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 3_000
	}
	list := hostileTools(n)
	start := time.Now()
	p := play(t, Options{}, "@init 2025-11-25\n"+`> {$J,"id":1,"method":"tools/list"}`+"\n"+`< {$J,"id":1,"result":{"tools":[`+list+`]}}`)
	if hits := p.hits("js-ref-recursive"); hits != n {
		t.Errorf("%d tools have a schema that refers to itself; want %d", hits, n)
	}
	if d := time.Since(start); d > 60*time.Second {
		t.Errorf("it took %v", d)
	}
}

// Lists of clients are told from what is fine for others.
func TestProfiles(t *testing.T) {
	script := "@init 2025-11-25\n" + `> {$J,"id":1,"method":"tools/list"}` + "\n" +
		`< {$J,"id":1,"result":{"tools":[{"name":"a","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"l":{"type":"array"}}}},` +
		`{"name":"b","inputSchema":{"type":"object"},"outputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}}]}}`
	for client, want := range map[string]string{"vscode": "a (js-array-no-items)", "claude-code": "", "windsurf": "", "gemini-cli": "", "openai": "b (js-no-properties)"} {
		p := play(t, Options{Client: client}, script)
		if got := p.e.clientReport(2, p.e.Findings()).names(); got != want {
			t.Errorf("%s loses %q; want %q", client, got, want)
		}
	}
	for _, c := range Clients() {
		for _, l := range profileOf(c).limits {
			if r, ok := Find(l.rule); !ok || r.Signal != Schema {
				t.Errorf("%s: %s is no lint", c, l.rule)
			}
		}
	}
}

// Patterns mean what ECMA-262 says, or the schema is not used.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		fits, made    bool
	}{
		{`^(a+)+$`, strings.Repeat("a", 5000) + "!", false, true},
		{`^\s$`, "\u00a0", true, true},
		{`^[\s]$`, "\ufeff", true, true},
		{`^.$`, "\u2028", false, true},
		{`^\u00e9\x41$`, "éA", true, true},
		{`^[[a]$`, "[", true, true},
		{`^(?<year>\d{4})$`, "2026", true, true},
		{`(?i)a`, "A", false, false},
		{`(a)\1`, "aa", false, false},
		{`a(?=b)`, "ab", false, false},
		{`(?<!a)b`, "b", false, false},
		{`\Aa`, "a", false, false},
		{`[]`, "", false, false},
		{`\/x\-`, "/x-", true, true},
	} {
		re, err := ecmaRegexp(c.pattern)
		if made := err == nil; made != c.made {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if c.made && re.MatchString(c.text) != c.fits {
			t.Errorf("%s on %q: %v", c.pattern, c.text, !c.fits)
		}
	}
}

// A definition that is read again while a call runs takes nothing from it.
func TestDefinitionWhileCallRuns(t *testing.T) {
	tool := func(typ string) string {
		return `{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"v":{"type":"` + typ + `"}}}}]}}`
	}
	script := "@init 2025-11-25\n" + `> {$J,"id":1,"method":"tools/list"}` + "\n" + `< {$J,"id":1,"result":` + tool("string") + "\n" +
		`> {$J,"id":2,"method":"tools/call","params":{"name":"a"}}` + "\n" + `> {$J,"id":3,"method":"tools/list"}` + "\n" + `< {$J,"id":3,"result":` + tool("number") + "\n"
	for value, want := range map[string]int{`1`: 0, `true`: 1} {
		p := play(t, Options{}, script+`< {$J,"id":2,"result":{"content":[],"structuredContent":{"v":`+value+`}}}`)
		if n := p.hits("structured-schema"); n != want {
			t.Errorf("%s: %d findings; want %d", value, n, want)
		}
	}
}
