package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

var everything = Config{
	Secrets: true,
	Keys:    []string{"city", "user_id"},
	Values:  []string{`acct-\d+`, `zap`},
	Paths:   []string{"$.params.arguments.p", "$..deep[-1]", "$..f[?@.a == 1]"},
}

func elements(b []byte) int {
	if wire.TypeOf(b) != wire.Array {
		return -1
	}
	n := 0
	for e := wire.ElementsOf(b); e.Next(); {
		n++
	}
	return n
}

// checkPayload states what must hold for any input.
func checkPayload(t interface{ Fatalf(string, ...any) }, raw []byte) {
	e, err := New(everything)
	if err != nil {
		t.Fatalf("%v", err)
	}
	before := bytes.Clone(raw)
	out, changed := e.Payload(nil, raw)
	if !bytes.Equal(before, raw) {
		t.Fatalf("the input was changed:\n%q\n%q", before, raw)
	}
	if changed == bytes.Equal(out, raw) {
		t.Fatalf("changed = %v for %q", changed, out)
	}
	if (wire.Check(raw) == nil) != (wire.Check(out) == nil) {
		t.Fatalf("validity changed:\n%q\n%q", raw, out)
	}
	if wire.Check(raw) == nil && elements(raw) != elements(out) {
		t.Fatalf("%d elements became %d:\n%q\n%q", elements(raw), elements(out), raw, out)
	}
	if !outsideEqual(raw, out) {
		t.Fatalf("bytes outside of marks changed:\n%q\n%q", raw, out)
	}
	if again, changed := e.Payload(nil, out); changed {
		t.Fatalf("second run changed\n%q\nfrom\n%q\nof\n%q", again, out, raw)
	}
}

// outsideEqual reports whether what stands between the new marks of out stands
// in raw, in that order.
func outsideEqual(raw, out []byte) bool {
	parts := anyTag.Split(string(out), -1)
	rest := string(raw)
	for i, p := range parts {
		p = strings.TrimRight(strings.TrimLeft(p, `\"`), `\"`) // quotes that a mark brought
		if i == 0 && len(parts) == 1 {
			return p == strings.Trim(rest, `\"`)
		}
		k := strings.Index(rest, p)
		if k < 0 {
			return false
		}
		rest = rest[k+len(p):]
	}
	return true
}

var payloadSeeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"api_key":"sk-test-9f8e7d6c5b4a39281706","p":[1,{"a":2}],"deep":[1,2]}}}`,
	`[{"params":{"arguments":{"p":1}}},{"f":[{"a":1},{"b":2}]}]`,
	`{"result":{"tools":[{"inputSchema":{"properties":{"token":{"type":"zap","default":"x","enum":["y"]}}}}]}}`,
	`{"a":"{\"password\":\"x\\\"y\",\"n\":[acct-12]}","b":"{\"secret\":{\"a\":\"\\u00e9\"}}"}`,
	`{"value":"x","name":"API_KEY","city":true,"token":"[REDACTED:ab12]x","password":"hunter2x9"," hunter2x9":"hunter2x9"}`,
	`"-----BEGIN RSA PRIVATE KEY-----\nAAAA"`,
	`{"a":"token=\"b\\\" c\" Authorization: Bearer abc\nCookie: a=b; c=d","e":"\ud83d\ude00 zap \ud83d"}`,
	`{"q":"eyJhbGciOi.eyJzdWIi.abc postgres://u:p@h/ https://h/?token=a%2Fb&x"}`,
	`{"q":"token=a\u0000b zapzap token=,;&|)]} [REDACTED:zz"}`,
	"token=\x00 \xff secret: 'a\nb",
}

func FuzzPayload(f *testing.F) {
	for _, s := range payloadSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkPayload(t, raw) })
}

func FuzzText(f *testing.F) {
	for _, s := range payloadSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := engine(t, everything)
		out, changed := e.Text(s)
		if changed == (out == s) {
			t.Fatalf("changed = %v for %q", changed, out)
		}
		if utf8.ValidString(s) && !utf8.ValidString(out) {
			t.Fatalf("%q is no UTF-8 any more: %q", s, out)
		}
		if again, changed := e.Text(out); changed {
			t.Fatalf("second run changed\n%q\nfrom\n%q\nof\n%q", again, out, s)
		}
		if n := strings.Count(out, "\n"); n > strings.Count(s, "\n") {
			t.Fatalf("more lines: %q", out)
		}
		e.URL(s)
		if args, changed := e.Argv([]string{s, "--token", s}); len(args) != 3 || changed != (args[0] != s || args[2] != s) {
			t.Fatalf("argv %q %v", args, changed)
		}
		for _, l := range e.Leaks([]byte(s)) {
			if l.Offset < 0 || l.Length <= 0 || l.Offset+l.Length > len(s) {
				t.Fatalf("leak outside of the text: %+v", l)
			}
		}
	})
}

// value draws JSON that holds names and texts that rules look for.
func value(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"token=abc", "zap", "[REDACTED:ab12]", "hunter2x9z", "Bearer abc123xyz", `{"password":"x"}`, "acct-12", "é\"\\zap"}))
	leaf := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Map(rapid.Int(), func(n int) any { return n }), rapid.Just[any](nil), rapid.Just[any](true))
	if depth == 0 {
		return leaf
	}
	name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"token", "password", "params", "arguments", "result", "tools", "inputSchema", "properties", "default", "name", "value", "id", "city", "deep", "f", "a", "p"}))
	return rapid.OneOf(leaf,
		rapid.Map(rapid.MapOfN(name, value(depth-1), 0, 4), func(m map[string]any) any { return m }),
		rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(s []any) any { return s }),
		rapid.Map(value(depth-1), func(v any) any { b, _ := json.Marshal(v); return string(b) }))
}

func TestPayloadProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(value(4).Draw(t, "value"))
		if err != nil {
			return
		}
		checkPayload(t, b)
	})
}

// TestSecretsAreGone hides a random secret behind a key and in other forms.
func TestSecretsAreGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9!"#$%&'()*+,./:;<=>?@\\^_{|}~é-]{12,40}`).Draw(t, "secret")
		if !worthy(secret) {
			return
		}
		e, err := New(Config{Secrets: true})
		if err != nil {
			t.Fatal(err)
		}
		doc := map[string]any{"password": secret, "a": "x " + secret + " y", "n": []any{map[string]any{secret: 1}}}
		inner, _ := json.Marshal(doc)
		b, _ := json.Marshal(map[string]any{"params": map[string]any{"arguments": doc, "b": string(inner)}})
		out, _ := e.Payload(nil, b)
		for _, f := range formsOf(secret, false) {
			if bytes.Contains(out, []byte(f.text)) {
				t.Fatalf("%q is left in %s", f.text, out)
			}
		}
	})
}
