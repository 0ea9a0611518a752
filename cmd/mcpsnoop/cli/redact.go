package cli

import (
	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/internal/redact"
)

// redactOptions are the flags that say what is a secret.
type redactOptions struct {
	Secrets bool
	Keys    *words
	Values  []string
	Paths   []string
}

func (o *redactOptions) addFlags(fs *pflag.FlagSet) {
	o.Keys = newWords("K,K", "")
	fs.BoolVar(&o.Secrets, "redact-secrets", false, "replace well-known credentials and values of secret-shaped names by marks")
	fs.Var(o.Keys, "redact-key", "replace the values of these names; may be repeated")
	addTexts(fs, &o.Values, "redact-value", "RE", "replace what this regular expression matches in any string; may be repeated")
	addTexts(fs, &o.Paths, "redact-path", "JSONPATH", "replace what this RFC 9535 query selects in payloads; may be repeated")
}

// engine compiles the flags. It is never nil, and finds nothing when no flag
// was given.
func (o *redactOptions) engine() (*redact.Engine, error) {
	var keys []string
	if o.Keys != nil {
		keys = o.Keys.list
	}
	e, err := redact.New(redact.Config{Secrets: o.Secrets, Keys: keys, Values: o.Values, Paths: o.Paths})
	if err != nil {
		return nil, &usageError{err: err}
	}
	return e, nil
}

// recordRedactor is the engine as the recorder wants it. In what it did not
// change, dst comes back as it was: the recorder keeps it as its scratch.
type recordRedactor struct{ e *redact.Engine }

func (r recordRedactor) Payload(dst, raw []byte) ([]byte, bool) {
	out, changed := r.e.Payload(dst, raw)
	if !changed {
		return dst, false
	}
	return out, true
}

func (r recordRedactor) Text(s string) (string, bool) { return r.e.Text(s) }

func (r recordRedactor) Claim(name, value string) (string, bool) { return r.e.Claim(name, value) }

func (r recordRedactor) Header(name, value string) (string, bool) {
	return r.e.Header(name, value, nil)
}
