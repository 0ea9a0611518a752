package redact

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// show writes leaks as kind=text.
func show(b string, leaks []Leak) string {
	var out []string
	for _, l := range leaks {
		out = append(out, l.Kind+"="+b[l.Offset:l.Offset+l.Length])
	}
	return strings.Join(out, " ")
}

func TestLeaks(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"params":{"arguments":{"token":"abc","n":{"password":"x"}}}}`, "key=abc key=x"},
		{`{"params":{"arguments":{"q":"sk-test-9f8e7d6c5b4a39281706"}}}`, "api-key=sk-test-9f8e7d6c5b4a39281706"},
		{`{"params":{"arguments":{"token":"[REDACTED:ab12]","q":"token=[REDACTED:ab12]"}}}`, ""},
		{`{"result":{"tools":[{"inputSchema":{"properties":{"token":{"type":"string"}}}}]}}`, ""},
		{`token=hunter2x9 and hunter2x9`, "key=hunter2x9 known-value=hunter2x9"},
		{`password=hunter2x9 and aHVudGVyMng5`, "key=hunter2x9 known-value=aHVudGVyMng5"},
		{`{"session_id":"s-1-7f3a1c9e2b04","seq":1,"direction":"meta","raw":{"command":["x","--token","abc","--api-key","[REDACTED:ab12]"]}}`, `key="abc"`},
		{`{"session_id":"s","seq":2,"direction":"c2s","raw":{"result":{"tools":[{"inputSchema":{"properties":{"token":{"type":"string"}}}}]}}}`, ""},
		{`{"session_id":"s","seq":3,"direction":"stderr","text":"password: x1"}`, "key=x1"},
		{"id 0c8b1a5e-4a53-4b7e-9f0d-2f1f6f0f6b7d file /usr/lib/python3/dist-packages/x.py", ""},
		{"Zm9vYmFyIGJheiBxdXV4IDEyMzQ1Njc4OTA", "high-entropy=Zm9vYmFyIGJheiBxdXV4IDEyMzQ1Njc4OTA"},
		{"sum 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "high-entropy=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
		{"ordinaryCamelCaseIdentifierNames and some_long_snake_case_name_2", ""},
	}
	for _, tt := range tests {
		e := engine(t, Config{})
		if got := show(tt.in, e.Leaks([]byte(tt.in))); got != tt.want {
			t.Errorf("Leaks(%s)\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
	var none *Engine
	if got := none.Leaks([]byte("token=abc")); len(got) != 1 {
		t.Errorf("nil engine: %v", got)
	}
}

// TestLeaksOfRedacted says that nothing is left after a redaction, also for
// what stood before the secret was known, when there are two passes.
func TestLeaksOfRedacted(t *testing.T) {
	lines := []string{"see aHVudGVyMng5 first", `{"params":{"arguments":{"password":"hunter2x9"}}}`, "and hunter2x9"}
	e := engine(t, Config{Secrets: true})
	for pass := range 2 {
		for _, l := range lines {
			b, _ := e.Payload(nil, []byte(l))
			if pass == 1 {
				if leaks := e.Leaks(b); len(leaks) > 0 {
					t.Errorf("%s: %s", b, show(string(b), leaks))
				}
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	e := engine(t, everything)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				s := fmt.Sprintf("pass%dW0rd%d", g, i)
				out, _ := e.Payload(nil, []byte(`{"params":{"arguments":{"password":"`+s+`","q":"x `+s+` y"}}}`))
				if strings.Contains(string(out), s) {
					t.Errorf("%s is left in %s", s, out)
				}
				e.Text("zap " + s)
				e.Argv([]string{"--token", s})
				e.Leaks(out)
			}
		})
	}
	wg.Wait()
}

// TestFormatTable states what the search relies on.
func TestFormatTable(t *testing.T) {
	for i, f := range formats {
		if r := formatRange[f.prefix[0]]; i < int(r[0]) || i >= int(r[1]) {
			t.Errorf("%s: formats that begin with one byte must stand together", f.prefix)
		}
		for k := int(formatRange[f.prefix[0]][0]); k < int(formatRange[f.prefix[0]][1]); k++ {
			if formats[k].prefix[0] != f.prefix[0] {
				t.Errorf("%s stands among those of %s", formats[k].prefix, f.prefix)
			}
		}
		n := 0
		for n < len(f.prefix) && wordByte[f.prefix[n]] {
			n++
		}
		if n == len(f.prefix) && n+f.min < shortestFormat {
			t.Errorf("%s is shorter than the shortest format", f.prefix)
		}
		sample := f.prefix
		for n := 0; n < f.min; n++ {
			sample += string("0A1B2C3D4E5F"[n%12])
		}
		e := engine(t, Config{Secrets: true})
		if out, _ := e.Text("(" + sample + ")"); plainMarks(out) != "("+f.prefix[:f.keep]+"<R>)" {
			t.Errorf("%s: %s", sample, out)
		}
		e = engine(t, Config{Secrets: true})
		if out, changed := e.Text("x" + sample); changed {
			t.Errorf("inside of a word: %s", out)
		}
	}
}

func TestKeyKinds(t *testing.T) {
	k := keySet{shapes: true}
	for _, n := range strings.Fields(`password userPassword DB_PASS dbpassword password_hash newPassword password2 PASSWD passphrase
		secret clientSecret client-secret SECRET_KEY secretAccessKey apiKey API_KEY x_api_key X-API-Key apikey xApiKey privateKey private_key_pem
		token accessToken refresh_token sessionToken token_value access_tokens GITHUB_TOKEN X-Auth-Token jwt bearer Cookie Set-Cookie
		Authorization Proxy-Authorization credentials pin card_pin otp cvv code_verifier authorization_code signing_key --api-key`) {
		if k.kind([]byte(n)) == 0 {
			t.Errorf("%s hides nothing", n)
		}
	}
	for _, n := range strings.Fields(`progressToken nextCursor cursor pageToken nextPageToken page_token continuation_token max_tokens inputTokens total_tokens
		tokens tokenCount token_type tokenizer token_endpoint secretName secret_ref password_policy key keys publicKey primary_key key_id keyboard
		gpio_pin pinned cookieConsent authorization_endpoint authorization_servers bearer_methods_supported author authority passed pass
		compass bypass api_key_id credentialId id session_id code error_code monkey turkey max_token eos_token a`) {
		if kind := k.kind([]byte(n)); kind != 0 {
			t.Errorf("%s hides its value: %b", n, kind)
		}
	}
}
