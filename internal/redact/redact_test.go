package redact

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

var update = flag.Bool("update", false, "write the golden file anew")

func engine(t testing.TB, c Config) *Engine {
	t.Helper()
	if c.Salt == nil {
		c.Salt = []byte("test salt")
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var anyTag = regexp.MustCompile(`\[REDACTED:[0-9a-f]{4}\]`)

// plainMarks writes all marks as <R>, so that tables need no hashes.
func plainMarks(s string) string { return anyTag.ReplaceAllString(s, "<R>") }

func TestPayload(t *testing.T) {
	secrets := Config{Secrets: true}
	checkPayloads(t, []payloadTest{
		{"key", secrets, call(`{"api_key":"abc"}`), call(`{"api_key":"<R>"}`)},
		{"key shapes", secrets, call(`{"x_api_key":"a","client-secret":"b","Cookie":"c","sessionToken":"d","bearer":"e","private_key":"f","dbPassword":"g","APIKey":"h"}`),
			call(`{"x_api_key":"<R>","client-secret":"<R>","Cookie":"<R>","sessionToken":"<R>","bearer":"<R>","private_key":"<R>","dbPassword":"<R>","APIKey":"<R>"}`)},
		{"no secrets by name", secrets, call(`{"max_tokens":5,"input_tokens":"5","token_type":"Bearer","pageToken":"abc","nextPageToken":"abc","tokens":["a","b"],"tokenizer":"x","secretName":"n","public_key":"p"}`), ""},
		{"scheme stays", secrets, call(`{"headers":{"Authorization":"Bearer tok-AAA111"}}`), call(`{"headers":{"Authorization":"Bearer <R>"}}`)},
		{"bytes around stay", secrets, `{ "jsonrpc":"2.0", "id":1.0e0,"params":{"arguments":{"a":1e2,"token":"x" , "z":"\u00e9\/"}} }`,
			`{ "jsonrpc":"2.0", "id":1.0e0,"params":{"arguments":{"a":1e2,"token":"<R>" , "z":"\u00e9\/"}} }`},
		{"scalars", secrets, call(`{"password":123,"secret":true,"token":null,"token":7,"pin":1234,"token":""}`), call(`{"password":"<R>","secret":true,"token":null,"token":7,"pin":"<R>","token":""}`)},
		{"containers", secrets, call(`{"credentials":{"user":"u","pass":[1]},"secrets":["a"],"secret":{},"secret":[ ]}`), call(`{"credentials":"<R>","secrets":"<R>","secret":{},"secret":[ ]}`)},
		{"user key", Config{Keys: []string{"city"}}, call(`{"City":"Bonn","c-i-t-y":1,"CITY":true,"city":null,"cityName":"x","token":"x"}`), call(`{"City":"<R>","c-i-t-y":"<R>","CITY":"<R>","city":null,"cityName":"x","token":"x"}`)},
		{"user key with a shape", Config{Keys: []string{"token"}}, call(`{"sessionToken":"a","token":"b","pageToken":"c","password":"d","tokens":"e"}`), call(`{"sessionToken":"<R>","token":"<R>","pageToken":"c","password":"d","tokens":"e"}`)},
		{"protocol members", Config{Secrets: true, Keys: []string{"progressToken", "cursor", "id", "requestState", "method"}, Values: []string{"."}},
			`{"jsonrpc":"2.0","id":"a","method":"b","params":{"cursor":"c","requestState":"d","progressToken":"e","_meta":{"progressToken":"f","traceparent":"g","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, ""},
		{"cursor as an argument", Config{Keys: []string{"cursor"}}, call(`{"cursor":"x"}`), call(`{"cursor":"<R>"}`)},
		{"value", Config{Values: []string{`sk-test-[0-9a-f]+`}}, call(`{"q":"token=sk-test-9f8e and sk-test-00"}`), call(`{"q":"token=<R> and <R>"}`)},
		{"value in a name", Config{Values: []string{`k\d+`}}, call(`{"k1":"k2","n":3}`), call(`{"<R>":"<R>","n":3}`)},
		{"format as a name", secrets, call(`{"ghp_0123456789abcdefghijABCDEFGHIJ012345":1}`), call(`{"<R>":1}`)},
		{"text in a string", secrets, call(`{"q":"token=abc&x=1 Authorization: Bearer zzz\nnext"}`), call(`{"q":"token=<R>&x=1 Authorization: Bearer <R>\nnext"}`)},
		{"JSON in a string", secrets, call(`{"b":"{\"password\": \"a\\\"b\", \"n\":1}"}`), call(`{"b":"{\"password\": \"<R>\", \"n\":1}"}`)},
		{"object in JSON in a string", secrets, call(`{"b":"[{\"secret\":{\"a\":1}}]"}`), call(`{"b":"[{\"secret\":\"<R>\"}]"}`)},
		{"JSON in JSON in a string", secrets, call(`{"b":"{\"c\":\"{\\\"secret\\\":[1]}\"}"}`), call(`{"b":"{\"c\":\"{\\\"secret\\\":\\\"<R>\\\"}\"}"}`)},
		{"number in a string", Config{Values: []string{`\d{9}`}}, call(`{"n":123456789,"b":"{\"n\":123456789}"}`), call(`{"n":123456789,"b":"{\"n\":\"<R>\"}"}`)},
		{"name and value", secrets, call(`{"env":[{"name":"API_KEY","value":"x"},{"value":"y","name":"API_KEY"},{"name":"PATH","value":"/bin"}]}`),
			call(`{"env":[{"name":"API_KEY","value":"<R>"},{"value":"<R>","name":"API_KEY"},{"name":"PATH","value":"/bin"}]}`)},
		{"error data", secrets, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"refused sk-test-9f8e7d6c5b4a39281706","data":{"token":"x"}}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"refused <R>","data":{"token":"<R>"}}}`},
		{"marks stay", Config{Secrets: true, Values: []string{`[A-Z]+`}}, call(`{"token":"[REDACTED:ab12]","q":"token=[REDACTED] x"}`), ""},
		{"metadata document", secrets, `{"resource":"https://h/mcp","authorization_servers":["https://as"],"bearer_methods_supported":["header"],"token_endpoint":"https://as/token","authorization_endpoint":"https://as/a"}`, ""},
		{"remembered in the same frame", secrets, call(`{"q":"see hunter2x9 here","password":"hunter2x9"}`), call(`{"q":"see <R> here","password":"<R>"}`)},
	})
}

func TestPaths(t *testing.T) {
	checkPayloads(t, []payloadTest{
		{"path", Config{Paths: []string{"$.params.arguments.password"}}, call(`{"password":"x","n":{"password":"y"}}`), call(`{"password":"<R>","n":{"password":"y"}}`)},
		{"paths", Config{Paths: []string{"$..secret", "$.params.arguments.list[-1]", "$.params.arguments.list[?@.a==1]", "$.params.arguments.m['x','y'][0:2]"}},
			call(`{"secret":{"a":[1]},"list":[{"a":1},2,{"a":2},true,5],"m":{"x":[1,2,3],"y":"z"}}`), call(`{"secret":"<R>","list":["<R>",2,{"a":2},true,"<R>"],"m":{"x":["<R>","<R>",3],"y":"z"}}`)},
		{"path spares the envelope", Config{Paths: []string{"$.*"}}, `{"jsonrpc":"2.0","id":"a","method":"b","params":{"x":1}}`, `{"jsonrpc":"2.0","id":"a","method":"b","params":"<R>"}`},
		{"path in a batch", Config{Paths: []string{"$.params.x"}}, `[{"params":{"x":"1"}},{"params":{"y":"1"}}]`, `[{"params":{"x":"<R>"}},{"params":{"y":"1"}}]`},
		{"path and twice the same name", Config{Paths: []string{"$.params.x"}}, `{"params":{"x":"1","x":"2"},"params":3}`, `{"params":{"x":"<R>","x":"<R>"},"params":3}`},
	})
}

// payloadTest is a payload and what comes of it; out "" means unchanged.
type payloadTest struct {
	name    string
	c       Config
	in, out string
}

// call is a tools/call with these arguments.
func call(args string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":` + args + `}}`
}

func checkPayloads(t *testing.T, tests []payloadTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := engine(t, tt.c)
			out, changed := e.Payload(nil, []byte(tt.in))
			want := tt.out
			if want == "" {
				want = tt.in
			}
			if got := plainMarks(string(out)); got != plainMarks(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if changed != (tt.out != "") {
				t.Errorf("changed = %v", changed)
			}
			again, changed := e.Payload(nil, out)
			if changed {
				t.Errorf("second run changed\n%s\nto\n%s", out, again)
			}
		})
	}
}

