package redact

import (
	"bytes"
	"encoding/base64"
)

// format is a credential that is known by how it begins.
type format struct {
	kind   string
	prefix string
	chars  func(byte) bool // what follows the prefix
	min    int             // at least so many
	max    int             // at most so many, none of chars behind them; 0: no bound
	mixed  bool            // needs a digit or a capital, else it is a name in kebab case
	keep   int             // bytes of the prefix that say nothing and stay
}

func isWord(c byte) bool     { return isAlnum(c) || c == '_' || c == '-' }
func isUpperNum(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
func isHex(c byte) bool      { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
func isAlnumLow(c byte) bool { return isAlnum(c) || c == '_' }
func isPath(c byte) bool     { return isWord(c) || c == '/' }
func isDotted(c byte) bool   { return isWord(c) || c == '.' }

// formats are matched at the start of a word only, so each byte is looked at
// a bounded number of times. The table is read only.
var formats = []format{
	{"aws-access-key", "AKIA", isUpperNum, 16, 16, false, 0},
	{"aws-access-key", "ASIA", isUpperNum, 16, 16, false, 0},
	{"google-key", "AIza", isWord, 35, 35, false, 0},
	{"age-key", "AGE-SECRET-KEY-1", isUpperNum, 40, 0, false, 0},
	{"api-key", "sk-", isWord, 20, 0, true, 0},
	{"stripe-key", "sk_live_", isAlnum, 8, 0, false, 0},
	{"stripe-key", "sk_test_", isAlnum, 8, 0, false, 0},
	{"shopify-token", "shpat_", isHex, 32, 0, false, 0},
	{"api-key", "gsk_", isAlnum, 20, 0, true, 0},
	{"github-token", "ghp_", isAlnum, 20, 0, false, 0},
	{"github-token", "gho_", isAlnum, 20, 0, false, 0},
	{"github-token", "ghu_", isAlnum, 20, 0, false, 0},
	{"github-token", "ghs_", isAlnumLow, 20, 0, false, 0},
	{"github-token", "ghr_", isAlnum, 20, 0, false, 0},
	{"github-token", "github_pat_", isAlnumLow, 20, 0, false, 0},
	{"gitlab-token", "glpat-", isDotted, 16, 0, false, 0},
	{"api-key", "xai-", isAlnum, 20, 0, true, 0},
	{"slack-token", "xoxb-", isWord, 10, 0, false, 0},
	{"slack-token", "xoxa-", isWord, 10, 0, false, 0},
	{"slack-token", "xoxp-", isWord, 10, 0, false, 0},
	{"slack-token", "xoxr-", isWord, 10, 0, false, 0},
	{"slack-token", "xoxs-", isWord, 10, 0, false, 0},
	{"slack-token", "xoxe-", isWord, 10, 0, false, 0},
	{"slack-token", "xoxc-", isWord, 10, 0, false, 0},
	{"slack-token", "xoxd-", isWord, 10, 0, false, 0},
	{"slack-token", "xapp-", isWord, 10, 0, false, 0},
	{"api-key", "pplx-", isAlnum, 20, 0, true, 0},
	{"pypi-token", "pypi-", isWord, 40, 0, true, 0},
	{"stripe-key", "rk_live_", isAlnum, 8, 0, false, 0},
	{"stripe-key", "rk_test_", isAlnum, 8, 0, false, 0},
	{"stripe-key", "whsec_", isAlnum, 16, 0, false, 0},
	{"slack-webhook", "hooks.slack.com/services/", isPath, 20, 0, false, 25},
	{"huggingface-token", "hf_", isAlnum, 30, 0, false, 0},
	{"vault-token", "hvs.", isWord, 20, 0, true, 0},
	{"google-token", "ya29.", isDotted, 20, 0, false, 0},
	{"google-secret", "GOCSPX-", isWord, 20, 0, false, 0},
	{"npm-token", "npm_", isAlnum, 30, 0, false, 0},
	{"digitalocean-token", "dop_v1_", isHex, 64, 0, false, 0},
	{"databricks-token", "dapi", isHex, 32, 32, false, 0},
	{"sendgrid-key", "SG.", isDotted, 40, 0, true, 0},
}

// formatRange says where in the table the formats stand that begin with a
// byte; the table is grouped by it.
var formatRange = func() (m [256][2]uint8) {
	for i, f := range formats {
		r := &m[f.prefix[0]]
		if r[1] == 0 {
			r[0] = uint8(i)
		}
		r[1] = uint8(i + 1)
	}
	return m
}()

// matchFormat returns the kind and the extent of the credential that begins
// at t[i], which starts a word; end is 0 if there is none.
func matchFormat(t []byte, i int) (kind string, start, end int) {
	if t[i] == 'e' && bytes.HasPrefix(t[i:], []byte("eyJ")) {
		if end = jwtEnd(t, i); end > 0 {
			return "jwt", i, end
		}
		return "", 0, 0
	}
	r := formatRange[t[i]]
	for k := r[0]; k < r[1]; k++ {
		f := &formats[k]
		if len(t)-i < len(f.prefix)+f.min || string(t[i:i+len(f.prefix)]) != f.prefix {
			continue
		}
		j, mixed := i+len(f.prefix), !f.mixed
		for j < len(t) && f.chars(t[j]) {
			mixed = mixed || isUpperNum(t[j])
			j++
		}
		if n := j - i - len(f.prefix); n < f.min || f.max > 0 && n > f.max || !mixed {
			continue
		}
		for t[j-1] == '.' { // the end of a sentence
			j--
		}
		return f.kind, i + f.keep, j
	}
	return "", 0, 0
}

// jwtEnd returns the end of the compact JWS or JWE that begins at t[i], or 0.
func jwtEnd(t []byte, i int) int {
	end, parts := 0, 0
	for j := i; parts < 5; parts++ {
		from := j
		for j < len(t) && isWord(t[j]) {
			j++
		}
		if parts < 2 && j-from < 8 && (parts == 0 || j-from < 2) {
			break
		}
		if parts < 3 || j > from {
			end = j
		}
		if j >= len(t) || t[j] != '.' {
			parts++
			break
		}
		j++
	}
	if parts < 3 {
		return 0
	}
	return end
}

var (
	pemBegin = []byte("-----BEGIN ")
	pemEnd   = []byte("-----END ")
	pemKey   = []byte("PRIVATE KEY")
	dashes   = []byte("-----")
)

// pemBlocks gives the private key blocks in t, their lines included. A block
// without its end runs to the end of t.
func pemBlocks(t []byte, found func(span)) {
	for at := 0; ; {
		k := bytes.Index(t[at:], pemBegin)
		if k < 0 {
			return
		}
		start := at + k
		at = start + len(pemBegin)
		head := t[at:min(len(t), at+40)]
		if d := bytes.Index(head, dashes); d < 0 || !bytes.Contains(head[:d], pemKey) {
			continue
		}
		end := len(t)
		if k = bytes.Index(t[at:], pemEnd); k >= 0 {
			end = at + k + len(pemEnd)
			if k = bytes.Index(t[end:min(len(t), end+40)], dashes); k >= 0 {
				end += k + len(dashes)
			}
		}
		found(span{start: start, end: end, kind: "private-key"})
		at = end
	}
}

// schemeWord reports whether w names an HTTP authentication scheme whose
// credential stands behind it.
func schemeWord(w []byte) bool {
	switch len(w) {
	case 5:
		return bytes.EqualFold(w, []byte("basic")) || bytes.EqualFold(w, []byte("token"))
	case 6:
		return bytes.EqualFold(w, []byte("bearer")) || bytes.EqualFold(w, []byte("apikey"))
	case 4:
		return bytes.EqualFold(w, []byte("dpop"))
	}
	return false
}

// schemeCredential finds the credential behind "Bearer " or "Basic ", the word
// that ends at t[i]; end is 0 when what follows is prose or a challenge.
func schemeCredential(t []byte, word []byte, i int) (start, end int) {
	basic := bytes.EqualFold(word, []byte("basic"))
	if !basic && !bytes.EqualFold(word, []byte("bearer")) {
		return 0, 0
	}
	start = i
	for start < len(t) && start < i+4 && t[start] == ' ' {
		start++
	}
	end = start
	digit, upper, lower := false, false, false
	for end < len(t) && (isDotted(t[end]) || t[end] == '~' || t[end] == '+' || t[end] == '/') {
		c := t[end]
		digit = digit || c >= '0' && c <= '9'
		upper = upper || c >= 'A' && c <= 'Z'
		lower = lower || c >= 'a' && c <= 'z'
		end++
	}
	pad := end
	for pad < len(t) && t[pad] == '=' {
		pad++
	}
	switch {
	case start == i || end-start < 8:
		return 0, 0
	case pad > end && pad < len(t) && (t[pad] == '"' || t[pad] == '\\' || isAlnum(t[pad])):
		return 0, 0 // realm="...": a challenge
	case basic && len(basicPassword(t[start:pad])) == 0:
		return 0, 0
	case !basic && !digit && end-start < 20 && !(upper && lower && upperInside(t[start:end])):
		return 0, 0
	}
	for end == pad && end > start && t[end-1] == '.' {
		end, pad = end-1, pad-1
	}
	return start, pad
}

func upperInside(b []byte) bool {
	for _, c := range b[1:] {
		if c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}

// basicPassword returns the password inside the credential of a Basic scheme,
// nil if it is none.
func basicPassword(b []byte) []byte {
	b = bytes.TrimRight(b, "=")
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(b)))
	n, err := base64.RawStdEncoding.Decode(out, b)
	if err != nil {
		if n, err = base64.RawURLEncoding.Decode(out, b); err != nil {
			return nil
		}
	}
	for _, c := range out[:n] {
		if c < 0x20 {
			return nil
		}
	}
	if k := bytes.IndexByte(out[:n], ':'); k >= 0 {
		return out[k+1 : n]
	}
	return nil
}
