package redact

import (
	"slices"
	"strings"
)

// Argv replaces the secrets in a command line: --token X, --token=X, TOKEN=X,
// what Text finds in one argument, and always what URL strips. It returns args
// itself if there is nothing to replace.
func (e *Engine) Argv(args []string) ([]string, bool) {
	out := slices.Clone(args)
	hide := false // the flag before said that a value follows
	for i, a := range args {
		if hide {
			if hide = false; !isFlag(a) {
				out[i] = e.argValue(a)
				continue
			}
		}
		out[i] = e.arg(a)
		hide = e.Active() && isFlag(a) && !strings.Contains(a, "=") && e.rules.keys.kind([]byte(a)) != 0
	}
	if slices.Equal(args, out) {
		return args, false
	}
	return out, true
}

// isFlag reports whether a is a flag, not a secret that begins with a hyphen.
func isFlag(a string) bool {
	return strings.HasPrefix(a, "--") || len(a) > 1 && len(a) < minKnown && a[0] == '-'
}

// argValue is the value of a flag that is a key.
func (e *Engine) argValue(v string) string {
	k := schemeLen([]byte(v))
	if v == "" || IsMark(v[k:]) || placeholder(v) {
		return v
	}
	e.remember(v[k:])
	return v[:k] + e.Mark(v[k:])
}

// arg is one argument on its own.
func (e *Engine) arg(a string) string {
	if e.Active() {
		if name, value, ok := strings.Cut(a, "="); ok && len(name) <= maxName && !strings.ContainsAny(name, " :/?&\"'{") && e.rules.keys.kind([]byte(name)) != 0 {
			return name + "=" + e.argValue(value)
		}
		a, _ = e.Text(a)
	}
	return e.URL(a)
}

// remember looks for a value elsewhere from now on, if it is worth it.
func (e *Engine) remember(v string) {
	for _, s := range append(derived(v, false), v) {
		if worthy(s) {
			e.mem.add(s, e.Mark(s))
		}
	}
}
