package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

func TestKnown(t *testing.T) {
	k := NewKnown()
	if out, changed := k.Text("tok-AAA111"); changed || out != "tok-AAA111" {
		t.Errorf("one that knows nothing made %q", out)
	}
	const secret = "tok-A/A+1=="
	k.Learn(secret)
	k.Learn("abc") // too short to be one
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{
		secret, "x" + secret + "y", `{"cursor":"` + secret + `","id":"` + secret + `"}`, url.QueryEscape(secret), strings.ToLower(url.QueryEscape(secret)[:0]) + url.PathEscape(secret),
		string(quoted), `tok-A\/A+1==`, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
	} {
		out, changed := k.Text(in)
		if !changed || strings.Contains(out, secret) || !HasMark(out) {
			t.Errorf("%q became %q", in, out)
		}
	}
	in := []byte("nothing here, abc tok-B")
	if out, changed := k.Replace(in); changed || &out[0] != &in[0] {
		t.Errorf("%q became %q", in, out)
	}
}

// A secret that is longer than what is remembered of it is replaced whole.
func TestKnownLong(t *testing.T) {
	k := NewKnown()
	secret := strings.Repeat("abcdefghij", 400) + "END"
	k.Learn(secret)
	out, changed := k.Text(`{"a":"` + secret + `","b":1}`)
	if !changed || strings.Contains(out, "END") || !strings.HasSuffix(out, `","b":1}`) {
		t.Errorf("became %q", out)
	}
}
