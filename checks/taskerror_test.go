package checks

import (
	"strings"
	"testing"
)

// A call whose task ends failed is one error, on the frame that said so first,
// and told of the call.
func TestFailedTaskIsOneError(t *testing.T) {
	const (
		id    = `"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840"`
		times = `"createdAt":"2026-08-01T10:00:00Z","lastUpdatedAt":"2026-08-01T10:00:01Z"`
		ext   = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
		core  = `@init 2025-11-25 {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
> {$J,"id":1,"method":"tools/call","params":{"name":"slow","task":{}}}
< {$J,"id":1,"result":{"task":{` + id + `,"status":"working",` + times + `,"ttl":null}}}
`
		get     = `> {$J,"id":2,"method":"tasks/get","params":{` + id + `}}` + "\n"
		result  = `> {$J,"id":3,"method":"tasks/result","params":{` + id + `}}` + "\n"
		failed  = `< {$J,"id":2,"result":{` + id + `,"status":"failed","statusMessage":"rate limit",` + times + `,"ttl":null}}` + "\n"
		isError = `< {$J,"id":3,"result":{"content":[{"type":"text","text":"rate limit"}],"isError":true,"_meta":{"io.modelcontextprotocol/related-task":{` + id + `}}}}` + "\n"
		modern  = `> {$J,"id":1,"method":"tools/call","params":{"name":"slow",$M(` + ext + `)}}
`
	)
	for _, tt := range []struct {
		name, script string
		seq          uint64
	}{
		{"polled, then fetched", core + get + failed + result + isError, 8},
		{"fetched, and an error passed on", core + get + failed + result + `< {$J,"id":3,"error":{"code":-32603,"message":"rate limit"}}`, 8},
		{"fetched only", core + result + isError, 8},
		{"notified, then polled", core + `< {$J,"method":"notifications/tasks/status","params":{` + id + `,"status":"failed","statusMessage":"rate limit",` + times + `,"ttl":null}}` + "\n" + get + failed, 7},
		{"failed from the start", modern + `< {$J,"id":1,"result":{"resultType":"task",` + id + `,"status":"failed","statusMessage":"rate limit",` + times + `,"ttlMs":null,"error":{"code":-32603,"message":"rate limit"}}}`, 3},
		{"polled, as an extension", modern + `< {$J,"id":1,"result":{"resultType":"task",` + id + `,"status":"working",` + times + `,"ttlMs":null}}
> {$J,"id":2,"method":"tasks/get","params":{` + id + `,$M(` + ext + `)}}
< {$J,"id":2,"result":{"resultType":"complete",` + id + `,"status":"failed",` + times + `,"ttlMs":null,"error":{"code":-32603,"message":"rate limit"}}}
> {$J,"id":3,"method":"tasks/get","params":{` + id + `,$M(` + ext + `)}}
< {$J,"id":3,"result":{"resultType":"complete",` + id + `,"status":"failed",` + times + `,"ttlMs":null,"error":{"code":-32603,"message":"rate limit"}}}`, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := play(t, Options{}, tt.script)
			if n := p.hits("call-error"); n != 1 {
				t.Fatalf("%d errors; want 1\n%s", n, p.found())
			}
			for _, f := range p.e.Findings() {
				if f.Rule.ID == "call-error" && (f.Seq != tt.seq || f.Tool != "slow" || f.ID != "1" || !strings.Contains(f.Message, `its task ended failed: "rate limit"`)) {
					t.Errorf("#%d, want #%d: id %s, tool %s: %s", f.Seq, tt.seq, f.ID, f.Tool, f.Message)
				}
			}
		})
	}
}

// An unanswered call says what the server waited for itself.
func TestUnansweredWhileTheClientOwes(t *testing.T) {
	p := play(t, Options{}, `@init 2025-11-25 {"tools":{}} {"elicitation":{}}
> {$J,"id":1,"method":"tools/call","params":{"name":"book"}}
< {$J,"id":7,"method":"elicitation/create","params":{"message":"Seat?","requestedSchema":{"type":"object","properties":{"seat":{"type":"string"}}}}}
end {"exit_code":0}`)
	for _, f := range p.e.Findings() {
		if f.Tool == "book" && f.Rule.ID == "request-unanswered" {
			if want := "; the server itself waits for the answer to elicitation/create (#6)"; !strings.HasSuffix(f.Message, want) {
				t.Errorf("%q does not end with %q", f.Message, want)
			}
			return
		}
	}
	t.Errorf("found\n%s", p.found())
}

// A result counts with its size on the wire, also where its copy was cut or it
// has more values than are looked at.
func TestHeaviestResult(t *testing.T) {
	head := `@init 2025-11-25
> {$J,"id":1,"method":"tools/call","params":{"name":"a"}}
`
	for name, answer := range map[string]string{
		"cut":  `cut < {$J,"id":1,"result":{"content":[{"type":"text","text":"it goes`,
		"many": `< {$J,"id":1,"result":{"content":[],"structuredContent":{"n":[` + strings.Repeat("0,", 600000) + `0]}}}`,
	} {
		if r := reportOf(t, Gate{MaxResultBytes: 1 << 20}, head+answer); r.Exit != 1 {
			t.Errorf("%s: %+v", name, r.Assertions)
		}
	}
}