func TestSchemas(t *testing.T) {
	list := func(s string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":` + s + `}]}}`
	}
	tests := []struct{ name, in, out string }{
		{"names stay", `{"type":"object","properties":{"token":{"type":"string","description":"token=abc"}},"required":["token"]}`, ""},
		{"data under a key", `{"properties":{"token":{"type":"string","default":"a","const":"b","examples":["c",null],"enum":["d"]}}}`,
			`{"properties":{"token":{"type":"string","default":"<R>","const":"<R>","examples":["<R>",null],"enum":["<R>"]}}}`},
		{"data", `{"properties":{"o":{"default":{"password":"x","n":"y"},"examples":["sk-test-9f8e7d6c5b4a39281706"]}}}`, `{"properties":{"o":{"default":{"password":"<R>","n":"y"},"examples":["<R>"]}}}`},
		{"inherited", `{"$defs":{"secret":{"anyOf":[{"items":{"default":"x"}}]}}}`, `{"$defs":{"secret":{"anyOf":[{"items":{"default":"<R>"}}]}}}`},
		{"a property called default", `{"properties":{"default":{"properties":{"password":{"type":"string"}}}}}`, ""},
		{"values reach all but type and x-mcp-header", `{"type":"zap","x-mcp-header":"zap","title":"zap","properties":{"zap":{"type":["zap"],"description":"a zap"}}}`,
			`{"type":"zap","x-mcp-header":"zap","title":"<R>","properties":{"zap":{"type":["zap"],"description":"a <R>"}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := engine(t, Config{Secrets: true, Values: []string{"zap"}})
			want := tt.out
			if want == "" {
				want = tt.in
			}
			out, _ := e.Payload(nil, []byte(list(tt.in)))
			if got := plainMarks(string(out)); got != list(want) {
				t.Errorf("got  %s\nwant %s", got, list(want))
			}
		})
	}
	e := engine(t, Config{Secrets: true})
	in := `{"params":{"arguments":{"inputSchema":{"properties":{"token":{"type":"string"}}}}}}`
	if out, _ := e.Payload(nil, []byte(in)); !strings.Contains(string(out), `"token":"[REDACTED`) {
		t.Errorf("an argument called inputSchema is data: %s", out)
	}
	in = `{"method":"elicitation/create","params":{"requestedSchema":{"properties":{"token":{"type":"string"}}}}}`
	if out, changed := e.Payload(nil, []byte(in)); changed {
		t.Errorf("requestedSchema changed: %s", out)
	}
}

func TestText(t *testing.T) {
	tests := []struct{ in, out string }{
		{"debug: using token=sk-test-9f8e7d6c5b4a39281706", "debug: using token=<R>"},
		{"Authorization: Bearer abc.def", "Authorization: Bearer <R>"},
		{"authorization=Basic dXNlcjpwYXNzd29yZA== x", "authorization=Basic <R> x"},
		{`curl -H "Authorization: Bearer abc" -H 'Cookie: a=b; c=d' https://h/`, `curl -H "Authorization: Bearer <R>" -H 'Cookie: <R>' https://h/`},
		{`{"password": "a b", "n": 1`, `{"password": "<R>", "n": 1`},
		{`{\"password\": \"a b\", \"n\": 1`, `{\"password\": \"<R>\", \"n\": 1`},
		{"run --api-key X1234 --verbose", "run --api-key <R> --verbose"},
		{"run --api-key=X1234", "run --api-key=<R>"},
		{"postgres://bob:s3cr3t@db/x?sslmode=require", "postgres://bob:<R>@db/x?sslmode=require"},
		{"GET /cb?code=1&access_token=abc&x=2 HTTP/1.1", "GET /cb?code=1&access_token=<R>&x=2 HTTP/1.1"},
		{"PASSWORD=a,b;c&d next", "PASSWORD=<R> next"},
		{"your API key: Zx81 ok", "your API key: <R> ok"},
		{"AKIAIOSFODNN7EXAMPLE and AKIAIOSFODNN7EXAMPLFX", "<R> and AKIAIOSFODNN7EXAMPLFX"},
		{"x ghp_0123456789abcdefghijABCDEFGHIJ012345 y", "x <R> y"},
		{"“ghp_0123456789abcdefghijABCDEFGHIJ012345”", "“<R>”"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN. Next", "<R>. Next"},
		{"xoxb-123456789012-abcdef", "<R>"},
		{"https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXXXXXX", "https://hooks.slack.com/services/<R>"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nrest", "<R>\nrest"},
		{"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", ""},
		{`Bearer realm="x", error="invalid_token", resource_metadata="https://h/.well-known"`, ""},
		{"Bearer authentication is required; Basic authentication too", ""},
		{"got Bearer tok-AAA111.", "got Bearer <R>."},
		{"Unexpected token: expected identifier, max_tokens=5 tokens: 12", ""},
		{"progressToken=abc nextCursor: xyz", ""},
		{"PWD=/home/me pwd: /srv", ""},
		{"at Token::new (src/token.rs:12:5)", ""},
		{"sk-some-long-kebab-case-name-here", ""},
		{"<password>abc</password>", "<password><R></password>"},
		{"password => 'x'", "password => '<R>'"},
		{`{"level":"info","token":"abc"}`, `{"level":"info","token":"<R>"}`},
		{`data: {"secret":{"a":"b"}} tail`, `data: {"secret":<R>} tail`},
		{"token=[REDACTED:ab12] x", ""},
		{"a\xff token=abc \xfe", "a\xff token=<R> \xfe"},
	}
	for _, tt := range tests {
		e := engine(t, Config{Secrets: true})
		out, changed := e.Text(tt.in)
		want := tt.out
		if want == "" {
			want = tt.in
		}
		if got := plainMarks(out); got != plainMarks(want) || changed != (tt.out != "") {
			t.Errorf("Text(%q)\n got %q (changed %v)\nwant %q", tt.in, got, changed, want)
		}
		if again, changed := e.Text(out); changed {
			t.Errorf("second run changed %q to %q", out, again)
		}
	}
}

func TestArgvAndURL(t *testing.T) {
	e := engine(t, Config{Secrets: true})
	in := []string{"npx", "--api-key", "k1", "--token=t1", "API_KEY=v", "-e", "DB_PASSWORD=p", "--verbose", "--password", "--flag", "https://u:p@h/?a=b&c=d#x", "-H", "Authorization: Bearer zz9", `{"token":"x"}`, "--max-tokens", "5"}
	want := "npx --api-key <R> --token=<R> API_KEY=<R> -e DB_PASSWORD=<R> --verbose --password --flag https://<R>@h/?a=<R>&c=<R>#x -H Authorization: Bearer <R> {\"token\":\"<R>\"} --max-tokens 5"
	out, changed := e.Argv(in)
	if got := plainMarks(strings.Join(out, " ")); got != want || !changed {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, changed := e.Argv(out); changed {
		t.Error("second run changed argv")
	}
	var none *Engine
	urls := []struct{ in, out string }{
		{"https://h/p", "https://h/p"},
		{"https://user@h/p?q=1", "https://[REDACTED]@h/p?q=[REDACTED]"},
		{"postgres://u:a/b@h:5/x", "postgres://[REDACTED]@h:5/x"},
		{"http://h:80/@scope/x", "http://h:80/@scope/x"},
		{"http://[::1]:80/?k=", "http://[::1]:80/?k="},
		{"see http://a:b@c and https://h/?x=http://u:p@i/ .", "see http://[REDACTED]@c and https://h/?x=[REDACTED] ."},
		{"https://h/cb#access_token=abc&y", "https://h/cb#access_token=[REDACTED]&y"},
		{"plain", "plain"},
	}
	for _, u := range urls {
		if got := none.URL(u.in); got != u.out {
			t.Errorf("URL(%q) = %q; want %q", u.in, got, u.out)
		}
		if got := none.URL(u.out); got != u.out {
			t.Errorf("URL(%q) = %q; want it unchanged", u.out, got)
		}
	}
	if out, changed := none.Argv([]string{"--token", "x", "https://u:p@h"}); !changed || strings.Join(out, " ") != "--token x https://[REDACTED]@h" {
		t.Errorf("inactive engine: %v %v", out, changed)
	}
}

func TestHeader(t *testing.T) {
	e := engine(t, Config{Paths: []string{"$.params.arguments.city"}, Keys: []string{"region"}, Values: []string{"zap"}})
	var h Hits
	out, _ := e.PayloadHits(nil, []byte(`{"params":{"arguments":{"city":"Köln","n":"zap"}}}`), &h)
	mark := wire.GetString(out, "params", "arguments", "city")
	tests := []struct{ name, in, want string }{
		{"Mcp-Param-City", "Köln", mark},
		{"Mcp-Param-City", "=?base64?S8O2bG4=?=", mark},
		{"Mcp-Param-Other", "Bonn", "Bonn"},
		{"Mcp-Param-Region", "eu", e.Mark("eu")},
		{"Mcp-Name", "a zap", "a " + e.Mark("zap")},
		{"Mcp-Name", mark, mark},
	}
	for _, tt := range tests {
		if got, changed := e.Header(tt.name, tt.in, &h); got != tt.want || changed != (tt.in != tt.want) {
			t.Errorf("Header(%s: %s) = %q, %v; want %q", tt.name, tt.in, got, changed, tt.want)
		}
	}
	if got, _ := e.Header("Mcp-Param-City", "Köln", nil); got != "Köln" {
		t.Errorf("without hits: %q", got)
	}
	if got, changed := e.Claim("region", "x"); got != e.Mark("x") || !changed {
		t.Errorf("Claim = %q", got)
	}
}

func TestMarks(t *testing.T) {
	e := engine(t, Config{Secrets: true})
	out, _ := e.Payload(nil, []byte(`{"params":{"arguments":{"api_key":"sk-test-9f8e7d6c5b4a39281706","headers":{"Authorization":"Bearer sk-test-9f8e7d6c5b4a39281706"},"q":"token=sk-test-9f8e7d6c5b4a39281706"}}}`))
	if m := anyTag.FindAllString(string(out), -1); len(m) != 3 || m[0] != m[1] || m[1] != m[2] || m[0] != e.Mark("sk-test-9f8e7d6c5b4a39281706") {
		t.Errorf("marks of one secret differ: %s", out)
	}
	if a, b := e.Mark("a"), e.Mark("b"); a == b || !IsMark(a) {
		t.Errorf("marks %s, %s", a, b)
	}
	other, err := New(Config{Secrets: true})
	if err != nil || other.Mark("a") == e.Mark("a") && other.Mark("b") == e.Mark("b") {
		t.Errorf("marks do not depend on the salt: %v", err)
	}
	for s, want := range map[string]bool{"[REDACTED]": true, "[REDACTED:ab12]": true, "[REDACTED:]": false, "[REDACTED": false, "x[REDACTED]": false, "[REDACTED:AB]": false, "": false} {
		if IsMark(s) != want {
			t.Errorf("IsMark(%q) = %v", s, !want)
		}
	}
	if !HasMark("[REDACTED: [REDACTED:ab12] x") || HasMark("[REDACTED: x") {
		t.Error("HasMark")
	}
}

func TestRememberedForms(t *testing.T) {
	const secret = `Zq7/+p"ä&9xK-22w`
	e := engine(t, Config{Secrets: true})
	e.Payload(nil, []byte(`{"params":{"arguments":{"password":`+string(wire.AppendString(nil, secret))+`}}}`))
	if e.Remembered() == 0 {
		t.Fatal("nothing remembered")
	}
	for _, f := range formsOf(secret, false) {
		out, changed := e.Text("start " + f.text + " end")
		if !changed || strings.Contains(out, f.text) {
			t.Errorf("form %q stays: %q", f.text, out)
		}
		if !strings.Contains(out, e.Mark(secret)) {
			t.Errorf("form %q has another mark: %q", f.text, out)
		}
	}
	for _, v := range []string{"password", "true", "12345678", "aaaaaaaaaaaaaaaaaaaaaa", "abcdefgh", "${GITHUB_TOKEN}", "x [REDACTED] y"} {
		if worthy(v) {
			t.Errorf("%q is too plain to be searched for", v)
		}
	}
	long := "A1" + strings.Repeat("bC3", 1000)
	e.Text("password=" + long)
	if out, _ := e.Text("x " + long + " y"); plainMarks(out) != "x <R> y" {
		t.Errorf("long value: %.80q", out)
	}
	for i := range 3 * MaxRemembered {
		e.Text("password=v4lue" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)))
	}
	if e.Remembered() > MaxRemembered {
		t.Errorf("remembers %d", e.Remembered())
	}
}

func TestNewErrors(t *testing.T) {
	for _, c := range []Config{{Keys: []string{"--"}}, {Values: []string{"("}}, {Paths: []string{"params"}}, {Paths: []string{"$"}}} {
		_, err := New(c)
		if err == nil || !strings.Contains(err.Error(), "--redact-") {
			t.Errorf("New(%+v): %v", c, err)
		}
	}
}

func TestInactive(t *testing.T) {
	var none *Engine
	for _, e := range []*Engine{none, {}, engine(t, Config{})} {
		raw := []byte(`{"params":{"token":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}}`)
		if out, changed := e.Payload(nil, raw); changed || &out[0] != &raw[0] || e.Active() {
			t.Error("an inactive engine copies")
		}
		if n := testing.AllocsPerRun(10, func() { e.Payload(nil, raw); e.Text("token=x") }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		if s, _ := e.Header("Mcp-Name", "x", nil); s != "x" {
			t.Error(s)
		}
	}
}

// TestPlainPlaces follows one secret through the places of case 72.
func TestPlainPlaces(t *testing.T) {
	const secret = "sk-test-9f8e7d6c5b4a39281706"
	for _, c := range []Config{{Secrets: true, Values: []string{"sk-test-[0-9a-f]+"}}, {Secrets: true}} {
		e := engine(t, c)
		b, err := os.ReadFile("testdata/plain_places.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		argv, _ := e.Argv([]string{"python3", "server.py", "--api-key", secret})
		got := strings.Join(argv, " ") + "\n"
		changed := 0
		for line := range strings.Lines(string(b)) {
			out, ch := e.Payload(nil, []byte(strings.TrimSuffix(line, "\n")))
			if ch {
				changed++
			}
			got += string(out) + "\n"
		}
		if *update {
			if err := os.WriteFile("testdata/plain_places.golden", []byte(plainMarks(got)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/plain_places.golden")
		if err != nil {
			t.Fatal(err)
		}
		if plainMarks(got) != string(want) {
			t.Errorf("got\n%s\nwant\n%s", plainMarks(got), want)
		}
		if strings.Contains(got, secret) || changed < 4 {
			t.Errorf("%d lines changed:\n%s", changed, got)
		}
		if m := anyTag.FindAllString(got, -1); len(m) == 0 || strings.Count(got, m[0]) != len(m) {
			t.Errorf("one secret, several marks: %v", m)
		}
	}
}
