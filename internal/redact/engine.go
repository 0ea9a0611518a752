package redact

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Config says what is a secret. The zero Config finds nothing.
type Config struct {
	Secrets bool     // --redact-secrets: well-known formats and secret-shaped names
	Keys    []string // --redact-key: names whose values are hidden
	Values  []string // --redact-value: RE2 expressions for what is hidden in strings
	Paths   []string // --redact-path: RFC 9535 queries on payloads

	// Salt keys the marks. Engines with one salt give equal marks for equal
	// values. Empty means a random one, which no one can guess values against.
	Salt []byte
}

// Engine replaces secrets. A nil or zero Engine finds nothing and costs
// nothing. All methods may be called from any number of goroutines.
type Engine struct {
	rules  rules // what the flags ask for
	strict rules // rules plus all of --redact-secrets, for Leaks
	salt   []byte
	mem    memory
	pool   sync.Pool // of *walker
}

// rules is a compiled Config.
type rules struct {
	formats bool
	keys    keySet
	values  []valueRule
	paths   pathSet
}

func (r *rules) active() bool {
	return r.formats || r.keys.active() || len(r.values) > 0 || len(r.paths.segs) > 0
}

// New compiles c. Its errors name the flag and the value that is wrong.
func New(c Config) (*Engine, error) {
	e := &Engine{salt: slices.Clone(c.Salt)}
	if len(e.salt) == 0 {
		e.salt = make([]byte, 16)
		rand.Read(e.salt) // never fails since Go 1.24
	}
	e.rules.formats, e.rules.keys.shapes = c.Secrets, c.Secrets
	for _, k := range c.Keys {
		if err := e.rules.keys.add(strings.TrimSpace(k)); err != nil {
			return nil, fmt.Errorf("--redact-key %q: %w", k, err)
		}
	}
	for _, v := range c.Values {
		r, err := newValueRule(v)
		if err != nil {
			return nil, fmt.Errorf("--redact-value %q: %w", v, err)
		}
		e.rules.values = append(e.rules.values, r)
	}
	for _, p := range c.Paths {
		if err := e.rules.paths.add(p); err != nil {
			return nil, fmt.Errorf("--redact-path %q: %w", p, err)
		}
	}
	e.strict = e.rules
	e.strict.formats, e.strict.keys.shapes = true, true
	return e, nil
}

// Active reports whether the engine looks for anything.
func (e *Engine) Active() bool { return e != nil && e.rules.active() }

// Remembered returns how many found values are looked for elsewhere.
func (e *Engine) Remembered() int {
	if e == nil {
		return 0
	}
	return int(e.mem.count.Load())
}
